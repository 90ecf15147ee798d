"""Checks on operands that several ops share, each with one message."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, dims_of, provably_different
from aicc.dialects.graph.interfaces import ElementKind, check_element_type, element_type_of


def common_element_type(
    allowed: ElementKind, first: tuple[str, SSAValue], others: Mapping[str, SSAValue | None]
) -> Attribute:
    """
    The element type of `first` (name, value), which all `others` that are given must have too.

    Raises:
        VerifyException: if one differs, or the type is not allowed.
    """
    what, value = first
    element = element_type_of(value)
    check_element_type(what, element, allowed)
    for name, other in others.items():
        if other is not None and (found := element_type_of(other)) != element:
            raise VerifyException(f"{name} has element type {found}, expected {element} like {what}")
    return element


def dims_of_rank(what: str, value: SSAValue, at_least: int, at_most: int | None = None) -> tuple[Dim, ...]:
    """
    The sizes of an operand.

    Raises:
        VerifyException: if its rank is out of bounds.
    """
    dims = dims_of(value.type)
    if len(dims) < at_least or (at_most is not None and len(dims) > at_most):
        if at_most == at_least:
            expected = str(at_least)
        else:
            expected = f"at least {at_least}" if at_most is None else f"{at_least} to {at_most}"
        raise VerifyException(f"{what} has rank {len(dims)}, expected {expected}")
    return dims


def expect_size(what: str, found: Dim, expected: Dim, why: str) -> None:
    """Raises VerifyException if two sizes provably differ; the text is `what` is `found`, expected `expected` `why`."""
    if provably_different(found, expected):
        raise VerifyException(f"{what} is {found}, expected {expected} {why}")
