"""The Data page: files in and out, people, runs, queries and settings, one section at a time."""

from labeler.ui.data.page import show_page

show_page()
