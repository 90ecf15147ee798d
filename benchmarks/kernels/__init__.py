"""Kernels as graphs of one or a few nodes, family by family; `catalog.py` lists them."""
