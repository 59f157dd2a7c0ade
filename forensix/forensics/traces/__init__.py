"""Measurements on pixels and JPEG coefficients, made in the bounded child; ``rules`` say what they mean."""
