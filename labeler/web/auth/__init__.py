"""Signing in: access, tokens, cookies, host names and the pages of the login."""
