"""What every importer raises for a model that it cannot take."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.utils.exceptions import DiagnosticException


@dataclass(frozen=True)
class Problem:
    """One thing in a model that is not supported."""

    node: str
    operator: str
    """With its domain, if that is not the standard one."""
    opset: int | None
    """The version of the operator set that the model takes it from; None if the model names none."""
    reason: str

    @property
    def what(self) -> str:
        """The operator and its version."""
        return f"{self.operator}, {'no opset given' if self.opset is None else f'opset {self.opset}'}"

    def __str__(self) -> str:
        return f"node '{self.node}' ({self.what}): {self.reason}"


class ModelError(DiagnosticException):
    """A model that is damaged, contradicts itself, or holds what is not supported; the text is for the model's user."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)
        """All that is not supported, if that is what is wrong; the message lists it too."""
