"""What an open window costs.

Checked: in each of five workspaces a window that is left alone comes to rest once everything is read (not one frame in
a second, in Biases in two), and frames are drawn and counted while the pointer moves over a map and while the maps'
ranges are changed: by whose values set them, by the colour bar's upper end and by the field of its number, each of
which must move the range. Printed and never checked, as they are the machine's: how long those frames take with and
without training, how fast training goes with the window open and without it, and what handing the weights to the window
costs while the atlas of all layers is on the screen.
"""
import math
import os
import re
import signal
import statistics
import time

from harness import wait_until
from readings import DEMO
from train_checks import line_count
from train_journey import step_of
from window import Window

# Figures of the whole suite are of more frames.
LONGER = 2 if os.environ.get("AFTERIMAGE_ALL_TESTS") else 1
IDLE_S, HOVER_S, HOVER_TRAINING_S = 2, 3, 5 * LONGER
RANGES_S, RANGES_TRAINING_S = 3 * LONGER, 6 * LONGER
RULES, RULE, BAR = ("own", "layer", "global"), "atlas/main/range", "inspector/range/colour_bar"
TURNS, TURN_S, STEPS = 2 * LONGER, 1, 100000  # more steps than this journey takes


def hover(window, seconds):
    """Moves the pointer over a map at 60 places a second; returns milliseconds of the frames drawn meanwhile."""
    box = window.place("atlas/main/layer_0")
    before, newest, words = len(window.frames()), window.frame(), []
    for i in range(int(seconds * 60)):
        words += ["mousemove", "--window", window.id, box.x + (i * 7) % box.w, box.y + (i * 5) % box.h, "sleep", 0.016]
    window.xdo(*words)
    window.until_drawn(newest)
    return [ms for _, ms, _ in window.frames()[before:]]


def switch_rules(cli, window, seconds):
    """By whose values a range is set: four clicks a second."""
    if not window.dump().find(RULE):
        window.click("atlas/main/more_tools")  # the row cannot hold it
    places = [window.place(f"{RULE}={rule}").middle() for rule in RULES]
    words, clicks = [], int(seconds * 4)
    for i in range(clicks):
        words += ["mousemove", "--window", window.id, *places[i % 3], "sleep", 0.05, "mousedown", 1, "sleep", 0.05,
                  "mouseup", 1, "sleep", 0.15]
    window.xdo(*words)
    wanted = RULES[(clicks - 1) % 3]
    cli.check("the last click sets the range's rule", window.until_value(f"{RULE}={wanted}", "on"))
    window.key("Escape")


def drag_range(cli, window, what, at, seconds):
    """Drags to and fro at 60 places a second; the range must be another one at the end."""
    before = window.dump().value(BAR)
    words = ["mousemove", "--window", window.id, *at, "sleep", 0.1, "mousedown", 1, "sleep", 0.05]
    for i in range(int(seconds * 60)):
        words += ["mousemove", "--window", window.id, at[0] + round(30 * math.sin(i / 15)), at[1], "sleep", 0.016]
    window.xdo(*words, "mousemove", "--window", window.id, at[0] - 25, at[1], "sleep", 0.1, "mouseup", 1)
    cli.check(f"dragging {what} changes the range", before and window.until_value(BAR, lambda after: after != before))


def change_ranges(cli, window, seconds):
    """All ways to set a range, a third of the time each; returns milliseconds of the frames drawn meanwhile."""
    before = len(window.frames())
    switch_rules(cli, window, seconds / 3)
    bar = window.place(BAR)
    drag_range(cli, window, "the colour bar's end", (bar.x + bar.w, bar.y + bar.h // 2), seconds / 3)
    drag_range(cli, window, "the upper number", window.place("inspector/range/high").middle(), seconds / 3)
    times = [ms for _, ms, _ in window.frames()[before:]]
    cli.check("frames are counted while ranges change", times, before)
    return times


def share_under(times, limit):
    return f"{100 * sum(ms < limit for ms in times) / max(1, len(times)):.1f} % of {len(times)} frames under {limit} ms"


def publishing(window):
    """Of two seconds of training: at most one every 250 ms, so its share is at most that."""
    costs = []
    window.until(lambda d: "publish" in d.value("status/main/costs"), "what publishing costs")
    for _ in range(20):
        time.sleep(0.1)  # the measurement itself
        costs.append(float(re.search(r"publish ([0-9.]+) ms", window.dump().value("status/main/costs")).group(1)))
    middle = statistics.median(costs)
    return f"{middle:.2f} ms, at most four times a second ({middle / 2.5:.2f} % of the time)"


def pace_of(process, run):
    """Steps per second of a held process that has the machine for a moment."""
    process.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    first, since = line_count(run), time.monotonic()
    time.sleep(TURN_S)  # the measurement itself: looking would cost the processor
    pace = (line_count(run) - first) / (time.monotonic() - since)
    process.send_signal(signal.SIGSTOP)
    return pace


def compare_paces(cli, window, with_window):
    """Training with the window open and without, by turns: what the machine does meanwhile meets both alike."""
    alone_run = cli.folder / "alone"
    alone = cli.start("train", "--preset", "demo-mirror", "--set", f"train.steps={STEPS}", "--out", alone_run)
    try:
        wait_until(lambda: line_count(alone_run) >= 10 or alone.poll() is not None)
        cli.check("a run without the window trains meanwhile", alone.poll() is None and line_count(alone_run) >= 10,
                  alone.poll())
        both = [(window.process, with_window, []), (alone, alone_run, [])]
        for process, _, _ in both:
            process.send_signal(signal.SIGSTOP)
        for _ in range(TURNS):
            for process, folder, paces in both:
                paces.append(pace_of(process, folder))
        window.process.send_signal(signal.SIGCONT)
    finally:
        alone.kill()
        alone.communicate()
    opened, without = (paces for _, _, paces in both)
    share = statistics.median(a / max(b, 1e-9) for a, b in zip(opened, without))
    print(f"    training: {statistics.median(opened):.1f} it/s with the window open, {statistics.median(without):.1f} "
          f"without ({100 * share:.0f} %)")


def run(cli, screen):
    waiting = cli.env.pop("OMP_WAIT_POLICY", None)  # as a user has it: with it, training alone is half as fast here
    try:
        measure(cli, screen)
    finally:
        if waiting is not None:
            cli.env["OMP_WAIT_POLICY"] = waiting


def measure(cli, screen):
    with Window(cli, screen, DEMO) as window:
        window.until_value("atlas/main/layer_0", "drawn")
        for key, workspace in enumerate(("Home", "Train", "Biases", "Attention", "Complete"), 1):
            window.key(key)
            window.until(lambda d: d.workspace == workspace, workspace)
            rests = window.until_rest(IDLE_S if workspace == "Biases" else 1)
            cli.check(f"idle in {workspace} draws no frame", rests, f"{len(window.frames())} frames up to now")
        window.key(3)
        window.until_value("atlas/main/layer_0", "drawn")
        times = hover(window, HOVER_S)
        cli.check("frames are counted while the pointer moves", times, times)
        print(f"    hovering without training: {share_under(times, 16)}, longest {max(times, default=0):.1f} ms")
        times = change_ranges(cli, window, RANGES_S)
        print(f"    changing ranges without training: {share_under(times, 16)}, longest {max(times, default=0):.1f} ms")
    measure_training(cli, screen)


def measure_training(cli, screen):
    folder = cli.folder / "open-window"
    cli.ok("a run to open", "train", "--preset", "demo-mirror", "--set", f"train.steps={STEPS}", "--steps", 0, "--out", folder)
    with Window(cli, screen, folder) as window:
        window.key(3)
        window.until_value("atlas/main/layer_0", "drawn")
        window.key("space")
        window.until(lambda d: step_of(d) >= 10, "ten steps")
        compare_paces(cli, window, folder)
        window.until_value("atlas/main/layer_0", "drawn")
        print(f"    handing over weights: {publishing(window)}")
        times = hover(window, HOVER_TRAINING_S)
        print(f"    hovering while training: {share_under(times, 33)}, longest {max(times, default=0):.1f} ms")
        first = step_of(window.dump())
        times = change_ranges(cli, window, RANGES_TRAINING_S)
        later = window.until(lambda d: step_of(d) > first, f"a step after {first}")
        cli.check("training continues while ranges change", later)
        print(f"    changing ranges while training: {share_under(times, 33)}, longest {max(times, default=0):.1f} ms")
