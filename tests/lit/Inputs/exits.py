"""`exits.py STATUS COMMAND...`: runs the command and passes if it ends with that status."""

import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
found = subprocess.run(command, check=False).returncode
if found != expected:
    print(f"exit status {found}, expected {expected}: {' '.join(command)}", file=sys.stderr)
    sys.exit(1)
