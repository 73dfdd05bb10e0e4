"""inspect --cost: the numbers of a model and of every mixer against the length, as words, JSON, CSV and plot."""
import csv
import io
from pathlib import Path

from figure_checks import png_size, texts

DEMO = Path(__file__).resolve().parents[2] / "assets" / "demo"


def numbers(cli):
    model = DEMO / "mirror.safetensors"
    parameters = (cli.ok("inspect --json", "inspect", model, "--json").json() or {}).get("parameters")
    answer = cli.ok("inspect --cost --json", "inspect", model, "--cost", "--json").json() or {}
    whole = answer.get("model", {})
    cli.check("the cost counts the parameters of the file", whole.get("parameters") == parameters, (whole, parameters))
    cli.check("its parts add up", sum(p["parameters"] for p in whole["parts"]) == parameters, whole["parts"])
    rows = answer["mixers"]
    own = {row["mixer"] for row in rows if row["is_own"]}
    cli.check("one mixer is the model's", len(own) == 1, own)
    lengths = sorted({row["tokens"] for row in rows})
    cli.check("a doubling series around the model's length", lengths == [64, 128, 256, 512, 1024, 2048], lengths)
    cli.check("rates were measured", min(answer["rates"][key] for key in ("flops_per_second", "bytes_per_second")) > 0,
              answer["rates"])
    listed = {row["mixer"] for row in rows} | {gap["mixer"] for gap in answer["not"]}
    names = {room["name"] for room in (cli.ok("list mixers", "list", "mixers", "--json").json() or {})["mixers"]}
    cli.check("every mixer has rows or a reason", listed == names, listed ^ names)
    by = {(row["mixer"], row["tokens"]): row for row in rows}
    growth = lambda mixer: by[mixer, 2048]["train_flops"] / by[mixer, 1024]["train_flops"]
    cli.check("aft-simple grows as the length", abs(growth("aft-simple") - 2) < 0.01, growth("aft-simple"))
    cli.check("aft-full grows faster", growth("aft-full") > 3.5, growth("aft-full"))
    first = by["softmax", 64]
    cli.check("a row has all its keys", {"activation_bytes", "token_flops", "state_bytes", "estimated_seconds", "order",
                                         "changed", "grid"} <= set(first), first)


def files(cli):
    preset = ["inspect", "--preset", "enwik8-local-12x512", "--cost"]
    shown = cli.ok("inspect --cost in words", *preset, "--length", "256,1024", "--length", 4096, "-o", "cost.svg")
    for words in ("* aft-local", "estimate from", "GFLOP/s", "T=4096", "T^2 d", "not lambda"):
        cli.check(f"the words have {words}", words in shown.out, shown.out[:2000])
    _, words = texts(cli.folder / "cost.svg")
    for wanted in ("aft-local (the model's)", "softmax", "4096", "tokens T, log scale"):
        cli.check(f"the plot has {wanted}", wanted in words, words)
    cli.check("the plot says that times are estimates", any("estimate" in w for w in words), words)
    cli.ok("cost as CSV", *preset, "--length", "512", "-o", "cost.csv")
    rows = list(csv.DictReader(io.StringIO((cli.folder / "cost.csv").read_text())))
    cli.check("the CSV has a line for each mixer", len(rows) > 8 and all(row["tokens"] == "512" for row in rows), rows[:2])
    cli.check("its numbers are numbers", all(float(row["train_flops"]) > float(row["forward_flops"]) > 0 for row in rows))
    cli.ok("cost as PNG", *preset, "--length", "512", "-o", "cost.png")
    cli.check("the PNG is a picture", min(png_size(cli.folder / "cost.png")) > 500, png_size(cli.folder / "cost.png"))
    pictures = cli.ok("cost of a classifier", "inspect", "--preset", "imagenet-conv-tiny-32-11", "--cost", "--json").json()
    cli.check("a classifier decodes nothing", pictures and all(row["token_flops"] is None for row in pictures["mixers"]))


def usage(cli):
    preset = ["inspect", "--preset", "demo-mirror", "--cost"]
    for length in ("0", "-1", "1048577", "99999999999999999999", "many", "64,"):
        cli.bad(f"--length {length!r}", [*preset, f"--length={length}"], [2], "--length", "1 to 1048576")
    cli.bad("too many lengths", [*preset, "--length", ",".join(map(str, range(1, 70)))], [2], "--length", "at most 64")
    cli.bad("--length without --cost", ["inspect", "--preset", "demo-mirror", "--length", "64"], [2], "--length", "--cost")
    cli.bad("-o without --cost", ["inspect", "--preset", "demo-mirror", "-o", "x.svg"], [2], "-o", "--cost")
    cli.bad("an unknown kind of file", [*preset, "-o", "x.pdf"], [2], ".svg", "x.pdf")
    cli.bad("a file that cannot be written", [*preset, "-o", "gone/x.csv"], [1, 2], "gone/x.csv")
    cli.bad("the cost of a missing model", ["inspect", "gone.safetensors", "--cost"], [1, 2], "gone.safetensors")
    shown = cli.ok("a length that has no grid", *preset, "--length", "127", "--json").json() or {}
    cli.check("it is named", {"aft-conv2d", "local2d"} <= {gap["mixer"] for gap in shown["not"] if gap.get("tokens") == 127},
              shown.get("not"))


def run(cli):
    cli.part(numbers)
    cli.part(files)
    cli.part(usage)
