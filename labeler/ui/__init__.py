"""The pages in Streamlit, one package per page, and the JavaScript components they use."""
