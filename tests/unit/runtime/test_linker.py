"""Objects linked without LLVM: what they refer to is found, what is not known is left to LLVM, damage is an error."""

import ctypes
import platform
from collections.abc import Callable

import pytest

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import host_target, target_by_name
from aicc.runtime.errors import ProgramError
from aicc.runtime.jit import Jitted
from aicc.runtime.linker import Linked, LinkError, UnsupportedObject
from aicc.runtime.program import link

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="links objects of x86-64")

FIRST = """
@table = constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
@count = global i64 40
@zeros = internal global [100 x i64] zeroinitializer
@functions = internal constant [2 x ptr] [ptr @second, ptr @own]
declare double @second(double)
declare double @sin(double)
declare double @ldexp(double, i32)
declare i64 @borrowed(i64)
@key = external global i8
declare void @qsort(ptr, i64, i64, ptr)

define internal double @own(double %x) {
  %y = fadd double %x, 0.5
  ret double %y
}

define double @main(double %x, i64 %i) {
  %place = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %weight = load double, ptr %place
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  %zero.place = getelementptr [100 x i64], ptr @zeros, i64 0, i64 %i
  store i64 %new, ptr %zero.place
  %back = load i64, ptr %zero.place
  %counted = sitofp i64 %back to double
  %function.place = getelementptr [2 x ptr], ptr @functions, i64 0, i64 %i
  %function = load ptr, ptr %function.place
  %called = call double %function(double %x)
  %sine = call double @sin(double %x)
  %scaled = call double @ldexp(double %sine, i32 3)
  %a = fadd double %weight, %counted
  %b = fadd double %a, %called
  %c = fadd double %b, %scaled
  ret double %c
}

define i64 @outside(i64 %x) {
  %y = call i64 @borrowed(i64 %x)
  %key = ptrtoint ptr @key to i64
  %z = add i64 %y, %key
  ret i64 %z
}

define ptr @address() {
  ret ptr @qsort
}
"""

SECOND = """
define double @second(double %x) {
  %y = fmul double %x, 3.0
  ret double %y
}
"""


def images() -> list[bytes]:
    return [emit_object(text, host_target()) for text in (FIRST, SECOND)]


BORROWED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 7 * x)
OUTSIDE = {"borrowed": ctypes.cast(BORROWED, ctypes.c_void_p).value or 0, "key": 1000}


def by_hand(images: list[bytes]) -> Linked:
    return Linked(images, OUTSIDE)


def by_llvm(images: list[bytes]) -> Jitted:
    return Jitted(images, OUTSIDE, ["main", "outside", "address", "second"])


@pytest.mark.parametrize("linked", [by_hand, by_llvm])
def test_code_finds_what_it_refers_to(linked: Callable[[list[bytes]], Linked | Jitted]):
    code = linked(images())
    main = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(code.address("main"))
    assert main(0.0, 0) == 1 + 41 + 0
    assert main(2.0, 1) == pytest.approx(2 + 42 + 2.5 + 8 * 0.9092974268256817)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address("outside"))(6) == 1042
    qsort = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(code.address("address"))() == qsort
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.address("second"))(5) == 15


def test_code_cannot_be_written_to():
    code = by_hand(images())
    address = code.address("main")
    with open("/proc/self/maps") as maps:
        for line in maps:
            first, _, last = line.split()[0].partition("-")
            if int(first, 16) <= address < int(last, 16):
                assert line.split()[1] == "r-xp"


def test_memory_is_given_back():
    def mapped() -> int:
        with open("/proc/self/maps") as maps:
            return len(maps.readlines())

    one = by_hand(images())
    before = mapped()
    for _ in range(20):
        by_hand(images())
    assert mapped() - before < 5
    assert one.address("main")


@pytest.mark.parametrize("how", ["empty", "text", "cut", "cut later", "other machine"])
def test_what_is_no_object_of_this_machine(how: str):
    image = {
        "empty": b"",
        "text": b"no object" * 100,
        "cut": images()[1][:200],
        "cut later": images()[0][:-700],
        "other machine": emit_object(SECOND, target_by_name("aarch64")),
    }[how]
    with pytest.raises(UnsupportedObject):
        Linked([image], {})


def test_symbols_that_are_missing_or_there_twice():
    with pytest.raises(LinkError, match="'second' is not defined"):
        by_hand(images()[:1])
    with pytest.raises(LinkError, match="'second' is defined twice"):
        by_hand([*images(), images()[1]])
    with pytest.raises(LinkError, match="'nothing' is not defined"):
        by_hand(images()).address("nothing")
    with pytest.raises(ProgramError, match=r"cannot be linked: '\w+' is not defined"):
        link(images()[:1], ["main"])


def test_threads_have_no_memory_of_their_own_here():
    text = "@own = thread_local global i64 3\ndefine i64 @f() {\n  %x = load i64, ptr @own\n  ret i64 %x\n}\n"
    with pytest.raises(UnsupportedObject):
        Linked([emit_object(text, host_target())], {})
