"""Files of strangers: nested without end, vast, repeated, or with names that a terminal would obey."""
import gzip
import json
import os
import struct

import tensors

DEEP = "[" * 100000 + "1" + "]" * 100000
MESSAGE_BYTES = 1500  # paths of the test's folder included


def has_controls(text):
    """What a terminal obeys: C0 but line ends and tabs, DEL, C1, and marks that turn the direction of writing."""
    return any((ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) <= 0x9f or 0x202a <= ord(c) <= 0x202e for c in text)


def refuse(cli, name, args, *mentions):
    result = cli.bad(name, args, [1, 2], *mentions)
    cli.check(f"{name}: is short and plain", len(result.err) < MESSAGE_BYTES and not has_controls(result.err), result)


def configs(cli):
    cases = {"deep": ('{"model": {"channels": %s}}' % DEEP, ["64 levels"]),
             "deep-objects": ('{"a":' * 100000 + "1" + "}" * 100000, ["64 levels"]),
             "twice": ('{"model": {"layers": 2, "layers": 3}}', ["layers", "twice"]),
             "vast-value": ('{"model": {"layers": "%s"}}' % ("x" * 400000), ["model.layers"]),
             "vast-list": ('{"model": {"layers": [%s1]}}' % ("1," * 200000), ["model.layers", "an array"]),
             "vast-key": ('{"%s": 1}' % ("k" * 400000), ["kkkk"]),
             "vast-token": ('{"model": %s' % ("x" * 400000), []),
             "escapes": ('{"\\u001b[2J\\u009b": 1}', ["\\x1b[2j\\x9b"]),
             "name-away": ('{"name": "../../x"}', ["name is '../../x'", "'/', '..'"]),
             "name-escapes": ('{"name": "\\u001b]0;owned\\u0007"}', ["name is '\\x1b]0;owned\\x07'"]),
             "vast-name": ('{"name": "%s"}' % ("n" * 400000), ["at most 100 bytes"]),
             "escape-value": ('{"model": {"mixer": "\\u001b]0;title\\u0007"}}', ["model.mixer"])}
    for name, (content, mentions) in cases.items():
        path = cli.write(f"strange-{name}.json", content)
        refuse(cli, f"config {name}", ["train", "--config", path, "--print-config"], path.name, *mentions)


def vast_sources(cli):
    """The name of the data, repeated by what cannot open them."""
    text = cli.write("strange.txt", "some text to read " * 400)
    cases = {"file": ("text:" + "x" * 400000, ["file name too long"]),
             "alphabet": (f"text:{text}?alphabet=" + "a" * 400000, ["alphabet is 'aaaa"])}
    for name, (source, mentions) in cases.items():
        config = {"model": {"task": "text"}, "data": {"source": source, "augment": "none"}}
        path = cli.write(f"strange-source-{name}.json", json.dumps(config))
        refuse(cli, f"data of a vast {name}", ["train", "--config", path], *mentions)


def no_utf8(cli):
    """A file's name need not be UTF-8: what is written about it is JSON all the same."""
    name = os.fsdecode(b"caf\xe9")
    folder = cli.folder / name
    cli.ok("train into a folder whose name is not UTF-8", "train", "--preset", "demo-mirror", "--steps", 1, "--out", folder)
    cli.ok("probe of it", "probe", "bias", folder, "-o", folder / f"{name}.npy")
    cli.ok("complete of it", "complete", folder, "--data", "mirror?size=16&levels=16", "--keep-rows", 15, "-o", folder / "c")
    for file in (folder / f"{name}.npy.json", folder / "c" / "result.json"):
        header = json.loads(file.read_bytes().decode()) if file.exists() else None
        cli.check(f"{file.name} is JSON", header and "caf\ufffd" in json.dumps(header, ensure_ascii=False), ascii(header))


def checkpoints(cli, model):
    found, metadata = tensors.read(model)
    about = json.loads(metadata["afterimage"])
    mark = "\x00DEEP"
    place = lambda header, *keys: header if len(keys) == 0 else place(header.setdefault(keys[0], {}), *keys[1:])
    for keys in (["config", "model", "channels"], ["metrics", "loss"], ["training", "random", "seed"], ["data", "classes"]):
        header = json.loads(json.dumps(about))
        place(header, *keys[:-1])[keys[-1]] = mark
        path = cli.folder / f"strange-{keys[0]}.safetensors"
        tensors.write(path, found, {**metadata, "afterimage": json.dumps(header).replace(json.dumps(mark), DEEP)})
        for command in (["inspect", path], ["inspect", path, "--json"], ["train", "--resume", path]):
            cli.bad(f"{command[0]} of a deep {'.'.join(keys)}", command, [1, 2], path.name)
        refuse(cli, f"inspect of a deep {'.'.join(keys)}", ["inspect", path, "--json"], path.name, "64 levels")
    many = {**found, **{f"\x1b[31mwonder.{i}": ("F32", [1], [0.0]) for i in range(200000)}}
    path = cli.folder / "strange-many.safetensors"
    tensors.write(path, many, metadata)
    result = cli.bad("inspect of 200,000 tensors that do not belong", ["inspect", path], [1, 2], path.name, "and 199990 more",
                     "\\x1b[31mwonder.0")
    cli.check("their refusal is short and plain", len(result.err) < 3000 and not has_controls(result.err), result)
    header = json.loads(json.dumps(about))
    header["config"]["name"] = "caf\u00e9 \u2192 \u65e5"
    header["data"]["source"] = "mirror?size=8&levels=4"
    header.setdefault("metrics", {})["\x1b[2J"] = 1
    header["data"]["note\x1b"] = "\x7f"
    path = cli.folder / "strange-names.safetensors"
    tensors.write(path, found, {**metadata, "afterimage": json.dumps(header)})
    for command in (["inspect", path], ["inspect", path, "--json"]):
        done = cli.ok(" ".join(map(str, command)), *command)
        cli.check(f"{command[-1]}: no control characters", not has_controls(done.out + done.err), repr(done.out[:200]))
    done = cli.run("inspect", path, "--json")
    cli.check("JSON keeps the name", (done.json() or {}).get("name") == header["config"]["name"], done)
    header["config"]["name"] = "\x1b]0;owned\x07\u009b\u202e"
    path = cli.folder / "strange-escapes.safetensors"
    tensors.write(path, found, {**metadata, "afterimage": json.dumps(header)})
    refuse(cli, "inspect of a name that no folder may have", ["inspect", path], path.name, "name is '\\x1b]0;owned\\x07\\x9b")
    folder = cli.folder / "strange\x1b[31m"
    folder.mkdir()
    refuse(cli, "a folder with an escape in its name", ["inspect", folder], "strange\\x1b[31m")
    header = json.loads(json.dumps(about))
    header["config"]["model"].update(mixer="aft-local", window=3, heads=2)
    path = cli.folder / "strange-heads.safetensors"
    tensors.write(path, found, {**metadata, "afterimage": json.dumps(header)})
    for command in (["inspect", path], ["eval", path, "--data", "mirror?size=8&levels=4"]):
        refuse(cli, f"{command[0]} of heads where there are none", command, path.name, "heads")
    spoilt = {name: (dtype, shape, [float("nan")] * len(values)) if name.startswith("head.") else (dtype, shape, values)
              for name, (dtype, shape, values) in found.items()}
    path = cli.folder / "strange-nan.safetensors"
    tensors.write(path, spoilt, metadata)
    refuse(cli, "a prediction that is not a number",
           ["complete", path, "--data", "mirror?size=8&levels=4", "--keep-rows", 2, "-o", "c"], path.name, "not a number")


def archives(cli, model):
    folder = cli.folder / "strange-digits"
    folder.mkdir()
    header = struct.pack(">IIII", 0x803, 4, 6, 6)
    (folder / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, 4) + bytes(4))
    (folder / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(header + bytes(1 << 28), 9))
    data = f"mnist:{folder}?split=test"
    refuse(cli, "a gzip of more than its header says", ["eval", model, "--data", data],
           "t10k-images-idx3-ubyte.gz", "more than the 144 bytes")


def pictures(cli, model):
    vast = bytearray(tensors.png(16, 16, lambda x, y: (x, y, 0)))
    vast[16:24] = struct.pack(">II", 60000, 60000)
    path = cli.write("strange-vast.png", bytes(vast))
    refuse(cli, "a picture that is too large", ["complete", model, "--image", path, "--keep-rows", 4, "-o", "c"], path.name,
           "60000 x 60000", "16384")


def run(cli, model):
    cli.part(configs)
    cli.part(vast_sources)
    cli.part(no_utf8)
    cli.part(checkpoints, model)
    cli.part(archives, model)
    cli.part(pictures, model)
