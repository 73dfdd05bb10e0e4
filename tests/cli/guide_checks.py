"""The commands of docs/guide.md, run as they stand there; the first trains the run that the others look at."""
import re
import shlex
from pathlib import Path

import formulas
import op_checks
import tensors

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs/guide.md"


def commands():
    for line in GUIDE.read_text().splitlines():
        words = shlex.split(line) if line.startswith("    afterimage ") else []
        if words[1:] and words[1] != "bench":  # minutes
            yield words[1:]


def run(cli):
    recipes = re.findall(r"```recipe\n(.*?)```", GUIDE.read_text(), re.S)
    files = [words[words.index("--recipe") + 1] for words in commands() if "--recipe" in words]
    for file, recipe in zip(files, recipes):
        (cli.folder / file).write_text(recipe)
    x = op_checks.inputs("full")
    y = formulas.flat(formulas.apply("full", x, causal=True))
    tensors.write(cli.folder / "mine.safetensors", {**x, "y": ("F64", x["v"][1], y)})
    names = []
    for words in commands():
        names.append(words[0])
        cli.ok(" ".join(words), *words)
    cli.check("the guide has commands for its questions", len(names) >= 11 and names[0] == "train", names)
    change = cli.ok("removing it costs something", "eval", "runs/mirror", "--data", "mirror?split=test", "--limit", "32",
                    "--recipe", "recipe.json", "--json").json()["recipe"]
    cli.check("the change has its uncertainty", change["bits_per_dim_change"] != 0 and any("error" in k or "interval" in k
                                                                                         for k in change), change)
