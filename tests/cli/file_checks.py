"""Files that are missing, cut off, random or of another kind: one message that names the file."""
import json
import random
import struct

import stranger_checks
import tensors
from train_checks import SMALL


def bad_files(cli, model):
    """Name -> path of files that are no checkpoint."""
    whole = model.read_bytes()
    noise = random.Random(4).randbytes(5000)
    header = json.dumps({"w": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 8]}}).encode()
    overlap = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                          "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}).encode()
    packed = lambda text, body=b"": struct.pack("<Q", len(text)) + text + body
    named = {
        "missing": None, "empty": b"", "one-byte": b"x", "random": noise, "text": b"hello, world\n" * 50,
        "cut-header": whole[:100], "cut-half": whole[:len(whole) // 2], "cut-one": whole[:-1], "longer": whole + b"x",
        "huge-header": struct.pack("<Q", 1 << 60) + b"{}", "huge-shape": packed(header, b"12345678"),
        "overlapping": packed(overlap, b"123456789012"), "deep": packed(b'{"a":' * 3000 + b"1" + b"}" * 3000),
        "no-model": None, "damaged": whole[:200] + noise[:300] + whole[500:],
    }
    paths = {}
    for name, content in named.items():
        path = cli.folder / f"{name}.safetensors"
        if content is not None:
            path.write_bytes(content)
        paths[name] = path
    tensors.write(paths["no-model"], {"x": tensors.normal(1, (3, 3), "F32")})
    folder = cli.folder / "empty-folder"
    folder.mkdir()
    paths["folder"] = folder
    paths["picture"] = cli.write("picture.png", tensors.png(4, 4, lambda x, y: (1, 2, 3)))
    return paths


def checkpoints(cli, model):
    paths = bad_files(cli, model)
    for name, path in paths.items():
        cli.bad(f"inspect {name}", ["inspect", path], [1, 2], path.name)
    data = "mirror?size=8&levels=4"
    for name in ("missing", "random", "cut-half", "no-model", "folder"):
        path = paths[name]
        cli.bad(f"eval {name}", ["eval", path, "--data", data], [1, 2], path.name)
        cli.bad(f"probe {name}", ["probe", "bias", path, "-o", "p.npy"], [1, 2], path.name)
        cli.bad(f"complete {name}", ["complete", path, "--data", data, "--keep-rows", 2, "-o", "c"], [1, 2], path.name)
        cli.bad(f"run {name}", ["run", path, model, "r.safetensors"], [1, 2], path.name)
        cli.bad(f"op {name}", ["op", "simple", path, "r.safetensors"], [1, 2], path.name)
    for name in ("missing", "random", "folder"):
        cli.bad(f"resume {name}", ["train", "--resume", paths[name]], [1, 2], paths[name].name)
    missing(cli, model, paths["missing"])
    altered_model(cli, model)


def missing(cli, model, path):
    """A file that is not there: the work failed, whatever the command; the usage was right."""
    picture, folder = path.with_suffix(".png"), cli.folder / "not-there"
    data = ["--data", "mirror?size=8&levels=4"]
    for args in (["inspect", path], ["eval", path, *data], ["eval", model, "--data", f"cifar10:{folder}"],
                 ["probe", "bias", path, "-o", "p.npy"], ["probe", "keys", model, "--image", picture, "-o", "p.npy"],
                 ["complete", path, *data, "--keep-rows", 2, "-o", "c"],
                 ["complete", model, "--image", picture, "--keep-rows", 2, "-o", "c"],
                 ["complete", model, *data, "--mask", picture, "-o", "c"],
                 ["run", path, model, "r.safetensors"], ["run", model, path, "r.safetensors"],
                 ["op", "simple", path, "r.safetensors"], ["export", path, "-o", "e.safetensors"],
                 ["train", "--resume", path], ["train", "--config", path],
                 ["train", "--preset", "demo-mirror", "--data", f"text:{folder}", "--out", "nowhere"]):
        cli.bad(f"{' '.join(map(str, args[:2]))} of a missing file ends with 1", args, [1])


def altered_model(cli, model):
    """Well-formed files whose tensors do not fit their own settings."""
    found, metadata = tensors.read(model)
    about = json.loads(metadata["afterimage"])
    weights = {n: t for n, t in found.items() if not n.startswith("optim.")}

    def attempt(label, changed, mentions, change=None):
        header = json.loads(json.dumps(about))
        if change:
            change(header)
        path = cli.folder / f"altered-{label}.safetensors"
        tensors.write(path, changed, {**metadata, "afterimage": json.dumps(header)})
        cli.bad(f"altered model: {label}", ["eval", path, "--data", "mirror?size=8&levels=4"], [1, 2], path.name, *mentions)

    name = "blocks.0.mixer.q.weight"
    attempt("gone", {n: t for n, t in weights.items() if n != name}, [name])
    attempt("shape", {**weights, name: tensors.normal(1, (3, 8), "F32")}, [name])
    attempt("extra", {**weights, "blocks.7.wonder": tensors.normal(1, (2, 2), "F32")}, ["blocks.7.wonder"])
    attempt("whole-numbers", {**weights, name: ("I64", [8, 8], [1] * 64)}, [name])
    configs = [key for key in about if isinstance(about[key], dict) and "model" in about[key]]
    place = (lambda header: header[configs[0]]["model"]) if configs else (lambda header: header["model"])
    attempt("unknown-setting", weights, ["wobble"], lambda header: place(header).update(wobble=3))
    attempt("unknown-mixer", weights, ["aft-zork"], lambda header: place(header).update(mixer="aft-zork"))


def configs(cli):
    cases = {
        "missing": (None, []), "empty": ("", []), "no-json": ("{ model: }", []), "a-list": ("[1, 2]", []),
        "unknown-key": ('{"model": {"layerz": 3}}', ["layerz"]), "unknown-part": ('{"modle": {"layers": 3}}', ["modle"]),
        "wrong-type": ('{"model": {"layers": "three"}}', ["model.layers"]),
        "fraction": ('{"model": {"layers": 2.5}}', ["model.layers"]),
        "out-of-range": ('{"model": {"layers": -2}}', ["model.layers", "-2"]),
        "huge": ('{"model": {"layers": 1e300}}', ["model.layers"]),
        "unknown-choice": ('{"model": {"mixer": "aft-fill"}}', ["aft-fill", "aft-full"]),
        "contradiction": ('{"model": {"dim": 10, "heads": 3, "mixer": "aft-conv1d", "window": 5}}', ["heads"]),
        "deep": ('{"a":' * 5000 + "1" + "}" * 5000, []), "random": (random.Random(5).randbytes(3000), []),
    }
    for name, (content, mentions) in cases.items():
        path = cli.folder / f"config-{name}.json"
        if content is not None:
            cli.write(path.name, content)
        cli.bad(f"config {name}", ["train", "--config", path, "--print-config"], [1, 2], path.name, *mentions)
    cli.bad("config is a folder", ["train", "--config", cli.folder, "--print-config"], [1, 2], cli.folder.name)


def pictures(cli, model):
    good = tensors.png(16, 16, lambda x, y: (x, y, 0))
    bomb = bytearray(good)
    bomb[16:24] = struct.pack(">II", 60000, 60000)
    cases = {"missing": None, "empty": b"", "random": random.Random(6).randbytes(3000), "cut": good[:60],
             "vast": bytes(bomb), "text": b"this is no picture"}
    for name, content in cases.items():
        for kind in ("png", "jpg"):
            path = cli.folder / f"image-{name}.{kind}"
            if content is not None:
                path.write_bytes(content)
            cli.bad(f"complete {name}.{kind}", ["complete", model, "--image", path, "--keep-rows", 4, "-o", "c"],
                    [1, 2], path.name)
    path = cli.folder / "image-random.png"
    cli.bad("probe with a random picture", ["probe", "keys", model, "--image", path, "-o", "k.npy"], [1, 2], path.name)
    image = cli.write("fine.png", good)
    cli.bad("mask is random", ["complete", model, "--image", image, "--mask", path, "-o", "c"], [1, 2], path.name)
    blocked = cli.write("blocked", "a file")
    cli.bad("complete into a file's folder", ["complete", model, "--image", image, "--keep-rows", 4, "-o", blocked / "in"],
            [1, 2], "blocked")


def refused_first(cli, name, args, *mentions):
    """Runs a command that must fail before its work, which would show its progress beside the message."""
    result = cli.bad(name, args, [1, 2], *mentions)
    cli.check(f"{name}: before the work", result.err.startswith("afterimage: ") and result.err.count("\n") == 1, result)


def places(cli, model):
    """Names that cannot be written are refused before the work."""
    source = ["complete", model, "--data", "mirror?size=8&levels=4", "--keep-rows", 1]
    refused_first(cli, "complete into no folder", [*source, "--samples", 2, "-o", "/proc/none"], "/proc/none")
    done = cli.ok("complete into a folder", *source, "--samples", 2, "-o", "filled")
    cli.check("the work shows its progress", "tokens" in done.err, done)
    found, metadata = tensors.read(model)
    name = "blocks.0.mixer.q.weight"
    dtype, shape, values = found[name]
    tensors.write(cli.folder / "nan.safetensors", {**found, name: (dtype, shape, [float("nan")] * len(values))}, metadata)
    cli.bad("complete with a model of NaN", ["complete", "nan.safetensors", *source[2:], "--samples", 2, "-o", "deep/er/still"],
            [1], "not a number")
    cli.check("work that fails leaves none of the folders it made", not (cli.folder / "deep").exists(),
              list((cli.folder / "deep").rglob("*")))
    (cli.folder / "deep").mkdir()
    cli.bad("complete with it once more", ["complete", "nan.safetensors", *source[2:], "--samples", 2, "-o", "deep/er/still"],
            [1], "not a number")
    cli.check("what was there before stays", list((cli.folder / "deep").rglob("*")) == [] and (cli.folder / "deep").exists(),
              list((cli.folder / "deep").rglob("*")))
    cli.ok("complete into a new folder in a new folder", *source, "--samples", 2, "-o", "deep/er/still/")
    cli.check("it is there", (cli.folder / "deep/er/still/result.json").exists(), list((cli.folder / "deep").rglob("*")))
    refused_first(cli, "complete into no picture", [*source, "--samples", 1, "-o", "no/such/one.png"],
                  "no/such/one.png")
    refused_first(cli, "probe into no folder", ["probe", "keys", model, "-o", "no/such/k.npy"], "no/such/k.npy")
    for flag in ("--plot", "--markdown"):
        refused_first(cli, f"bench {flag} nowhere", ["bench", flag, "no/such/file"], "no/such/file")
        refused_first(cli, f"bench {flag} into a folder", ["bench", flag, cli.folder], "folder")
    refused_first(cli, "training in no precision",
                  ["train", *SMALL, "--set", "train.precision=foo", "--out", "nowhere"],
                  "train.precision", "foo", "fp32", "bf16")


def data(cli, model):
    junk = cli.folder / "junk"
    for name in ("data_batch_1.bin", "test_batch.bin", "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", "a.png"):
        cli.write(f"junk/{name}", random.Random(7).randbytes(500))
    cases = [("nosuch:place", ["nosuch", "mirror"]), ("mirror?zize=8", ["zize", "size"]), ("mirror?size=big", ["size", "big"]),
             ("mirror?size=-4", ["size", "-4"]), ("mirror?levels=9999", ["levels", "9999"]), ("mirror?split=lunch", ["split", "lunch"]),
             ("mirror?size", ["size"]), ("", ["data"])]
    for source in ("cifar10", "mnist", "images", "shards", "text"):
        cases.append((f"{source}:{cli.folder}/not-there", ["not-there"]))
        cases.append((source, [source]))
    cases += [(f"cifar10:{junk}", ["junk"]), (f"mnist:{junk}", ["junk"]), (f"images:{cli.folder}/empty-folder", ["empty-folder"]),
              (f"text:{junk}", ["junk"]), (f"text:{cli.write('empty.txt', '')}", ["empty.txt"])]
    for spec, mentions in cases:
        cli.bad(f"eval --data '{spec[-40:]}'", ["eval", model, "--data", spec], [1, 2], *mentions)
        if spec:
            cli.bad(f"train --data '{spec[-40:]}'", ["train", *SMALL, "--data", spec, "--out", cli.folder / "nowhere"],
                    [1, 2], *mentions)
    short = cli.write("short.txt", "hello world, this is short\n")
    cli.bad("train on a text shorter than a window", ["train", "--preset", "shakespeare-small", "--data", f"text:{short}",
                                                      "--out", cli.folder / "nowhere"],
            [1, 2], "short.txt", "has 27 bytes", "needs at least 285", "train part")
    cli.bad("data of another size than the model", ["eval", model, "--data", "mirror?size=16&levels=4"], [1, 2], "16", "8")


def run(cli):
    made = cli.ok("a model to spoil", "train", *SMALL, "--out", cli.folder / "spoil", "--steps", 1)
    model = cli.folder / "spoil" / "checkpoints" / "step-00000001.safetensors"
    if made.code != 0 or not model.exists():
        cli.check("a model to spoil is there", False, made)
        return
    cli.part(checkpoints, model)
    cli.part(configs)
    cli.part(pictures, model)
    cli.part(places, model)
    cli.part(data, model)
    cli.part(stranger_checks.run, model)
