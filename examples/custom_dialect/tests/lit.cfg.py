"""lit's configuration: `lit examples/custom_dialect/tests`, with the package installed beside aicc."""

import os
import sys

import lit.formats

config.name = "aicc-example-poly"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "Output")
config.environment["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), config.environment["PATH"]))
