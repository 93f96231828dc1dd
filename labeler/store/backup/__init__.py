"""Backups of golden-set files, their restore, and the check of a file.

::

    atomic_files  atomic writes of files, and removal of what killed processes left
    backups       a checked copy, one at a time or on a timer that keeps the newest; restoring one
    file_check    the state of a file, a line for each fact, and which are errors
    maintenance   checkpoints of the log, and backups, while the server runs
"""
