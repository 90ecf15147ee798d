"""Tests neither read nor write the user's cache of object code."""

import atexit
import os
import shutil
import tempfile

# Processes that pytest-xdist starts inherit the folder of the first one.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="aicc-tests-")
    os.environ["AICC_CACHE_DIR"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
