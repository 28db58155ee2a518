"""Readers for data sets."""
