"""Open a checkpoint, read exact values off the maps, lock a cell."""
from readings import DEMO, MINUS, PRIME, Bias, agrees, read_line
from window import Window

SHOWN = f"exp(w){MINUS}1"
LINE = "Hover line"


def line_of(dump, pane):
    """The words of the pane's hover line, whatever section it stands in."""
    return next((w.value for w in dump.widgets if w.kind == "line" and w.label.startswith(pane + "/")), "")


def reading(dump, pane):
    return read_line(line_of(dump, pane), SHOWN)


def hover_cell(window, map_label, pane, cell, zoom):
    """Points at (target, source) of a map; returns what the hover line says."""
    box = window.place(map_label)
    window.move(box.x + (cell[1] + 0.5) * zoom, box.y + (cell[0] + 0.5) * zoom)
    dump = window.until(lambda d: (reading(d, pane) or [0])[1:3] == cell and d,
                        f"the hover line names target and source {cell}", 10)
    return reading(dump, pane)


def check_atlas(cli, window, bias):
    box = window.place("Atlas/Main/Layer 0")
    cli.check("one pixel a value in the atlas", (box.w, box.h) == (256, 256), box)
    for cell in (bias.largest_visible(), (200, 13), (255, 255), (0, 0)):
        layer, target, source, shown = hover_cell(window, "Atlas/Main/Layer 0", "Atlas", cell, 1)
        stored = bias.at(target, source)
        cli.check(f"hovered value at {cell} is the stored one", layer == 0 and agrees(shown, stored),
                  f"shown {shown}, stored {stored}")


def check_lock(cli, window, cell):
    box = window.place("Atlas/Main/Layer 0")
    window.click_at(box.x + cell[1], box.y + cell[0])
    target = "Inspector/Selection/Target t"
    window.until_value(target, lambda v: v.startswith(f"{cell[0]} "))
    window.move(box.x + 3, box.y + 100)
    window.until(lambda d: d.value("Atlas/Main/" + LINE).find(f"t{PRIME} 3 ") > 0, "the pointer is read elsewhere", 10)
    window.move(box.x + box.w // 2, box.y + box.h + 100)
    dump = window.until_value(target, lambda v: v.startswith(f"{cell[0]} "), 10)
    cli.check("a click locks the cell", True, dump)
    window.key("Escape")


def run(cli, screen):
    bias = Bias(cli, DEMO, 0, "--quantity", "exp-1", "--gauge", "fixed")
    cli.check("the check of values can fail", not agrees("0.1235", 0.12375) and agrees("0.1235", 0.12353)
              and agrees(f"{MINUS}1.534e-9", -1.5342e-9), "readings.agrees")
    with Window(cli, screen, DEMO) as window:
        print(f"    first frame after {window.seconds_to_first_frame:.2f} s")
        window.until_value("Atlas/Main/Layer 0", "drawn")
        window.until_value("Atlas/Main/Layer 1", "drawn")
        cli.check("a checkpoint opens in Biases", window.dump().workspace == "Biases", window.dump().workspace)
        check_atlas(cli, window, bias)
        check_lock(cli, window, (200, 13))
        cli.check("the window closes with 0", window.close() == 0, window.words())
