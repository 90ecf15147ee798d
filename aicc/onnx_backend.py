"""
aicc as an ONNX backend: the protocol of `onnx.backend.base`, which tools and the standard's own test suite speak.

    import aicc.onnx_backend as backend
    outputs = backend.prepare(model).run([x, y])

The module and the class `AiccBackend` both have `prepare`, `run_model`, `run_node`, `supports_device` and
`is_compatible`, so `onnx.backend.test.BackendTest(aicc.onnx_backend, __name__)` runs as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, checker, defs, helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from aicc.compiler import compile
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx.list_inputs import Form, for_values, form_of, gathered, needs_form, spread
from aicc.runtime.errors import InputError
from aicc.runtime.model import Model
from aicc.runtime.wording import number_of

_JUDGES_OWN = ("rtol", "atol")
"""Arguments that the suite hands to `prepare` too, but which only its comparison of results uses."""


class AiccModel(BackendRep):
    """
    A compiled model.

    One whose inputs are sequences or optionals is compiled when it runs, once for each number of tensors in them.
    """

    def __init__(self, proto: ModelProto, options: Mapping[str, Any]) -> None:
        self._proto, self._options = proto, options
        stored = {tensor.name for tensor in proto.graph.initializer}
        self._names = [info.name for info in proto.graph.input if info.name not in stored]
        self._result = namedtupledict("Outputs", [info.name for info in proto.graph.output])
        self._models: dict[Form, Model] = {}
        self._varies = needs_form(proto)
        if not self._varies:
            self._models[()] = compile(proto, **options)

    def _model(self, given: Mapping[str, Any]) -> Model:
        form = form_of([given[name] for name in self._names]) if self._varies else ()
        if form not in self._models:
            self._models[form] = compile(for_values(self._proto, given), **self._options)
        return self._models[form]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """
        The outputs, in order and by name (`result["y"]`).

        `inputs` is a sequence with one array per input, a mapping from names to arrays, or the array of a model with
        one input. A sequence is a list of arrays, an optional without an element is None.

        Raises:
            InputError: if there are too few or too many, or one does not fit its input.
        """
        if kwargs:
            raise TypeError(f"run() takes inputs only, found {', '.join(kwargs)}")
        if isinstance(inputs, Mapping):
            given = dict(cast("Mapping[str, Any]", inputs))
        else:
            # An array of a model with one input is that input, not a sequence of its rows.
            single = isinstance(inputs, np.ndarray | np.generic)
            arrays: Sequence[Any] = [inputs] if single else list(cast("Sequence[Any]", inputs))
            if len(arrays) != len(self._names):
                wanted = ", ".join(repr(name) for name in self._names) or "none"
                got = f"got {number_of(len(arrays), 'array')} for {number_of(len(self._names), 'input')}"
                raise InputError(f"{got}: {wanted}")
            given = dict(zip(self._names, arrays, strict=True))
        if self._varies and (missing := [name for name in self._names if name not in given]):
            raise InputError(f"missing input {', '.join(map(repr, missing))}")
        feeds = spread(given) if self._varies else {name: _array(value) for name, value in given.items()}
        results = self._model(given).run(feeds)
        return self._result(*gathered(self._proto.graph.output, results))


def _array(value: Any) -> Any:
    """Scalars as arrays of rank 0."""
    return cast(Any, value) if isinstance(value, list | np.ndarray) else np.asarray(value)


class AiccBackend(Backend):
    """Compiles models for the CPU of this machine."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is the CPU, `CPU` or `CPU:0`."""
        return device in ("CPU", "CPU:0")

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether all of `model` is supported on `device`."""
        from aicc.frontends.onnx import import_onnx

        if not cls.supports_device(device):
            return False
        try:
            import_onnx(model)
        except ModelError:
            return False
        return True

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> AiccModel:
        """
        Compiles `model`; `kwargs` are options of `aicc.compile`, such as `threads`.

        Raises:
            ModelError: the model is broken, or listing all in it that is not supported.
            ValueError: `device` is not the CPU.
        """
        if not cls.supports_device(device):
            raise ValueError(f"device is '{device}', expected 'CPU'")
        options = {name: value for name, value in kwargs.items() if name not in _JUDGES_OWN}
        return AiccModel(model, options)

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """The outputs of `model` for `inputs`, as `prepare(model).run(inputs)` gives them."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """
        The outputs of one node for one array per input that has a name.

        `opset_version` in `kwargs` is the version of the standard operator set, else it is the newest one that onnx
        knows; `outputs_info` is not needed.

        Raises:
            onnx.checker.ValidationError: the node is not valid.
        """
        version = int(kwargs.pop("opset_version", defs.onnx_opset_version()))
        own = node.domain in ("", "ai.onnx")
        opsets = {"": version}
        if not own:
            opsets[node.domain] = defs.get_schema(node.op_type, node.domain).since_version
        context = checker.DEFAULT_CONTEXT.__class__()
        context.ir_version = checker.DEFAULT_CONTEXT.ir_version
        context.opset_imports = opsets
        checker.check_node(node, context)
        names = list(dict.fromkeys(name for name in node.input if name))
        arrays = [np.asarray(array) for array in inputs]
        if len(arrays) != len(names):
            got = f"got {number_of(len(arrays), 'array')} for {number_of(len(names), 'input')}"
            raise InputError(f"{got}: {', '.join(map(repr, names))}")
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays, strict=True)
        ]
        outputs = [ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], node.op_type, infos, outputs)
        imports = [helper.make_opsetid(domain, number) for domain, number in opsets.items()]
        return cls.run_model(helper.make_model(graph, opset_imports=imports), arrays, device, **kwargs)


is_compatible = AiccBackend.is_compatible
prepare = AiccBackend.prepare
run_model = AiccBackend.run_model
run_node = AiccBackend.run_node
supports_device = AiccBackend.supports_device
