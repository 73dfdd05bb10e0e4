"""The program in a window, as a user has it: seen through AFTERIMAGE_DUMP, moved by xdotool.

Nothing here depends on how fast the machine is: until() reads the dump again and again, up to a limit, and an input
returns when frames that were drawn after it are in the dump.
"""
import subprocess
import time
from dataclasses import dataclass

from harness import HANG_S as LIMIT_S

STEP_S = 0.02
FRAMES = 3  # drawn after every input: kFramesAfterInput of app/host/window.cpp
LOOKS = 3  # at the same frame: the program has nothing to draw
TRIES = 20


@dataclass
class Widget:
    kind: str
    id: str
    x: int
    y: int
    w: int
    h: int
    value: str
    why_not: str

    def middle(self):
        return self.x + self.w // 2, self.y + self.h // 2


@dataclass
class Dump:
    frame: int
    workspace: str
    widgets: list

    def find(self, name):
        """By the whole id, or by its end."""
        for widget in self.widgets:
            if widget.id == name or widget.id.endswith("/" + name):
                return widget
        return None

    def value(self, name):
        widget = self.find(name)
        return "" if widget is None else widget.value

    def number(self, name):
        try:
            return float(self.value(name).split()[0])
        except (ValueError, IndexError):
            return float("nan")

    def is_reading(self):
        """Whether something on the screen is still being read or computed, as is_reading() of app/state/recorder.h."""
        return any((w.kind == "map" and w.value == "loading") or "computing" in w.value or
                   (w.kind in ("caption", "progress", "hint") and ("Reading " in w.value or "Computing " in w.value))
                   for w in self.widgets)


def parse_dump(text):
    lines = text.split("\n")
    _, frame, workspace = lines[0].split("\t")
    widgets = []
    for line in lines[1:]:
        if not line:
            continue
        kind, _, place, value, state, name = line.split("\t")
        widgets.append(Widget(kind, name, *map(int, place.split()), value, state.removeprefix("disabled: ")
                              if state != "enabled" else ""))
    return Dump(int(frame), workspace, widgets)


class Window:
    """with Window(cli, screen, ARGS...) as window: the program runs until the end of the block."""
    count = 0

    def __init__(self, cli, screen, *args, keep=None):
        Window.count += 1
        self.cli, self.screen = cli, screen
        self.folder = keep or cli.folder / f"window-{Window.count}"
        self.folder.mkdir(exist_ok=True)
        self.dump_path, self.frames_path = self.folder / "dump", self.folder / "frames"
        self.dump_path.unlink(missing_ok=True)
        homes = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("CONFIG", "CACHE", "DATA", "STATE")}
        env = {**cli.env, **homes, "DISPLAY": screen.name, "AFTERIMAGE_DUMP": str(self.dump_path),
               "AFTERIMAGE_FRAMES": str(self.frames_path)}
        for name in ("WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"):
            env.pop(name, None)
        self.log = open(self.folder / "log", "w+")
        self.started = time.monotonic()
        self.process = subprocess.Popen(cli.command(*args), cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        self.id = 0

    def __enter__(self):
        self.until(lambda dump: True, "the first frame")
        self.seconds_to_first_frame = time.monotonic() - self.started
        self.id = int(self.xdo("search", "--sync", "--onlyvisible", "--name", "Afterimage").split()[0])
        self.xdo("windowfocus", self.id)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def words(self):
        self.log.seek(0)
        return self.log.read()[-1500:]

    def dump(self):
        try:
            return parse_dump(self.dump_path.read_text())
        except FileNotFoundError:
            return None

    def until(self, truth, what, seconds=LIMIT_S):
        """Reads the screen until truth(dump) is something; returns that."""
        end = time.monotonic() + seconds
        while True:
            dump = self.dump()
            found = truth(dump) if dump else None
            if found:
                return found
            if self.process.poll() is not None:
                raise RuntimeError(f"the program ended with {self.process.returncode} before: {what}; {self.words()}")
            if time.monotonic() > end:
                seen = [f"{w.id}={w.value}" for w in dump.widgets if w.value][:60] if dump else []
                raise RuntimeError(f"not within {seconds} s: {what}; the screen has {seen}")
            time.sleep(STEP_S)

    def until_value(self, name, value, seconds=LIMIT_S):
        """`value`: the text, or a function of it."""
        fits = value if callable(value) else lambda text: text == value
        shown = set()

        def is_there(dump):
            shown.add(dump.value(name) if dump.find(name) else "(not there)")
            return dump.find(name) and fits(dump.value(name)) and dump
        try:
            return self.until(is_there, f"{name} is {value}", seconds)
        except RuntimeError as error:
            raise RuntimeError(f"{error}; it was {sorted(shown)}") from error

    def xdo(self, *words):
        return self.screen.run("xdotool", *map(str, words))

    def frame(self):
        """Number of the newest frame in the dump."""
        with open(self.dump_path) as lines:
            return int(lines.readline().split("\t")[1])

    def until_drawn(self, before):
        """Waits until frames are in the dump that were drawn after an input. before: the newest frame before the input.

        The program draws FRAMES frames for an input and then rests, or it is drawing all the time. Returns also when
        the program has ended.
        """
        sent, seen, looks, end = self.frame(), -1, 0, time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            now = self.frame()
            seen, looks = now, looks + 1 if now == seen else 1
            if now >= before + FRAMES and (now >= sent + 2 or looks >= LOOKS):
                return
            if time.monotonic() > end:
                raise RuntimeError(f"not within {LIMIT_S} s: frames after an input; the newest is {now}, not {before}")
            time.sleep(STEP_S)

    def until_rest(self, seconds=0.5):
        """Waits until nothing is being read or computed and no frame has been drawn for so many seconds."""
        seen, since, end = -1, 0.0, time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            now = self.frames_path.stat().st_size
            if now != seen or self.dump().is_reading():
                seen, since = now, time.monotonic()
            if time.monotonic() - since > seconds:
                return True
            time.sleep(STEP_S)
        return False

    def place(self, name, enabled=True):
        """The widget, once it is enabled and has stood still for two looks."""
        last = []

        def stands(dump):
            widget = dump.find(name)
            if widget is None or (enabled and widget.why_not):
                return None
            last.append((widget.x, widget.y, widget.w, widget.h))
            return widget if len(last) > 1 and last[-1] == last[-2] else None
        return self.until(stands, f"{name} can be clicked")

    def move(self, x, y):
        """Moves the pointer; the program has drawn it there on return."""
        before = self.frame()
        places = self.xdo("getmouselocation", "mousemove", "--window", self.id, int(x), int(y), "getmouselocation")
        if len(set(places.split("\n")[:2])) > 1:  # else there is no event
            self.until_drawn(before)

    def click(self, name):
        self.click_at(*self.place(name).middle())

    def send(self, *words):
        """Sends an input by xdotool; the program has drawn what follows on return."""
        before = self.frame()
        self.xdo(*words)
        self.until_drawn(before)

    def press(self, button=1, times=1):
        """Clicks where the pointer is. button: 1 the left one, 4 the wheel away from the user."""
        self.send("click", "--repeat", times, "--delay", 5, button)

    def click_at(self, x, y):
        self.move(x, y)
        self.press()

    def double_click_at(self, x, y, truth, what):
        """Repeats a double click until truth(dump): a slow frame makes two single clicks of it."""
        for _ in range(TRIES):
            self.move(x, y)
            self.press(times=2)
            try:
                return self.until(truth, what, 5)
            except RuntimeError as error:
                late = error
        raise late

    def key(self, *keys):
        """Presses one key after the other: "Home", "ctrl+shift+p". Only modifiers are held down until they are drawn:
        other keys would repeat on a slow machine."""
        for key in keys:
            *modifiers, last = str(key).split("+")
            if modifiers:
                self.send(*(word for modifier in modifiers for word in ("keydown", modifier)))
            self.send("key", "--delay", 0, last)
            if modifiers:
                self.send(*(word for modifier in modifiers for word in ("keyup", modifier)))

    def type(self, text):
        self.xdo("type", "--delay", 8, text)

    def fill(self, name, text):
        """Types over what a text field holds."""
        self.click(name)
        self.key("ctrl+a")
        self.type(text)
        self.until_value(name, text)

    def type_number(self, name, text):
        """Types into a number field, which a double click opens and Enter closes. Nothing is typed before the field is
        open: letters elsewhere are shortcuts."""
        self.double_click_at(*self.place(name).middle(), lambda dump: dump.find(name + "_typing"), f"{name} is opened")
        self.key("ctrl+a")
        self.type(text)
        self.until_value(name, text)
        self.key("Return")

    def drag(self, *points):
        self.move(*points[0])
        self.send("mousedown", 1)
        for point in points[1:]:
            self.move(*point)
        self.send("mouseup", 1)

    def frames(self):
        """Every frame drawn since the start: seconds, milliseconds, state."""
        lines = self.frames_path.read_text().split("\n")[:-1]
        return [(float(s), float(ms), state) for s, ms, state in (line.split("\t") for line in lines)]

    def close(self, seconds=LIMIT_S):
        """As the cross of the window does; returns the exit code."""
        self.screen.close_window(self.id)
        return self.wait(seconds)

    def wait(self, seconds=LIMIT_S):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "still running"
