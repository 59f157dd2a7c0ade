"""Degradations."""
