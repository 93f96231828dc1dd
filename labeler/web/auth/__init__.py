"""Signing in: who may do what, sessions, host names, middleware and the sign-in pages.

It re-exports nothing: `labeler.cli` imports `access`, `allowed_hosts` and `invitation`, which
do not import Streamlit.
"""
