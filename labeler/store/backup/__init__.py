"""Backups of golden-set files: make, schedule and restore them, and check a file.

::

    atomic_files  atomic writes of files, and removal of what killed processes left
    backups       checked copies, made once or on a timer, and their restore
    file_check    check of a file: a line for each fact, and which are errors
    maintenance   checkpoints of the log, and backups, while the server runs
"""
