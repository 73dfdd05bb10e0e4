"""Who may include what."""
import re

from rules.sources import CODE, HEADERS, ROOT, TEXT, includes

# What each folder may include of ours.
ALLOWED = {
    "core": ("core/",),
    "model": ("core/", "model/"),
    "viz": ("core/", "viz/"),
    "bench": ("bench/", "core/", "model/"),
    "app": ("app/", "core/", "viz/", "bench/bench.h", "model/session.h", "model/jobs.h",
            "model/jobs/", "model/distributed/local_ranks.h", "model/distributed/rank_group.h", "model/system.h", "model/run_name.h", "model/model_files.h", "model/requests.h", "model/recipe.h", "model/status.h", "model/completion.h", "model/data_item.h",
            "model/metrics.h", "model/training_settings.h"),
    "tests": ("",),
}
LIBTORCH = re.compile(r"^(ATen|torch|c10|caffe2)/")
IMGUI = re.compile(r"^(imgui|implot|imgui_internal)[\w]*\.h$|^backends/imgui")
OPENGL = re.compile(r"^(GL|EGL|GLES\d?)/")
GLFW = re.compile(r"^GLFW/")
# Headers that must stay free of LibTorch, whatever they include; others say so in their first lines.
# The headers of model/jobs/, which jobs.h includes, are among them.
PLAIN_HEADERS = ("model/session.h", "model/jobs.h", "model/config.h", "model/requests.h", "model/recipe.h", "model/status.h", "model/completion.h",
                 "model/data_item.h", "model/system.h", "model/metrics.h", "model/traits.h", "model/distributed/rank_group.h",
                 "model/distributed/rank_place.h", "model/distributed/local_ranks.h")


def include_direction():
    for path in CODE:
        folder = path.split("/")[0]
        for line, kind, name in includes(path):
            if kind != '"':
                continue
            if folder == "tests" and (ROOT / path).parent.joinpath(name).exists():
                continue  # what the tests of one program share
            if not (ROOT / name).exists():
                yield path, line, f'"{name}" is no file of ours (from the root, or <> for others)'
            elif not name.startswith(ALLOWED[folder]):
                yield path, line, f"{folder}/ may not include {name}"


def places(pattern, what, allowed):
    for path in CODE:
        if path.startswith(allowed):
            continue
        for line, _, name in includes(path):
            if pattern.search(name):
                yield path, line, f"{what} header {name} outside {', '.join(allowed)}"


def libtorch_places():
    yield from places(LIBTORCH, "LibTorch", ("model/", "bench/", "tests/"))


def imgui_places():
    yield from places(IMGUI, "ImGui", ("viz/", "app/host/", "app/frame/", "app/panels/", "app/widgets/", "app/state/", "tests/"))


def opengl_places():
    yield from places(OPENGL, "OpenGL", ("viz/", "app/host/window", "tests/"))
    yield from places(GLFW, "GLFW", ("viz/", "app/host/window", "tests/"))


def reached_from(header, seen):
    """Own headers that `header` includes, with the include that brings LibTorch, if any."""
    if header in seen or header not in TEXT:
        return None
    seen.add(header)
    for _, kind, name in includes(header):
        if LIBTORCH.search(name):
            return f"{header} includes {name}"
        found = reached_from(name, seen) if kind == '"' else None
        if found:
            return found
    return None


def plain_headers():
    for path in HEADERS:
        opening = " ".join(TEXT[path].split("#pragma once")[0].split("//"))
        opening = " ".join(opening.split())
        is_plain = path in PLAIN_HEADERS or path.startswith("model/jobs/")
        if not is_plain and not re.search(r"\b[Nn]o LibTorch\b", opening):
            continue
        found = reached_from(path, set())
        if found:
            yield path, 0, f"promises no LibTorch, but {found}"
