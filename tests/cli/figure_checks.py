"""Figures of the demo models: SVG is well formed and says what it shows, PNG has the size asked for, the numbers are
those of the probe, and a model that cannot show a figure says why."""
import math
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import tensors

DEMO = Path(__file__).resolve().parents[2] / "assets" / "demo"
FIXTURES = Path(__file__).resolve().parents[1] / "model" / "imports"
SVG = "{http://www.w3.org/2000/svg}"


def read_npy(path):
    raw = Path(path).read_bytes()
    length = struct.unpack("<H", raw[8:10])[0]
    body = raw[10 + length:]
    return struct.unpack(f"<{len(body) // 4}f", body)


def number(v):
    """Three digits, as figures print them."""
    if v == 0:
        return "0"
    size = abs(v)
    if size >= 9999.5 or size < 0.00095:
        mantissa, exponent = f"{size:.1e}".split("e")
        exponent = int(exponent)
        words = f"{mantissa}e" + ("\u2212" if exponent < 0 else "") + str(abs(exponent))
    else:
        words = f"{size:.{min(5, max(0, 2 - math.floor(math.log10(size))))}f}"
        if "." in words:
            words = words.rstrip("0").rstrip(".")
    return ("\u2212" if v < 0 else "") + words


def texts(path):
    root = ElementTree.parse(path).getroot()
    return root, [node.text or "" for node in root.iter(f"{SVG}text")]


def png_size(path):
    return struct.unpack(">II", Path(path).read_bytes()[16:24])


def draw(cli, name, *args):
    """The figure as SVG and as PNG at scale 2; returns the JSON and the words of the SVG."""
    title = f"figure {name} {' '.join(map(str, args[:1]))}"
    made = cli.ok(title, "figure", name, *args, "-o", "f.svg", "--json")
    root, words = texts(cli.folder / "f.svg")
    answer = made.json()
    cli.check(f"{title}: its words are text", answer and answer["title"] in words and len(words) > 3, words)
    cli.ok(f"{title} as PNG", "figure", name, *args, "-o", "f.png", "--scale", 2, "--theme", "dark")
    wanted = tuple(2 * int(root.get(side)) for side in ("width", "height"))
    cli.check(f"{title}: the PNG is twice the SVG", png_size(cli.folder / "f.png") == wanted, wanted)
    for one in answer["ranges"]:
        for end in ("low", "high"):
            if name not in ("window-curve", "training-curves"):
                cli.check(f"{title}: the bar of {one['what']} says {end}", number(one[end]) in words,
                          (number(one[end]), words))
    return answer, words


def maps(cli, pictures):
    """Every figure of every model that can show it; which cannot says who can."""
    mirror, shapes, cifar = (DEMO / f"{name}.safetensors" for name in ("mirror", "shapes", "cifar10-small"))
    colour = ["--data", f"images:{pictures}?size=16"]
    few = ["--limit", 2]
    draw(cli, "relative-attention", mirror, *few)
    draw(cli, "relative-attention", shapes, *few, "--heads", "0-3")
    draw(cli, "relative-attention", cifar, "--limit", 1, "--layers", 0, *colour)
    answer, words = draw(cli, "conv-biases", shapes)
    cli.check("the first 16 heads", "head 0" in words and "15" in words, words)
    for layer, seen in enumerate(answer["ranges"]):
        cli.ok("probe kernel", "probe", "kernel", shapes, "--layer", layer, "--quantity", "exp-1", "-o", "k.npy")
        values = read_npy(cli.folder / "k.npy")
        cli.check(f"conv-biases: range of layer {layer} is the probe's",
                  math.isclose(seen["min"], min(values), rel_tol=1e-6)
                  and math.isclose(seen["max"], max(values), rel_tol=1e-6), (seen, min(values), max(values)))
    draw(cli, "full-biases", cifar)
    answer, _ = draw(cli, "full-biases", mirror, "--gauge", "raw")
    cli.ok("probe bias", "probe", "bias", mirror, "--layer", 1, "--quantity", "exp", "--visible", "nan", "-o", "b.npy")
    values = [v for v in read_npy(cli.folder / "b.npy") if not math.isnan(v)]
    cli.check("full-biases: range of layer 1 is the probe's", math.isclose(answer["ranges"][1]["max"], max(values),
              rel_tol=1e-6) and math.isclose(answer["ranges"][1]["min"], min(values), rel_tol=1e-6), answer["ranges"])
    draw(cli, "keys", shapes, "--range", "figure")
    draw(cli, "keys", mirror, "--heads", "0,5")
    draw(cli, "completions", mirror, *few, "--samples", 2)
    cannot = [("conv-biases", mirror, "kernel"), ("full-biases", shapes, "conv-biases"),
              ("completions", shapes, "one by one"), ("window-curve", mirror, "run folder"),
              ("training-curves", shapes, "run folder")]
    for name, model, words in cannot:
        cli.bad(f"{name} of {model.stem}", ["figure", name, model, "-o", "x.svg"], [1, 2], words, model.name)


def usage(cli):
    mirror = DEMO / "mirror.safetensors"
    bad = lambda what, args, *words: cli.bad(what, ["figure", *args], [2], *words)
    bad("an unknown figure", ["biases", mirror, "-o", "x.svg"], "biases", "full-biases")
    bad("an unknown kind of file", ["keys", mirror, "-o", "x.pdf"], ".svg", "x.pdf")
    bad("a layer that is not there", ["keys", mirror, "-o", "x.svg", "--layers", "7"], "--layers", "0 to 1")
    bad("a layer twice", ["keys", mirror, "-o", "x.svg", "--layers", "1,1"], "--layers", "twice")
    bad("no list of layers", ["keys", mirror, "-o", "x.svg", "--layers", "first"], "--layers", "first")
    bad("an option of another figure", ["keys", mirror, "-o", "x.svg", "--gauge", "raw"], "gauge", "range")
    bad("a value that is not allowed", ["keys", mirror, "-o", "x.svg", "--range", "own"], "own", "layer, figure")
    bad("a scale that is not allowed", ["keys", mirror, "-o", "x.png", "--scale", "5"], "--scale")
    bad("two models", ["keys", mirror, mirror, "-o", "x.svg"], "2 models")
    cli.bad("a missing model", ["figure", "keys", "gone.safetensors", "-o", "x.svg"], [1], "gone.safetensors")
    cli.check("no file is left behind", not list(cli.folder.glob("x.*")), list(cli.folder.glob("x.*")))


def curves(cli):
    small = ["--preset", "demo-mirror", "--data", "mirror?size=8&levels=4", "--steps", 4, "--set", "train.validate_every=2",
             "--set", "train.validate_examples=8", "--set", "model.mixer=aft-local", "--set", "train.batch=2"]
    runs = []
    for window in (0, 4, 16):
        runs.append(f"s{window}")
        cli.ok(f"a run with window {window}", "train", *small, "--set", f"model.window={window}", "--out", runs[-1])
    answer, words = draw(cli, "window-curve", *runs)
    cli.check("window-curve names its windows", {"0", "4", "16"} <= set(words), words)
    answer, words = draw(cli, "training-curves", *runs)
    cli.check("training-curves names its runs", set(runs) <= set(words) and len(answer["ranges"]) == 3, words)


def probes(cli):
    mirror = DEMO / "mirror.safetensors"
    probed = cli.ok("probe as SVG", "probe", "bias", mirror, "--quantity", "exp-1", "-o", "p.svg", "--json").json()
    _, words = texts(cli.folder / "p.svg")
    cli.check("a probe's picture says its range", any(number(probed["max"]) in line for line in words), words)
    cli.check("its axes say what they are", {"targets", "sources"} <= set(words), words)
    cli.ok("probe as PNG", "probe", "bias", mirror, "--quantity", "exp-1", "-o", "p.png", "--scale", 3)
    root, _ = texts(cli.folder / "p.svg")
    cli.check("its size", png_size(cli.folder / "p.png") == tuple(3 * int(root.get(s)) for s in ("width", "height")))
    cli.ok("a curve as SVG", "probe", "bias", mirror, "--row", 200, "-o", "row.svg")
    texts(cli.folder / "row.svg")
    vit = cli.folder / "vit.safetensors"
    cli.ok("a ViT", "import", FIXTURES / "timm.pt", "-o", vit, "--set", "model.heads=4")
    cli.ok("attention as SVG", "probe", "attention", vit, "--data", "shapes?size=16", "-o", "a.svg")
    said = " ".join(texts(cli.folder / "a.svg")[1])
    cli.check("its caption is plain", all(words in said for words in (
        "position bias and content; target 0", "heads 0 to 3", "up to the largest value", "the class token (source 0; values "))
        and "reduce" not in said, said)
    one, two = (cli.ok(f"relative attention of {n}", "probe", "relative-attention", mirror, "--data", "mirror",
                       "--limit", n, "-o", f"r{n}.npy") for n in (1, 2))
    cli.check("several inputs are another mean", one.code == two.code == 0
              and read_npy(cli.folder / "r1.npy") != read_npy(cli.folder / "r2.npy"))
    cli.bad("a mean that says nothing", ["probe", "attention", mirror, "--data", "mirror", "--limit", 2, "-o", "x.npy"],
            [2], "--limit", "relative-attention")


def run(cli):
    pictures = cli.folder / "pictures"
    for i in range(12):
        cli.write(f"pictures/{i}.png", tensors.png(16, 16, lambda x, y: (16 * x, 16 * y, 20 * i)))
    cli.part(maps, pictures)
    cli.part(usage)
    cli.part(curves)
    cli.part(probes)
