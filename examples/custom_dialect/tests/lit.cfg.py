"""lit's configuration: `lit examples/custom_dialect/tests`, with the package installed beside aicc."""

import os
import sys

import lit.formats

config.name = "aicc-example-poly"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.path.join(config.test_source_root, "Output")  # noqa: F821
config.environment["PATH"] = os.pathsep.join(  # noqa: F821
    (os.path.dirname(sys.executable), config.environment["PATH"])  # noqa: F821
)
