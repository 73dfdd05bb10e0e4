"""What "Save view" writes of the window, without a display: PNG at a scale and on a ground, SVG, NPZ and CSV."""
import ast
import io
import json
import struct
import xml.etree.ElementTree as tree
import zipfile
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent.parent / "assets/demo/mirror.safetensors"
SVG = "{http://www.w3.org/2000/svg}"


def save(cli, name, *choices):
    """Opens the demo's biases, makes the choices in the card and saves as `name` -> the file's bytes."""
    are_read = 'wait "range shared per layer" 300'  # the caption says it once all maps are read
    lines = [f"open {DEMO}", "wait Ready 300", "view.workspace_biases", are_read, "frames 4", "key Ctrl+E", "frames 4"]
    for choice in choices:
        lines += [f"click view_card/main/{choice}", "frames 3"]
    lines += [f"set view_card/main/file {cli.folder / name}", "frames 2", "click view_card/main/save", "frames 12"]
    script = cli.write(f"{name}.txt", "\n".join(lines) + "\n")
    cli.ok(f"script saves {name}", "script", "--headless", script, "--size", "1600x1000")
    file = cli.folder / name
    return file.read_bytes() if cli.check(f"{name} is there", file.exists()) else b""


def png_size(content):
    return struct.unpack(">II", content[16:24])


def npy(content):
    """-> shape, values of a float64 array."""
    length = struct.unpack("<H", content[8:10])[0]
    head = ast.literal_eval(content[10:10 + length].decode())
    values = content[10 + length:]
    return head, struct.unpack(f"<{len(values) // 8}d", values)


def check_pictures(cli):
    once = png_size(save(cli, "once.png", "format=picture", "scale=1"))
    triple = png_size(save(cli, "triple.png", "format=picture", "scale=3"))
    cli.check("a picture has as many pixels as were asked for", triple == (3 * once[0], 3 * once[1]) and once[0] > 800,
              (once, triple))
    dark = save(cli, "dark.svg", "format=svg", "ground=dark")
    light = save(cli, "light.svg", "format=svg", "ground=light")
    cli.check("the ground is the one that was chosen", dark != light)
    root = tree.fromstring(light)
    words = " ".join("".join(text.itertext()) for text in root.iter(SVG + "text"))
    for wanted in ("Atlas", "exp(w)", "Layer 0", "range shared per layer", "step 400"):
        cli.check(f"the SVG says {wanted}", wanted in words, words)
    cli.check("only the panes in the middle are in it", "Explorer" not in words and "Inspector" not in words, words)
    cli.check("maps are embedded", any("base64" in "".join(image.attrib.values()) for image in root.iter(SVG + "image")))


def check_numbers(cli):
    archive = zipfile.ZipFile(io.BytesIO(save(cli, "view.npz", "format=numbers")))
    cli.check("the archive is whole", archive.testzip() is None)
    note = json.loads(archive.read("note.json"))
    cli.check("the note opens the view again", note.get("afterimage_view") == 1 and note["model"] == str(DEMO), note)
    head, values = npy(archive.read("atlas.atlas.npy"))
    cli.check("two maps of 256 x 256", head["shape"] == (2, 256, 256) and head["descr"] == "<f8", head)
    cli.ok("the command writes the same", "probe", "bias", DEMO, "--layer", "1", "--quantity", "exp-1", "--gauge", "fixed",
           "--visible", "all", "-o", "bias.csv")
    rows = [line.split(",") for line in (cli.folder / "bias.csv").read_text().splitlines()[1:]]
    wrong = [row for row in rows if int(row[1]) <= int(row[0])
             and values[256 * 256 + 256 * int(row[0]) + int(row[1])] != struct.unpack("<f", struct.pack("<f", float(row[2])))[0]]
    cli.check("every visible value is the stored one", len(rows) == 256 * 256 and not wrong, wrong[:3])


def run(cli):
    check_pictures(cli)
    check_numbers(cli)
