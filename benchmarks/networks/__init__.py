"""Networks as `torch.onnx` exports them, with seeded random weights, family by family; `catalog.py` lists them."""
