"""A run's moments, the palette, and copy as command.

Checked: Home, Right, End, the dragged handle, a click on the track and LIVE move the step that the track and the caption
of the maps name; the command that a map copies runs, and writes the very number that the map shows; P keeps a place and
a step, and a click on the pin brings both back after layer and step were changed; the palette takes fast typing, Down
moves its choice, Enter runs it and closes; F1 lists the keys and Esc closes the list.
"""
import shlex

from open_journey import reading
from readings import agrees
from tensors import read_npy
from window import Window

TRACK, LIVE = "timeline/track/track", "timeline/track/live"


def check_scrubbing(cli, window):
    window.key("Home")
    window.until_value(TRACK, "0")
    window.until(lambda d: "step 0" in d.value("atlas/main/caption"), "the maps are of step 0")
    window.key("Right")
    second = int(window.until_value(TRACK, lambda v: v.isdigit() and int(v) > 0).value(TRACK))
    window.until(lambda d: f"step {second}" in d.value("atlas/main/caption"), "the maps follow")
    box = window.place(TRACK)
    y = box.y + box.h // 2
    window.drag((box.x + box.w - 30, y), (box.x + box.w // 2, y), (box.x + 4, y))
    window.until_value(TRACK, "0")
    window.key("End")
    window.until_value(LIVE, "latest")
    window.click_at(box.x + 20, y)
    window.until_value(TRACK, str.isdigit)
    window.click(LIVE)
    window.until_value(TRACK, "live")
    cli.check("keys, the handle and LIVE move through time", True)


def pasted(window):
    """What is on the clipboard, through a text field of the program."""
    window.click("explorer/main/filter")
    window.key("ctrl+a", "ctrl+v")
    words = window.until_value("explorer/main/filter", lambda v: len(v) > 10).value("explorer/main/filter")
    window.key("ctrl+a", "Delete", "Escape")
    window.until_value("explorer/main/filter", "")
    return words


def check_copied_command(cli, window):
    box = window.place("atlas/main/layer_1")
    window.click_at(box.x + 100, box.y + 200)
    dump = window.until(lambda d: (reading(d, "atlas") or [0])[0] == 1 and d, "the cell is read")
    _, target, source, shown = reading(dump, "atlas")
    window.click("inspector/actions/copy_as_command")
    window.until(lambda d: "Command copied" in [w.value for w in d.widgets if w.kind == "toast"] or d.find("toasts/main/toast"),
                 "a toast says so")
    words = shlex.split(pasted(window))
    cli.check("the command is one of this program", words[:2] == ["afterimage", "probe"], words)
    cli.ok("the copied command runs", *words[1:])
    shape, values = read_npy(cli.folder / words[words.index("-o") + 1])
    stored = values[target * shape[1] + source]
    cli.check("it writes the numbers that the map shows", agrees(shown, stored), f"shown {shown}, written {stored}: {words}")


def check_pins(cli, window):
    window.key("p")
    row = window.until(lambda d: next((w for w in d.widgets if w.id.startswith("explorer/pins/pin")), None), "a pin in the list")
    cli.check("P pins the locked cell", "L1" in row.value, row.value)
    window.key("Escape", "bracketleft", "Home")
    window.until_value(TRACK, "0")
    window.click_at(*row.middle())
    window.until(lambda d: d.value("inspector/selection/layer") == "1" and d.value(TRACK) != "0",
                 "the pin brings back its place and step")
    window.key("End")
    cli.check("pins keep a place and a step", True)


def check_palette(cli, window):
    window.key("ctrl+shift+p")
    window.place("palette/main/search")
    window.xdo("type", "--delay", 0, "theme")  # as fast as it goes: nothing may be left in a queue
    window.until_value("palette/main/search", "theme")
    window.key("Down")
    window.until_value("palette/main/view.theme_light", "selected")
    window.key("Return")
    window.until(lambda d: not d.find("palette/main/search"), "Enter runs it")
    window.key("ctrl+shift+p")
    window.type("workspace train")
    window.until_value("palette/main/search", "workspace train")
    window.key("Return")
    window.until(lambda d: d.workspace == "Train", "the palette changes the workspace")
    window.key("F1")
    window.place("shortcuts/keys/view.command_palette")
    window.key("Escape")
    window.until(lambda d: not d.find("shortcuts/keys/view.command_palette"), "Esc closes the list of keys")
    cli.check("palette and list of keys by keyboard", True)


def run(cli, screen):
    folder = cli.folder / "moments"
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 24, "--out", folder, "--set", "train.checkpoint_every=8")
    with Window(cli, screen, folder) as window:
        window.until_value("status/main/step", "24")
        window.key("3")
        window.until_value("atlas/main/layer_1", "drawn")
        check_scrubbing(cli, window)
        check_copied_command(cli, window)
        check_pins(cli, window)
        check_palette(cli, window)
        cli.check("the window closes with 0", window.close() == 0, window.words())
