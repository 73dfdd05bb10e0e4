"""What a pixel attends to: the layers' bars lead to their layer, the map lies over the picture and stays there."""
from readings import DEMO
from window import Window


def run(cli, screen):
    with Window(cli, screen, DEMO) as window:
        window.until_value("status/main/state", lambda text: text != "")
        window.key("4")
        names = [f"inspector/layers/layer_{layer}" for layer in range(2)]
        dump = window.until(lambda d: all(d.value(name).endswith("%") for name in names) and d, "the layers' shares")
        shares = [dump.number(name) for name in names]
        cli.check("shares are shares", all(0 <= share <= 100 for share in shares), shares)
        for layer in (1, 0, 1):
            window.click(f"inspector/layers/layer_{layer}")
            window.until_value("inspector/selection/layer", str(layer))
        cli.check("a bar leads to its layer", True)
        cli.check("no opacity without the picture", window.dump().find("inspector/display/opacity").why_not != "")
        window.click("inspector/display/over_image")
        window.until_value("inspector/display/over_image", "on")
        slider = window.place("inspector/display/opacity_slider")
        x, y = slider.middle()
        window.drag((x, y), (slider.x + 2, y))
        window.until(lambda d: d.number("inspector/display/opacity") < 20, "a faint map")
        cli.check("the window closes with 0", window.close() == 0, window.words())
        folder = window.folder
    with Window(cli, screen, DEMO, keep=folder) as window:
        window.until_value("status/main/state", lambda text: text != "")
        window.key("4")
        dump = window.until_value("inspector/display/over_image", "on")
        cli.check("remembered", dump.number("inspector/display/opacity") < 20)
        window.close()
