"""Recipes of interventions on the command line: eval, complete and probe obey them, and wrong ones are refused."""
import json
from pathlib import Path


def write(cli, name, interventions):
    path = cli.folder / name
    path.write_text(json.dumps({"afterimage_recipe": 1, "interventions": interventions}))
    return str(path)


def run(cli):
    model, data = "demo", "mirror?split=test"
    cli.ok("train for recipes", "train", "--preset", "demo-mirror", "--steps", "20", "--out", model)
    plain = cli.ok("eval without a recipe", "eval", model, "--data", data, "--limit", "8", "--json").json()
    nothing = write(cli, "nothing.json", [{"name": "zero", "on": False}])
    same = cli.ok("eval with all off", "eval", model, "--data", data, "--limit", "8", "--recipe", nothing, "--json").json()
    cli.check("a recipe with all off changes nothing",
              same["loss_nats"] == plain["loss_nats"] and same["recipe"]["bits_per_dim_change"] == 0, same)
    zero = write(cli, "zero.json", [{"name": "zero"}])
    changed = cli.ok("eval with zero", "eval", model, "--data", data, "--limit", "8", "--recipe", zero, "--json").json()
    recipe = changed["recipe"]
    cli.check("the change is between untouched and changed",
              abs(recipe["untouched_bits_per_dim"] + recipe["bits_per_dim_change"] - changed["bits_per_dim"]) < 1e-5
              and recipe["untouched_loss_nats"] == plain["loss_nats"] and recipe["examples"] == 8, changed)
    out = str(cli.folder / "zero.npy")
    probe = cli.ok("probe with zero", "probe", "bias", model, "--recipe", zero, "-o", out, "--json")
    cli.check("the probe shows the changed bias", probe.json()["min"] == 0 and probe.json()["max"] == 0, probe)
    folders = [str(cli.folder / f"complete-{i}") for i in range(3)]
    texts = []
    for folder, extra in zip(folders, [[], ["--recipe", nothing], ["--recipe", zero]]):
        cli.ok(f"complete {extra[-1:]}", "complete", model, "--data", data, "--keep-rows", "4", "--seed", "3", *extra,
               "-o", folder)
        texts.append(sorted(p.read_bytes() for p in Path(folder).glob("*.png")))
    cli.check("completions follow the recipe", texts[0] == texts[1] and texts[0] != texts[2], folders)
    bad = write(cli, "bad.json", [{"name": "zero", "layer": 99}])
    result = cli.run("eval", model, "--data", data, "--recipe", bad)
    cli.check("a layer that is not there is refused with the file", result.code == 2 and "bad.json" in result.err
              and "layer 99 is not in this model" in result.err, result)
    missing = cli.run("eval", model, "--data", data, "--recipe", str(cli.folder / "none.json"))
    cli.check("a recipe that is not there is refused", missing.code != 0 and "none.json" in missing.err, missing)
