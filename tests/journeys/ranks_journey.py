"""A window that leads two processes: steps, a setting, a rewind, a save, and a rank that is lost."""
import os
import signal
import subprocess

from harness import wait_until
from train_journey import metrics, step_of, train_one_step
from window import Window

RATE = "controls/optimiser/train.learning_rate"


def follower(window):
    seen = subprocess.run(["ps", "-o", "pid=", "--ppid", str(window.process.pid)], capture_output=True, text=True).stdout
    return [int(word) for word in seen.split()]


def run(cli, screen):
    folder = cli.folder / "led"
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 16, "--out", folder,
           "--set", "train.steps=100000", "--set", "train.checkpoint_every=8", "--set", "train.micro_batch=4",
           "--set", "train.reproducible=true")
    before = [line["loss"] for line in metrics(folder)]
    with Window(cli, screen, "--threads", 1, "window", "--nproc", 2, folder) as window:
        window.until_value("status/main/step", "16")
        others = follower(window)
        cli.check("a second process stands beside the window", len(others) == 1, others)
        window.key("2")
        window.click("run/run/rewind")
        window.click("run/rewind/step_8")
        window.until(lambda d: step_of(d) == 8, "step 8 again")
        train_one_step(window, 9)
        train_one_step(window, 10)
        again = [line["loss"] for line in metrics(folder)]
        cli.check("two ranks repeat the losses of one process", again == before[:10], again[8:])
        window.type_number(RATE, "1e-4")
        window.until_value(RATE, "1e-4")
        train_one_step(window, 11)
        rates = [line["lr"] for line in metrics(folder)]
        cli.check("the new rate is used", rates[-1] < rates[-2] / 10, rates[-2:])
        window.click("run/run/primary")
        window.until(lambda d: step_of(d) > 12, "training by both")
        os.kill(others[0], signal.SIGKILL)
        dump = window.until(lambda d: d.value("status/main/state") == "Error" and d, "the lost rank is seen")
        words = " ".join(w.value for w in dump.widgets)
        cli.check("the lost rank is named", "rank 1" in words, words[-400:])
        window.close()
    cli.check("no process is left behind", wait_until(lambda: not any(map(alive, others))), others)


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
