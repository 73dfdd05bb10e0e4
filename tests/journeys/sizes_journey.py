"""Other sizes of the window and scale 2: every control stays inside and works."""
from open_journey import LINE, SHOWN
from readings import DEMO, PRIME
from screen import Screen
from window import Window


def outside(dump, width, height):
    """Controls of the bars, the tabs and the maps that stick out of the window."""
    kinds = {"workspace", "menu", "tab", "map", "line", "status", "track"}
    return [w.id for w in dump.widgets if w.kind in kinds and w.value != "hidden" and
            (w.x < 0 or w.y < 0 or w.x + w.w > width or w.y + w.h > height)]


def status_at(dump, height):
    status = dump.find("status/main/state")
    return status and status.y + status.h == height


def check_size(cli, window, width, height):
    window.xdo("windowsize", window.id, width, height)
    name = f"{width}x{height}"
    for key, workspace in enumerate(("Home", "Train", "Biases", "Attention", "Complete", "Compare", "Lab"), 1):
        window.key(key)
        window.until(lambda d: d.workspace == workspace and status_at(d, height), f"{workspace} at {name}")
        window.until_rest()
        dump = window.dump()
        cli.check(f"{workspace} at {name} stays inside", not outside(dump, width, height), outside(dump, width, height))
    window.key(3)
    check_hover(cli, window, name)


def check_hover(cli, window, name):
    box = window.place("atlas/main/layer_0")
    window.move(box.x + box.w // 4, box.y + box.h // 2)
    dump = window.until_value("atlas/main/" + LINE, lambda text: "layer 0  t " in text and f"t{PRIME} none" not in text)
    line = dump.value("atlas/main/" + LINE)
    cli.check(f"hovering works at {name}", SHOWN in line or "mean" in line, line)


def run(cli, screen):
    with Window(cli, screen, DEMO) as window:
        window.until_value("atlas/main/layer_0", "drawn")
        normal = window.place("top_bar/workspaces/home")
        check_size(cli, window, 1100, 700)
        check_size(cli, window, 800, 560)
        check_size(cli, window, 1280, 800)
    large = Screen(2560, 1600, scale=2)
    try:
        with Window(cli, large, DEMO) as window:
            window.until_value("atlas/main/layer_0", "drawn")
            box = window.place("top_bar/workspaces/home")
            cli.check("scale 2 doubles the controls", abs(box.h - 2 * normal.h) <= 2 and abs(box.w - 2 * normal.w) <= 6,
                      f"{normal} became {box}")
            size = large.run("xdotool", "getwindowgeometry", str(window.id)).split("Geometry: ")[1].split()[0]
            cli.check("the window fits the display", tuple(map(int, size.split("x"))) <= (2560, 1600), size)
            check_hover(cli, window, "scale 2")
            window.click("top_bar/workspaces/train")
            window.until(lambda d: d.workspace == "Train", "a click lands at scale 2")
    finally:
        large.end()
