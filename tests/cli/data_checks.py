"""What is measured where the data are not named, and which examples of them."""
import csv
import json
import pathlib
import re

import tensors

FIXTURES = pathlib.Path(__file__).parent.parent / "model" / "imports"


def add_class(folder, name, pictures):
    """Bands, of a width for each class."""
    (folder / name).mkdir(parents=True)
    for i in range(pictures):
        rows = b"".join(bytes((x // len(name) + y + i) * 40 % 251 for x in range(12)) for y in range(12))
        (folder / name / f"{i}.pgm").write_bytes(b"P5 12 12 255\n" + rows)


def spread(cli, run):
    """A folder lists its pictures class by class."""
    found = cli.ok("eval of three", "eval", run, "--limit", 3, "--json", "--examples", "three.csv").json() or {"classes": []}
    cli.check("one of each class is measured", [c["examples"] for c in found["classes"]] == [1, 1, 1], found)
    again = cli.ok("eval of three again", "eval", run, "--limit", 3, "--json").json() or {}
    cli.check("always the same ones", again.get("loss_nats") == found.get("loss_nats"), (again, found))
    cli.ok("eval of a row", "eval", run, "--limit", 3, "--index", 2, "--examples", "row.csv")
    rows = [[int(line["index"]) for line in csv.DictReader(open(cli.folder / name))] for name in ("three.csv", "row.csv")]
    cli.check("the examples are named", rows[0] == sorted(set(rows[0])) and rows[1] == [2, 3, 4], rows)
    cli.bad("an index that is none", ["eval", run, "--index", 12], [2], "--index 12", "0 to 11")
    log = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    cli.check("a validation measures the same ones", abs(log[-1].get("validation.loss", 9) - found.get("loss_nats", 0)) < 1e-5,
              (log[-1], found))
    help_words = cli.run("eval", "--help").out
    cli.check("the help says so", "spread over the part" in help_words, help_words)


def spread_means(cli, run):
    """Probes and figures of several examples choose in the same way."""
    probe = ["probe", "relative-attention", run, "--limit", 3, "-o"]
    cli.ok("probe of three", *probe, "three.npy")
    cli.ok("probe of the first three", *probe, "row.npy", "--index", 0)
    cli.check("they are others", (cli.folder / "three.npy").read_bytes() != (cli.folder / "row.npy").read_bytes())
    cli.bad("more than there are", ["probe", "relative-attention", run, "--limit", 13, "-o", "x.npy"], [2], "--limit 13", "12 examples")
    cli.bad("fewer from there on", [*probe, "x.npy", "--index", 10], [2], "--limit 3", "2 examples from 10 on")
    figure = ["figure", "relative-attention", run, "--limit", 3, "-o"]
    cli.ok("figure of three", *figure, "three.svg")
    cli.ok("figure of a row", *figure, "row.svg", "--index", 2)
    for name, words in (("three.svg", "3 of 12 examples, spread evenly"), ("row.svg", "examples 2 to 4")):
        text = " ".join(re.sub(r"<[^>]*>", " ", (cli.folder / name).read_text()).split())
        cli.check(f"{name} says which", words in text, text)


def own_data(cli, run, spec):
    found = cli.ok("eval without data", "eval", run, "--json").json() or {}
    cli.check("the run's own are measured", found.get("data") == spec and found.get("split") == "validation"
              and "its own" in found.get("note", ""), found)
    for name in ("predictions", "attention"):
        said = cli.ok(f"probe {name} without data", "probe", name, run, "--index", 1, "-o", f"{name}.npy")
        cli.check(f"probe {name} says which it took", f"{spec} validation 1" in said.out, said)
    cli.ok("train a mirror", "train", "--preset", "demo-mirror", "--data", "mirror?size=8&levels=4", "--steps", 0, "--out", "m")
    said = cli.ok("complete without data", "complete", "m", "--index", 3, "--keep-rows", 4, "--samples", 1, "-o", "c")
    cli.check("complete says which it took", "mirror?size=8&levels=4 test 3" in said.out, said)
    cli.bad("neither picture nor mask", ["complete", "m", "-o", "c"], [2], "--image", "--prompt")
    one = cli.ok("complete one", "complete", "m", "--index", 2, "--keep-rows", 4, "--samples", 1, "-o", "alone")
    several = cli.ok("complete several", "complete", "m", "--index", "2,0", "--keep-rows", 4, "--samples", 1, "-o", "several", "--json")
    same = (cli.folder / "several/picture-2/sample-0.png").read_bytes() == (cli.folder / "alone/sample-0.png").read_bytes()
    listed = [p["index"] for p in several.json()["pictures"]]
    cli.check("several are each as alone", one.code == 0 and same and listed == [2, 0], several)
    gone = cli.ok("complete leaves out what is not there", "complete", "m", "--index", "0,99999999", "--keep-rows", 4,
                  "--samples", 1, "-o", "gone", "--json").json()
    cli.check("what is left out is named", "99999999" in gone["pictures"][1]["error"], gone)
    for change, *said in (("1:40=1", "sample 1", "0 to 0"), ("0:64=1", "position 64", "0 to 63"), ("0:3=1", "position 3", "mask"),
                          ("0:40=4", "level 4", "0 to 3"), ("0:40", "'0:40'", "SAMPLE:POSITION=LEVEL")):
        cli.bad(f"change of {change}", ["complete", "m", "--index", 0, "--keep-rows", 4, "--samples", 1, "-o", "x", "--change", change],
                [2], "--change", *said)
    cli.bad("several into one picture", ["complete", "m", "--index", "0-1", "--keep-rows", 4, "--samples", 1, "-o", "x.png"],
            [2], "x.png", "folder")
    cli.bad("a list that is none", ["complete", "m", "--index", "0-", "--keep-rows", 4, "-o", "x"], [2], "--index", "'0-'")
    cli.bad("a list with a hole", ["complete", "m", "--index", "1,,2", "--keep-rows", 4, "-o", "x"], [2], "--index", "'1,,2'")
    cli.bad("several of one file", ["complete", "m", "--image", "x.png", "--index", "0-1", "--keep-rows", 4, "-o", "x"], [2],
            "several --index", "--image")
    one_position(cli)
    both = cli.ok("probe patching without data", "probe", "patching", "m", "--other", 1, "-o", "p.npy")
    cli.check("probe patching says which it took", "test 0" in both.out and "test 1" in both.out, both)


def one_position(cli):
    """Of probes of all positions --position takes one."""
    tensors_of = {}
    for name, more in (("all", ()), ("one", ("--position", 7)), ("first", ("--position", 0))):
        cli.ok(f"predictions, {name}", "probe", "predictions", "m", *more, "-o", f"{name}.npy")
        tensors_of[name] = tensors.read_npy(cli.folder / f"{name}.npy")
    shape, values = tensors_of["all"]
    width = shape[-1]
    for name, row in (("one", 7), ("first", 0)):
        found = tensors_of[name]
        wanted = values[row * width:(row + 1) * width]
        cli.check(f"--position {row} is one row", len(found[1]) == width
                  and max(abs(a - b) for a, b in zip(found[1], wanted)) < 1e-5, (shape, found[0]))
    patching = ["probe", "patching", "m", "--other", 1, "-o"]
    cli.ok("patching of all", *patching, "p.npy")
    cli.ok("patching of one", *patching, "p7.npy", "--position", 7)
    mean, one = (tensors.read_npy(cli.folder / name) for name in ("p.npy", "p7.npy"))
    cli.check("the loss of one token is another", mean[0] == one[0] and mean[1] != one[1], (mean[0], one[0]))
    for args in (["probe", "predictions", "m", "-o"], patching):
        for position, allowed in ((64, "0 to 63"), ("999999999999", "0 to 63"), (-1, "from 0 on")):
            cli.bad(f"{args[1]} --position {position}", [*args, "x.npy", "--position", position], [2], "position", allowed)


def unknown_data(cli):
    """Weights of others name none."""
    cli.ok("import", "import", FIXTURES / "timm.pt", "-o", "vit.safetensors")
    for name, args in (("eval", ["eval", "vit.safetensors"]),
                       ("probe", ["probe", "attention", "vit.safetensors", "-o", "x.npy"])):
        cli.bad(f"{name} where no data are known", args, [2], "vit.safetensors", "names no data", "--data SPEC")


def run(cli):
    root, folder = cli.folder / "pictures", cli.folder / "run"
    for part in ("train", "val"):
        for name in ("ant", "wasp", "beetle"):
            add_class(root / part, name, 4)
    spec = f"images:{root}?size=16"
    cli.ok("train", "train", "--preset", "demo-shapes", "--data", spec, "--set", "train.batch=2", "--steps", 1, "--set",
           "train.validate_examples=3", "--set", "train.validate_every=1", "--out", folder)
    spread(cli, folder)
    spread_means(cli, folder)
    own_data(cli, folder, spec)
    unknown_data(cli)
