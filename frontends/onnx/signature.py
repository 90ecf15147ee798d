"""Types of a model's inputs: element types and symbolic sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.symbol_names import check_symbols
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx.loading import NUMPY_DTYPES, data_type_name
from aicc.frontends.onnx.values import AnyTensor

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto


class Symbols:
    """
    The sizes of the model's inputs: each name is one symbol, or the integer it was given in `fixed`.

    A dimension without a name, or named `?` as some tools write unknown ones, gets one from its input and position,
    such as `x_d0`.
    """

    def __init__(self, graph: GraphProto, fixed: Mapping[str, int]) -> None:
        self._fixed = fixed
        self._names = {
            dim.dim_param
            for value in graph.input
            for dim in value.type.tensor_type.shape.dim
            if dim.WhichOneof("value") == "dim_param"
        }
        self._used: set[str] = set()
        for name, size in fixed.items():
            if size < 0:
                raise ModelError(f"size {size} of dimension '{name}' is negative")

    def check_fixed(self) -> None:
        """
        Checks that every size that was given belongs to a dimension.

        Raises:
            UnknownSymbolError: naming the dimensions there are.
        """
        check_symbols(self._fixed, self._used)

    def input_type(self, value: ValueInfoProto) -> AnyTensor:
        """
        The type of an input.

        Raises:
            ModelError: if it is no tensor of a supported element type, or its rank is not given.
        """
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            found = "no type" if kind is None else f"a {kind.removesuffix('_type').replace('_', ' ')}"
            raise ModelError(f"input '{value.name}' has {found}, expected a tensor")
        tensor = value.type.tensor_type
        dtype = NUMPY_DTYPES.get(tensor.elem_type)
        if dtype is None:
            raise ModelError(
                f"input '{value.name}' has element type {data_type_name(tensor.elem_type)}, which is not supported"
            )
        if not tensor.HasField("shape"):
            raise ModelError(f"input '{value.name}' has no shape; its rank must be known (sizes may stay open)")
        dims: list[Dim] = []
        for i, dim in enumerate(tensor.shape.dim):
            match dim.WhichOneof("value"):
                case "dim_value" if dim.dim_value >= 0:
                    dims.append(dim.dim_value)
                case "dim_param" if dim.dim_param not in ("", "?"):
                    dims.append(self._size(dim.dim_param))
                case _:
                    dims.append(self._size(self._fresh(f"{value.name}_d{i}")))
        try:
            return tensor_type(dims, element_type(dtype))
        except VerifyException as error:
            raise ModelError(f"input '{value.name}': {error}") from error

    def _size(self, name: str) -> Dim:
        self._used.add(name)
        return self._fixed[name] if name in self._fixed else sym(name)

    def _fresh(self, name: str) -> str:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name
