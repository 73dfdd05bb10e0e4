"""The program in a window, as a user has it: seen through AFTERIMAGE_DUMP, moved by xdotool.

Nothing here waits for a fixed time: until() reads the dump again and again, up to a limit.
"""
import subprocess
import time
from dataclasses import dataclass

LIMIT_S = 40  # only met where something hangs
STEP_S = 0.02


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
        self.id = int(self.screen.run("xdotool", "search", "--name", "Afterimage").split()[0])
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
        self.screen.run("xdotool", *map(str, words))

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
        self.xdo("mousemove", "--window", self.id, int(x), int(y))

    def rest(self):
        """Until the program has drawn what it was given: a hand does not press in the frame in which it arrives."""
        seen, quiet, end = -1, 0, time.monotonic() + 0.4
        while quiet < 3 and time.monotonic() < end:
            size = self.frames_path.stat().st_size
            seen, quiet = size, quiet + 1 if size == seen else 0
            time.sleep(STEP_S)

    def click(self, name):
        self.click_at(*self.place(name).middle())

    def click_at(self, x, y, times=1):
        self.move(x, y)
        self.rest()
        self.xdo("click", "--repeat", times, "--delay", 60, 1)

    def key(self, *keys):
        """Held down until the program has drawn, as a finger does."""
        for key in keys:
            self.xdo("keydown", key)
            self.rest()
            self.xdo("keyup", key)
            self.rest()

    def type(self, text):
        self.xdo("type", "--delay", 8, text)

    def fill(self, name, text):
        """Types over what a text field holds."""
        self.click(name)
        self.key("ctrl+a")
        self.type(text)
        self.until_value(name, text)

    def opens(self, name, seconds):
        """Whether the number field is being typed into within so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            dump = self.dump()
            if dump and dump.find(name + "_typing"):
                return True
            time.sleep(STEP_S)
        return False

    def type_number(self, name, text):
        """A number field: a double click opens it, Enter takes the number. Nothing is typed before it is open: letters
        elsewhere are shortcuts. A machine that is held up between two clicks makes single ones of them: once more."""
        for _ in range(4):
            self.click_at(*self.place(name).middle(), times=2)
            if self.opens(name, 3):
                break
        else:
            raise RuntimeError(f"{name} is not opened by a double click")
        self.key("ctrl+a")
        self.type(text)
        self.until_value(name, text)
        self.key("Return")

    def drag(self, *points):
        self.move(*points[0])
        self.rest()
        words = ["mousedown", 1]
        for point in points[1:]:
            words += ["sleep", 0.03, "mousemove", "--window", self.id, *point]
        self.xdo(*words)
        self.rest()
        self.xdo("mouseup", 1)

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
