"""The loop that presets.py and learn.py share: one line per name, and how many came to what."""


def check_names(parser, names, allowed):
    unknown = set(names) - set(allowed)
    if unknown:
        parser.error(f"found {sorted(unknown)}; allowed: {', '.join(allowed)}")


def count_each(names, work):
    """work(name) -> ("passed", "failed" or "left out", words). Returns whether one failed."""
    counts = {"passed": 0, "failed": 0, "left out": 0}
    for name in names:
        result, words = work(name)
        counts[result] += 1
        print(f"{name:<28} {result:<8} {words}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return counts["failed"] > 0
