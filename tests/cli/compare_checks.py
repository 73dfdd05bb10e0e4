"""compare in words: tables that a person reads, with the numbers of --json; and warnings of weights that are no numbers."""
import re
from pathlib import Path

import tensors

DEMO = Path(__file__).resolve().parent.parent.parent / "assets" / "demo" / "mirror.safetensors"


def rows_below(text, title):
    """The header row and the others of the table below the line that begins so."""
    lines = text.splitlines()
    places = [i for i, line in enumerate(lines) if line.startswith(title)]
    if not places:
        return "", []
    table = []
    for line in lines[places[0] + 1:]:
        if not line.startswith("  "):
            break
        table.append(line)
    return (table[0], table[1:]) if table else ("", [])


def close(word, value):
    """As printed with 5 digits."""
    return word == "-" if value is None else abs(float(word) - value) <= 1e-4 * abs(value) + 1e-12


def tables(cli):
    args = ["compare", "demo", "demo", "--step-a", "0"]
    words, found = cli.ok("compare in words", *args), cli.ok("compare --json", *args, "--json").json() or {}
    cli.check("no line is long, nothing is null", all(len(line) <= 130 for line in words.out.splitlines())
              and "null" not in words.out, words.out)
    for line in (r"  A +demo, step 0$", r"  B +demo, step 20$", r"  gauge +fixed", r"  layers +in their order$",
                 r"  heads +matched by"):
        cli.check(f"compare says {line}", re.search(line, words.out, re.M), words.out)
    header, layers = rows_below(words.out, "layers (")
    keys = ["layer", "layer_b", "norm_a", "norm_b", "norm_change", "relative", "correlation", "by_gauge_percent"]
    cli.check("the header of layers", header.split() == "layer of B norm A norm B norm of change relative correlation by gauge %".split(),
              header)
    cli.check("layers as in --json", len(layers) == len(found["layers"]) == 2 and all(
        close(word, row[key]) for line, row in zip(layers, found["layers"]) for word, key in zip(line.split(), keys, strict=True)),
        (layers, found["layers"]))
    header, changes = rows_below(words.out, "largest changes, by the change of w")
    cli.check("changes have target and source", "target  source" in header and "change of exp(w)" in header, header)
    keys = ["layer", "layer_b", "head_a", "head_b", "row", "column", "a", "b", "change"]
    cli.check("changes as in --json", len(changes) == 10 and all(
        close(word, row[key]) for line, row in zip(changes, found["changes"]) for word, key in zip(line.split(), keys)), changes)
    cli.check("the columns are aligned", len({len(line) for line in [header, *changes]}) == 1, changes)
    _, heads = rows_below(words.out, "heads")
    cli.check("a row for each head", len(heads) == len(found["heads"]), heads)
    cli.check("no setting differs", words.out.endswith("\nsettings: none differ\n"), words.out[-200:])
    cli.check("its progress reaches the end", (words.err.splitlines() or [""])[-1].startswith("2/2  layers"), words.err)
    by_exp = cli.ok("compare --changes-by exp", *args, "--changes-by", "exp").out
    cli.check("it says by what", "largest changes, by the change of exp(w)\n" in by_exp, by_exp)
    same = cli.ok("compare with itself", "compare", "demo", "demo").out
    _, layers = rows_below(same, "layers (")
    cli.check("what is not defined is a dash", layers and all(line.split()[-1] == "-" for line in layers)
              and "largest changes: no cell differs" in same, same)
    blocks = cli.ok("compare blocks", *args, "--blocks", "4").out
    cli.check("of blocks no changes", "means over 4 x 4 cells" in blocks and "none are listed" in blocks, blocks)


def others(cli):
    args = ["compare", "demo", DEMO]
    words = cli.ok("compare two trainings", *args)
    found = cli.run(*args, "--json").json()["settings"]
    header, rows = rows_below(words.out, "settings that differ")
    cli.check("the settings that differ, A and B", header.split() == ["setting", "A", "B"] and found
              and sorted(row.split()[0] for row in rows) == sorted(found),
              (header, rows, found))
    words = cli.ok("compare --layers matched", *args, "--layers", "matched")
    said = re.search(r"  layers +matched: (\d-\d), (\d-\d), sum of correlations (-?[0-9.]+); in order (-?[0-9.]+)$", words.out, re.M)
    cli.check("it says which layer is which", said and float(said.group(3)) >= float(said.group(4)), words.out)
    scores = {f"{row['layer']}-{row['layer_b']}": row["match"]
              for row in cli.run(*args, "--layers", "matched", "--json").json()["layers"]}
    low = [pair for pair, score in scores.items() if score < 0.3]
    cli.check("the sum is that of the scores", said and abs(sum(scores.values()) - float(said.group(3))) < 0.006, scores)
    cli.check("low scores are no likeness", low and f"layers {', '.join(low)}: correlation below 0.3" in words.out
              and "no likeness" in words.out, (low, words.out))
    cli.check("its progress reaches the end twice",
              re.search(r"^4/4  layers to match.*^2/2  layers", words.err, re.M | re.S), words.err)
    same = cli.ok("compare --layers matched with itself", "compare", "demo", "demo", "--layers", "matched").out
    cli.check("equals are alike", "0-0, 1-1, sum of correlations 2.00; in order 2.00" in same and "likeness" not in same, same)


def steps(cli):
    for flag in ("--step-a", "--step-b"):
        said = cli.bad(f"compare {flag} 7", ["compare", "demo", "demo", flag, "7"], [2], "step 7 is not stored there",
                       "stored: 0, 8, 16, 20")
        cli.check("it does not say that it was there", "any more" not in said.err, said)


def weights_of_nan(cli):
    found, metadata = tensors.read(DEMO)
    name = "blocks.0.mixer.q.weight"
    dtype, shape, values = found[name]
    tensors.write(cli.folder / "nan.safetensors", {**found, name: (dtype, shape, [float("nan"), *values[1:]])}, metadata)
    said = cli.ok("probe of NaN", "probe", "bias", "nan.safetensors", "-o", "b.npy", "--json")
    cli.check("probe names them", f"nan.safetensors: NaN or infinity in {name}" in said.err and said.json(), said)
    sound = cli.ok("probe of sound weights", "probe", "bias", DEMO, "-o", "b.npy")
    cli.check("of sound ones it says nothing", "NaN" not in sound.err, sound)


def run(cli):
    cli.ok("train to compare", "train", "--preset", "demo-mirror", "--steps", "20", "--out", "demo")
    cli.part(tables)
    cli.part(others)
    cli.part(steps)
    cli.part(weights_of_nan)
