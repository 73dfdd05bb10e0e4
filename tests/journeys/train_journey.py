"""A new run from a preset: train, pause, step, change the learning rate, save, resume, stop."""
import json
import shutil

from window import Window

STEPS = 100000
RATE = "controls/optimiser/train.learning_rate"


def metrics(run):
    path = run / "metrics.jsonl"
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def step_of(dump):
    return int(dump.value("status/main/step") or -1)


def start_new_run(window, run, preset="demo-mirror"):
    """Starts a run of so many steps that it does not end within a test."""
    window.key("ctrl+n")
    window.click("home/new_run/preset")
    window.click(f"home/new_run/preset={preset}")
    window.until_value("home/new_run/preset", preset)
    window.type_number("home/settings/train.steps", str(STEPS))
    window.until_value("home/before_the_start/steps", lambda text: "".join(filter(str.isdigit, text)) == str(STEPS))
    window.fill("home/new_run/run_folder", str(run))
    window.click("home/before_the_start/start_run")
    window.until_value("status/main/state", "Running")


def train_one_step(window, step):
    """Trains one step, up to `step`. Waits for it: a second request within a step does not add one."""
    window.key("period")
    window.until(lambda d: step_of(d) == step and d.value("status/main/state") == "Paused", f"step {step}, paused")


def check_mistake(cli, window):
    """A mistake in the data is named while it is typed, and nothing can be started with it."""
    window.key("ctrl+n")
    window.fill("home/new_run/data", "mirrow?size=16")
    start = "home/before_the_start/start_run"
    dump = window.until(lambda d: d.find(start) and d.find(start).why_not and d, "the run cannot be started")
    words = dump.value("home/new_run/data_problem")
    cli.check("a wrong source is named, and what is allowed", "mirrow" in words and "mirror, tiles" in words, words)
    cli.check("the button says why", "mirrow" in dump.find(start).why_not, dump.find(start).why_not)


def pause(window):
    window.key("space")
    return step_of(window.until_value("status/main/state", "Paused"))


def check_steps(cli, window, run):
    window.until(lambda d: step_of(d) >= 8, "eight steps")
    step = pause(window)
    lines = len(metrics(run))
    cli.check("Space pauses; one line of metrics a step", lines == step, f"step {step}, {lines} lines")
    train_one_step(window, step + 1)
    window.click("run/run/step")
    dump = window.until(lambda d: step_of(d) == step + 2 and d.value("status/main/state") == "Paused" and d,
                        "another step by the button")
    cli.check("the progress says the step", dump.value("run/run/progress") == f"{step + 2} of {STEPS}",
              dump.value("run/run/progress"))
    return step + 2


def check_learning_rate(cli, window, run, step):
    before = metrics(run)[-1]["lr"]
    window.type_number(RATE, "1e-4")
    window.until_value(RATE, "1e-4")
    window.until(lambda d: any(w.id.endswith(f"/pin_learning-rate_{step}") for w in d.widgets), "the change is pinned")
    train_one_step(window, step + 1)
    after = metrics(run)[-1]["lr"]
    cli.check("the new learning rate is used", after < before / 10, f"{before} became {after}")


def check_save_and_resume(cli, window, run):
    step = step_of(window.dump())
    window.key("ctrl+s")
    saved = run / "checkpoints" / f"step-{step:08d}.safetensors"
    window.until(lambda d: saved.exists(), f"{saved.name} is written")
    cli.ok("a checkpoint saved by hand can be inspected", "inspect", saved)
    lines = len(metrics(run))
    window.click("run/run/primary")
    window.until(lambda d: step_of(d) > step + 5, "training continues")
    step = pause(window)
    grown = metrics(run)
    cli.check("the file of losses grows, without a gap", [m["step"] for m in grown] == list(range(1, step + 1)) and
              len(grown) > lines, f"{lines} lines, then {len(grown)} at step {step}")
    window.click("run/run/stop")
    window.until_value("status/main/state", "Stopped")
    last = run / "checkpoints" / f"step-{step:08d}.safetensors"
    cli.check("Stop saves", last.exists(), list((run / "checkpoints").iterdir()))


def run(cli, screen):
    folder = cli.folder / "runs" / "by hand \u00e9"  # a blank in the path, and a letter that is not ASCII
    with Window(cli, screen) as window:
        window.until(lambda d: d.workspace == "Home", "Home")
        check_mistake(cli, window)
        target = cli.folder / "trained"
        start_new_run(window, target)
        step = check_steps(cli, window, target)
        check_learning_rate(cli, window, target, step)
        check_save_and_resume(cli, window, target)
        cli.check("the window closes with 0", window.close() == 0, window.words())
    shutil.copytree(target, folder)
    with Window(cli, screen, folder) as window:
        window.until_value("status/main/state", "Ready")
        dump = window.until(lambda d: step_of(d) > 0 and d, "the step of the copy")
        cli.check("a run opens from a path with a blank and an accent", step_of(dump) == len(metrics(folder)),
                  step_of(dump))
        window.key("period")
        window.until(lambda d: step_of(d) == len(metrics(target)) + 1, "it can be trained on")
