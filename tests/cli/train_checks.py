"""Training, what it leaves, and every command that opens it."""
import fcntl
import json
import math
import os
import resource
import signal

import tensors
from harness import HANG_S, stop_process, wait_until

SMALL = ["--preset", "demo-mirror", "--data", "mirror?size=8&levels=4"] + [
    word for setting in ("model.layers=1", "model.dim=8", "model.factors=8", "model.height=8", "model.width=8",
                         "model.levels=4", "train.batch=4", "train.validate_every=10", "train.validate_examples=8",
                         "train.steps=40", "train.checkpoint_every=10", "train.warmup=5")
    for word in ("--set", setting)]


def lines_of(run, name="metrics.jsonl"):
    path = run / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def line_count(run):
    """Number of complete lines of metrics.jsonl while it is being written."""
    log = run / "metrics.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def timeless(lines):
    return [{k: v for k, v in line.items() if k != "timing"} for line in lines]


def repetition(cli):
    """40 steps at once = 20, then 20 more in place; the same again is the same."""
    whole, half = cli.folder / "whole", cli.folder / "half"
    result = cli.ok("train 40 steps", "train", *SMALL, "--out", whole, "--json")
    shown = result.json() or {}
    cli.check("train --json is one object with its step", shown.get("step") == shown.get("steps_done") == 40, result)
    cli.check("progress goes to standard error", "40/40" in result.err, result)
    first = cli.ok("train 20 steps", "train", *SMALL, "--out", half, "--steps", 20)
    longer = cli.ok("train 60 steps", "train", *SMALL, "--out", cli.folder / "longer", "--steps", 60).err
    cli.check("the estimate counts the steps asked for", "for 20 steps" not in first.err and "for 60 steps" in longer, longer)
    cli.check("--steps 20 saves step 20", (half / "checkpoints" / "step-00000020.safetensors").exists(), first)
    with open(half / "metrics.jsonl", "a") as file:  # what a killed process leaves
        file.write('{"step": 21, "loss": 9.0}\n{"step": 22, "lo')
    cli.ok("resume to 40", "train", "--resume", half, "--steps", 40)
    a, b = timeless(lines_of(whole)), timeless(lines_of(half))
    cli.check("40 steps are logged", [x.get("step") for x in a] == list(range(1, 41)), [x.get("step") for x in a])
    cli.check("20 + 20 steps = 40 steps, line by line", a == b and a,
              next(((x, y) for x, y in zip(a, b) if x != y), (len(a), len(b))))
    cli.check("losses are finite and fall", a and all(math.isfinite(x["loss"]) for x in a) and a[-1]["loss"] < a[0]["loss"],
              [x.get("loss") for x in a[:1] + a[-1:]])
    ends = [tensors.read(run / "checkpoints" / "step-00000040.safetensors")[0] for run in (whole, half)]
    cli.check("both end with the same weights", ends[0] and ends[0] == ends[1], "weights differ")
    config = json.loads((whole / "config.json").read_text())
    cli.check("config.json repeats the settings", config["model"]["dim"] == 8 and config["train"]["steps"] == 40, config)
    return whole


def target_is_kept(cli):
    """A run that was to go beyond train.steps is resumed up to there."""
    run = cli.folder / "beyond"
    cli.ok("20 steps, more than train.steps", "train", *SMALL, "--set", "train.steps=10", "--steps", 20, "--out", run)
    events = run / "events.jsonl"  # as a run to 60 leaves it that is killed at 20
    cli.check("the target is an event", '"steps":20' in events.read_text(), events.read_text())
    events.write_text(events.read_text().replace('"steps":20', '"steps":60'))
    result = cli.ok("resume", "train", "--resume", run, "--json").json() or {}
    cli.check("to the target that was asked for", result.get("step") == 60, result)
    result = cli.ok("resume with one of its own", "train", "--resume", run, "--set", "train.steps=70", "--json").json() or {}
    cli.check("which wins", result.get("step") == 70, result)


def nothing_to_do(cli, run):
    """A run that is at its target is not said to have been trained."""
    before = {p.name: p.read_bytes() for p in (run / "checkpoints").iterdir()}
    for args, target in ((["--steps", 40], "--steps 40"), (["--steps", 10], "--steps 10"), ([], "target step 40")):
        said = cli.ok(f"resume at the target, {target}", "train", "--resume", run, *args).out
        cli.check(f"it says so, {target}", said.startswith(f"nothing to do: the run is at step 40 already ({target})")
                  and f"afterimage train --resume {run} --steps 80" in said and "done" not in said, said)
    said = cli.ok("resume with another target", "train", "--resume", run, "--set", "train.steps=30").out
    cli.check("it names that one", "step 40 already (target step 30)" in said, said)
    cli.ok("resume with the first target", "train", "--resume", run, "--set", "train.steps=40")
    done = cli.ok("resume at the target --json", "train", "--resume", run, "--steps", 40, "--json")
    shown = done.json() or {}
    cli.check("steps_done is 0", shown.get("steps_done") == 0 and shown.get("step") == 40, done)
    cli.check("and the words go to standard error", "nothing to do" in done.err, done)
    cli.check("nothing is lost", {p.name: p.read_bytes() for p in (run / "checkpoints").iterdir()} == before, sorted(before))


def stopped_between_checkpoints(process, run):
    """Stops the process at a moment when it is some steps past a checkpoint: True if that is so now."""
    stop_process(process)
    steps = line_count(run)
    saved = sorted((run / "checkpoints").glob("step-*.safetensors"))
    if steps > 25 and saved and steps > int(saved[-1].stem[len("step-"):]) >= 20:
        return True
    os.kill(process.pid, signal.SIGCONT)
    return False


def killed(cli):
    """A training that is killed in the middle and resumes = one that was never disturbed."""
    endless = ["--set", "train.steps=200000", "--set", "train.schedule_steps=40"]
    run, whole = cli.folder / "killed", cli.folder / "undisturbed"
    process = cli.start("train", *SMALL, *endless, "--out", run)
    there = wait_until(lambda: process.poll() is not None or stopped_between_checkpoints(process, run))
    cli.check("a training to kill", there and process.poll() is None, (there, process.poll()))
    process.kill()
    process.communicate(timeout=HANG_S)
    cli.check("it was killed", process.returncode == -signal.SIGKILL, process.returncode)
    last = line_count(run)
    end = last + 12
    resumed_from = max(int(p.stem[len("step-"):]) for p in (run / "checkpoints").glob("step-*.safetensors"))
    resumed = cli.ok("resume after a kill", "train", "--resume", run, "--steps", end)
    lost = f"steps {resumed_from + 1} to {last} were not saved and are lost" if last > resumed_from + 1 else f"step {last} was"
    cli.check("what the kill lost is named", last == resumed_from or lost in resumed.err, resumed)
    cli.ok("the same undisturbed", "train", *SMALL, *endless, "--out", whole, "--steps", end)
    a, b = timeless(lines_of(whole)), timeless(lines_of(run))
    cli.check("killed and resumed: every step once", [x.get("step") for x in b] == list(range(1, end + 1)),
              (last, resumed.err[-300:], [x.get("step") for x in b][-20:]))
    cli.check("killed and resumed = undisturbed, line by line", a == b,
              next(((x, y) for x, y in zip(a, b) if x != y), (len(a), len(b))))
    ends = [tensors.read(r / "checkpoints" / f"step-{end:08d}.safetensors")[0] for r in (whole, run)]
    cli.check("killed and resumed ends with the same weights", ends[0] and ends[0] == ends[1], "weights differ")


def first_and_resumed(cli):
    run = cli.folder / "none"
    cli.ok("train --steps 0", "train", *SMALL, "--out", run, "--steps", 0)
    cli.check("--steps 0 writes its checkpoint", (run / "checkpoints" / "step-00000000.safetensors").exists(),
              sorted(str(p) for p in run.rglob("*")))
    cli.bad("resume of nothing", ["train", "--resume", "no/such/run"], [1, 2], "no/such/run")
    cli.bad("resume with --out", ["train", "--resume", run, "--out", "x"], [2], "--out")
    cli.bad("train into a run with other settings", ["train", *SMALL, "--set", "model.dim=16", "--out", run], [1, 2], run.name)
    early = cli.folder / "early"  # another trainer has it, and has not saved anything yet
    early.mkdir()
    (early / "config.json").write_bytes((run / "config.json").read_bytes())
    with (early / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cli.bad("resume in use before its first checkpoint", ["train", "--resume", early], [1], early.name, "in use")
    blocked = cli.write("a-file", "not a folder")
    cli.bad("train into a file", ["train", *SMALL, "--out", blocked], [1, 2], blocked.name)


def interruption(cli):
    """Ctrl-C in the middle saves; a second trainer is kept out meanwhile; the run resumes."""
    run = cli.folder / "long"
    process = cli.start("train", *SMALL, "--set", "train.steps=200000", "--out", run)
    began = wait_until(lambda: process.poll() is not None or line_count(run) > 3)
    cli.check("a long run starts", began and process.poll() is None, f"exit code {process.poll()}")
    cli.bad("a run folder in use", ["train", "--resume", run], [1], run.name, "process")
    stop_process(process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)  # as from timeout(1), which signals a process and its group
    process.send_signal(signal.SIGCONT)  # now it sees both at once: a second one that comes late ends it without a save
    out, err = process.communicate(timeout=HANG_S)
    cli.check("Ctrl-C ends with 130", process.returncode == 130, (process.returncode, err[-300:]))
    lines = lines_of(run)
    last = lines[-1]["step"] if lines else -1
    saved = sorted(p.name for p in (run / "checkpoints").glob("*.safetensors"))
    cli.check("Ctrl-C saves the last step", saved and saved[-1] == f"step-{last:08d}.safetensors", (last, saved))
    cli.ok("the run resumes", "train", "--resume", run, "--steps", last + 3)
    cli.check("without a gap", [x["step"] for x in lines_of(run)] == list(range(1, last + 4)), lines_of(run)[-5:])
    cli.check("no temporary file is left", not list(run.rglob("*.tmp*")), list(run.rglob("*.tmp*")))


def disk_full(cli, whole):
    """A file may not grow past 4 kB: the message names the file, and nothing old is lost."""
    before = {p: p.read_bytes() for p in whole.rglob("*.safetensors")}
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    result = cli.run("train", *SMALL, "--out", cli.folder / "full", before=limit)
    cli.check("disk full while saving ends with 1", result.code == 1 and "full" in result.err
              and "afterimage: " in result.err and "terminate" not in result.err, result)
    result = cli.run("train", "--resume", whole, "--steps", 42, before=limit)
    cli.check("disk full while resuming ends with 1", result.code == 1 and whole.name in result.err, result)
    cli.check("what was saved is still there", all(p.read_bytes() == old for p, old in before.items()), "changed")
    cli.check("no half file is left", not [p for p in whole.rglob("*") if "tmp" in p.name], list(whole.rglob("*tmp*")))


def opened(cli, run):
    """eval, inspect, probe, complete and run on what training left."""
    shown = cli.ok("eval --json", "eval", run, "--data", "mirror?size=8&levels=4&split=test", "--limit", 20, "--json")
    result = shown.json() or {}
    cli.check("eval has its keys", {"task", "loss_nats", "bits_per_dim", "tokens", "examples"} <= set(result), shown)
    cli.check("eval: bits = nats / ln 2", math.isclose(result.get("bits_per_dim", 0),
              result.get("loss_nats", 9) / math.log(2), rel_tol=1e-6), shown)
    cli.check("eval counts its examples", result.get("examples") == 20 and result.get("tokens") == 20 * 64, shown)
    cost = cli.ok("inspect --cost --json", "inspect", run, "--cost", "--json").json() or {}
    cli.check("eval has the FLOPs of an example", result.get("flops_per_example") == cost.get("model", {}).get("forward_flops")
              and result.get("flops_per_example", 0) > 0, (result.get("flops_per_example"), cost.get("model")))
    cli.check("eval is better than guessing", 0 < result.get("bits_per_dim", 9) < 2.1, shown)
    shown = cli.ok("inspect --json", "inspect", run, "--json")
    found, _ = tensors.read(run / "checkpoints" / "step-00000040.safetensors")
    count = sum(len(values) for name, (_, _, values) in found.items() if name.startswith(("embed", "blocks", "norm", "head")))
    cli.check("inspect counts the parameters in the file", (shown.json() or {}).get("parameters") == count, (count, shown.out[:200]))
    shown = cli.ok("inspect in words", "inspect", run)
    cli.check("inspect says of what its bias statistics are", "position bias (raw w; of the visible pairs" in shown.out, shown)
    cli.part(bias, run, found)
    cli.part(model_and_parts, run)
    cli.part(completions, run)


def bias(cli, run, found):
    cli.ok("probe bias", "probe", "bias", run, "--layer", 0, "-o", "bias.npy")
    shape, got = tensors.read_npy(cli.folder / "bias.npy")
    u, r = (found[f"blocks.0.mixer.{n}"] for n in "ur")
    T, d = u[1]
    wanted = [sum(u[2][t * d + i] * r[2][s * d + i] for i in range(d)) for t in range(T) for s in range(T)]
    seen = [s <= t for t in range(T) for s in range(T)]
    near = lambda got, cells: all(abs(a - b) < 1e-5 for a, b, one in zip(got, wanted, cells) if one)
    cli.check("probe bias is u r^T of the file where a target sees a source", shape == [T, T] and near(got, seen), shape)
    cli.check("and NaN elsewhere", [not math.isnan(v) for v in got] == seen)
    said = json.loads((cli.folder / "bias.npy.json").read_text())
    visible = [v for v, one in zip(wanted, seen) if one]
    cli.check("its statistics are of the visible pairs", abs(said["min"] - min(visible)) < 1e-5 and
              abs(said["max"] - max(visible)) < 1e-5 and abs(said["mean"] - sum(visible) / len(visible)) < 1e-5, said)
    inspected = (cli.run("inspect", run, "--json").json() or {"bias": [{}]})["bias"][0]
    cli.check("as inspect has them", all(abs(inspected.get(key, 9) - said[key]) < 1e-5 for key in ("min", "max", "mean")), inspected)
    cli.ok("probe bias --visible all", "probe", "bias", run, "--visible", "all", "-o", "all.npy")
    cli.check("--visible all has them all", near(tensors.read_npy(cli.folder / "all.npy")[1], [True] * (T * T)))
    cli.bad("probe layer out of range", ["probe", "bias", run, "--layer", 7, "-o", "x.npy"], [1, 2], "layer", "7")
    cli.bad("probe unknown", ["probe", "biass", run, "-o", "x.npy"], [2], "biass", "bias")
    cli.bad("probe into an unknown kind of file", ["probe", "bias", run, "-o", "x.bmp"], [1, 2], "x.bmp", ".png")
    cli.bad("probe with a strange option", ["probe", "bias", run, "--quantity", "zz", "-o", "x.npy"], [1, 2], "zz")
    for kind in ("png", "csv"):
        shown = cli.ok(f"probe bias to {kind}", "probe", "bias", run, "-o", f"bias.{kind}", "--json")
        note = json.loads((cli.folder / f"bias.{kind}.json").read_text())
        cli.check(f"bias.{kind}.json holds what --json says", note == shown.json() and note["shape"] == [64, 64], note)
    cli.check("the picture is a PNG", (cli.folder / "bias.png").read_bytes()[:4] == b"\x89PNG", "no PNG")
    data = ["--data", "mirror?size=8&levels=4", "--index", 3]
    cli.ok("probe attention", "probe", "attention", run, "--position", 40, *data, "-o", "a.npy")
    shape, rows = tensors.read_npy(cli.folder / "a.npy")
    sums = [sum(rows[i * shape[-1]:(i + 1) * shape[-1]]) for i in range(shape[0])]
    cli.check("attention rows sum to 1", all(abs(s - 1) < 1e-4 for s in sums), (shape, sums[:3]))
    for name in ("keys", "gates", "predictions"):
        cli.ok(f"probe {name}", "probe", name, run, *data, "-o", f"{name}.npy")


def model_and_parts(cli, run):
    tokens = ("I64", [2, 64], [i % 4 for i in range(128)])
    tensors.write(cli.folder / "tokens.safetensors", {"tokens": tokens})
    cli.ok("run on tokens", "run", run, "tokens.safetensors", "logits.safetensors")
    out, _ = tensors.read(cli.folder / "logits.safetensors")
    cli.check("run gives logits [B, T, V]", out.get("logits", (0, 0))[1] == [2, 64, 4], {k: v[1] for k, v in out.items()})
    x = tensors.normal(3, (1, 64, 8), "F32")
    tensors.write(cli.folder / "x.safetensors", {"x": x})
    for part in ("mixer", "block"):
        cli.ok(f"run --part {part}", "run", run, "x.safetensors", "y.safetensors", "--layer", 0, "--part", part)
        out, _ = tensors.read(cli.folder / "y.safetensors")
        cli.check(f"run --part {part} gives y like x", out.get("y", (0, 0))[1] == [1, 64, 8], {k: v[1] for k, v in out.items()})
    cli.bad("run layer out of range", ["run", run, "x.safetensors", "y.safetensors", "--layer", 5, "--part", "mixer"],
            [2], "--layer 5", "0 to 0")
    cli.bad("run without its tensor", ["run", run, "x.safetensors", "z.safetensors"], [1], "x.safetensors", "tokens")
    tensors.write(cli.folder / "wide.safetensors", {"x": tensors.normal(3, (1, 64, 9), "F32")})
    tensors.write(cli.folder / "wild.safetensors", {"tokens": ("I64", [1, 64], [99] * 64)})
    cli.bad("run on tokens that are none", ["run", run, "wild.safetensors", "z.safetensors"], [1], "99")
    cli.bad("run on x of another width", ["run", run, "wide.safetensors", "z.safetensors", "--layer", 0, "--part", "block"],
            [1], "wide.safetensors", "8")


def completions(cli, run):
    picture = cli.write("in.png", tensors.png(16, 16, lambda x, y: (x * 16, y * 16, 128)))
    args = ["complete", run, "--image", picture, "--keep-rows", 4, "--samples", 3, "--seed", 5, "--json"]
    shown = cli.ok("complete", *args, "-o", "out")
    folder = cli.folder / "out"
    wanted = ["grid.png", "result.json", "sample-0.png", "sample-1.png", "sample-2.png"]
    cli.check("complete writes its files", sorted(p.name for p in folder.iterdir()) == wanted,
              sorted(p.name for p in folder.iterdir()) if folder.exists() else "no folder")
    cli.check("complete --json is one object", shown.json() is not None, shown)
    cli.check("result.json holds what --json says", json.loads((folder / "result.json").read_text()) == shown.json(), shown)
    again = cli.ok("complete again", *args, "-o", "again")
    same = all((folder / n).read_bytes() == (cli.folder / "again" / n).read_bytes() for n in wanted if n.endswith("png"))
    cli.check("the same seed gives the same pictures", same and again.code == 0, "differ")
    alone = cli.ok("complete one alone", "complete", run, "--image", picture, "--keep-rows", 4, "--samples", 1,
                   "--seed", 5, "-o", "one.png")
    one = cli.folder / "one.png"
    cli.check("alone as in a batch", alone.code == 0 and one.exists()
              and one.read_bytes() == (folder / "sample-0.png").read_bytes(), "differ")
    cli.ok("complete from data", "complete", run, "--data", "mirror?size=8&levels=4", "--index", 2, "--keep-rows", 4,
           "--samples", 1, "--temperature", 0, "-o", "greedy")
    mask = cli.write("mask.png", tensors.png(8, 8, lambda x, y: (255,) * 3 if x > 3 else (0,) * 3))
    cli.ok("complete with a mask", "complete", run, "--image", picture, "--mask", mask, "--samples", 1, "-o", "masked")
    wrong = cli.write("wrong.png", tensors.png(5, 5, lambda x, y: (255,) * 3))
    cli.bad("mask of another size", ["complete", run, "--image", picture, "--mask", wrong, "-o", "m"], [1, 2], "wrong.png", "8")
    cli.bad("rows out of range", ["complete", run, "--image", picture, "--keep-rows", 99, "-o", "m"], [1, 2], "99")
    default = cli.ok("one .png is one sample", "complete", run, "--image", picture, "--keep-rows", 4, "-o", "default.png")
    cli.check("one .png is written", (cli.folder / "default.png").exists(), default)
    cli.bad("length for pictures", ["complete", run, "--image", picture, "--keep-rows", 4, "--length", 5, "-o", "m"],
            [2], "--length", "--prompt")
    for prompt in ("hello", ""):
        cli.bad(f"prompt '{prompt}' for pictures", ["complete", run, "--prompt", prompt, "-o", "m"], [2],
                "task 'image'", "takes no prompt")


def texts(cli):
    """A model of texts continues a prompt, and from nothing."""
    run, text = cli.folder / "words-run", cli.write("words.txt", "the cat sat on the mat and saw the hat. " * 40)
    settings = ("model.layers=1", "model.dim=8", "model.factors=8", "model.length=32", "train.batch=4", "train.warmup=5",
                "train.validate_examples=2")
    cli.ok("train on a text", "train", "--preset", "shakespeare-small", "--data", f"text:{text}?alphabet=used",
           *(word for setting in settings for word in ("--set", setting)), "--steps", 1, "--out", run)
    args = ["complete", run, "--length", 50, "--samples", 2, "--seed", 5]  # longer than the model's window
    first = cli.ok("complete from nothing", *args, "--prompt", "", "--json")
    found = [s["text"] for s in (first.json() or {}).get("samples", [])]
    cli.check("from nothing: two texts of the length asked for", len(found) == len(set(found)) == 2
              and all(len(t) == 50 and set(t) <= set(text.read_text()) for t in found), first)
    again = cli.ok("complete from nothing in words", *args, "--prompt", "")
    cli.check("the same seed gives the same texts", again.out == "".join(t + "\n\n" for t in found), again)
    asked = cli.ok("complete from a prompt", *args, "--prompt", "the cat", "--json").json() or {}
    cli.check("a prompt stands first", all(s["text"].startswith("the cat") and len(s["text"]) == 57
                                           for s in asked.get("samples", [{"text": ""}])), asked)
    cli.ok("complete from nothing into a file", *args, "--prompt", "", "-o", "texts.txt")
    cli.check("the file holds them", (cli.folder / "texts.txt").read_text() == "\n\n".join(found) + "\n", found)
    cli.bad("an empty prompt and a picture", [*args, "--prompt", "", "--image", "in.png"], [2], "found several", "--prompt")


def folder_of_pictures(cli):
    """A folder has no test part: what looks at a sample takes the first part that there is, in the model's size."""
    folder, run = cli.folder / "photos", cli.folder / "photos-run"
    folder.mkdir()
    for i in range(4):
        rows = b"".join(bytes((x * y * (i + 3)) % 251 for x in range(12)) for y in range(12))
        (folder / f"{i}.pgm").write_bytes(b"P5 12 12 255\n" + rows)
    spec = f"images:{folder}"
    cli.ok("train on a folder of pictures", "train", *SMALL, "--data", f"{spec}?size=8&levels=4&gray=1", "--steps", 1,
           "--out", run)
    for name, args in (("attention", ["probe", "attention", run, "--position", 20]),
                       ("complete", ["complete", run, "--keep-rows", 4])):
        out = cli.folder / f"photos-{name}.png"
        cli.ok(f"{name} of a folder of pictures", *args, "--data", spec, "--out", out)
        cli.check(f"{name} leaves its picture", out.exists(), sorted(p.name for p in cli.folder.iterdir()))
    refused = cli.run("complete", run, "--keep-rows", 4, "--data", f"{spec}?split=test", "--out", "no.png")
    cli.check("a part that is empty is named", refused.code == 2 and "no examples in its test part" in refused.err, refused)


def add_class(folder, name, first):
    (folder / name).mkdir(parents=True)
    for i in range(first, first + 4):
        rows = b"".join(bytes((x * y * (i + 3)) % 251 for x in range(12)) for y in range(12))
        (folder / name / f"{i}.pgm").write_bytes(b"P5 12 12 255\n" + rows)


def classes_of_pictures(cli):
    """train/ and val/ with the paper's recipe for ImageNet; evaluation by the classes' names and of a whole folder."""
    root, other, run = cli.folder / "classes", cli.folder / "other-classes", cli.folder / "classes-run"
    for part in ("train", "val"):
        for at, name in enumerate(("ant", "bee", "cow")):
            add_class(root / part, name, 4 * at)
    add_class(other, "cow", 8)
    add_class(other, "ant", 0)
    cli.ok("train with recipe-c", "train", "--preset", "demo-shapes", "--data", f"images:{root}?size=16&crop=0.875",
           "--set", "data.augment=recipe-c", "--set", "model.input_norm=imagenet", "--set", "train.ema=0.5",
           "--set", "train.keep_best=true", "--set", "train.stochastic_depth=0.2", "--set", "train.batch=4",
           "--set", "train.validate_every=2", "--set", "train.validate_examples=12", "--steps", 6, "--out", run)
    kinds = [p.read_text().split()[0] for p in (run / "checkpoints").glob("*.kind")]
    cli.check("one checkpoint is the best", len([k for k in kinds if k.startswith("best")]) == 1, kinds)
    found = cli.ok("eval of val", "eval", run, "--data", f"images:{root}", "--json").json() or {}
    cli.check("the validation part is measured", found.get("examples") == 12 and found.get("split") == "validation", found)
    average = cli.ok("eval --ema", "eval", run, "--data", f"images:{root}", "--ema", "--json").json() or {}
    cli.check("the average is another model", average.get("loss_nats") not in (None, found.get("loss_nats")), average)
    whole = cli.ok("eval of everything", "eval", run, "--data", f"images:{root}?split=all", "--json").json() or {}
    cli.check("24 pictures are measured", whole.get("examples") == 24 and whole.get("split") == "all", whole)
    cli.bad("other classes", ["eval", run, "--data", f"images:{other}?split=all"], [2], "class 1 is 'cow' in the data, 'bee' in the model",
            "--classes by-name")
    named = cli.ok("eval by name", "eval", run, "--data", f"images:{other}?split=all", "--classes", "by-name", "--json").json() or {}
    cli.check("8 pictures are measured", named.get("examples") == 8, named)
    cli.bad("no such way", ["eval", run, "--data", f"images:{root}", "--classes", "order"], [2], "--classes", "by-name")
    cli.bad("no average", ["eval", cli.folder / "photos-run", "--data", f"images:{cli.folder / 'photos'}", "--ema"], [1], "moving average")
    (root / "train" / "ant" / "0.pgm").write_bytes(b"no picture")
    cli.bad("one picture of 24 is broken", ["train", "--preset", "demo-shapes", "--data", f"images:{root}?size=16", "--steps", 1,
                                            "--out", cli.folder / "no-classes-run"], [1], "0.pgm", "1 of 24 pictures")
    cli.check("no run is left", not (cli.folder / "no-classes-run").exists(), "")


def demo(cli):
    """The main job: trains, and leaves a model and pictures where it says."""
    run = cli.folder / "demo-run"
    said = cli.ok("demo", "demo", "--out", run, "--json", timeout=1500).json() or {}
    cli.check("demo --json says where the run is", said.get("run") == str(run), said)
    pictures = [cli.folder / p["file"] for p in said.get("pictures", [])]
    cli.check("it lists maps, attention and completions", len(pictures) >= 4, said)
    for path in pictures:
        cli.check(f"{path.name} is a picture", path.exists() and path.read_bytes().startswith(b"\x89PNG"), path)
    result = cli.ok("what the demo has learnt", "eval", run, "--data", "mirror?split=test", "--limit", 64, "--json")
    found = result.json() or {}
    cli.check("it is near what is possible", found.get("bits_per_dim", 9) < found.get("floor_bits_per_dim", 0) + 0.3, found)


def run(cli):
    whole = cli.part(repetition)
    for group in (opened, nothing_to_do, disk_full):
        cli.part(group, whole)
    for group in (target_is_kept, killed, first_and_resumed, interruption, folder_of_pictures, classes_of_pictures, texts, demo):
        cli.part(group)
