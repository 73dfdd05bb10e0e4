"""What an open window costs.

Checked: in each of five workspaces a window that is left alone draws not one frame (in Biases for two seconds), and
frames are drawn and counted while the pointer moves over a map. Printed and never checked, as they are the machine's:
how long those frames take with and without training, and how fast training goes with the window open and without it.
"""
import time

from readings import DEMO
from train_journey import start_new_run, step_of
from window import Window

IDLE_S, HOVER_S, STEPS = 2, 3, 60


def settled(window):
    """Waits until nothing has been drawn for 1.5 seconds: a busy machine answers late; one that never rests fails later."""
    seen, since = -1, time.monotonic()
    end = since + 15
    while time.monotonic() - since < 1.5 and time.monotonic() < end:
        now = len(window.frames())
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.05)
    return seen


def hover(window, seconds):
    """Moves the pointer over a map at 60 places a second; returns milliseconds of the frames drawn meanwhile."""
    box = window.place("Atlas/Main/Layer 0")
    before, words = len(window.frames()), []
    for i in range(int(seconds * 60)):
        words += ["mousemove", "--window", window.id, box.x + (i * 7) % box.w, box.y + (i * 5) % box.h, "sleep", 0.016]
    window.xdo(*words)
    return [ms for _, ms, _ in window.frames()[before:]]


def share_under(times, limit):
    return f"{100 * sum(ms < limit for ms in times) / max(1, len(times)):.1f} % of {len(times)} frames under {limit} ms"


def speed_alone(cli):
    """Steps per second without a window, by the clock; the start of the program is taken out."""
    seconds = [cli.run("train", "--preset", "demo-mirror", "--steps", steps, "--out", cli.folder / f"alone-{steps}").seconds
               for steps in (10, 10 + STEPS)]
    return STEPS / max(1e-9, seconds[1] - seconds[0])


def run(cli, screen):
    with Window(cli, screen, DEMO) as window:
        window.until_value("Atlas/Main/Layer 0", "drawn")
        for key, workspace in enumerate(("Home", "Train", "Biases", "Attention", "Complete"), 1):
            window.key(key)
            window.until(lambda d: d.workspace == workspace, workspace)
            before = settled(window)
            time.sleep(IDLE_S if workspace == "Biases" else 1)  # the measurement itself
            drawn = len(window.frames()) - before
            cli.check(f"idle in {workspace} draws no frame", drawn == 0, f"{drawn} frames")
        window.key(3)
        window.until_value("Atlas/Main/Layer 0", "drawn")
        times = hover(window, HOVER_S)
        cli.check("frames are counted while the pointer moves", len(times) > 10, len(times))
        print(f"    hovering without training: {share_under(times, 16)}, longest {max(times):.1f} ms")
    measure_training(cli, screen)


def measure_training(cli, screen):
    folder = cli.folder / "open-window"
    with Window(cli, screen) as window:
        window.until(lambda d: d.workspace == "Home", "Home")
        start_new_run(window, folder)
        window.key(3)
        first = window.until(lambda d: step_of(d) >= 10 and step_of(d), "ten steps")
        start = time.monotonic()
        last = window.until(lambda d: step_of(d) >= first + STEPS and step_of(d), f"{STEPS} steps without input")
        with_window = (last - first) / (time.monotonic() - start)
        window.until_value("Atlas/Main/Layer 0", "drawn")
        times = hover(window, HOVER_S)
        print(f"    hovering while training: {share_under(times, 33)}, longest {max(times):.1f} ms")
    without = speed_alone(cli)
    print(f"    training: {with_window:.1f} it/s with the window open, {without:.1f} without ({100 * with_window / without:.0f} %)")
