"""Back to a saved step by the button's list, and on from there: the same losses, nothing lost."""
import json

from train_journey import step_of, train_one_step
from window import Window


def losses(run):
    lines = (run / "metrics.jsonl").read_text().split("\n")[:-1]
    return [{key: value for key, value in json.loads(line).items() if key != "timing"} for line in lines]


def run(cli, screen):
    folder = cli.folder / "rewound"
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 24, "--out", folder,
           "--set", "train.checkpoint_every=8")
    before = losses(folder)
    with Window(cli, screen, folder) as window:
        window.until_value("status/main/step", "24")
        window.key("2")
        window.click("run/run/rewind")
        window.click("run/rewind/step_8")
        window.until(lambda d: step_of(d) == 8, "step 8 again")
        window.until(lambda d: any(w.kind == "toast" and "until-00000024" in w.value for w in d.widgets),
                     "a toast that names the branch")
        cli.check("the log ends at step 8", losses(folder) == before[:8], len(losses(folder)))
        branch = folder / "branches" / "until-00000024"
        cli.check("what came after is kept whole", losses(branch) == before, list(branch.iterdir()))
        train_one_step(window, 9)
        train_one_step(window, 10)
        cli.check("the same losses as the first time", losses(folder) == before[:10], losses(folder)[-1])
        cli.check("the window closes with 0", window.close() == 0, window.words())
    with Window(cli, screen, branch) as window:
        window.until_value("status/main/step", "24")
        cli.check("the branch opens at its last step", True)
