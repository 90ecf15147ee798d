"""lit's configuration: `lit tests/lit`, with the tools of the virtual environment on the path."""

import os
import sys

import lit.formats

config.name = "aicc"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".test"]  # noqa: F821
config.excludes = ["Inputs", "Output"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
# Scratch files (%t) go to folders that git ignores.
config.test_exec_root = os.path.join(config.test_source_root, "Output")  # noqa: F821

# The environment that runs lit also runs the tools, whether it is activated or not.
scripts = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join((scripts, config.environment["PATH"]))  # noqa: F821
for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "PYTHONPATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]  # noqa: F821

# `%exits 2 command...` passes if the command ends with status 2; plain lit can only tell 0 from the rest.
exits = os.path.join(config.test_source_root, "Inputs", "exits.py")
config.substitutions.append(("%exits", f"{sys.executable} -S -E {exits}"))  # noqa: F821
