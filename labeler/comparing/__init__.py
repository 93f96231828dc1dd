"""What the Compare page is made of: what it says first, and its pictures; knows no SQL."""

from labeler.comparing.deciding import show_deciding
from labeler.comparing.pictures import show_pictures
from labeler.comparing.summary import offer_files, show_summary

__all__ = ["offer_files", "show_deciding", "show_pictures", "show_summary"]
