"""Training that ends before its target, and parameters that it leaves as they are."""
import json

import tensors
from shard_checks import folder_of_classes
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
        words_of_log = json.loads((run / "events.jsonl").read_text().splitlines()[-1])["detail"]["text"]
        cli.check(f"{flag} is the stop_reason of --json", shown.get("stop_reason") == words_of_log and words in words_of_log, shown)
        cli.check(f"{flag} is named", f"stopped and saved at step {step}: " in result.err and words in result.err, result.err)
        last = json.loads((run / "events.jsonl").read_text().splitlines()[-1])
        cli.check(f"{flag} is an event", last["kind"] == "stop" and words in last["detail"]["text"], last)
        cli.check(f"{flag} saves", (run / "checkpoints" / f"step-{step:08}.safetensors").exists(), run)
    result = cli.ok("resume without it", "train", "--resume", run, "--set", "train.until_validation=0", "--json").json() or {}
    cli.check("to the target", result.get("step") == 40 and result.get("stop_reason") == "target", result)
    cli.bad("a loss that is no number", ["train", *SMALL, "--until-loss", "low"], [2], "train.until_loss", "low")


def part_of(path, *parts):
    tensors_of = tensors.read(path)[0]
    return {name: value for name, value in tensors_of.items() if not name.startswith(("optim.", "ema.")) and any(
        part in name for part in parts)}


def together(cli):
    """Two ranks, and shards as data: all stop at the step of one process, and what is frozen keeps its bits."""
    root = folder_of_classes(cli)
    cli.ok("shards to train on", "data", "pack", f"images:{root}", "-o", cli.folder / "shards" / "train-%05d.tar")
    whole = ["--set", "train.batch=8", "--set", "train.micro_batch=2", "--set", "train.reproducible=true", "--threads", 1]
    shards = ["train", "--preset", "demo-shapes", "--data", f"shards:{cli.folder / 'shards'}?size=16", *whole,
              "--set", "train.validate_every=0"]
    for data, args in (("mirror", ["train", *SMALL, *whole]), ("shards", shards)):
        ends = {}
        for n in (1, 2):
            run = cli.folder / f"{data}-{n}"
            result = cli.ok(f"{data}, {n} ranks: --until-loss", *args, "--steps", 40, "--nproc", n, "--until-loss", 100, "--out", run,
                            "--json").json() or {}
            cli.check(f"{data}, {n} ranks end at one step", result.get("step") == 20 and result.get("ranks") == n
                      and "the loss is" in result.get("stop_reason", ""), result)
            ends[n] = part_of(run / "checkpoints" / "step-00000020.safetensors", "")
        cli.check(f"{data}: both ended with the same weights", ends[1] and ends[1] == ends[2], "they differ")
        result = cli.ok(f"{data}, 2 ranks: --until-minutes", *args, "--nproc", 2, "--until-minutes", "1e-6", "--json",
                        "--out", cli.folder / f"{data}-time").json() or {}
        cli.check(f"{data}, 2 ranks end after the time", result.get("step") == 1 and "minutes" in result.get("stop_reason", ""), result)
        run = cli.folder / f"{data}-frozen"
        cli.ok(f"{data}, 2 ranks: frozen", *args, "--nproc", 2, "--set", "train.freeze=biases,keys", "--set", "train.checkpoint_every=1",
               "--set", "train.keep_checkpoints=0", "--steps", 4, "--out", run)
        first, last = (part_of(run / "checkpoints" / f"step-0000000{step}.safetensors", "") for step in (1, 4))
        same = {name for name in first if first[name] == last[name]}
        keys = {name for name in first if ".mixer.k." in name}
        moved = {name for name in first if ".mixer.v.weight" in name or name.endswith("head.weight")}
        cli.check(f"{data}, 2 ranks: keys stay bit for bit, values do not", keys and keys <= same and not moved & same and moved,
                  sorted(same))


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
    together(cli)
