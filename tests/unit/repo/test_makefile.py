"""The Makefile: every target is explained by `make help`, and continuous integration runs the ones it should."""

import os
import re
import subprocess

from tests.unit.repo.tree import ROOT


def test_help_lists_every_target():
    (declared,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert sorted(re.findall(r"^  make (\S+) ", done.stdout, re.MULTILINE)) == sorted(declared.split())


def test_continuous_integration_tests_and_lints():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert re.findall(r"^make (\S+)$", script.read_text(), re.MULTILINE) == ["test", "lint"]
