"""One module per shipped model."""
