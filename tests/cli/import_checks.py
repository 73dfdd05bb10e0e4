"""Weights of others from the command line: what is printed, what is written, what is refused."""
import json
import pathlib

import tensors

FIXTURES = pathlib.Path(__file__).parent.parent / "model" / "imports"


def takes(cli):
    layer, model = FIXTURES / "labml-layer.pt", cli.folder / "layer.safetensors"
    dry = cli.ok("import --dry-run", "import", layer, "--dry-run")
    cli.check("--dry-run shows the mapping", "query.weight -> blocks.0.mixer.q.weight [12, 12]" in dry.out, dry)
    cli.check("--dry-run says what is dropped and why", "local_mask [10, 10]: the window says it" in dry.out, dry)
    cli.check("--dry-run writes nothing", not model.exists(), dry)
    found = cli.ok("import --json", "import", layer, "-o", model, "--json").json()
    cli.check("import --json names the importer", found and found["importer"] == "labml-layer", found)
    cli.ok("run --part mixer of an import", "run", model, FIXTURES / "labml-layer.io.safetensors",
           cli.folder / "y.safetensors", "--layer", "0", "--part", "mixer")
    cli.ok("probe bias of a mixer alone", "probe", "bias", model, "--layer", "0", "-o", cli.folder / "w.npy")
    cli.ok("inspect of a mixer alone", "inspect", model)
    cli.bad("run of a mixer alone", ["run", model, FIXTURES / "labml-layer.io.safetensors", cli.folder / "no"], [1, 2])
    cli.bad("eval of a mixer alone", ["eval", model, "--data", "mirror"], [1, 2], "mixer alone")
    cli.bad("a probe with an input, of a mixer alone", ["probe", "attention", model, "-o", "a.png"], [2], "mixer alone", "inspect",
            "--part mixer")
    cli.bad("train --from a mixer alone", ["train", "--from", model], [2], "mixer alone has no task", "inspect", "--part mixer")
    cli.bad("training of a mixer alone", ["train", "--preset", "demo-mirror", "--set", "model.task=layer"], [2],
            "model.task=layer", "classify")
    back = cli.folder / "back.safetensors"
    cli.ok("export --as labml-layer", "export", model, "--as", "labml-layer", "-o", back)
    again = cli.ok("import of what was exported", "import", back, "--dry-run", "--json").json()
    cli.check("it is the same again", again and again["importer"] == "labml-layer", again)


def layers_are_folded(cli):
    whole = FIXTURES / "timm.pt"
    dry = cli.ok("import of several layers", "import", whole, "--dry-run")
    every = cli.ok("import --verbose", "import", whole, "--dry-run", "--verbose")
    folded, single = "blocks.{0..1}.norm1.weight -> blocks.{0..1}.norm1.weight [", "blocks.1.norm1.weight -> blocks.1.norm1.weight ["
    cli.check("layers are one line", folded in dry.out and single not in dry.out, dry.out)
    cli.check("--verbose has every tensor", single in every.out and "{" not in every.out, every.out)
    cli.check("which is longer", len(every.out.splitlines()) == len(dry.out.splitlines()) + 16, (dry, every))
    found = cli.ok("import --dry-run --json", "import", whole, "--dry-run", "--json").json() or {"mapped": []}
    cli.check("--json has every tensor", any(row["to"] == "blocks.1.norm1.weight" for row in found["mapped"]), found)


def class_names(cli):
    """A text says what the classes of a classifier are called."""
    model, whole, count = cli.folder / "named.safetensors", FIXTURES / "timm.pt", 5
    names = [f"class {i}" for i in range(count - 1)] + ["déjà vu"]
    args = ["import", whole, "-o", model, "--classes"]
    cli.ok("import --classes", *args, cli.write("names.txt", "\r\n".join(names) + "\n"))
    found = cli.ok("inspect of it", "inspect", model, "--json").json() or {}
    cli.check("inspect shows the names", found.get("classes") == names, found.get("classes"))
    cli.bad("eval on other classes", ["eval", model, "--data", "shapes"], [2], "'class 0' in the model")
    model.unlink()
    for name, text, words in (("too few", "a\nb\n", ["2 names", f"{count} classes"]),
                              ("one twice", "a\nb\na\n", ["line 3", "'a' stands in line 1"]),
                              ("an empty line", "a\n\nb\n", ["line 2", "empty"]),
                              ("a control character", "a\nb\x1b[1m\n", ["line 2", "control characters"]),
                              ("a long one", "a" * 201 + "\n", ["line 1", "201 bytes"])):
        cli.bad(f"names of classes: {name}", [*args, cli.write("wrong.txt", text)], [2], "--classes", "wrong.txt", *words)
    cli.bad("names that are not there", [*args, "gone.txt"], [1], "gone.txt")
    cli.bad("names for no classifier", ["import", FIXTURES / "labml.pt", "-o", model, "--classes", "names.txt"], [2],
            "--classes", "'text'")
    cli.check("none of them writes a model", not model.exists())


def way_back(cli):
    """export --as torch carries the settings; a state dict without them needs some of them."""
    whole, out, again = (cli.folder / f"{name}.safetensors" for name in ("whole", "torch", "again"))
    cli.ok("import before export", "import", FIXTURES / "timm.pt", "-o", whole)
    cli.ok("export --as torch", "export", whole, "--as", "torch", "-o", out)
    found = cli.ok("import of it by itself", "import", out, "-o", again, "--json").json() or {}
    cli.check("it is recognised", found.get("importer") == "afterimage" and not found.get("dropped"), found)
    shown = [cli.ok("inspect of both", "inspect", path, "--json").json() or {} for path in (whole, again)]
    cli.check("the settings are the same", shown[0] and all(shown[0][key] == shown[1][key] for key in ("config", "tensors")), shown)
    stored, _ = tensors.read(out)
    tensors.write(cli.folder / "plain.safetensors", stored)
    cli.bad("a plain state dict of ours", ["import", "plain.safetensors", "--dry-run"], [1], "plain.safetensors",
            "--as afterimage", "--set model.task=VALUE", "--set model.mixer=VALUE")
    given = [f"--set=model.{text}" for text in ("task=classify", "mixer=softmax", "heads=1", "patch=8", "channels=3", "classes=5", "class_token=true")]
    cli.ok("with settings by hand", "import", "plain.safetensors", "--dry-run", "--as", "afterimage", *given)


def characters(cli):
    """A text says which characters a model knows."""
    model, text = cli.folder / "characters.safetensors", cli.write("text.txt", "we all see the awe." + "\nIt")
    cli.ok("import --alphabet", "import", FIXTURES / "labml.pt", "-o", model, "--alphabet", text)
    found = cli.ok("complete of it", "complete", model, "--prompt", "we see", "--length", 40, "--samples", 1, "--json").json()
    said = found["samples"][0]["text"] if found else ""
    cli.check("it writes the characters of the text", said.startswith("we see") and len(said) == 46
              and set(said) <= set(text.read_text()), said)
    bare = cli.folder / "bare.safetensors"
    cli.ok("import of a text model alone", "import", FIXTURES / "labml.pt", "-o", bare)
    cli.bad("a prompt without an alphabet", ["complete", bare, "--prompt", "we"], [2], "--alphabet")
    cli.bad("a prompt of another character", ["complete", model, "--prompt", "zoo"], [2], "byte 122")
    cli.ok("eval of it", "eval", model, "--data", f"text:{cli.write('long.txt', text.read_text() * 40)}", "--limit", 2)
    out = cli.folder / "none.safetensors"
    cli.bad("an alphabet of another size", ["import", FIXTURES / "labml.pt", "-o", out, "--alphabet", cli.write("ab", "ab")],
            [2], "2 different bytes", "11 tokens")
    cli.bad("an alphabet of a layer", ["import", FIXTURES / "rish16.pt", "-o", out, "--alphabet", text], [2], "--alphabet")
    cli.bad("an alphabet that is not there", ["import", FIXTURES / "labml.pt", "-o", out, "--alphabet", "gone.txt"], [1],
            "gone.txt")
    cli.check("none of them writes a model", not out.exists())


def refuses(cli):
    out = cli.folder / "no.safetensors"
    layer = FIXTURES / "rish16.pt"
    cli.bad("import without -o", ["import", layer], [2], "-o", "--dry-run")
    cli.bad("import --as nothing", ["import", layer, "-o", out, "--as", "wobble"], [1, 2], "wobble", "rish16")
    cli.bad("import --as another", ["import", layer, "-o", out, "--as", "timm"], [1], "rish16.pt", "cls_token")
    cli.bad("import --map of no JSON", ["import", layer, "-o", out, "--map", cli.write("m.json", "[")], [1, 2], "m.json")
    text = (FIXTURES.parents[2] / "assets/imports/rish16.json").read_text().replace('"model.factors"', '"model.eps": 1, "model.factors"')
    cli.bad("a mapping of an unknown setting", ["import", layer, "-o", out, "--map", cli.write("eps.json", text)], [2],
            "eps.json: settings: unknown setting 'model.eps'; did you mean 'model.norm_eps'?")
    cli.bad("import --set of no setting", ["import", layer, "-o", out, "--set", "model.windo=3"], [2], "model.window")
    cli.bad("import of no tensors", ["import", cli.write("x.pt", "hello"), "-o", out], [1], "x.pt")
    cli.check("a refusal writes nothing", not out.exists())
    cli.bad("a window of no mixer", ["import", FIXTURES / "timm.pt", "-o", out, "--window", "7"], [2], "model.window", "softmax")
    cli.bad("a window that the mask contradicts", ["import", FIXTURES / "labml-layer.pt", "-o", out, "--window", "5"], [2],
            "local_mask", "< 3", "window is 5")
    cli.bad("safetensors under .pt", ["import", layer, "-o", cli.folder / "y.pt"], [2], "-o", ".safetensors")
    cli.check("none of them writes a model", not out.exists() and not (cli.folder / "y.pt").exists())
    both = cli.folder / "both.safetensors"
    cli.ok("import to be read again", "import", layer, "-o", both)
    before = both.read_bytes()
    cli.bad("import over its input", ["import", both, "-o", both], [2], "-o", "both.safetensors")
    for name in ("rish16", "torch", "afterimage-half"):
        cli.bad("export over its input", ["export", both, "--as", name, "-o", both], [2], "-o", "both.safetensors")
    cli.check("which stays as it is", both.read_bytes() == before)


def continues(cli):
    """A model of ours alone: its settings, and its alphabet where the data do not name one."""
    model, text = cli.folder / "characters.safetensors", cli.folder / "long.txt"
    short = ["--steps", "1", "--set", "train.batch=2", "--set", "train.validate_every=0"]
    result = cli.ok("train --from alone", "train", "--from", model, "--data", f"text:{text}", "--out", cli.folder / "on", *short)
    cli.check("all of it is taken", " 0 start anew" in result.err, result)
    config = json.loads((cli.folder / "on/config.json").read_text())
    cli.check("the model's shape", config["model"]["levels"] == 11 and "alphabet=" in config["data"]["source"], config)
    cli.bad("an alphabet of another size", ["train", "--from", model, "--data", f"text:{text}?alphabet=256", *short], [2],
            "model.levels=11", "256", "?alphabet=used")
    cli.bad("--from of no model of ours", ["train", "--from", FIXTURES / "timm.pt", *short], [1], "afterimage import")
    cli.bad("--from without data", ["train", "--from", model, *short], [2], "--data")
    cli.ok("import for a mapping file", "import", FIXTURES / "rish16.pt", "-o", cli.folder / "r.safetensors")
    table = pathlib.Path(__file__).resolve().parents[2] / "assets" / "imports" / "rish16.json"
    cli.ok("export by a mapping file", "export", cli.folder / "r.safetensors", "--map", table, "-o", cli.folder / "back.safetensors")
    cli.bad("--as and --map", ["export", cli.folder / "r.safetensors", "--map", table, "--as", "torch", "-o", "x.safetensors"],
            [2], "--as or --map")


def starts(cli):
    run = cli.folder / "warm"
    args = ["train", "--preset", "demo-shapes", "--from", FIXTURES / "timm.pt", "--out", run, "--steps", "1"]
    for text in ("model.patch=8", "model.layers=2", "train.batch=2", "train.validate_every=0"):
        args += ["--set", text]
    result = cli.ok("train --from", *args)
    cli.check("--from says what starts anew", "new: blocks.{0..1}.mixer.q.weight (" in result.err, result)
    continues(cli)
    other = ["train", "--from", run, "--data", "shapes?size=16", "--steps", "1", "--set", "train.batch=2"]
    result = cli.ok("train --from alone, pictures of another size", *other, "--out", cli.folder / "wider")
    cli.check("which the data say", "from the data:" in result.err and "model.height = 16" in result.err, result)
    cli.bad("a size by hand and another by the data", [*other, "--set", "model.height=32", "--set", "model.width=32"], [2],
            "model.height=32, the data have 16", "model.width=32, the data have 16")
    strange = cli.folder / "strange.safetensors"
    tensors.write(strange, {"alpha": ("F32", [2], [1.0, 2.0])})
    cli.bad("--from of unknown names", ["train", "--preset", "demo-shapes", "--from", strange, "--steps", "1"], [1],
            "afterimage import", "-o MODEL.safetensors", "train --from MODEL")
    cli.bad("--from with --resume", ["train", "--resume", run, "--from", FIXTURES / "timm.pt"], [2], "--from")


def unsound(cli):
    """NaN in the weights is named, with advice, before anything is computed with them."""
    found, metadata = tensors.read(next((cli.folder / "warm/checkpoints").glob("*.safetensors")))
    model = cli.folder / "nan.safetensors"
    found["head.weight"][2][3] = float("nan")
    tensors.write(model, found, metadata)
    said = cli.ok("import of NaN", "import", model, "-o", cli.folder / "nan2.safetensors")
    cli.check("it is named", "NaN or infinity in head.weight" in said.err and "earlier save" in said.err, said)
    short = ["--steps", "1", "--set", "train.batch=2", "--out", cli.folder / "from-nan"]
    cli.bad("train --from NaN", ["train", "--from", model, "--data", "shapes", *short], [1],
            "nan.safetensors: NaN or infinity in head.weight", "earlier save")
    cli.check("no run is left of it", not (cli.folder / "from-nan").exists())
    said = cli.ok("a ViT for larger pictures of other classes", "train", "--preset", "deit-tiny", "--from", FIXTURES / "timm.pt", "--data", "shapes?size=32",
           "--set", "model.layers=2", "--set", "model.dim=64", "--set", "model.heads=1", "--set", "model.patch=8",
           "--set", "train.warmup=1", *short[:-1], cli.folder / "larger")
    anew = [line.strip() for line in said.err.splitlines() if line.strip().startswith("new: ")]
    cli.check("the head alone starts anew", sorted(anew) == ["new: head.bias (there it has shape [5], here [3])",
              "new: head.weight (there it has shape [5, 64], here [3, 64])"] and " 2 start anew" in said.err, said.err)
    cli.check("the positions are resized", "resized: embed.position.weight (" in said.err, said.err)
    out = cli.folder / "timm.safetensors"
    cli.ok("import for export", "import", FIXTURES / "timm.pt", "-o", out, "--set", "model.heads=2")
    said = cli.ok("export of other heads", "export", out, "--as", "timm", "-o", cli.folder / "heads.safetensors", "--json").json()
    cli.check("it says how timm builds it", said and "num_heads=2" in said["constructor"], said)


def run(cli):
    takes(cli)
    layers_are_folded(cli)
    class_names(cli)
    way_back(cli)
    characters(cli)
    refuses(cli)
    starts(cli)
    unsound(cli)
