"""One word for each idea, and it is the field's: house words that have a term in PyTorch, FlashAttention, BLAS or ImGui.
What is kept of our own is in docs/words.md."""
import re

from rules.sources import TEXT, line_of

# (what is looked for, the field's term, paths that it holds in; none = all)
HOUSE_WORDS = [
    (r"\b(is_half|of_halves|in_half)\b", "bf16 (half is float16)", ()),
    (r"\b(LossBox|fail_if_lost|tell_losses)\b", "UnsavedSteps", ()),
    (r"\b(un)?heard\b|\bhears?\b|\w*Heard\w*|\blisten(s|ed|ing)?\b", "attend, accumulate", ()),
    (r"\b(pull|seal|sealed|folds?|folded)\b", "accumulate_chunk, finalize_chunk, accumulate_unbiased",
     ("model/decode/", "model/ops/cpu/decode/", "tests/model/decode/")),
    (r"\b(void|::)\s*(expand|contract)\(", "mlp_up, mlp_down", ("model/decode/",)),
    (r"\bwhole (numbers?|parts?)\b", "integer, exponent", ("model/ops/", "model/nn/", "docs/limits.md")),
    (r"\b(kRest|whole_part|rest_part)\b", "fraction, mantissa, remainder", ()),
    (r"\b(CarryChain|own sums|links? of rows)\b|\bhand(s|ed)? on\b", "chunked prefix scan, carry", ()),
    (r"\b(where_at_least|ask_for)\b", "select, prefetch", ("model/",)),
    (r"\bask(s|ed|ing)?( for)? ahead\b|\bfetch_(rows?|block|next)\b", "prefetch", ()),
    (r"\b(Upcoming|Ahead|Aside)\b|\bis_aside_?\b", "PrefetchPlan; offscreen", ()),
    (r"\bFlushTiny\b", "ScopedFlushToZero", ()),
    (r"\bCrew\b", "ThreadTeam", ()),
    (r"\bPages\b", "HugePageArena", ()),
    (r"\bPace\b", "PublishRate, ThreadChoice, Rounds", ()),
    (r"\b(exact mark|rescue|repair|unsafe|kMark|blocks_taken)\b|\bmade anew\b", "needs_exact, exact_fallback, recomputed", ()),
    (r"\bgive_back_(threads|memory)\b", "release_omp_team, trim_heap", ()),
    (r"\b(ShortSpins|k?Neighbours)\b", "SpinLimiter, ForeignCpuLoad", ()),
    (r"\bstruct (Live|Shared|ItemShelf)\b|\bMoments\b", "TrainerState, SessionChannels, StoredSteps, ItemCache", ()),
    (r"\b(take_wishes|take_news|let_go_of_session)\b", "apply_requests, poll_session, retire_session", ()),
    (r"\b\w*[Ww]ish(es|ed)?_?\b", "request, options", ()),
    (r"\bstruct (\w+::)*Parts\b", "Impl", ()),
    (r"\b(float|double|int|int64_t|u?intmax_t|size_t|ImVec2|Margins|Box)\b[^;{}\n]*\b\w*room\b(?=\s*[=;{])"
     r"|\bauto\s+room\s*=\s*(static_cast|fs::|ImGui::)|`room` pixels|\b(float|ImVec2)\s+room_\w+"
     r"|\b(make|check|have|has|bar|free|head|least)_(\w+_)?room\b|\bk\w*Room\b"
     r"|\b(no|enough|makes?|leaves?|needs?|have|has|there is|more|most|much|little|left-over|without|their|with|takes?|in this)\s+"
     r"(?://\s*)?room\b(?!')|\b[Rr]oom (for|left|under|at the)\b",
     "available, space, capacity, scratch (a room is an entry of a list)", ()),
    (r"\b[Yy]ardsticks?\b", "baselines", ()),
    (r"(?<!\.)\bdoors?\b(?!\.)", "interface, api", ()),
    (r"(?<![\"\w])\w*(data_place|DataPlace)\w*", "data_location", ()),  # "data_places" is a key of a file
    (r"\bstand-?in\b|\bhonest\w*|\bunlucky\w*|\b(session|probe)_bench\b|\w+_elsewhere\b|\belsewhere_\w+",
     "fake_gpu, consistency, regressions, session_fixture, relocation", ()),
    (r"\b([Gg]o|[Gg]oes|[Gg]oing|[Gg]one|[Ww]ent)[ _]on\b|\w*Go(es)?On[A-Z]?\w*", "continue, resume", ()),
    (r"\bWhose\b", "Owner", ()),
    (r"\b(tell_beyond|told_|told)\b", "warn, report", ()),
    (r"\blost_words\b", "unsaved_steps_text", ()),
    (r"\bfake GPU for a GPU\b|=fake GPU\b", "fake-gpu", ()),
]
HOUSE_WORDS = [(re.compile(pattern), instead, paths) for pattern, instead, paths in HOUSE_WORDS]

# (path, word): why it may stand.
EXCEPT = {
    ("docs/words.md", "listens"): "says what the word means",
    ("model/distributed/local_ranks.cpp", "listen"): "the system's function",
    ("tests/model/train/rank_threads.h", "listen"): "the system's function",
    ("tests/cli/rank_checks.py", "listen"): "the system's function",
    ("tests/core/settings_test.cpp", "door"): "the door of an oven",
}


def house_words():
    for path, text in TEXT.items():
        if path.startswith("tests/rules/"):
            continue
        for pattern, instead, paths in HOUSE_WORDS:
            if paths and not path.startswith(paths):
                continue
            for m in pattern.finditer(text):
                if (path, m.group(0)) not in EXCEPT:
                    yield path, line_of(text, m.start()), f"'{m.group(0)}': {instead}"
