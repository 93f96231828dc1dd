"""What the Compare page is made of: what it says first, and its pictures; knows no SQL."""

from labeler.comparing.pictures import choose_picture
from labeler.comparing.summary import offer_files, show_answer

__all__ = ["choose_picture", "offer_files", "show_answer"]
