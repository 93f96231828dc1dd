"""Signing in: who may do what, sessions, host names, middleware and the sign-in pages.

It re-exports nothing: `labeler.cli` imports `access` and `allowed_hosts`, which do not import
Streamlit.
"""
