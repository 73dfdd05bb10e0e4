"""Training that ends before its target, and parameters that it leaves as they are."""
import json

import tensors
from train_checks import SMALL


def stops_early(cli):
    """The condition is named on standard error and in the run; a resumed run continues to its target."""
    cases = (("--until-minutes", "1e-6", "minutes of training are over", 1), ("--until-loss", 100, "the loss is", 20),
             ("--until-validation", 100, "the validation loss is", 10))
    for flag, value, words, step in cases:
        run = cli.folder / flag.strip("-")
        result = cli.ok(f"train {flag}", "train", *SMALL, "--out", run, flag, value, "--json")
        shown = result.json() or {}
        cli.check(f"{flag} ends at step {step}", shown.get("step") == step and not shown.get("interrupted"), result)
        cli.check(f"{flag} is named", f"stopped and saved at step {step}: " in result.err and words in result.err, result.err)
        last = json.loads((run / "events.jsonl").read_text().splitlines()[-1])
        cli.check(f"{flag} is an event", last["kind"] == "stop" and words in last["detail"]["text"], last)
        cli.check(f"{flag} saves", (run / "checkpoints" / f"step-{step:08}.safetensors").exists(), run)
    result = cli.ok("resume without it", "train", "--resume", run, "--set", "train.until_validation=0", "--json").json() or {}
    cli.check("to the target", result.get("step") == 40, result)
    cli.bad("a loss that is no number", ["train", *SMALL, "--until-loss", "low"], [2], "train.until_loss", "low")


def freezes(cli):
    """What is frozen has the same bits after training; all else moved."""
    run = cli.folder / "frozen"
    args = ["train", *SMALL, "--set", "train.freeze=biases,keys", "--set", "train.checkpoint_every=1", "--set",
            "train.keep_checkpoints=0", "--set", "train.ema=0.999", "--steps", 5, "--out", run]
    cli.ok("train with frozen groups", *args)
    first, last = (tensors.read(run / "checkpoints" / f"step-0000000{step}.safetensors")[0] for step in (1, 5))
    same = {name for name in first if not name.startswith(("optim.", "ema.")) and first[name] == last[name]}
    frozen = {name for name in first if ".mixer.k." in name or name.endswith((".mixer.u", ".mixer.r"))}
    frozen -= {name for name in frozen if name.startswith(("optim.", "ema."))}
    cli.check("they are as they were, all else is not", frozen and same == frozen, sorted(same ^ frozen))
    cli.check("nor did their moving average", all(last[f"ema.{name}"] == last[name] for name in frozen), sorted(frozen))
    cli.bad("a group that the model does not have", ["train", *SMALL, "--set", "train.freeze=kernels", "--out", cli.folder / "no"],
            [2], "train.freeze", "'kernels'", "biases", "keys")
    cli.check("nothing is made of it", not (cli.folder / "no").exists(), cli.folder)


def run(cli):
    stops_early(cli)
    freezes(cli)
