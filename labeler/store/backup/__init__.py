"""Backups of golden-set files, their restore, and the check of a file.

::

    atomic_files  files that appear whole or not at all, and what a killed process left of them
    backups       a checked copy, one at a time or on a timer that keeps the newest; restoring one
    file_check    everything there is to say of a file, and what is wrong with it
    maintenance   what the server does beside its pages: checkpoints the log, makes backups
"""
