"""Include direction inside model/ and app/: a file includes its own layer and those below."""
import re

from rules.sources import CODE, includes

# Lowest first; the first pattern that fits a path is its layer.
MODEL = [
    ("plain types", r"(traits|maps|recipe|room_settings|training_settings|metrics|requests|status|completion|data_item|system|run_name)\.(h|cpp)|config\.h|probe/option\.h|checkpoints/run_paths\."),
    ("operators' contract", r"ops/((aft|autograd|backend)\.h|backends\.inl)"),
    ("ops/common", r"ops/common/"),
    ("ops/reference", r"ops/reference/"),
    ("ops/tiled", r"ops/tiled/"),
    ("ops/cpu/simd", r"ops/cpu/(simd/|scaling\.h|range\.h)"),
    ("ops/cpu/OPERATOR", r"ops/cpu/(band|conv|scan|decode)/|ops/cpu/range\.cpp"),
    ("ops/cpu/call", r"ops/cpu/call\."),
    ("ops/cpu/exact", r"ops/cpu/exact/"),
    ("ops/cpu", r"ops/cpu/"),
    ("ops", r"ops/"),
    ("nn/cpu", r"nn/cpu/"),
    ("nn", r"nn/"),
    ("mixers", r"mixers/"),
    ("net", r"net/"),
    ("data", r"data/"),
    ("tasks", r"tasks/"),
    ("config", r"(config|presets|unread_settings)\.cpp"),
    ("checkpoints", r"checkpoints/"),
    ("distributed", r"distributed/"),
    ("train", r"train/"),
    ("decode", r"decode/"),
    ("interventions", r"interventions/"),
    ("probe", r"probe/"),
    ("device", r"(device|tensor_memory)\."),
    ("session and jobs", r"(session|jobs|model_files)"),
]
APP = [
    ("state", r"state/"),
    ("widgets", r"widgets/"),
    ("results", r"cli/(results_json|sweep_tables|results_json_cost|results_json_compare|compare_words|confusion|cost_tables|cost_plot|import_words)\."),
    ("figures", r"figures/"),
    ("panel contract", r"panels/(panel|rooms)\.h"),
    ("panels/shared", r"panels/shared/"),
    ("panels", r"panels/"),
    ("frame", r"frame/"),
    ("command contract", r"commands/rooms\.h"),
    ("services", r"cli/(interrupts|window_api|options|output|progress_line|usage|work|ranks)\."),
    ("host", r"host/"),
    ("answers", r"cli/program_json\."),
    ("commands", r"commands/"),
    ("program", r"cli/program\.|main\."),
]
# Folders side by side that do not know each other.
APART = [r"model/(jobs)[./]|model/(session)[./]", r"app/panels/(?!shared/)(\w+)/",
         r"model/ops/(?!common/)(\w+)/", r"model/ops/cpu/(band|conv|scan|decode)/"]


def layer(path, layers):
    rest = path.split("/", 1)[1]
    return next((i for i, (_, pattern) in enumerate(layers) if re.match(pattern, rest)), None)


def apart(path, pattern):
    m = re.match(pattern, path)
    return m and next(g for g in m.groups() if g)


def layers():
    for path in CODE:
        tree = {"model": MODEL, "app": APP}.get(path.split("/")[0])
        if tree is None:
            continue
        own = layer(path, tree)
        if own is None:
            yield path, 0, "no layer is named for it (tests/rules/layers.py)"
            continue
        for line, _, name in includes(path):
            if name.split("/")[0] != path.split("/")[0]:
                continue
            other = layer(name, tree)
            if other is not None and other > own:
                yield path, line, f"{tree[own][0]} may not include {name}, which stands above it ({tree[other][0]})"
            for pattern in APART:
                a, b = apart(path, pattern), apart(name, pattern)
                if a and b and a != b:
                    yield path, line, f"{a} and {b} do not know each other: {name}"
