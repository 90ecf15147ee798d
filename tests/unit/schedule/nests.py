"""Plain nests for tests: kernels as `convert-tensor-ops-to-loops` writes them, a caller, and numpy's meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aicc.dialects.loops.interpreter import Interpreter
from aicc.lowering.parse import parse_module

Reference = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Operand:
    """A buffer of a nest: its dimensions and the index expressions (over d0, d1, ...) that it is accessed with."""

    dims: Sequence[int | str]
    index: str
    fill: str = ""
    element: str = "f32"

    def type(self, names: Mapping[str, str]) -> str:
        """The memref type, with symbols renamed."""
        shape = "x".join("?" if isinstance(dim, str) else str(dim) for dim in self.dims)
        symbols = [names[dim] for dim in self.dims if isinstance(dim, str)]
        layout = f", #loops.dims<{', '.join(symbols)}>" if symbols else ""
        return f"memref<{shape + 'x' if shape else ''}{self.element}{layout}>"


@dataclass(frozen=True)
class NestCase:
    """A kernel of one nest and its meaning."""

    parallel: Sequence[int | str]
    reduction: Sequence[int | str]
    inputs: Sequence[Operand]
    body: str
    """Ops on the loaded values `%x0, %x1, ...` and the carried `%acc`; gives `%r`."""

    reference: Reference
    init: str = "0.0"
    constants: Sequence[int] = ()
    """Inputs that are constants in the caller."""

    output: str = ""
    """Index of the store over d0, d1, ...; the parallel dimensions in order if empty."""

    finish: str = ""
    """Ops on `%total` that give `%out`."""

    element: str = "f32"

    @property
    def symbols(self) -> list[str]:
        """Names of the symbolic extents, sorted."""
        return sorted({d for d in (*self.parallel, *self.reduction) if isinstance(d, str)})

    def text(self) -> str:
        """The module: kernel @k and caller @main."""
        symbols = self.symbols
        inner = {name: f"s{i}" for i, name in enumerate(symbols)}
        outer = {name: name for name in symbols}
        out_dims = self.output_dims()
        out = Operand(out_dims, "", element=self.element)
        args = [f"%{inner[name]}: index" for name in symbols]
        args += [f"%a{i}: {op.type(inner)}" for i, op in enumerate(self.inputs)] + [f"%o: {out.type(inner)}"]
        names = ", ".join(f'"{inner[name]}"' for name in symbols)
        lines = [
            f"func.func private @k({', '.join(args)}) attributes "
            f"{{aicc.kernel, aicc.symbols = [{names}], aicc.num_outputs = 1}} {{",
        ]
        if self.reduction:
            lines.append(f"%z = arith.constant {self.init} : {self.element}")
        rank = len(self.parallel)
        for i, dim in enumerate(self.parallel):
            end = dim if isinstance(dim, int) else f"%{inner[dim]}"
            lines.append(f'loops.for "s0_d{i}" %d{i} = 0 to {end} parallel {{')
        carried = "%z"
        for i, dim in enumerate(self.reduction):
            end = dim if isinstance(dim, int) else f"%{inner[dim]}"
            acc = "%acc" if i == len(self.reduction) - 1 else f"%acc{i}"
            lines.append(
                f'%t{i} = loops.for "s0_d{rank + i}" %d{rank + i} = 0 to {end} '
                f"iter_args({acc} = {carried}) -> ({self.element}) {{"
            )
            carried = acc
        for i, op in enumerate(self.inputs):
            fill = f" fill {op.fill} : {op.element}" if op.fill else ""
            index = _values(op.index)
            lines.append(f"%x{i} = loops.load %a{i}[{index}]{fill} : {op.type(inner)} to {op.element}")
        lines.append(self.body)
        if self.reduction:
            lines.append(f"loops.yield %r : {self.element} }}")
            for i in reversed(range(len(self.reduction) - 1)):
                lines.append(f"loops.yield %t{i + 1} : {self.element} }}")
        result = "%t0" if self.reduction else "%r"
        if self.finish:
            lines.append(self.finish.replace("%total", result))
            result = "%out"
        index = _values(self.output or ", ".join(f"d{i}" for i in range(rank)))
        lines.append(f"loops.store {result}, %o[{index}] : {self.element} to {out.type(inner)}")
        lines += ["}"] * rank + ["func.return", "}"]
        lines += self._caller(outer, out)
        return "\n".join(lines)

    def output_dims(self) -> list[int | str]:
        """Dimensions of the result."""
        if not self.output:
            return list(self.parallel)
        return [self.parallel[int(part.strip()[1:])] for part in self.output.split(",")]

    def _caller(self, names: Mapping[str, str], out: Operand) -> list[str]:
        args = [f"%{name}: index" for name in self.symbols]
        args += [f"%a{i}: {op.type(names)}" for i, op in enumerate(self.inputs) if i not in self.constants]
        args.append(f"%o: {out.type(names)}")
        symbols = ", ".join(f'"{name}"' for name in self.symbols)
        lines = [
            f"func.func @main({', '.join(args)}) attributes {{aicc.symbols = [{symbols}], aicc.num_outputs = 1}} {{"
        ]
        for i in self.constants:
            op = self.inputs[i]
            shape = "x".join(str(dim) for dim in op.dims)
            lines.append(
                f"%a{i} = loops.constant dense<{_nested(self.constant_value(i))}> : "
                f"tensor<{shape}x{op.element}> : {op.type(names)}"
            )
        values = [f"%{name}" for name in self.symbols] + [f"%a{i}" for i in range(len(self.inputs))] + ["%o"]
        types = ["index"] * len(self.symbols) + [op.type(names) for op in self.inputs] + [out.type(names)]
        lines += [f"loops.call @k({', '.join(values)}) : {', '.join(types)}", "func.return", "}"]
        return lines

    def constant_value(self, position: int) -> np.ndarray:
        """The value of a constant input."""
        shape = [dim for dim in self.inputs[position].dims if isinstance(dim, int)]
        values = np.random.default_rng(position).integers(-8, 8, size=shape)
        return values.astype(_DTYPES[self.inputs[position].element])

    def arrays(self, sizes: Mapping[str, int], seed: int = 0) -> list[np.ndarray]:
        """Values of all inputs."""
        rng = np.random.default_rng(seed)
        made: list[np.ndarray] = []
        for i, op in enumerate(self.inputs):
            if i in self.constants:
                made.append(self.constant_value(i))
                continue
            shape = [dim if isinstance(dim, int) else sizes[dim] for dim in op.dims]
            # Small integers, so that sums are exact in any order.
            made.append(rng.integers(-8, 8, size=shape).astype(_DTYPES[op.element]))
        return made


_DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
    "i1": np.bool_,
}


def _nested(value: np.ndarray) -> str:
    return str(value.tolist()).replace("(", "[").replace(")", "]")


def _values(index: str) -> str:
    """`d0 + 2*d1` with the names of values."""
    out = ""
    for i, char in enumerate(index):
        standalone = char == "d" and i + 1 < len(index) and index[i + 1].isdigit()
        out += "%d" if standalone else char
    return out


def run_case(case: NestCase, module: Any, sizes: Mapping[str, int] | None = None, backwards: bool = False) -> None:
    """Runs @main of the module in the interpreter of loops and compares the output with numpy's."""
    sizes = sizes or {}
    inputs = case.arrays(sizes)
    dims = [dim if isinstance(dim, int) else sizes[dim] for dim in case.output_dims()]
    out = np.zeros(dims, _DTYPES[case.element])
    given = [value for i, value in enumerate(inputs) if i not in case.constants]
    order = (lambda steps: list(steps)[::-1]) if backwards else (lambda steps: steps)
    Interpreter(module, order=order).call("main", *(sizes[name] for name in case.symbols), *given, out)
    expected = case.reference(*inputs, **sizes)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6)


def parsed(case: NestCase) -> Any:
    """The module of a case."""
    module = parse_module(case.text())
    module.verify()
    return module


MUL_ADD = """%p = arith.mulf %x0, %x1 fastmath<contract,reassoc> : f32
%r = arith.addf %acc, %p fastmath<contract,reassoc> : f32"""


def matmul(m: int | str, n: int, k: int, constant: bool = False, transposed: bool = False) -> NestCase:
    """`[m, k] @ [k, n]`, or with the second operand as `[n, k]`."""
    b = Operand([n, k], "d1, d2") if transposed else Operand([k, n], "d2, d1")
    return NestCase(
        [m, n],
        [k],
        [Operand([m, k], "d0, d2"), b],
        MUL_ADD,
        lambda x, y, **_: x @ (y.T if transposed else y),
        constants=(1,) if constant else (),
    )


def conv(n: int | str, size: int, c: int, k: int, kernel: int, stride: int = 1, constant: bool = True) -> NestCase:
    """A channels-last convolution of an input that is large enough, weights `[k, c, r, s]`."""
    span = (size - 1) * stride + kernel

    def reference(x: np.ndarray, w: np.ndarray, **_: int) -> np.ndarray:
        out = np.zeros((x.shape[0], size, size, k), np.float32)
        for r in range(kernel):
            for s in range(kernel):
                part = x[:, r : r + (size - 1) * stride + 1 : stride, s : s + (size - 1) * stride + 1 : stride]
                out += part @ w[:, :, r, s].T
        return out

    return NestCase(
        [n, size, size, k],
        [c, kernel, kernel],
        [
            Operand([n, span, span, c], f"d0, d1 * {stride} + d5, d2 * {stride} + d6, d4"),
            Operand([k, c, kernel, kernel], "d3, d4, d5, d6"),
        ],
        MUL_ADD,
        lambda x, w, **_: np.maximum(reference(x, w), 0),
        constants=(1,) if constant else (),
        finish="%out = arith.maximumf %total, %z : f32",
    )


def depthwise(size: int, channels: int, kernel: int, stride: int = 1) -> NestCase:
    """A channels-last depthwise convolution, weights `[c, 1, r, s]`."""
    span = (size - 1) * stride + kernel

    def reference(x: np.ndarray, w: np.ndarray, **_: int) -> np.ndarray:
        out = np.zeros((1, size, size, channels), np.float32)
        for r in range(kernel):
            for s in range(kernel):
                part = x[:, r : r + (size - 1) * stride + 1 : stride, s : s + (size - 1) * stride + 1 : stride]
                out += part * w[:, 0, r, s]
        return out

    return NestCase(
        [1, size, size, channels],
        [1, kernel, kernel],
        [
            Operand([1, span, span, channels], f"d0, d1 * {stride} + d5, d2 * {stride} + d6, d3"),
            Operand([channels, 1, kernel, kernel], "d3, d4, d5, d6"),
        ],
        MUL_ADD,
        reference,
        constants=(1,),
    )


def grouped(size: int, groups: int, inner: int, outer: int) -> NestCase:
    """A channels-last 1x1 convolution in groups of `inner` input and `outer` output channels."""

    def reference(x: np.ndarray, w: np.ndarray, **_: int) -> np.ndarray:
        parts = np.split(x, groups, axis=-1)
        weights = np.split(w, groups, axis=0)
        return np.concatenate([part @ weight.T for part, weight in zip(parts, weights, strict=True)], axis=-1)

    return NestCase(
        [size, groups * outer],
        [inner],
        [
            Operand([size, groups * inner], f"d0, (d1 floordiv {outer}) * {inner} + d2"),
            Operand([groups * outer, inner], "d1, d2"),
        ],
        MUL_ADD,
        reference,
        constants=(1,),
    )


def padded_max_pool(size: int, channels: int) -> NestCase:
    """A 3x3 maximum with a border of one, stride 2, channels last."""
    out = (size + 2 - 3) // 2 + 1

    def reference(x: np.ndarray, **_: int) -> np.ndarray:
        x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
        parts = [x[:, r : r + 2 * out - 1 : 2, s : s + 2 * out - 1 : 2] for r in range(3) for s in range(3)]
        return np.max(parts, axis=0)

    return NestCase(
        [1, out, out, channels],
        [3, 3],
        [Operand([1, size, size, channels], "d0, d1 * 2 + d4 - 1, d2 * 2 + d5 - 1, d3", fill="0xFF800000")],
        "%r = arith.maximumf %acc, %x0 : f32",
        reference,
        init="0xFF800000",
    )


ADD = "%r = arith.addf %acc, %x0 fastmath<reassoc> : f32"


def row_sum(rows: int | str, columns: int | str) -> NestCase:
    """Sums along the contiguous axis."""
    return NestCase([rows], [columns], [Operand([rows, columns], "d0, d1")], ADD, lambda x, **_: x.sum(1))


def column_sum(rows: int | str, columns: int | str) -> NestCase:
    """Sums across rows."""
    return NestCase([columns], [rows], [Operand([rows, columns], "d1, d0")], ADD, lambda x, **_: x.sum(0))


def add(dims: Sequence[int | str], other: Sequence[int | str] | None = None, index: str = "") -> NestCase:
    """`x + y`, with `y` of other dimensions, read at `index`."""
    identity = ", ".join(f"d{i}" for i in range(len(dims)))

    def reference(x: np.ndarray, y: np.ndarray, **_: int) -> np.ndarray:
        if not index:
            return x + y
        used = [int(part.strip()[1:]) for part in index.split(",") if part.strip()]
        shape = [x.shape[i] if i in used else 1 for i in range(x.ndim)]
        return x + y.reshape(shape)

    return NestCase(
        list(dims),
        [],
        [Operand(list(dims), identity), Operand(list(dims if other is None else other), index or identity)],
        "%r = arith.addf %x0, %x1 : f32",
        reference,
    )


def transposed(rows: int | str, columns: int | str) -> NestCase:
    """The transpose of a matrix, doubled."""
    return NestCase(
        [rows, columns],
        [],
        [Operand([columns, rows], "d1, d0")],
        "%r = arith.addf %x0, %x0 : f32",
        lambda x, **_: 2 * x.T,
    )
