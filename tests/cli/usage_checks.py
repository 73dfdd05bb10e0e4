"""Arguments: help, lists, presets, exit codes, and messages for nonsense."""
import json
import re
import struct
import zlib
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent.parent / "assets" / "demo" / "mirror.safetensors"

# Mesa's OpenGL as an old card has it.
OLD_OPENGL = {"LIBGL_ALWAYS_SOFTWARE": "1", "MESA_GL_VERSION_OVERRIDE": "2.1", "MESA_GLSL_VERSION_OVERRIDE": "120"}


def starts(cli):
    result = cli.ok("--version", "--version")
    cli.check("--version is one line", re.fullmatch(r"afterimage \d+\.\d+\.\d+\n", result.out), result)
    blind = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
    result = cli.run(env=blind)
    cli.check("without a display it says how to continue",
              result.code in (1, 2) and "afterimage" in result.err and "demo" in result.err and not result.out, result)


def lists(cli):
    """Returns every list by name."""
    result = cli.ok("list --json", "list", "--json")
    all_lists = result.json()
    if not cli.check("list --json is one object", all_lists, result):
        return {}
    wanted = {"mixers", "tasks", "sources", "formats", "probes", "presets", "commands", "workloads", "figures",
              "importers", "sweeps", "settings", "options", "interventions"}
    cli.check("list has every list", wanted <= set(all_lists), sorted(all_lists))
    cli.check("no list is empty", all(all_lists.values()), all_lists)
    for name, rooms in all_lists.items():
        plain = cli.ok(f"list {name}", "list", name)
        for room in rooms:
            cli.check(f"list {name}: {room['name']} has one sentence",
                      room["sentence"].strip() and "\n" not in room["sentence"], room)
            cli.check(f"list {name} shows {room['name']}", room["name"] in plain.out, plain)
        one = cli.run("list", name, "--json").json()
        cli.check(f"list {name} --json", one == {name: rooms}, one)
    settings = cli.ok("list settings", "list", "settings").out.splitlines()
    live = [line.split()[0] for line in settings if "changes live" in line]
    cli.check("it says which change live", "train.batch" in live and "train.learning_rate" in live and "model.dim" not in live, live)
    cli.bad("list of nothing", ["list", "mixxers"], [2], "mixxers", "mixers")
    return all_lists


def help_pages(cli, commands):
    root = cli.ok("--help", "--help")
    for command in commands:
        name = command["name"]
        cli.check(f"--help names {name}", re.search(rf"^  {name} ", root.out, re.M), root)
        page = cli.ok(f"{name} --help", name, "--help")
        cli.check(f"{name} --help has an example", f"Example:\n  afterimage {name}" in page.out
                  or (name == "window" and "Example:\n  afterimage" in page.out), page)
        cli.check(f"{name} --help shows its usage", f"Usage: afterimage {name}" in page.out, page)
        answer = cli.bad(f"{name} with an unknown flag", [name, "--wobble-wibble"], [2], name).err
        found = re.search(r"allowed: ([-a-z, ]*)", answer)
        flags = found.group(1).strip().split(", ") if found else []
        cli.check(f"{name} names every flag once, in order", flags == sorted(set(flags)) and (found or "required" in answer),
                  answer)


def help_words(cli):
    """`help` is --help, `help COMMAND` is COMMAND --help."""
    for words, flags in [(["help"], ["--help"]), (["help", "train"], ["train", "--help"]), (["help", "help"], ["--help"]),
                         (["--threads", "1", "help", "probe"], ["probe", "--help"])]:
        page = cli.ok(" ".join(words), *words)
        cli.check(f"{' '.join(words)} is {' '.join(flags)}", page.out and page.out == cli.run(*flags).out, page)
    cli.bad("help of no command", ["help", "trian"], [2], "trian", "did you mean 'train'")


def summaries(cli):
    """The first lines of inspect say what goes in and what comes out."""
    shapes = cli.ok("inspect demo-shapes", "inspect", "--preset", "demo-shapes")
    head = shapes.out.partition("\n\n")[0]
    cli.check("inspect of a classifier: heads, picture, patch, classes",
              re.search(r"mixer +aft-conv2d, 3 layers of width 64, 16 heads\n", head)
              and re.search(r"picture +32 x 32, 3 channels, patches of 4 x 4\n", head)
              and re.search(r"classes +3$", head), head)
    one = cli.ok("inspect of one layer", "inspect", "--preset", "demo-mirror", "--set", "model.layers=1").out.partition("\n\n")[0]
    cli.check("one layer is one, what is not read is not said", "aft-full, 1 layer of width 32, 1 head\n" in one
              and re.search(r"picture +16 x 16, 1 channel\n", one) and "classes" not in one and "patch" not in one, one)
    text = cli.ok("inspect of a text", "inspect", "--preset", "shakespeare-small").out.partition("\n\n")[0]
    cli.check("a text has no picture", "picture" not in text and "classes" not in text, text)


def presets(cli, names):
    for name in names:
        result = cli.ok(f"inspect --preset {name}", "inspect", "--preset", name, "--json")
        shown = result.json() or {}
        parameters = shown.get("parameters")
        cli.check(f"preset {name} counts its parameters", isinstance(parameters, int) and parameters > 0, result)
        printed = cli.ok(f"train --print-config of {name}", "train", "--preset", name, "--print-config")
        try:
            config = json.loads(printed.out)
        except ValueError:
            config = {}
        cli.check(f"preset {name} prints all its settings",
                  {"model", "data", "train"} <= set(config) and "learning_rate" in config.get("train", {}), printed)
        if name == "demo-mirror":
            path = cli.write("again.json", printed.out)
            again = cli.run("train", "--config", path, "--print-config")
            cli.check("--config of --print-config is the same", again.code == 0
                      and {**json.loads(again.out), "name": 0} == {**config, "name": 0}, again)


def looked_at(path):
    """Width, height and how many different lines, as stored, a PNG has: 0 for what is none. One colour has a handful."""
    content = path.read_bytes() if path.exists() else b""
    if not content.startswith(b"\x89PNG"):
        return 0, 0, 0
    width, height = struct.unpack(">II", content[16:24])
    packed, at = b"", 8
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at:at + 8])
        packed += content[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    lines = zlib.decompress(packed)
    long = len(lines) // height
    return width, height, len({lines[y * long:(y + 1) * long] for y in range(height)})


def gallery(cli):
    """shot --all: every picture it promises, of an opened model and of a run that is trained for it."""
    if "shot" not in cli.run("list", "commands").out:
        return cli.skip("built without a window")
    answer = cli.bad("shot of a name that is none", ["shot", "no-such-name", "-o", "all"], [2], "no-such-name", "14-empty")
    names = answer.err.strip().partition("Compare, Lab, ")[2].split(", ")
    shown = cli.run("shot", "--all", "--size", "800x560", "--open", DEMO, "-o", "all", "--json", timeout=1500)
    if "no OpenGL:" in shown.err or "OpenGL too old" in shown.err:
        return cli.skip("no OpenGL: " + shown.err.strip())
    cli.check("shot --all works and complains of nothing", shown.code == 0
              and shown.err == "training demo-mirror for the pictures\n", shown)
    files = [cli.folder / f["file"] for f in (shown.json() or {}).get("files", [])]
    cli.check("shot --all draws what it promises", len(names) > 20 and [f.stem for f in files] == names
              and sorted(files) == sorted((cli.folder / "all").iterdir()), (names, files))
    for file in files:
        width, height, lines = looked_at(file)
        cli.check(f"shot --all: {file.name} shows something", (width, height) == (800, 560) and lines > 50, (width, height, lines))
    trained, opened = (cli.folder / "all" / f"02-train{end}.png" for end in ("", "-opened"))
    cli.check("the trained run is not the opened model", trained.exists() and opened.exists()
              and trained.read_bytes() != opened.read_bytes(), shown)


def nonsense(cli):
    cases = [
        ("unknown command", ["trian"], [2], ["trian", "did you mean 'train'"]),
        ("unknown flag", ["train", "--presett", "x"], [2], ["--presett", "--preset"]),
        ("flag without value", ["train", "--preset"], [2], ["--preset", "value"]),
        ("two origins", ["train", "--preset", "a", "--config", "b"], [2], ["--preset", "--config"]),
        ("no origin", ["train"], [2], ["--preset", "--config", "--resume"]),
        ("word for a number", ["train", "--preset", "demo-mirror", "--steps", "many"], [2], ["--steps", "many"]),
        ("negative steps", ["train", "--preset", "demo-mirror", "--steps", "-3"], [2], ["--steps", "-3"]),
        ("fraction of a step", ["train", "--preset", "demo-mirror", "--steps", "2.5"], [2], ["--steps", "2.5"]),
        ("setting that the mixer does not read", ["train", "--preset", "demo-mirror", "--set", "model.window=3"], [2],
         ["model.window", "model.mixer=aft-full does not read it", "aft-local", "aft-conv2d"]),
        ("setting that only convolutions read", ["train", "--preset", "demo-mirror", "--set", "model.naive_kernel=true"], [2],
         ["model.naive_kernel", "mixers that do: aft-conv1d, aft-conv2d"]),
        ("setting of factors", ["train", "--preset", "demo-shapes", "--set", "model.factors=4"], [2],
         ["model.factors", "aft-full, aft-local"]),
        ("setting of another task", ["train", "--preset", "demo-mirror", "--set", "model.patch=2"], [2],
         ["model.patch", "model.task=image does not read it", "tasks that do: classify"]),
        ("size of a picture for a text", ["train", "--preset", "shakespeare-small", "--set", "model.height=8"], [2],
         ["model.height", "image, classify"]),
        ("training setting of another task", ["train", "--preset", "demo-mirror", "--set", "train.label_smoothing=0.1"], [2],
         ["train.label_smoothing", "classify"]),
        ("start token of a classifier", ["train", "--preset", "demo-shapes", "--set", "model.start_token=false"], [2],
         ["model.start_token", "tasks that do: image, text"]),
        ("position bias of a mixer without one", ["train", "--preset", "demo-mirror", "--set", "model.mixer=aft-simple",
                                                  "--set", "train.bias_weight_decay=0.1"], [2],
         ["train.bias_weight_decay", "mixers that do: aft-full, aft-local, aft-conv1d, aft-conv2d"]),
        ("deviation of w beside factors", ["train", "--preset", "demo-mirror", "--set", "model.bias_std=1"], [2],
         ["model.bias_std", "model.factors=64 does not read it; it is read with model.factors=0"]),
        ("operations without RandAugment", ["train", "--preset", "demo-shapes", "--set", "data.rand_augment_ops=3"], [2],
         ["data.rand_augment_ops", "data.rand_augment above 0"]),
        ("heads where there are none", ["train", "--preset", "demo-mirror", "--set", "model.heads=2"], [2],
         ["model.heads", "aft-conv1d"]),
        ("unknown preset", ["train", "--preset", "demo-miror"], [2], ["demo-miror", "demo-mirror"]),
        ("unknown preset to inspect", ["inspect", "--preset", "zork"], [2], ["zork", "demo-mirror"]),
        ("nothing to inspect", ["inspect"], [2], ["MODEL", "--preset"]),
        ("bad device", ["--device", "gpu", "list"], [2], ["--device", "gpu", "cuda"]),
        ("bad threads", ["--threads", "-1", "list"], [2], ["--threads", "-1"]),
        ("huge threads", ["--threads", "99999999999999999999", "list"], [2], ["--threads"]),
        ("argument too many", ["list", "mixers", "tasks"], [2], ["tasks"]),
        ("complete without image", ["complete", "model", "-o", "x"], [2], ["--image", "--prompt"]),
        ("complete without mask", ["complete", "model", "--image", "a.png", "-o", "x"], [2], ["--mask", "--keep-rows"]),
        ("complete bad temperature", ["complete", "m", "--image", "a.png", "--keep-rows", "1", "-o", "x",
                                      "--temperature", "hot"], [2], ["--temperature", "hot"]),
        ("complete negative temperature", ["complete", "m", "--image", "a.png", "--keep-rows", "1", "-o", "x",
                                           "--temperature", "-1"], [2], ["--temperature", "-1"]),
        ("complete top-p over one", ["complete", "m", "--image", "a.png", "--keep-rows", "1", "-o", "x",
                                     "--top-p", "1.5"], [2], ["--top-p", "1.5", "above 0, up to 1"]),
        ("complete top-p zero", ["complete", "m", "--image", "a.png", "--keep-rows", "1", "-o", "x",
                                 "--top-p", "0"], [2], ["--top-p", "0", "above 0, up to 1"]),
        ("complete no samples", ["complete", "m", "--image", "a.png", "--keep-rows", "1", "-o", "x",
                                 "--samples", "0"], [2], ["--samples", "0"]),
        ("probe without a file", ["probe", "bias", "m"], [2], ["--out"]),
        ("more memory than there is", ["train", "--preset", "demo-mirror", "--out", "vast", "--set", "model.dim=16384",
                                       "--set", "train.batch=8192"], [1], ["memory", "train.micro_batch", "train.recompute"]),
        ("data that are elsewhere", ["train", "--preset", "cifar10-small", "--out", "nowhere"], [1],
         ["data/cifar10", "--data 'cifar10:dir?size=16'"]),
        ("compare: a layer of maps that are not written", ["compare", "a", "b", "--layer", "99"], [2], ["--layer", "-o FILE"]),
        ("run layer without part", ["run", "m", "a", "b", "--layer", "0"], [2], ["--layer", "--part"]),
    ]
    for name, args, codes, mentions in cases:
        cli.bad(name, args, codes, *mentions)
    if "shot" in cli.run("list", "commands").out:
        for size in ("1x1", "abc", "800", "60000x60000"):
            cli.bad(f"shot --size {size}", ["shot", "Home", "--size", size, "-o", "pictures"], [2], "--size", size)
    broken = cli.write("broken.json", b'{"model": ')
    result = cli.bad("config that is no JSON", ["train", "--config", broken, "--out", "r"], [2], "broken.json")
    cli.check("a library's own words are not shown", "json.exception" not in result.err, result.err)
    for text, mentions in [("garbage", ["garbage", "KEY=VALUE"]), ("model.layerz=3", ["model.layerz", "model.layers"]),
                           ("model.layers=three", ["model.layers", "three"]), ("model.layers=-1", ["model.layers", "-1"]),
                           ("train.schedule=zigzag", ["train.schedule", "zigzag", "cosine"]),
                           ("model.mixer=aft-fill", ["aft-fill", "aft-full"]), ("train.learning_rate=nan", ["train.learning_rate"]),
                           ("train.recompute=perhaps", ["train.recompute", "perhaps"])]:
        cli.bad(f"--set {text}", ["train", "--preset", "demo-mirror", "--print-config", "--set", text], [2], *mentions)


def drawn(cli):
    """shot and script say with --json what they did."""
    if "shot" not in cli.run("list", "commands").out:
        return cli.skip("built without a window")
    shown = cli.run("shot", "14-empty", "01-home", "--size", "1000x700", "-o", "shots", "--open", "no-such-model", "--json")
    if "no OpenGL:" in shown.err or "OpenGL too old" in shown.err:
        return cli.skip("no OpenGL: " + shown.err.strip())
    cli.check("shot of no model prints nothing", shown.code == 1 and not shown.out and "no-such-model" in shown.err, shown)
    shown = cli.ok("shot --json", "shot", "14-empty", "14-empty-train", "--size", "1000x700", "-o", "shots", "--json")
    files = (shown.json() or {}).get("files", [])
    cli.check("shot --json names its files", [cli.folder / f["file"] for f in files]
              == [cli.folder / "shots" / f"14-empty{end}.png" for end in ("", "-train")], shown)
    for file in files:
        content = (cli.folder / file["file"]).read_bytes()
        size = struct.unpack(">II", content[16:24])
        cli.check("shot --json says the sizes", (file["width"], file["height"]) == size == (1000, 700)
                  and file["bytes"] == len(content), file)
    plain = cli.ok("shot in words", "shot", "14-empty", "-o", "shots")
    cli.check("shot prints its files", plain.out == "shots/14-empty.png\n", plain)
    script = cli.write("three.txt", "# a comment\nworkspace Biases\nframes 5\n\nworkspace Home\n")
    shown = cli.ok("script --json", "script", "--headless", script, "--json")
    answer = shown.json() or {}
    cli.check("script --json says what it ran", answer.get("file") == str(script) and answer.get("lines") == 3
              and answer.get("frames", 0) >= 5, shown)
    cli.check("script says nothing else", cli.ok("script", "script", "--headless", script).out == "", "output")
    script = cli.write("stops.txt", "workspace Biases\nquit\nworkspace Home\n")
    answer = cli.ok("script that quits", "script", "--headless", script, "--json").json() or {}
    cli.check("script --json counts up to quit", answer.get("lines") == 2, answer)


def cannot_draw(cli):
    """Pictures where there is no OpenGL, or one that is too old."""
    if "shot" not in cli.run("list", "commands").out:
        return cli.skip("built without a window")
    args = ["shot", "14-empty", "-o", "undrawn"]
    cases = [("no EGL", {"__EGL_VENDOR_LIBRARY_DIRS": "/nonexistent"}, ["no opengl: egl", "libegl1", "command line"]),
             ("no driver", {"LIBGL_DRIVERS_PATH": "/nonexistent"}, ["no opengl: egl", "libgl1-mesa-dri", "command line"]),
             ("OpenGL 2.1", OLD_OPENGL, ["opengl too old (found 2.1, needed 3.3)", "driver", "libgl_always_software=1"])]
    for name, env, mentions in cases:
        if cli.run(*args, env=env).code == 0:
            cli.skip(f"{name}: this OpenGL ignores {', '.join(env)}")
            continue
        result = cli.bad(f"shot with {name}", args, [1], *mentions, env=env)
        cli.check(f"shot with {name} says it once", result.err.count("afterimage: ") == 1, result)
        cli.check(f"shot with {name} leaves nothing", not list(cli.folder.glob("undrawn/*")), result)


def watched_files(cli):
    """Who waits for a dump that cannot be written would wait for ever."""
    if "script" not in cli.run("list", "commands").out:
        return cli.skip("built without a window")
    script = cli.write("wait.txt", "wait Status/Main/State\n")
    result = cli.run("script", "--headless", script, env={"AFTERIMAGE_DUMP": "no/such/folder/dump"})
    if "no OpenGL:" in result.err or "OpenGL too old" in result.err:
        return cli.skip("no OpenGL: " + result.err.strip())
    cli.check("a dump that cannot be written is named", result.code == 1 and "AFTERIMAGE_DUMP" in result.err
              and "no/such/folder/dump" in result.err, result)


def run(cli):
    cli.part(watched_files)
    cli.part(drawn)
    cli.part(cannot_draw)
    cli.part(starts)
    all_lists = cli.part(lists) or {}
    cli.part(help_pages, all_lists.get("commands", []))
    cli.part(help_words)
    cli.part(summaries)
    cli.part(presets, [p["name"] for p in all_lists.get("presets", [])])
    cli.part(nonsense)
    cli.part(gallery)
