"""What stands on the Review page and is worked out elsewhere: one file for each section."""
