#!/usr/bin/env python3
"""The command line, driven from outside: tests/cli/run.py BINARY [PART]...

Needs no data and no Python packages. AFTERIMAGE_DEVICE chooses the device (cpu). Parts run two at a time, each in a
folder of its own: starting the program over and over keeps one core busy. Prints what failed and
`N passed, N failed, N skipped`.
"""
import shutil
import sys
import time

import compare_checks
import cost_checks
import data_checks
import ends_checks
import figure_checks
import file_checks
import film_checks
import guide_checks
import import_checks
import kill_checks
import log_checks
import maps_checks
import op_checks
import rank_checks
import recipe_checks
import shard_checks
import sweep_checks
import train_checks
import usage_checks
import view_checks
from harness import Cli

PARTS = {"usage": usage_checks, "op": op_checks, "train": train_checks, "files": file_checks,
         "import": import_checks, "figures": figure_checks, "logs": log_checks, "cost": cost_checks,
         "shards": shard_checks, "sweeps": sweep_checks, "kills": kill_checks, "maps": maps_checks, "recipes": recipe_checks,
         "ranks": rank_checks, "guide": guide_checks, "views": view_checks, "films": film_checks, "data": data_checks,
         "ends": ends_checks, "compare": compare_checks}


def run_part(name):
    cli = Cli(sys.argv[1])
    cli.part_name = name
    start = time.monotonic()
    cli.part(PARTS[name].run)
    print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    shutil.rmtree(cli.folder, ignore_errors=True)
    return cli


def main():
    if len(sys.argv) < 2 or any(part not in PARTS for part in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    total = Cli(sys.argv[1])
    missing = total.missing_device()
    if missing:
        total.check("AFTERIMAGE_DEVICE", False, missing)
    return total.run_two_at_a_time(run_part, [] if missing else sys.argv[2:] or PARTS)


if __name__ == "__main__":
    sys.exit(main())
