"""Close the window while it trains: everything is saved, the run goes on from the command line and in the window."""
from train_journey import metrics, start_new_run, step_of
from window import Window


def run(cli, screen):
    folder = cli.folder / "closed"
    with Window(cli, screen) as window:
        home = window.folder
        window.until(lambda d: d.workspace == "Home", "Home")
        start_new_run(window, folder)
        window.until(lambda d: step_of(d) >= 5, "five steps")
        cli.check("it trains", window.dump().value("Status/Main/State") == "Running")
        code = window.close()
        cli.check("closing while it trains ends with 0", code == 0, f"{code}: {window.words()}")
    step = len(metrics(folder))
    saved = folder / "checkpoints" / f"step-{step:08d}.safetensors"
    cli.check("the last step is saved", step >= 5 and saved.exists(), f"step {step}, {list((folder / 'checkpoints').iterdir())}")
    cli.ok("the run goes on without a window", "train", "--resume", folder, "--steps", step + 4)
    cli.check("without a gap", [m["step"] for m in metrics(folder)] == list(range(1, step + 5)), len(metrics(folder)))
    with Window(cli, screen, folder, keep=home) as window:  # the same user, another day
        window.until(lambda d: step_of(d) == step + 4, "it opens at its last step")
        window.key("space")
        window.until(lambda d: step_of(d) > step + 6, "it trains on in the window")
        window.key("ctrl+q")
        cli.check("Quit by key ends with 0 too", window.wait() == 0, window.words())
    cli.check("and saves", (folder / "checkpoints" / f"step-{len(metrics(folder)):08d}.safetensors").exists(), "no checkpoint")
