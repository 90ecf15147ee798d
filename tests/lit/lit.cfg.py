"""lit's configuration: `lit tests/lit`, with the tools of the virtual environment on the path."""

import os
import sys

import lit.formats

config.name = "aicc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Output"]
config.test_source_root = os.path.dirname(__file__)
# Scratch files (%t) go to folders that git ignores.
config.test_exec_root = os.path.join(config.test_source_root, "Output")

# The environment that runs lit also runs the tools, whether it is activated or not.
scripts = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join((scripts, config.environment["PATH"]))
for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "PYTHONPATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# `%exits 2 command...` passes if the command ends with status 2; plain lit can only tell 0 from the rest.
exits = os.path.join(config.test_source_root, "Inputs", "exits.py")
config.substitutions.append(("%exits", f"{sys.executable} -S -E {exits}"))
