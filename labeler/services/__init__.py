"""Work that needs the store and the domain together."""
