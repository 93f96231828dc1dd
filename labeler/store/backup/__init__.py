"""Keeps golden sets safe: backups, restoring them, looking whether a file is whole.

::

    parts      files that appear whole or not at all, and what a killed process left of them
    backups    a checked copy, one at a time or on a timer that keeps the newest
    restoring  a backup put in the place of a golden set that nobody has open
    checking   what there is to say of a file, and what is wrong with it
    kept       a seal that was kept, in whatever carries it
    watch      what the server does beside its pages: folds the log, makes backups
"""
