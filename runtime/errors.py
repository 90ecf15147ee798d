"""The errors a model user sees when a compiled model is loaded or called."""


class InputError(ValueError):
    """An array given to a model does not fit its signature; the message names the input and both shapes."""


class OutOfMemory(RuntimeError, MemoryError):
    """What a model needs for its results, constants or working memory cannot be had; nothing of it was allocated."""


class ProgramError(RuntimeError):
    """A compiled program cannot be loaded: damaged, of another version or for another machine."""
