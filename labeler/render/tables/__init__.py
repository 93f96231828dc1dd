"""HTML tables and cards, as elements that escape their text.

A function returns what `labeler.render.markup.show_html` draws, with the style sheet it needs.
"""

