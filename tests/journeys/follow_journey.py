"""A run that a Python loop writes, watched while it is written: curves, biases, what a file of biases lacks, its end."""
import subprocess
import sys
from pathlib import Path

from harness import HANG_S, wait_until
from train_journey import step_of
from window import Window

PACKAGE = Path(__file__).resolve().parent.parent.parent / "python"
# A loop of the user's own: two layers of biases that grow, until it is asked to end.
LOOP = """
import sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np, afterimage
from pathlib import Path
w = np.random.default_rng(0).standard_normal((2, 16, 16)).astype(np.float32)
with afterimage.Run(sys.argv[2], {"name": "mine"}, steps=100000) as run:
    for step in range(1, 10**9):
        run.log(step, loss=1 / step)
        if step % 20 == 0:
            run.save(step, biases={"first": w * step / 100, "second": -w}, grid=(4, 4))
        if Path(sys.argv[3]).exists():
            break
        time.sleep(0.01)
"""


def is_drawn(dump):
    maps = [w for w in dump.widgets if w.kind == "map" and w.id.startswith("atlas/")]
    return len(maps) >= 2 and all(w.value == "drawn" for w in maps)


def run(cli, screen):
    folder, end = cli.folder / "mine", cli.folder / "end"
    python = next((p for p in (sys.executable, "/usr/bin/python3")
                   if subprocess.run([p, "-c", "import numpy"], capture_output=True).returncode == 0), None)
    if python is None:
        cli.skip("no Python with numpy")
        return
    writer = subprocess.Popen([python, "-c", LOOP, str(PACKAGE), str(folder), str(end)], env=cli.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        watch(cli, screen, folder, end, writer)
    finally:
        writer.kill()
        writer.communicate()


def watch(cli, screen, folder, end, writer):
    wait_until(lambda: (folder / "config.json").exists() or writer.poll() is not None)
    with Window(cli, screen, folder) as window:
        first = step_of(window.until(lambda d: step_of(d) > 0 and d, "a first step"))
        window.until(lambda d: step_of(d) > first + 20, "the steps of the other process")
        cli.check("the window follows the loop", True)
        window.key("3")
        window.until(is_drawn, "the maps of both layers")
        cli.check("the biases are drawn while they are written", True)
        window.key("4")
        words = window.until(lambda d: d.value("attention/main/empty_state"), "what such a file lacks")
        cli.check("Attention says what biases alone lack", "bias" in words.lower(), words)
        end.touch()
        code = writer.wait(HANG_S)
        cli.check("the loop ends well beside the window", code == 0, writer.stderr.read()[-500:])
        window.until(lambda d: any(w.kind == "toast" and "ended" in w.value.lower() for w in d.widgets)
                     or d.value("status/main/state") not in ("Running", "Following"), "the end of the run")
        cli.check("the window closes with 0", window.close() == 0, window.words())
