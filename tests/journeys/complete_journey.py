"""Paint a mask, undo and redo, complete, watch the samples fill in, stop, look at one sub-pixel."""
import re

from readings import DEMO
from window import TRIES, Window

PROGRESS, MASK = "samples/main/progress", "source/main/mask"


def covered(dump):
    found = re.match(r"Mask covers ([\d\u2009\u202f ]+) of", dump.value(MASK))
    return int(re.sub(r"\D", "", found.group(1))) if found else -1


def filled(dump):
    """(decided, all) pixels of the grey completion on the screen."""
    found = re.match(r"(\d+) of (\d+) pixels", dump.value(PROGRESS))
    return tuple(map(int, found.groups())) if found else (-1, -1)


def palette(window, words):
    window.key("ctrl+shift+p")
    window.place("palette/main/search")
    window.type(words)
    window.until(lambda d: d.value("palette/main/search") == words, "the palette has the words")
    window.key("Return")
    window.until(lambda d: not d.find("palette/main/search"), "the palette closes")


def check_painting(cli, window):
    window.until(lambda d: covered(d) == 128, "the lower half is masked at first")
    box = window.place("source/main/picture")
    zoom = box.w // 16

    def at(row, column):
        return box.x + int((column + 0.5) * zoom), box.y + int((row + 0.5) * zoom)
    window.drag(at(2, 2), at(2, 5), at(2, 9), at(2, 12))
    painted = 128 + 3 * 13  # brush of size 1: rows 1 to 3, columns 1 to 13
    window.until(lambda d: covered(d) == painted, "the stroke covers its way")
    window.click("source/tools/eraser")
    window.until_value("source/tools/eraser", "on")
    window.drag(at(12, 4), at(12, 11))
    erased = painted - 3 * 10
    window.until(lambda d: covered(d) == erased, "the eraser uncovers its way")
    window.key("ctrl+z")
    window.until(lambda d: covered(d) == painted, "one stroke is undone")
    window.key("ctrl+z")
    window.until(lambda d: covered(d) == 128, "the other one too")
    window.key("ctrl+y", "ctrl+y")
    window.until(lambda d: covered(d) == erased, "both are done again")
    cli.check("every stroke is one undo step", True)
    return erased


def check_completing(cli, window, masked):
    window.key("ctrl+Return")
    dump = window.until(lambda d: filled(d) == (masked, masked) and d, "all samples are complete")
    samples = [w for w in dump.widgets if re.match(r"samples/main/sample_\d+$", w.id)]
    cli.check("four samples", len(samples) == 4, samples)
    bits = [float(w.value.split()[0]) for w in samples]
    cli.check("each with its likelihood", all(0 < b < 20 for b in bits), bits)
    window.move(*samples[1].middle())
    dump = window.until(lambda d: d.value("samples/main/hover_line").startswith("sample 2  pixel"), "the pixel is read")
    window.click_at(samples[1].x + samples[1].w - 5, samples[1].y + samples[1].h - 5)
    dump = window.until(lambda d: d.value("play/y_15_x_15/probability").endswith("%") and d.find("play/main/distribution")
                        and d, "the distribution at the clicked pixel")
    levels = {w.id.rsplit("/", 1)[-1]: w.value for w in dump.widgets if w.id.startswith("play/y_15_x_15/")}
    share = float(levels.get("probability", "-1 %").split()[0])
    cli.check("it says how likely the chosen level was", 0 < share <= 100 and levels["chosen"].isdigit(), levels)


def check_stop(cli, window):
    """32 samples of an empty picture take a moment: they are seen filling in, and Esc stops them."""
    palette(window, "mask everything")
    window.until(lambda d: covered(d) == 256, "everything is masked")
    window.click("sampling/options/samples=32")
    window.until_value("sampling/options/samples", "32")
    window.type_number("sampling/options/particles", "32")
    window.until_value("sampling/options/particles", "32")
    for _ in range(TRIES):
        before = window.dump().value(PROGRESS)
        window.key("ctrl+Return")
        window.until(lambda d: d.value(PROGRESS) != before and filled(d)[0] > 0, "the samples fill in")
        window.key("Escape")
        dump = window.until(lambda d: d.find("samples/main/complete.start") and d, "Esc stops")
        if "stopped" in dump.value(PROGRESS):  # else all samples were complete before the key
            break
    stopped = filled(dump)
    cli.check("Esc stops between two tokens", 0 < stopped[0] < stopped[1], stopped)
    window.click("sampling/options/samples=4")
    window.click("samples/main/continue")
    window.until(lambda d: filled(d)[0] > stopped[0], "it continues from there")
    cli.check("Continue continues", True)
    window.key("Escape")


def check_dialog(cli, window):
    """Its closing gives the focus back, which brings a tab to the front: the one that was there."""
    window.until_value("sampling/main/tab", "shown")
    window.key("F1")
    window.place("shortcuts/keys/file.quit")
    window.key("Escape")
    window.until(lambda d: not d.find("shortcuts/keys/file.quit"), "the keys close")
    window.until_rest()
    cli.check("a dialog leaves the tabs as they were", window.dump().value("sampling/main/tab") == "shown", window.words())


def run(cli, screen):
    with Window(cli, screen, DEMO) as window:
        window.until_value("atlas/main/layer_0", "drawn")
        window.key("5")
        check_dialog(cli, window)
        masked = check_painting(cli, window)
        check_completing(cli, window, masked)
        check_stop(cli, window)
        cli.check("the window closes with 0", window.close() == 0, window.words())
