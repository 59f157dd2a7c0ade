"""Training of the voice models, the reference population, and the data that they learn from."""
