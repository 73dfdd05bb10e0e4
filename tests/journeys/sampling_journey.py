"""How completions are drawn: mask presets and tools, temperature, top-k, top-p and seed by their effect on the samples
(and against `afterimage complete`), the play bar, another level at a sub-pixel, a named step of a run that trains."""
import re

from complete_journey import covered, filled
from readings import DEMO
from train_journey import step_of, train_one_step
from window import Window

OPTIONS, TRACK = "sampling/options/", "play/main/track"
SPEC = "mirror?size=16&levels=16&split=test"


def bits(dump):
    """bits/dim of every sample on the screen, as text: the same text means the same samples."""
    return [w.value.split()[0] for w in dump.widgets if re.match(r"samples/main/sample_\d+$", w.id)]


def complete(window):
    """Runs a completion to its end; returns the bits of its samples, which must differ from those shown before."""
    before = bits(window.dump())
    window.key("ctrl+Return")
    dump = window.until(lambda d: filled(d)[0] == filled(d)[1] > 0 and "stopped" not in d.value("samples/main/progress")
                        and bits(d) != before and d, "all samples are complete, and new")
    return bits(dump)


def option(window, name, text, shown):
    window.type_number(OPTIONS + name, text)
    window.until_value(OPTIONS + name, shown)


def check_masks(cli, window):
    """Every preset, the rectangle and the inversion, by how many pixels they cover."""
    for name, pixels in (("right", 128), ("border", None), ("random", None), ("lower", 128)):
        before = covered(window.dump())
        window.click(f"source/tools/preset={name}")
        if pixels:
            window.until(lambda d: covered(d) == pixels, f"{name} covers {pixels}")
        else:
            found = window.until(lambda d: covered(d) != before and covered(d), f"{name} changes the mask")
            cli.check(f"{name} masks a part", 0 < found < 256, found)
    window.click("source/tools/mask.invert")
    window.until(lambda d: covered(d) == 128, "the other half is as large")
    window.click("source/tools/rectangle")
    window.until_value("source/tools/rectangle", "on")
    box = window.place("source/main/picture")
    zoom = box.w // 16

    def at(row, column):
        return box.x + int((column + 0.5) * zoom), box.y + int((row + 0.5) * zoom)
    window.drag(at(10, 2), at(12, 5), at(13, 6))
    window.until(lambda d: covered(d) == 128 + 4 * 5, "a rectangle of 4 x 5 is added")
    window.key("ctrl+z", "ctrl+z")
    window.until(lambda d: covered(d) == 128, "rectangle and inversion are undone")
    cli.check("presets, rectangle and inversion", True)


def check_options(cli, window):
    """Each option by what it must do to the samples."""
    option(window, "seed", "7", "7")
    seven = complete(window)
    option(window, "seed", "8", "8")
    eight = complete(window)
    option(window, "seed", "7", "7")
    cli.check("four samples", len(seven) == 4 and len(set(seven)) > 1, seven)
    cli.check("another seed draws others", eight != seven, f"{seven}, {eight}")
    cli.check("the same seed draws the same", complete(window) == seven, seven)
    check_against_command(cli, seven)
    option(window, "temperature", "0", "0.00")
    greedy = complete(window)
    cli.check("at temperature 0 all samples are one", len(set(greedy)) == 1, greedy)
    option(window, "temperature", "2", "2.00")
    hot = complete(window)
    cli.check("a high temperature is less likely", min(map(float, hot)) > max(map(float, greedy)), f"{hot}, {greedy}")
    option(window, "top_k", "1", "1")
    cli.check("top-k of 1 takes the likeliest at any temperature", complete(window) == greedy, greedy)
    option(window, "top_k", "0", "off")
    cli.check("top-k of 0 is off", complete(window) == hot, hot)
    option(window, "top_p", "0.01", "0.01")
    cli.check("so does a top-p of 1 %", complete(window) == greedy, greedy)
    option(window, "top_p", "1", "1.00")
    option(window, "temperature", "1", "1.00")
    cli.check("all options back: the same samples again", complete(window) == seven, seven)
    dump = window.dump()
    cli.check("the caption says what was used", "T 1.00, seed 7" in dump.value("samples/main/caption"),
              dump.value("samples/main/caption"))


def check_against_command(cli, shown):
    """The command line draws the same four samples from the same seed."""
    result = cli.ok("the same by command", "complete", DEMO, "--data", SPEC, "--index", 0, "--keep-rows", 8, "--samples", 4,
                    "--seed", 7, "-o", cli.folder / "samples", "--json")
    likelihoods = [s.get("log_likelihood") for s in (result.json() or {}).get("samples", [])]
    written = [f"{-value / 0.6931471805599453 / 128:.4f}" for value in likelihoods]
    close = len(written) == len(shown) and all(abs(float(a) - float(b)) < 2e-4 for a, b in zip(written, shown))
    cli.check("the window draws what the command line draws", close, f"window {shown}, command {written}")


def level_at(window, sample, row, column):
    """The level of a sample's pixel, from the hover line."""
    box = window.place(f"samples/main/sample_{sample}")
    zoom = box.w / 16
    window.move(box.x + (column + 0.5) * zoom, box.y + (row + 0.5) * zoom)
    found = window.until(lambda d: re.search(rf"sample {sample}  pixel {row}, {column}  level (\d+)",
                                             d.value("samples/main/hover_line")), f"sample {sample} at {row}, {column}")
    return int(found.group(1))


def reading(dump, key):
    """A value of Play's reading, whatever sub-pixel its section names."""
    return next((w.value for w in dump.widgets if w.id.startswith("play/y_") and w.id.endswith("/" + key)), "")


def check_play_bar(cli, window):
    window.click("play/main/first")
    window.until_value(TRACK, "0")
    dump = window.until(lambda d: d.find("play/y_8_x_0/chosen") and d, "the first masked pixel is 8, 0")
    window.click("play/main/next")
    window.until_value(TRACK, "1")
    window.until(lambda d: d.find("play/y_8_x_1/chosen"), "then 8, 1")
    window.click("play/main/last")
    window.until_value(TRACK, "127")
    window.click("play/main/previous")
    window.until_value(TRACK, "126")
    box = window.place(TRACK)
    window.click_at(box.x + box.w * 64.5 / 128, box.y + box.h / 2)
    window.until_value(TRACK, "64")
    window.until(lambda d: d.find("play/y_12_x_0/chosen"), "the middle is 12, 0")
    window.type_number("play/main/per_second", "2")
    window.until_value("play/main/per_second", lambda v: v.split("\u2009")[0] == "2")
    window.click("play/main/play")
    window.until(lambda d: d.value(TRACK).isdigit() and 64 < int(d.value(TRACK)) < 127, "it plays on from there")
    window.click("play/main/pause")
    window.place("play/main/play")
    place = window.dump().value(TRACK)
    cli.check("playing halts where it was paused", window.until_rest() and window.dump().value(TRACK) == place, place)
    return dump


def check_another_level(cli, window):
    """Another level at row 12: rows before it stay, the level is taken, what follows is drawn again."""
    sample = window.place("samples/main/sample_2")
    zoom = sample.w / 16
    window.click_at(sample.x + 3.5 * zoom, sample.y + 12.5 * zoom)
    dump = window.until(lambda d: d.find("play/y_12_x_3/chosen") and reading(d, "probability") and d, "12, 3 is looked at")
    drawn = int(reading(dump, "chosen"))
    cli.check("the level is that of the sample", drawn == level_at(window, 2, 12, 3), drawn)
    before = [level_at(window, 2, row, column) for row, column in ((8, 0), (10, 9), (12, 2))]
    wanted = (drawn + 7) % 16
    plot = window.place("play/main/distribution")
    left = plot.x + 44  # the axis
    window.click_at(left + (plot.w - 44) * (wanted + 0.5) / 16, plot.y + plot.h / 2)
    window.until(lambda d: reading(d, "new_level") == str(wanted), "a click on a bar chooses its level")
    likelihood = bits(window.dump())[1]
    window.click("play/y_12_x_3/complete.from_here")
    dump = window.until(lambda d: reading(d, "chosen") == str(wanted) and filled(d)[0] == filled(d)[1] and d,
                        "the chosen level is in the sample")
    after = [level_at(window, 2, row, column) for row, column in ((8, 0), (10, 9), (12, 2))]
    cli.check("what came before stays", before == after, f"{before}, {after}")
    cli.check("the sample holds the new level", level_at(window, 2, 12, 3) == wanted, wanted)
    cli.check("an unlikely level costs bits", float(bits(window.dump())[1]) > float(likelihood),
              f"{likelihood}, then {bits(window.dump())[1]}")


def check_named_step(cli, screen):
    """While training runs: first the newest weights, then those of an early step that was saved; training continues."""
    folder = cli.folder / "completing"
    cli.ok("a run to train", "train", "--preset", "demo-mirror", "--steps", 0, "--out", folder)
    with Window(cli, screen, folder) as window:
        window.until_value("status/main/step", "0")
        window.key("2")
        train_one_step(window, 1)
        window.key("ctrl+s")  # weights that have hardly learnt
        window.type_number("controls/optimiser/target_step", "100000")  # more than this journey takes
        pin = "timeline/track/pin_save_"
        saved = window.until(lambda d: next((w.id[len(pin):] for w in d.widgets if w.id.startswith(pin)), ""),
                             "an early step is saved")
        window.key("space")
        window.until(lambda d: step_of(d) >= int(saved) + 100, "a hundred steps more")
        window.key("5")
        window.until(lambda d: covered(d) == 128 and d.find("source/main/picture"), "the picture is there")
        live = complete(window)
        words = window.dump().value("samples/main/caption")
        used = re.search(r"step (\d+)", words)
        cli.check("the caption names a trained step, and that training continues",
                  used and int(used.group(1)) >= int(saved) + 100 and "training continues" in words, words)
        window.click(OPTIONS + "model_step")
        window.click(f"sampling/options/model_step=step_{saved}")
        window.until_value(OPTIONS + "model_step", f"step {saved}")
        first = step_of(window.dump())
        early = complete(window)
        words = window.dump().value("samples/main/caption")
        cli.check("the caption names the saved step", re.search(rf"step {saved}\b", words), words)
        # Of four samples each: single ones of weak weights are cheap by chance.
        cli.check("its weights are worse", sum(map(float, early)) > sum(map(float, live)), f"{early}, {live}")
        window.until(lambda d: step_of(d) > first and d.value("status/main/state") == "Running", "training continued")
        window.key("Escape", "space")
        window.until_value("status/main/state", "Paused")
        cli.check("the window closes with 0", window.close() == 0, window.words())


def run(cli, screen):
    with Window(cli, screen, DEMO) as window:
        window.until_value("atlas/main/layer_0", "drawn")
        window.key("5")
        window.until(lambda d: covered(d) == 128, "the lower half is masked at first")
        check_masks(cli, window)
        check_options(cli, window)
        check_play_bar(cli, window)
        check_another_level(cli, window)
        cli.check("the window closes with 0", window.close() == 0, window.words())
    check_named_step(cli, screen)
