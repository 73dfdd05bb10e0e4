#!/usr/bin/env python3
"""Takes the pictures of docs/guide.md: scripts/guide_pictures.py PROGRAM [NUMBER...]

Trains the runs of the guide in a folder of its own, does the steps of each section in a window
without a display and writes docs/guide/NUMBER.png when the answer stands on the screen."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
import formulas  # noqa: E402
import op_checks  # noqa: E402
import tensors  # noqa: E402

GUIDE = ROOT / "docs/guide.md"
SIZE = "1280x800"
# Frames until the answer is there; the Lab's Speed measures for a minute.
FRAMES, FRAMES_OF_SPEED = 2500, 12000


def sections():
    """Number, actions, id of the answer, commands that train what it looks at."""
    for part in GUIDE.read_text().split("\n## ")[1:]:
        steps = re.search(r"```steps\n(.*?)```", part, re.S).group(1).splitlines()
        yield int(part.split(".")[0]), steps[:-1], steps[-1].split()[1], trainings(part)


def trainings(text):
    return re.findall(r"^    afterimage (train .*)$", text, re.M)


def train(program, folder, line):
    subprocess.run([program, *line.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def write_own_result(folder):
    x = op_checks.inputs("full")
    y = formulas.flat(formulas.apply("full", x, causal=True))
    tensors.write(folder / "mine.safetensors", {**x, "y": ("F64", x["v"][1], y)})


def take(program, folder, section):
    number, actions, answer, before = section
    for line in before:
        train(program, folder, line)
    frames = FRAMES_OF_SPEED if answer.startswith("speed/") else FRAMES
    picture = ROOT / f"docs/guide/{number}.png"
    lines = ["open runs/mirror", "wait Ready 60", "frames 60"]
    for action in actions:
        lines += [action] + (["wait Ready 60"] if action.startswith("open ") else []) + ["frames 60"]
    lines += ["hover status/main/step 1 1", f"frames {frames}", f"shot {picture}", "dump screen.txt"]
    script = folder / f"{number}.txt"
    script.write_text("\n".join(lines) + "\n")
    subprocess.run([program, "script", script, "--headless", "--size", SIZE], cwd=folder, check=True)
    shown = [line for line in (folder / "screen.txt").read_text().splitlines() if line.endswith("\t" + answer)]
    value = shown[0].split("\t")[3] if shown else ""
    if not re.search(r"\d", value):
        sys.exit(f"guide_pictures.py: section {number}: {answer} shows no number: '{value}'")
    print(f"{number}: {value}")


def main():
    program = Path(sys.argv[1] if len(sys.argv) > 1 else "").resolve()
    if not program.is_file() or not all(word.isdigit() for word in sys.argv[2:]):
        sys.exit("usage: guide_pictures.py PROGRAM [NUMBER...], as in build/release/afterimage 1 2")
    wanted = [int(word) for word in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(program, folder, trainings(GUIDE.read_text())[0])
        write_own_result(folder)
        for section in sections():
            if not wanted or section[0] in wanted:
                take(program, folder, section)


if __name__ == "__main__":
    main()
