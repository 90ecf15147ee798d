"""Arrays of other libraries, read and written where they are."""

import array as array_module
import ctypes
import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aicc
from aicc.runtime.adopt import adopt
from aicc.runtime.errors import InputError
from aicc.runtime.memory import address_of

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class Exporter:
    """A tensor of no library: what DLPack's text says, by hand, in the form before version 1."""

    def __init__(
        self,
        source: np.ndarray,
        code: int,
        *,
        device: int = 1,
        strides: bool = True,
        bits: int | None = None,
        lanes: int = 1,
        offset: int = 0,
    ) -> None:
        self.source = source
        self.exports = 0
        self._shape = (ctypes.c_int64 * source.ndim)(*source.shape)
        self._strides = (ctypes.c_int64 * source.ndim)(*(step // source.itemsize for step in source.strides))
        self._managed = Managed()
        tensor = self._managed.tensor
        tensor.data, tensor.byte_offset = source.ctypes.data - offset, offset
        tensor.device_type, tensor.ndim = device, source.ndim
        tensor.code, tensor.bits, tensor.lanes = code, bits or 8 * source.itemsize, lanes
        tensor.shape = ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64))
        if strides:
            tensor.strides = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._managed.tensor.device_type, 0

    def __dlpack__(self) -> object:
        self.exports += 1
        return _new_capsule(ctypes.addressof(self._managed), b"dltensor", None)


@pytest.mark.parametrize("offset", [0, 64])
@pytest.mark.parametrize(
    "dtype, code",
    [
        (np.float32, 2),
        (np.float64, 2),
        (np.float16, 2),
        (np.int8, 0),
        (np.int64, 0),
        (np.uint8, 1),
        (np.uint32, 1),
        (np.bool_, 6),
        (ml_dtypes.bfloat16, 4),
        (ml_dtypes.float8_e4m3fn, 10),
        (ml_dtypes.float8_e4m3fnuz, 11),
        (ml_dtypes.float8_e5m2, 12),
        (ml_dtypes.float8_e5m2fnuz, 13),
        (ml_dtypes.float8_e8m0fnu, 14),
    ],
)
def test_dlpack_by_hand(dtype: Any, code: int, offset: int):
    source = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for given, strides in ((source, True), (source, False), (source[:, ::-1, ::2], True), (source.T, True)):
        found = adopt("x", Exporter(given, code, strides=strides, offset=offset))
        assert found.dtype == source.dtype and found.shape == given.shape and found.strides == given.strides
        assert address_of(found) == given.ctypes.data
        assert found.tobytes() == given.tobytes()


def test_shapes_at_the_edge():
    scalar = np.array(3.5, np.float32)
    assert adopt("x", Exporter(scalar, 2)) == np.float32(3.5)
    assert adopt("x", Exporter(np.zeros((3, 0), np.float32), 2)).shape == (3, 0)


def test_the_maker_is_kept_while_the_array_is_there():
    class Counted:
        alive = 0

        def __init__(self) -> None:
            self.array = np.ones(5, np.float32)
            Counted.alive += 1

        def __del__(self) -> None:
            Counted.alive -= 1

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **options: Any) -> object:
            return self.array.__dlpack__(**options)

    found = adopt("x", Counted())
    view = found[1:]
    del found
    gc.collect()
    assert view.sum() == 4
    assert Counted.alive == 0  # numpy's capsule holds the array itself


def test_versioned_tensors_and_read_only_ones():
    source = np.arange(6, dtype=np.float32).reshape(2, 3)

    class Plain:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options: Any) -> object:
            assert options == {"max_version": (1, 0)}
            return self.array.__dlpack__(**options)

    found = adopt("x", Plain(source))
    assert found.flags.writeable and address_of(found) == source.ctypes.data
    source.flags.writeable = False
    assert not adopt("x", Plain(source)).flags.writeable


def test_libraries_that_know_versions_and_do_not_use_them_lend_for_reading_only():
    """As jax, whose arrays never change."""

    class Unversioned(Exporter):
        def __dlpack__(self, **options: Any) -> object:
            return super().__dlpack__()

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = adopt("x", Unversioned(x, 2))
    np.testing.assert_array_equal(found, x)
    assert not found.flags.writeable
    assert adopt("x", Exporter(x, 2)).flags.writeable
    model = aicc.compile(TEXT)
    y = x.astype(ml_dtypes.bfloat16)
    with pytest.raises(aicc.InputError, match="out 's' is read-only"):
        model(Unversioned(x, 2), y, out=[Unversioned(np.zeros((4, 3), np.float32), 2), None])


class Interface:
    """What numpy's array interface says, and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def test_other_protocols():
    source = np.arange(6, dtype=np.float32)
    for given in (Interface(source), memoryview(source), array_module.array("f", source.tolist())):
        found = adopt("x", given)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, source)
    assert address_of(adopt("x", Interface(source))) == source.ctypes.data
    assert address_of(adopt("x", memoryview(source))) == source.ctypes.data
    assert adopt("x", np.float32(3)).shape == ()


class Cuda:
    __cuda_array_interface__: Any = {}


class Broken:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> object:
        raise BufferError("it requires a gradient")


class Traced:
    """As what jax traces: no array at all, which it tells by an error of its own choice."""

    def __dlpack__(self, **options: Any) -> object:
        raise AssertionError

    @property
    def __dlpack_device__(self) -> object:
        raise AttributeError("a tracer has no memory")


@pytest.mark.parametrize(
    "given, message",
    [
        ([1.0], "x is a list, expected an array"),
        (None, "x is a NoneType, expected an array"),
        (
            Exporter(np.zeros(2), 2, device=2),
            r"x is a Exporter on a CUDA device \(0\), expected one in",
        ),
        (Exporter(np.zeros(2), 2, device=99), r"x is a Exporter on a device of type 99 \(0\)"),
        (Cuda(), "x is a Cuda on a CUDA device"),
        (Broken(), "x is a Broken that cannot be read: it requires a gradient"),
        (Traced(), "x is a Traced that cannot be read: a tracer has no memory"),
        (Exporter(np.zeros(2), 3), "x has elements of DLPack type 3 with 64 bits and 1 lanes, expected numbers"),
        (Exporter(np.zeros(2), 2, lanes=4), "with 64 bits and 4 lanes"),
        (Exporter(np.zeros(2, np.int8), 0, bits=4), "type 0 with 4 bits"),
    ],
)
def test_what_is_no_array_here(given: Any, message: str):
    with pytest.raises(InputError, match=message):
        adopt("x", given)


TEXT = """
func.func @main(%x: tensor<?x3xf32, #graph.dims<N>> {aicc.name = "x"},
                %y: tensor<?x3xbf16, #graph.dims<N>> {aicc.name = "y"})
    -> (tensor<?x3xf32, #graph.dims<N>> {aicc.name = "s"}, tensor<?x3xbf16, #graph.dims<N>> {aicc.name = "n"}) {
  %s = graph.add %x, %x : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
    -> tensor<?x3xf32, #graph.dims<N>>
  %n = graph.neg %y : tensor<?x3xbf16, #graph.dims<N>> -> tensor<?x3xbf16, #graph.dims<N>>
  func.return %s, %n : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xbf16, #graph.dims<N>>
}
"""


def test_models_take_and_give_them():
    model = aicc.compile(TEXT)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    y = x.astype(ml_dtypes.bfloat16)
    for given in (x, Exporter(x, 2), Interface(x), Exporter(np.asfortranarray(x), 2), x.astype(">f4"), x[::-1][::-1]):
        s, n = model(given, Exporter(y, 4))
        np.testing.assert_array_equal(s, x + x)
        np.testing.assert_array_equal(n, -y)
    target = Exporter(np.zeros((4, 3), np.float32), 2)
    results = model.run({"x": x, "y": y}, out={"s": target})
    assert results["s"] is target
    np.testing.assert_array_equal(target.source, x + x)
    with pytest.raises(aicc.InputError, match="input 'y' has dtype float32, expected bfloat16"):
        model(x, Exporter(x, 2))
    with pytest.raises(aicc.InputError, match="out 's' shares memory with input 'x'"):
        model(Exporter(x, 2), y, out=[Exporter(x, 2), None])


def test_torch():
    torch: Any = pytest.importorskip("torch")
    model = aicc.compile(TEXT)
    x = torch.arange(12, dtype=torch.float32).reshape(4, 3)
    y = x.to(torch.bfloat16)
    out = torch.zeros(4, 3)
    s, n = model(x.t().contiguous().t(), y, out=[out, None])
    assert s is out and torch.equal(out, x + x)
    np.testing.assert_array_equal(n.astype(np.float32), -x.numpy())
    with pytest.raises(aicc.InputError, match=r"cannot be read: .*grad"):
        model(torch.zeros(4, 3, requires_grad=True), y)
