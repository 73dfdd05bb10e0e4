#!/usr/bin/env python3
"""The window as a user has it: the real program under Xvfb, moved by xdotool.

    tests/journeys/run.py BINARY [--without] [open|train|complete|sampling|time|close|sizes|attention|rewind|film|follow|ranks|opengl|pace]...

Needs no data and no Python packages. Two journeys at a time, each on a screen of its own. Prints what failed, figures of
the pace (never checked: they are the machine's), and `N passed, N failed, N skipped`.
"""
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

import attention_journey  # noqa: E402
import close_journey  # noqa: E402
import complete_journey  # noqa: E402
import film_journey  # noqa: E402
import follow_journey  # noqa: E402
import open_journey  # noqa: E402
import opengl_journey  # noqa: E402
import pace_journey  # noqa: E402
import ranks_journey  # noqa: E402
import rewind_journey  # noqa: E402
import sampling_journey  # noqa: E402
import screen  # noqa: E402
import sizes_journey  # noqa: E402
import time_journey  # noqa: E402
import train_journey  # noqa: E402
from harness import Cli  # noqa: E402

JOURNEYS = {"open": open_journey, "train": train_journey, "complete": complete_journey, "sampling": sampling_journey,
            "time": time_journey, "close": close_journey, "sizes": sizes_journey, "attention": attention_journey,
            "rewind": rewind_journey, "film": film_journey, "follow": follow_journey, "ranks": ranks_journey,
            "opengl": opengl_journey, "pace": pace_journey}


def run_journey(name):
    cli, shown = Cli(sys.argv[1]), screen.Screen()
    cli.part_name = name
    start = time.monotonic()
    cli.part(JOURNEYS[name].run, shown)
    shown.end()
    print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    shutil.rmtree(cli.folder, ignore_errors=True)
    return cli


def main():
    chosen = sys.argv[2:]
    others = "--without" in chosen[:1]
    if len(sys.argv) < 2 or any(name not in JOURNEYS for name in chosen[others:]):
        print(__doc__, file=sys.stderr)
        return 2
    total = Cli(sys.argv[1])
    missing = screen.why_not()
    wanted = [name for name in JOURNEYS if not chosen or (name in chosen) != others]
    if missing:
        for _ in wanted:
            total.skip(missing)
        print(total.closing_line())
        return 0
    return total.run_two_at_a_time(run_journey, wanted)


if __name__ == "__main__":
    sys.exit(main())
