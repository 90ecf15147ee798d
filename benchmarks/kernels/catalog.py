"""All kernels that are measured."""

from benchmarks.cases import Case
from benchmarks.kernels.attention import attention_cases
from benchmarks.kernels.convolution import convolution_cases
from benchmarks.kernels.integers import integer_cases
from benchmarks.kernels.matmul import matmul_cases
from benchmarks.kernels.memory import memory_cases
from benchmarks.networks.small import adds_two_vectors


def kernel_cases() -> list[Case]:
    """All kernels, in the order of the tables."""
    call = Case("call/add-two-vectors-of-8", adds_two_vectors)
    return [call, *matmul_cases(), *convolution_cases(), *memory_cases(), *attention_cases(), *integer_cases()]
