"""Streamlit pages, the components they are made of, and what pages share."""
