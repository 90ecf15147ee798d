"""What every importer raises for a model that it cannot take."""

from xdsl.utils.exceptions import DiagnosticException


class ModelError(DiagnosticException):
    """A model that is damaged, contradicts itself, or holds what is not supported; the text is for the model's user."""
