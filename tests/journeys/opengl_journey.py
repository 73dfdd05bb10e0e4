"""Displays on which nothing can be drawn: one message names what is missing and the way out, and the program ends."""
from screen import Screen
from usage_checks import OLD_OPENGL


def check_refused(cli, screen, name, env, *mentions):
    env = {"DISPLAY": screen.name, "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": "", **env}
    result = cli.bad(f"the window on {name}", [], [1], *mentions, env=env)
    cli.check(f"it is said once ({name})", result.err.count("afterimage: ") == 1, result)


def run(cli, screen):
    plain = Screen(without=["GLX"])
    try:
        check_refused(cli, plain, "an X server without GLX", {}, "no opengl", "glx extension not found",
                      "start the x server with its extension glx", "afterimage shot", "afterimage --help")
    finally:
        plain.end()
    check_refused(cli, screen, "OpenGL 2.1", OLD_OPENGL, "opengl too old (found 2.1, needed 3.3)", "graphics driver",
                  "libgl_always_software=1")
    check_refused(cli, screen, "no driver", {"LIBGL_DRIVERS_PATH": "/nonexistent"}, "no opengl", "graphics driver",
                  "libgl_always_software=1", "afterimage shot")
