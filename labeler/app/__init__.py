"""The server: its entry point, the script Streamlit runs for each page, and prewarming."""
