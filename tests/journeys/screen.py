"""An X server without a screen, and what xdotool cannot do on it: ask a window to close, set the scale."""
import ctypes
import os
import shutil
import subprocess


def why_not():
    """'' = journeys can be made here; else what is missing."""
    for tool in ("Xvfb", "xdotool", "xprop"):
        if not shutil.which(tool):
            return f"{tool} is not installed; scripts/setup.sh installs it"
    return ""


class Screen:
    def __init__(self, width=1280, height=800, scale=1, without=()):
        """`without`: extensions of the X server that are turned off."""
        turned_off = [word for name in without for word in ("-extension", name)]
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-noreset", "-nolisten", "tcp",
             *turned_off],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as numbers:
            self.name = ":" + numbers.readline().strip()  # up to its newline: Xvfb ends if it cannot write that
        if scale != 1:  # where GLFW and desktops keep it
            self.run("xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER",
                     f"Xft.dpi:\t{96 * scale}\n")

    def run(self, *command):
        done = subprocess.run(command, env={**os.environ, "DISPLAY": self.name}, capture_output=True, text=True,
                              timeout=300)
        return done.stdout

    def close_window(self, window):
        """What a window manager's cross does: WM_DELETE_WINDOW."""
        x11 = ctypes.CDLL("libX11.so.6")
        x11.XOpenDisplay.restype = ctypes.c_void_p
        display = ctypes.c_void_p(x11.XOpenDisplay(self.name.encode()))
        atoms = [x11.XInternAtom(display, name, 0) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")]
        event = ClientMessage(type=33, send_event=1, display=display, window=window, message_type=atoms[0], format=32)
        event.data[0] = atoms[1]
        x11.XSendEvent(display, ctypes.c_ulong(window), 0, 0, ctypes.byref(event))
        x11.XCloseDisplay(display)

    def end(self):
        self.process.terminate()
        self.process.wait()


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 16)]
