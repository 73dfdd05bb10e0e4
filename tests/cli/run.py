#!/usr/bin/env python3
"""The command line, driven from outside: tests/cli/run.py BINARY [usage|op|train|files]...

Needs no data and no Python packages. AFTERIMAGE_DEVICE chooses the device (cpu). Prints what failed and `N passed, N failed, N skipped`.
"""
import shutil
import sys
import time

import file_checks
import op_checks
import train_checks
import usage_checks
from harness import Cli

PARTS = {"usage": usage_checks, "op": op_checks, "train": train_checks, "files": file_checks}


def main():
    if len(sys.argv) < 2 or any(part not in PARTS for part in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    cli = Cli(sys.argv[1])
    missing = cli.missing_device()
    if missing:
        cli.check("AFTERIMAGE_DEVICE", False, missing)
    for name in [] if missing else sys.argv[2:] or PARTS:
        start = time.monotonic()
        cli.part(PARTS[name].run)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    shutil.rmtree(cli.folder, ignore_errors=True)
    print(cli.closing_line())
    return 1 if cli.failed else 0


if __name__ == "__main__":
    sys.exit(main())
