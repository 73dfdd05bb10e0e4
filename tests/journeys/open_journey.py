"""Open a checkpoint, read exact values off the maps, lock a cell, go close, zoom."""
from readings import DEMO, MINUS, PRIME, Bias, agrees, read_line
from window import Window

SHOWN = f"exp(w){MINUS}1"
LINE = "hover_line"


def line_of(dump, pane):
    """The words of the pane's hover line, whatever section it stands in."""
    return next((w.value for w in dump.widgets if w.kind == "line" and w.id.startswith(pane + "/")), "")


def reading(dump, pane):
    return read_line(line_of(dump, pane), SHOWN)


def hover_cell(window, map_id, pane, cell, zoom):
    """Points at (target, source) of a map; returns what the hover line says."""
    box = window.place(map_id)
    window.move(box.x + (cell[1] + 0.5) * zoom, box.y + (cell[0] + 0.5) * zoom)
    dump = window.until(lambda d: (reading(d, pane) or [0])[1:3] == cell and d,
                        f"the hover line names target and source {cell}")
    return reading(dump, pane)


def check_atlas(cli, window, bias):
    box = window.place("atlas/main/layer_0")
    cli.check("one pixel a value in the atlas", (box.w, box.h) == (256, 256), box)
    for cell in (bias.largest_visible(), (200, 13), (255, 255), (0, 0)):
        layer, target, source, shown = hover_cell(window, "atlas/main/layer_0", "atlas", cell, 1)
        stored = bias.at(target, source)
        cli.check(f"hovered value at {cell} is the stored one", layer == 0 and agrees(shown, stored),
                  f"shown {shown}, stored {stored}")


def check_lock(cli, window, cell):
    box = window.place("atlas/main/layer_0")
    window.click_at(box.x + cell[1], box.y + cell[0])
    target = "inspector/selection/target"
    window.until_value(target, lambda v: v.startswith(f"{cell[0]} "))
    window.move(box.x + 3, box.y + 100)
    window.until(lambda d: d.value("atlas/main/" + LINE).find(f"t{PRIME} 3 ") > 0, "the pointer is read elsewhere")
    window.move(box.x + box.w // 2, box.y + box.h + 100)
    dump = window.until_value(target, lambda v: v.startswith(f"{cell[0]} "))
    cli.check("a click locks the cell", True, dump)
    window.key("Escape")


def check_focus(cli, window, bias):
    box = window.place("atlas/main/layer_0")
    window.double_click_at(box.x + 40, box.y + 60, lambda d: d.find("focus/main/map"), "Focus is open")
    window.until_value("focus/main/map", lambda v: v.startswith("layer 0 256x256 1:1"))
    cli.check("a double click opens the map in Focus", True)
    before = window.dump().value("focus/main/map")
    map_box = window.place("focus/main/map")
    window.move(map_box.x + 60, map_box.y + 80)
    under = reading(window.until(lambda d: (reading(d, "focus") or [0])[1:3] == (80, 60) and d, "80, 60 is read"), "focus")
    for zoom in (2, 3, 4):
        window.press(button=4)
        dump = window.until_value("focus/main/map", lambda v: zoom_of(v) >= zoom)
    now = reading(dump, "focus")
    cli.check("the wheel zooms in whole pixels where the pointer is",
              now and abs(now[1] - under[1]) <= 1 and abs(now[2] - under[2]) <= 1, f"{before}: {under} became {now}")
    for _ in range(20):
        if zoom_of(window.dump().value("focus/main/map")) >= 44:
            break
        zoom = zoom_of(window.dump().value("focus/main/map"))
        window.click("focus/main/zoom_in")
        window.until_value("focus/main/map", lambda v: zoom_of(v) > zoom)
    cli.check("zoomed in to single cells", zoom_of(window.dump().value("focus/main/map")) >= 44, window.dump().value("focus/main/map"))
    window.move(430, 300)
    _, target, source, shown = window.until(lambda d: reading(d, "focus"), "a cell is read")
    cli.check("a cell read at a large zoom is the stored one", agrees(shown, bias.at(target, source)),
              f"{target}, {source}: shown {shown}, stored {bias.at(target, source)}")
    window.click("focus/main/fit_map")
    window.until_value("focus/main/map", lambda v: zoom_of(v) == 1)


def zoom_of(words):
    return int(words.rsplit(" ", 1)[-1]) if "zoom" in words else 0


def run(cli, screen):
    bias = Bias(cli, DEMO, 0, "--quantity", "exp-1", "--gauge", "fixed")
    cli.check("the check of values can fail", not agrees("0.1235", 0.12375) and agrees("0.1235", 0.12353)
              and agrees(f"{MINUS}1.534e{MINUS}9", -1.5342e-9), "readings.agrees")
    with Window(cli, screen, DEMO) as window:
        print(f"    first frame after {window.seconds_to_first_frame:.2f} s")
        window.until_value("atlas/main/layer_0", "drawn")
        window.until_value("atlas/main/layer_1", "drawn")
        cli.check("a checkpoint opens in Biases", window.dump().workspace == "Biases", window.dump().workspace)
        check_atlas(cli, window, bias)
        check_lock(cli, window, (200, 13))
        check_focus(cli, window, bias)
        cli.check("the window closes with 0", window.close() == 0, window.words())
        cli.check("no library speaks of a display that was not asked for", "XDG_RUNTIME_DIR" not in window.words(),
                  window.words())
