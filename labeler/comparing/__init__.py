"""What the Compare page is made of: what it says first, and its pictures; knows no SQL."""

from labeler.comparing.pictures import show_pictures
from labeler.comparing.settling import show_settling
from labeler.comparing.summary import offer_files, show_summary

__all__ = ["offer_files", "show_pictures", "show_settling", "show_summary"]
