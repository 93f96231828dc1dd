"""What Review shows of how graders agree; knows no SQL and no formula."""

from labeler.reviewing.agreement import Asked, choose_agreement, show_agreement

__all__ = ["Asked", "choose_agreement", "show_agreement"]
