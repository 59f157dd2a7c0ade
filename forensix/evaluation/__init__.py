"""Evaluation of scores: tables with intervals, and displays that keep what they draw."""
