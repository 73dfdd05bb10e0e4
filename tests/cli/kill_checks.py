"""A training that is killed again and again is, at its end, the one that was never disturbed."""
import os
import random
import signal
import time

import tensors
from harness import HANG_S, wait_until
from train_checks import SMALL, line_count, lines_of, timeless

END, KILLS = 1200, 10
ARGS = [*SMALL, *(word for setting in (f"train.steps={END}", "train.history_frames=16", "train.save_minutes=0.003",
                                       "train.checkpoint_every=90", "train.log_every=3") for word in ("--set", setting))]


def has_saved(run):
    return any((run / "checkpoints").glob("step-*.safetensors"))


def train_and_kill(cli, run, lines, moment):
    """Kills a training once its log has `lines` more lines and a checkpoint is saved; returns whether it still ran."""
    wanted = line_count(run) + lines
    process = cli.start("train", *(["--resume", run] if has_saved(run) else [*ARGS, "--out", run]))
    wait_until(lambda: process.poll() is not None or (line_count(run) >= wanted and has_saved(run)), pause=0.005)
    time.sleep(moment)  # any moment between two lines
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=HANG_S)
    return process.returncode == -signal.SIGKILL


def files_of(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def killed_often(cli):
    chance = random.Random(7)
    whole, run = cli.folder / "whole", cli.folder / "killed"
    cli.ok("train undisturbed", "train", *ARGS, "--out", whole)
    kills = sum(train_and_kill(cli, run, chance.randrange(1, 30), chance.uniform(0, 0.02)) for _ in range(KILLS))
    cli.check("it was killed several times on the way", kills >= 3, kills)
    for name in (f"step-00000500.safetensors.tmp-{dead_process()}-3", "step-00000500.kind"):
        (run / "checkpoints" / name).write_bytes(b"half")  # a kill in the middle of a save
    cli.ok("the last resume", "train", "--resume", run)
    a, b = timeless(lines_of(whole)), timeless(lines_of(run))
    cli.check("killed often = undisturbed, line by line", a == b and len(a) == END // 3 + END // 30 * 2,
              next(((x, y) for x, y in zip(a, b) if x != y), (len(a), len(b))))
    last = f"step-{END:08d}.safetensors"
    ends = [tensors.read(r / "checkpoints" / last)[0] for r in (whole, run)]
    cli.check("killed often ends with the same weights and averages", ends[0] and ends[0] == ends[1], "weights differ")
    moments = [files_of(r / "history") for r in (whole, run)]
    cli.check("killed often keeps the same moments", len(moments[0]) == 16 and moments[0] == moments[1],
              [sorted(m) for m in moments])
    saved = [sorted(p.name for p in (r / "checkpoints").iterdir()) for r in (whole, run)]
    cli.check("and the same checkpoints, but for nothing by time", saved[0] == saved[1] and len(saved[0]) == 3, saved)
    left = [p for p in run.rglob("*") if ".tmp-" in p.name or p.name.endswith(".kept")]
    cli.check("no temporary file is left", not left, left)


def dead_process():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def linked_log(cli):
    """A log that leads elsewhere: refused before anything is written, in one line."""
    run, target = cli.folder / "linked", cli.write("target.txt", "mine\n")
    cli.ok("train a run", "train", *SMALL, "--steps", 2, "--out", run)
    (run / "metrics.jsonl").unlink()
    (run / "metrics.jsonl").symlink_to(target)
    cli.bad("a linked log", ["train", "--resume", run], [1], "metrics.jsonl", "symbolic link")
    cli.check("its target is untouched", target.read_text() == "mine\n", target.read_text())


def run(cli):
    for group in (killed_often, linked_log):
        cli.part(group)
