"""A dialect for aicc in a package of its own; `dialect.py` says what is in it."""
