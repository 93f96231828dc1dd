"""What the Compare page is made of: what it says first, and its pictures; knows no SQL."""

from labeler.ui.compare.pictures import choose_picture
from labeler.ui.compare.summary import offer_files, show_answer

__all__ = ["choose_picture", "offer_files", "show_answer"]
