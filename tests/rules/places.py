"""Places that may catch, start a thread or hold what threads share, each with its reason.

An exception is caught where it becomes a state, an answer or an exit code; threads meet in a mailbox, a queue, slots
or a cache. A line is added here for such a reason, not for convenience."""
import re

from rules.sources import CODE, TEXT, bare, line_of

CATCH = {
    "app/cli/program.cpp": "main: the exit code",
    "app/frame/guard.cpp": "around a panel",
    "model/session/worker_thread.cpp": "a request becomes its answer",
    "model/session/trainer_thread.cpp": "a command or a step becomes the state of the run",
    "model/session/run_rewind.cpp": "half a rewind is completed before its error is rethrown",
    "model/decode/completion.cpp": "a completion that is stopped is an answer",
    "model/data/loader.cpp": "a loader's exception is rethrown by the trainer",
    "model/device.cpp": "LibTorch's exceptions become ours",
    "core/caught.": "what all others use: as words, with context, as a value",
    "core/system/spin_limiter.cpp": "the system has no thread left",
    "bench/bench.cpp": "a row that fails is a row",
}
THREADS = {
    "model/session/api.cpp": "trainer and worker",
    "model/data/loader.cpp": "loaders, which the trainer alone talks to",
    "model/distributed/": "gradients travel while the backward pass computes; a group waits for its ranks",
    "core/system/": "the team of the kernels, and what keeps it from spinning",
    "app/cli/interrupts.": "signals are waited for",
    "app/state/background.h": "files that a panel shows are read",
    "app/frame/retiring.": "a session ends without holding up the window",
    "bench/timing/child.cpp": "a program that is measured",
}
SHARED = {
    "core/mailbox.h": "the mailbox",
    "model/session/channels.": "command queue, count of stops",
    "model/session/request_slots.": "what the window asks of the worker",
    "model/session/probe_cache.": "cache of answers",
    "model/session/item_cache.": "cache of inputs",
    "model/data/loader.cpp": "batches between loaders and trainer",
    "model/distributed/": "buckets between trainer and sender; the turn of the leader's threads",
    "core/system/": "the team of the kernels",
    "core/warnings.cpp": "warnings come from any thread",
    "core/number_column.cpp": "the writer appends while readers hold the rows before",
    "core/files.cpp": "numbers of temporary files",
    "model/ops/cpu/scan/chunked.cpp": "carries between the threads of one loop",
    "model/ops/common/exact.cpp": "count of blocks, which tests and `op` read",
    "model/data/picture_source.cpp": "pictures that are kept, for loaders and worker",
    "model/data/mnist.cpp": "a part is unpacked once, by loaders or worker",
    "app/frame/warnings.": "warnings come from any thread",
    "app/frame/unsaved_steps.": "count of what a session publishes, for a thread that waits for its end",
    "app/frame/guard.": "ImGui's error callback has no argument",
    "app/host/window.cpp": "the wake of the other threads",
    "app/host/response.cpp": "the same, of a window that is measured",
    "bench/timing/calibrate.cpp": "keeps a measured loop from being left out",
}
KINDS = [
    ("an exception is caught", re.compile(r"\bcatch\s*\("), CATCH),
    ("a thread is started", re.compile(r"\bstd::(?:jthread|thread(?!::)|async)\b|\bfork\("), THREADS),
    ("something is shared between threads",
     re.compile(r"\bstd::(?:\w*mutex|atomic\w*|condition_variable\w*|once_flag|latch|barrier|\w*semaphore)\b"
                r"|\bthread_local\b"), SHARED),
]


def places():
    for path in CODE:
        if path.startswith("tests/"):
            continue
        text = bare(TEXT[path])
        for what, pattern, allowed in KINDS:
            if path.startswith(tuple(allowed)):
                continue
            for m in pattern.finditer(text):
                yield path, line_of(text, m.start()), f"{what} outside the places of tests/rules/places.py"


def unused_places():
    """A line that no file needs any more."""
    for what, pattern, allowed in KINDS:
        for place in allowed:
            if not any(pattern.search(bare(TEXT[p])) for p in CODE if p.startswith(place)):
                yield "tests/rules/places.py", 0, f"{place}: {what} there no more"
