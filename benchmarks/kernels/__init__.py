"""Kernels as graphs of one or a few nodes, family by family."""

from benchmarks.cases import Case
from benchmarks.kernels.matmul import matmul_cases


def kernel_cases() -> list[Case]:
    """All kernels, in the order of the tables."""
    return [*matmul_cases()]
