"""Sweeps, evaluation by class and example, and what the data and the user say of a model."""
import csv
import json
import subprocess

from figure_checks import texts
from harness import RUN_S

SWEEP = {"sentence": "two windows", "preset": "demo-mirror", "data": "mirror?size=8",
         "set": {"train.steps": 2, "train.schedule_steps": 2, "train.batch": 2, "train.validate_every": 0,
                 "model.mixer": "aft-local", "model.layers": 1, "model.dim": 8, "model.factors": 4},
         "axes": [{"key": "model.window", "values": [4, 8]}], "seeds": [1, 2], "split": "test", "limit": 4}


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def sweeps(cli):
    (cli.folder / "windows.json").write_text(json.dumps(SWEEP))
    plan = cli.ok("sweep --dry-run", "sweep", "windows.json", "--dry-run")
    cli.check("the dry run names the runs", plan.out.splitlines()[0] == "window=4,seed=1", plan)
    result = cli.ok("sweep", "sweep", "windows.json", "--out", "sw", "--json")
    found = result.json()
    cli.check("sweep --json has its runs", found and len(found["runs"]) == 4, result)
    runs = table(cli.folder / "sw" / "runs.csv")
    cli.check("runs.csv has a line for each run", [r["state"] for r in runs] == ["done"] * 4, runs)
    summary = table(cli.folder / "sw" / "summary.csv")
    means = [float(r["bits_per_dim"]) for r in summary]
    expected = [sum(float(r["bits_per_dim"]) for r in runs if r["point"] == s["point"]) / 2 for s in summary]
    cli.check("summary.csv has the means", all(abs(a - b) < 1e-9 for a, b in zip(means, expected)), summary)
    cli.check("the plot is SVG", (cli.folder / "sw" / "plot.svg").read_text().startswith("<"), "plot.svg")
    cli.bad("a sweep does not continue unasked", ["sweep", "windows.json", "--out", "sw"], [2], "--resume")
    for command in (["figure", "full-biases", "sw", "-o", "x.svg"], ["inspect", "sw"]):
        cli.bad(f"{command[0]} of a sweep", command, [1], "sw: a folder, but not a run folder", "it holds runs, take one of them",
                "sw/window=4,seed=1")
    again = cli.ok("sweep --resume", "sweep", "windows.json", "--out", "sw", "--resume", "--json").json()
    cli.check("what is done stays", again and again["runs"] == found["runs"], again)
    (cli.folder / "paper.json").write_text(json.dumps({**SWEEP, "axes": [{"key": "model.window", "values": [4]}], "seeds": [1],
                                                       "paper": 3, "variants": [{"name": "a", "paper": 1.154}]}))
    found = cli.ok("sweep with numbers of the paper", "sweep", "paper.json", "--out", "pa", "--json").json() or {}
    cli.check("a number of the paper stands as it is", found.get("paper") == "3" and
              table(cli.folder / "pa" / "summary.csv")[0]["paper"] == "1.154", found)
    (cli.folder / "bad.json").write_text(json.dumps({**SWEEP, "paper": [1]}))
    cli.bad("a list for the paper", ["sweep", "bad.json", "--dry-run"], [2], "bad.json", "paper", "a text or a number")
    cli.bad("an unknown sweep", ["sweep", "--preset", "nothing"], [2], "bytes-window")


def full_disk(cli):
    """A disk of 1 MiB that is nearly full: the sweep ends, and continues when there is free space."""
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    small = cli.folder / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=1m none '{small}' && cd '{small}'"
    if subprocess.run([*alone, mount], capture_output=True).returncode != 0:
        return cli.skip("this system mounts no disk of its own for a test")
    (cli.folder / "full.json").write_text(json.dumps(SWEEP))
    sweep = f"'{cli.binary}' --threads 1 sweep '{cli.folder}/full.json' --out sw"
    script = (f"{mount} && head -c 1000000 /dev/zero > ballast && {sweep} 2>'{cli.folder}/first';"
              f"echo $? >'{cli.folder}/code'; rm ballast; {sweep} --resume --json >'{cli.folder}/found.json'")
    subprocess.run([*alone, script], capture_output=True, timeout=RUN_S)
    said = (cli.folder / "first").read_text()
    cli.check("a full disk ends a sweep", (cli.folder / "code").read_text().strip() == "1" and
              "sw: the disk is full" in said and "--resume continues" in said, said)
    found = (cli.folder / "found.json").read_text()
    cli.check("with free space it continues", [r["state"] for r in json.loads(found)["runs"]] == ["done"] * 4, found)


def evaluation(cli):
    cli.ok("train shapes", "train", "--preset", "demo-shapes", "--steps", "1", "--set", "train.batch=2", "--out", "sh")
    result = cli.ok("eval of classes", "eval", "sh", "--data", "shapes", "--split", "test", "--limit", "40",
                    "--examples", "ex.csv", "--confusion", "c.csv", "--json")
    found = result.json()
    examples = table(cli.folder / "ex.csv")
    cli.check("a line for each example", len(examples) == 40, examples)
    right = sum(e["label"] == e["answer"] for e in examples) / 40
    cli.check("accuracy is theirs", found and abs(found["accuracy"] - right) < 1e-9, result)
    cli.check("all of three classes are among five", found and found["top5_accuracy"] == 1, result)
    cells = [int(v) for row in list(csv.reader(open(cli.folder / "c.csv")))[1:] for v in row[1:]]
    cli.check("the confusion counts all", sum(cells) == 40, cells)
    cli.check("there is a standard error", found and 0 <= found["accuracy_standard_error"] < 0.2, result)
    cli.ok("the confusion as a picture", "eval", "sh", "--data", "shapes", "--limit", "10", "--confusion", "c.png")
    cli.ok("the confusion as SVG", "eval", "sh", "--data", "shapes", "--limit", "10", "--confusion", "c.svg")
    words = texts(cli.folder / "c.svg")[1]
    names = next(csv.reader(open(cli.folder / "c.csv")))[1:]
    cli.check("its axes say what they are", {"label", "answer"} <= set(words), words)
    cli.check("its rows and columns have the names of the classes", len(names) == 3 and
              all(name in words and f"{label} {name}" in words for label, name in enumerate(names)), (names, words))
    cli.bad("two splits", ["eval", "sh", "--data", "shapes?split=test", "--split", "train"], [2], "--split")


def given_settings(cli):
    small = ["--preset", "demo-mirror", "--steps", "0", "--set", "model.layers=1", "--set", "model.dim=8"]
    cli.ok("a side that is set is the data's", "train", *small, "--data", "mirror", "--set", "model.height=8",
           "--set", "model.width=8", "--out", "g1")
    model = json.loads((cli.folder / "g1" / "config.json").read_text())["model"]
    cli.check("it is 8 x 8", (model["height"], model["width"]) == (8, 8), model)
    cli.bad("the data say otherwise", ["train", *small, "--data", "mirror?size=16", "--set", "model.height=8",
                                           "--out", "g2"], [2], "model.height", "mirror?size=16")
    said = cli.ok("what the data change is said", "train", *small, "--data", "mirror?size=8", "--out", "g3")
    cli.check("in one line", "from the data: model.height = 8 (not 16)" in said.err, said)
    cli.ok("fewer than log_every steps", "train", *small[:2], "--steps", "3", "--set", "train.log_every=10",
           "--set", "train.validate_every=0", "--set", "train.batch=2", "--set", "train.micro_batch=8", "--out", "g4")
    lines = (cli.folder / "g4" / "metrics.jsonl").read_text().splitlines()
    cli.check("the last step is logged", [json.loads(line)["step"] for line in lines] == [3], lines)


def run(cli):
    sweeps(cli)
    full_disk(cli)
    evaluation(cli)
    given_settings(cli)
