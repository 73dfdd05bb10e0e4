"""Close the window while it trains: everything is saved, the run continues from the command line and in the window.

Where the last save fails nothing is lost silently: the window stays open once, then ends with 1 and says what is lost.
"""
import shutil
import signal

from screen import Screen
from train_journey import metrics, start_new_run, step_of, train_one_step
from window import Window


def unsaved(run):
    return f"{run}: steps 9 to 10 are not saved"


def open_unsaved(window, run):
    """At step 10, saved at 8, and no checkpoint can be written."""
    window.until(lambda d: step_of(d) == 8, "the run is open")
    train_one_step(window, 9)
    train_one_step(window, 10)
    (run / "checkpoints").rename(run / "aside")
    (run / "checkpoints").write_text("no folder")


def stays_open(window, run):
    window.until(lambda d: any(w.kind == "toast" and "Not closed: " + unsaved(run) in w.value for w in d.widgets),
                 "a toast that says what is not saved")


def check_lost(cli, window, run, how):
    code, words = window.wait(), window.words()
    cli.check(f"{how} ends with 1 and says what is lost", code == 1 and unsaved(run) in words and
              f"{run}/checkpoints" in words, f"{code}: {words}")


def check_blocked(cli, screen):
    first = cli.folder / "blocked"
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 8, "--out", first)

    def copy(name):
        return shutil.copytree(first, cli.folder / f"blocked-{name}")

    run = copy("twice")
    with Window(cli, screen, run) as window:
        open_unsaved(window, run)
        window.key("ctrl+q")
        stays_open(window, run)
        window.key("ctrl+q")
        check_lost(cli, window, run, "Quit for the second time")
    run = copy("freed")
    with Window(cli, screen, run) as window:
        open_unsaved(window, run)
        screen.close_window(window.id)
        stays_open(window, run)
        (run / "checkpoints").unlink()
        (run / "aside").rename(run / "checkpoints")
        cli.check("closing when the cause is gone ends with 0", window.close() == 0, window.words())
    cli.check("and saves", (run / "checkpoints" / "step-00000010.safetensors").exists(), "no checkpoint")
    run = copy("signal")
    with Window(cli, screen, run) as window:
        open_unsaved(window, run)
        window.process.send_signal(signal.SIGTERM)
        check_lost(cli, window, run, "A signal")
    run, other = copy("display"), Screen()
    with Window(cli, other, run) as window:
        open_unsaved(window, run)
        other.end()
        check_lost(cli, window, run, "A display that goes away")
    run, other = copy("saved"), Screen()
    with Window(cli, other, run) as window:
        window.until(lambda d: step_of(d) == 8, "the run is open")
        train_one_step(window, 9)
        other.end()
        cli.check("without its display it ends with 1", window.wait() == 1, window.words())
    cli.ok("but saves what can be saved", "inspect", run / "checkpoints" / "step-00000009.safetensors")


def run(cli, screen):
    check_blocked(cli, screen)
    folder = cli.folder / "closed"
    with Window(cli, screen) as window:
        home = window.folder
        window.until(lambda d: d.workspace == "Home", "Home")
        start_new_run(window, folder)
        window.until(lambda d: step_of(d) >= 5, "five steps")
        cli.check("it trains", window.dump().value("status/main/state") == "Running")
        code = window.close()
        cli.check("closing while it trains ends with 0", code == 0, f"{code}: {window.words()}")
    step = len(metrics(folder))
    saved = folder / "checkpoints" / f"step-{step:08d}.safetensors"
    cli.check("the last step is saved", step >= 5 and saved.exists(), f"step {step}, {list((folder / 'checkpoints').iterdir())}")
    cli.ok("the run continues without a window", "train", "--resume", folder, "--steps", step + 4)
    cli.check("without a gap", [m["step"] for m in metrics(folder)] == list(range(1, step + 5)), len(metrics(folder)))
    with Window(cli, screen, folder, keep=home) as window:  # the same user, another day
        window.until(lambda d: step_of(d) == step + 4, "it opens at its last step")
        window.key("space")
        window.until(lambda d: step_of(d) > step + 6, "it trains on in the window")
        window.key("ctrl+q")
        cli.check("Quit by key ends with 0 too", window.wait() == 0, window.words())
    cli.check("and saves", (folder / "checkpoints" / f"step-{len(metrics(folder)):08d}.safetensors").exists(), "no checkpoint")
