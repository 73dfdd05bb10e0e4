"""Position biases alone: what is shown of them, and what needs a whole model."""
import fcntl
import json
import os
import struct

import tensors


def describe(layers, step=50, causal=False):
    maps = {"causal": causal, "layers": layers}
    return {"format_version": 1, "task": "maps", "step": step, "maps": maps}


def layer(name, layout, grid, gauge="row"):
    return {"name": name, "layout": layout, "grid": grid, "gauge": gauge}


def write(path, layers, values, **more):
    named = {f"biases.{i}": value for i, value in enumerate(values)}
    tensors.write(path, named, {"afterimage": json.dumps(describe(layers, **more))})
    return path


MIXED = [layer("encoder", "full", [3, 4]), layer("near", "band", [12]), layer("line", "kernel1d", [12], "none"),
         layer("square", "kernel2d", [3, 4], "none")]


def rounded(tensor):
    """As float32 holds it."""
    dtype, shape, values = tensor
    return dtype, shape, list(struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}f", *values)))


def mixed_values():
    shapes = ((2, 12, 12), (1, 12, 5), (3, 3), (2, 3, 3))
    return [rounded(tensors.normal(seed, shape, "F32")) for seed, shape in enumerate(shapes)]


def shows(cli):
    values = mixed_values()
    model = write(cli.folder / "mixed.safetensors", MIXED, values)
    words = cli.ok("inspect of maps", "inspect", model)
    cli.check("inspect names layers and layouts", all(w in words.out for w in ("encoder", "kernel2d", "3 x 4")), words)
    found = cli.ok("inspect --json of maps", "inspect", model, "--json").json() or {}
    cli.check("it knows the kind", found.get("task") == "maps" and found.get("step") == 50, found)
    cli.check("it has every layer and head", [m["name"] for m in found.get("maps", [])] == [m["name"] for m in MIXED]
              and len(found.get("bias", [])) == 2 + 1 + 3 + 2, found)
    cli.check("and the file's own description", "maps" in found.get("config", {}), found)
    first = found["bias"][0] if found.get("bias") else {}
    own = values[0][2][:144]
    cli.check("statistics are those of the tensor", first and abs(first["mean"] - sum(own) / 144) < 1e-6
              and first["min"] == min(own), first)
    file = cli.folder / "w.npy"
    cli.ok("probe bias of maps", "probe", "bias", model, "--layer", 0, "-o", file)
    shape, numbers = tensors.read_npy(file)
    cli.check("it is the tensor", shape == [2, 12, 12] and numbers == values[0][2], shape)
    cli.ok("probe kernel of maps", "probe", "kernel", model, "--layer", 3, "-o", file)
    cli.check("it is the kernel", tensors.read_npy(file) == ([2, 3, 3], values[3][2]))
    cli.ok("probe bias of a band", "probe", "bias", model, "--layer", 1, "-o", file)
    shape, numbers = tensors.read_npy(file)
    band = values[1][2]
    pairs = [band[t * 5 + j - t + 2] if abs(j - t) < 3 else 0 for t in range(12) for j in range(12)]
    cli.check("it is the band, 0 outside", numbers == pairs, shape)
    for name in ("w.png", "w.svg", "w.csv"):
        cli.ok(f"probe bias as {name}", "probe", "bias", model, "--layer", 2, "-o", cli.folder / name)
    cli.ok("figure full-biases of maps", "figure", "full-biases", model, "-o", cli.folder / "full.png")
    cli.bad("figure conv-biases of mixed maps", ["figure", "conv-biases", model, "-o", cli.folder / "c.png"], [2], "kernel")
    kernels = write(cli.folder / "kernels.safetensors", [MIXED[3]], [values[3]])
    cli.ok("figure conv-biases of kernels", "figure", "conv-biases", kernels, "-o", cli.folder / "conv.png")
    copy = cli.folder / "copy.safetensors"
    cli.ok("export of maps", "export", model, "-o", copy)
    cli.check("it is the same again", "encoder" in cli.ok("inspect of it", "inspect", copy).out)
    listed = cli.ok("list tasks", "list", "tasks")
    cli.check("the kind is listed", "maps" in listed.out, listed)


def masks(cli):
    hidden = float("-inf")
    values = ("F32", (3, 3), [1.0, 2.0, hidden, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    model = write(cli.folder / "masked.safetensors", [layer("a", "full", [3])], [values])
    found = cli.ok("inspect of a masked map", "inspect", model, "--json").json() or {}
    row = found["bias"][0] if found.get("bias") else {}
    cli.check("a hidden pair counts nowhere", row.get("min") == 1 and row.get("mean") == 4.5, found)
    cli.check("a mask is no fault", "not_finite" not in found, found)
    file = cli.folder / "masked.npy"
    cli.ok("probe bias of a masked map", "probe", "bias", model, "-o", file)
    numbers = tensors.read_npy(file)[1]
    cli.check("it is no number there", numbers[2] != numbers[2] and numbers[1] == 2, numbers)


def runs(cli):
    run = cli.folder / "own-run"
    (run / "checkpoints").mkdir(parents=True)
    (run / "config.json").write_text(json.dumps({"name": "own-run", "maps": describe(MIXED)["maps"]}))
    lines = []
    for step in (0, 50):
        write(run / "checkpoints" / f"step-{step:08}.safetensors", MIXED, mixed_values(), step=step)
        lines.append(json.dumps({"step": step, "loss": 2.5, "bias_norm.layer.0": 1.25}))
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    found = cli.ok("inspect of a run of maps", "inspect", run, "--json").json() or {}
    cli.check("it is the newest step", found.get("step") == 50, found)
    table = cli.folder / "log.csv"
    cli.ok("metrics of a run of maps", "metrics", run, "-o", table)
    cli.check("the log has the norms", "bias_norm.layer.0" in table.read_text().splitlines()[0])
    cli.ok("training-curves of it", "figure", "training-curves", run, "-o", cli.folder / "curves.png")
    cli.bad("resuming it", ["train", "--resume", run], [2], "step-00000050", "position biases alone", "train needs")
    with open(run / "run.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cli.bad("resuming what another trains", ["train", "--resume", run], [1, 2], "own-run")
        cli.ok("inspect meanwhile", "inspect", run)
    (run / "config.json").write_text('{"name": "own-run", "maps": {"layers": 3}}')
    for path in (run / "checkpoints").iterdir():
        os.remove(path)
    cli.bad("without a checkpoint its config is read", ["inspect", run], [1, 2], "config.json", "maps.layers", "array")


def needs_a_model(cli):
    model = write(cli.folder / "alone.safetensors", [layer("a", "full", [2, 2])], [tensors.normal(1, (4, 4), "F32")])
    lacks = ("alone.safetensors", "position biases alone", "whole model")
    cli.bad("complete of maps", ["complete", model, "--prompt", "a"], [2], *lacks, "complete needs")
    cli.bad("completing a picture", ["complete", model, "--data", "mirror", "--keep-rows", 2, "-o", "c"], [2], *lacks)
    cli.bad("eval of maps", ["eval", model, "--data", "mirror"], [2], *lacks, "eval needs")
    cli.bad("run of maps", ["run", model, model, cli.folder / "y.safetensors"], [2], *lacks, "run needs")
    cli.bad("run of a layer", ["run", model, model, "y", "--layer", 0, "--part", "mixer"], [2], *lacks)
    for name in ("priors", "attention", "keys", "gates", "predictions", "relative-attention"):
        cli.bad(f"probe {name} of maps", ["probe", name, model, "-o", "p.npy"], [2], *lacks, f"probe {name}")
    cli.bad("inspect --cost of maps", ["inspect", model, "--cost"], [2], *lacks)
    cli.bad("train --from maps", ["train", "--preset", "demo-mirror", "--from", model], [2], *lacks)
    cli.bad("export --as", ["export", model, "--as", "timm", "-o", cli.folder / "t.safetensors"], [2], *lacks)
    cli.bad("training them", ["train", "--preset", "demo-mirror", "--set", "model.task=maps"], [2], "model.task=maps")
    for figure in ("keys", "relative-attention", "completions"):
        cli.bad(f"figure {figure} of maps", ["figure", figure, model, "-o", cli.folder / "f.png"], [2], "alone.safetensors")


def refuses(cli):
    good = tensors.normal(1, (4, 4), "F32")
    nan = ("F32", (4, 4), [float("nan")] * 16)
    even = tensors.normal(1, (1, 4, 2), "F32")
    cases = {
        "layout": ([layer("a", "diagonal", [4])], [good], ("layers[0].layout", "diagonal", "kernel1d")),
        "gauge": ([layer("a", "full", [4], "all")], [good], ("layers[0].gauge", "row, none")),
        "grid": ([layer("a", "full", [5])], [good], ("biases.0", "[4, 4]", "5 positions")),
        "no-grid": ([layer("a", "full", [2, 2, 1, 1])], [good], ("layers[0].grid", "[h, w]")),
        "even": ([layer("a", "band", [4])], [even], ("biases.0", "odd")),
        "rank": ([layer("a", "kernel2d", [2, 2])], [good], ("biases.0", "[heads, s, s]")),
        "missing": ([layer("a", "full", [4])] * 2, [good], ("biases.1", "missing")),
        "extra": ([layer("a", "full", [4])], [good] * 2, ("biases.1", "belongs to no layer")),
        "nan": ([layer("a", "full", [4])], [nan], ("biases.0", "nan", "value 0 of 16")),
        "many": ([layer("a", "full", [4])] * 4097, [good], ("4097 layers", "4096")),
        "large": ([layer("a", "full", [70000])], [good], ("layers[0].grid", "16384")),
        "name": ([layer("a\x1b[2J", "full", [4])], [good], ("layers[0].name", "\\x1b", "control")),
        "double": ([layer("a", "full", [4])], [tensors.normal(1, (4, 4), "F64")], ("biases.0", "f32")),
    }
    for name, (layers, values, mentions) in cases.items():
        path = write(cli.folder / f"bad-{name}.safetensors", layers, values)
        cli.bad(f"maps with a bad {name}", ["inspect", path], [1], path.name, *mentions)
        cli.bad(f"probe of maps with a bad {name}", ["probe", "bias", path, "-o", "p.npy"], [1], path.name)
    whole = (cli.folder / "bad-layout.safetensors").read_bytes()
    length = struct.unpack("<Q", whole[:8])[0]
    cut = cli.write("bad-cut.safetensors", whole[:8 + length + 5])
    cli.bad("maps that are cut off", ["inspect", cut], [1], "bad-cut")


def run(cli):
    for part in (shows, masks, runs, needs_a_model, refuses):
        cli.part(part)
