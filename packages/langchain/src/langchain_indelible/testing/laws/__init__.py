"""The laws, in groups."""
