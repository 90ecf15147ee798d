"""Measurements against numpy, onnxruntime and openvino: `python -m benchmarks` from the repo's root."""
