"""Which examples of the data are measured."""
import csv
import json
import re


def add_class(folder, name, pictures):
    """Bands, of a width for each class."""
    (folder / name).mkdir(parents=True)
    for i in range(pictures):
        rows = b"".join(bytes((x // len(name) + y + i) * 40 % 251 for x in range(12)) for y in range(12))
        (folder / name / f"{i}.pgm").write_bytes(b"P5 12 12 255\n" + rows)


def spread(cli, run, spec):
    """A folder lists its pictures class by class."""
    data = ["--data", spec]
    found = cli.ok("eval of three", "eval", run, *data, "--limit", 3, "--json", "--examples", "three.csv").json() or {"classes": []}
    cli.check("one of each class is measured", [c["examples"] for c in found["classes"]] == [1, 1, 1], found)
    again = cli.ok("eval of three again", "eval", run, *data, "--limit", 3, "--json").json() or {}
    cli.check("always the same ones", again.get("loss_nats") == found.get("loss_nats"), (again, found))
    cli.ok("eval of a row", "eval", run, *data, "--limit", 3, "--index", 2, "--examples", "row.csv")
    rows = [[int(line["index"]) for line in csv.DictReader(open(cli.folder / name))] for name in ("three.csv", "row.csv")]
    cli.check("the examples are named", rows[0] == sorted(set(rows[0])) and rows[1] == [2, 3, 4], rows)
    cli.bad("an index that is none", ["eval", run, *data, "--index", 12], [2], "--index 12", "0 to 11")
    log = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    cli.check("a validation measures the same ones", abs(log[-1].get("validation.loss", 9) - found.get("loss_nats", 0)) < 1e-5,
              (log[-1], found))
    help_words = cli.run("eval", "--help").out
    cli.check("the help says so", "spread over the part" in help_words, help_words)


def spread_means(cli, run, spec):
    """Probes and figures of several examples choose in the same way."""
    probe = ["probe", "relative-attention", run, "--data", spec, "--limit", 3, "-o"]
    cli.ok("probe of three", *probe, "three.npy")
    cli.ok("probe of the first three", *probe, "row.npy", "--index", 0)
    cli.check("they are others", (cli.folder / "three.npy").read_bytes() != (cli.folder / "row.npy").read_bytes())
    cli.bad("more than there are", ["probe", "relative-attention", run, "--data", spec, "--limit", 13, "-o", "x.npy"], [2], "--limit 13", "12 examples")
    cli.bad("fewer from there on", [*probe, "x.npy", "--index", 10], [2], "--limit 3", "2 examples from 10 on")
    figure = ["figure", "relative-attention", run, "--limit", 3, "-o"]
    cli.ok("figure of three", *figure, "three.svg")
    cli.ok("figure of a row", *figure, "row.svg", "--index", 2)
    for name, words in (("three.svg", "3 of 12 examples, spread evenly"), ("row.svg", "examples 2 to 4")):
        text = " ".join(re.sub(r"<[^>]*>", " ", (cli.folder / name).read_text()).split())
        cli.check(f"{name} says which", words in text, text)


def run(cli):
    root, folder = cli.folder / "pictures", cli.folder / "run"
    for part in ("train", "val"):
        for name in ("ant", "wasp", "beetle"):
            add_class(root / part, name, 4)
    spec = f"images:{root}?size=16"
    cli.ok("train", "train", "--preset", "demo-shapes", "--data", spec, "--set", "train.batch=2", "--steps", 1, "--set",
           "train.validate_examples=3", "--set", "train.validate_every=1", "--out", folder)
    spread(cli, folder, spec)
    spread_means(cli, folder, spec)
