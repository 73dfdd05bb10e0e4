#!/usr/bin/env python3
"""Trains every listed preset for two steps and prints what each took: that none of them is only a file.

    tests/presets.py BINARY [--data DIR] [NAME...]

BINARY: afterimage; DIR holds cifar10/, mnist/, text/input.txt and enwik8/ (without it presets that need one are left
out and named). ImageNet's presets get a folder of generated pictures. Batches of two, one example at a time: what a
step of the preset's own batch takes is a multiple of it. Exit code 1 where one fails.
Not part of the suite, because it takes some minutes on two cores.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from counting import check_names, count_each


def write_picture(path, seed, size=256):
    """An RGB picture of coloured stripes as PNG."""
    rows = b"".join(b"\0" + bytes((x * (seed + 1) + y * 3 * c) % 256 for x in range(size) for c in range(3)) for y in range(size))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pictures(folder):
    """Twenty classes of two pictures each, in the shape of ImageNet's folder."""
    for label in range(20):
        (folder / f"class{label:02}").mkdir(parents=True)
        for i in range(2):
            write_picture(folder / f"class{label:02}" / f"{i}.png", 2 * label + i)
    return folder


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def source_of(config, data, made):
    """The preset's source with its place changed to one that is here; None: there is none."""
    kind, _, rest = config["data"]["source"].partition(":")
    if not rest:
        return config["data"]["source"]
    _, mark, options = rest.partition("?")
    if kind == "images":
        return f"images:{made}{mark}{options}"
    if data is None:
        return None
    place = {"cifar10": data / "cifar10", "mnist": data / "mnist",
             "text": next((data / "enwik8").glob("enwik8*"), None) if "enwik8" in rest else data / "text" / "input.txt"}[kind]
    return f"{kind}:{place}{mark}{options}"


def train(binary, name, source, folder):
    """(exit code, seconds, bytes at most, last words)"""
    begun = time.monotonic()
    with open(folder / "words", "w+") as words:
        child = subprocess.Popen([str(binary), "train", "--preset", name, "--data", source, "--steps", "2", "--out", str(folder / "run"),
                                  "--set", "train.batch=2", "--set", "train.validate_examples=2"],
                                 stdin=subprocess.DEVNULL, stdout=words, stderr=words)
        _, status, usage = os.wait4(child.pid, 0)
        words.seek(0)
        last = (words.read().strip().splitlines() or [""])[-1]
    return os.waitstatus_to_exitcode(status), time.monotonic() - begun, usage.ru_maxrss * 1024, last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=lambda text: Path(text).resolve())
    parser.add_argument("--data", type=lambda text: Path(text).resolve())
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    listed = [preset["name"] for preset in json.loads(call(args.binary, "list", "presets", "--json").stdout)["presets"]]
    check_names(parser, args.names, listed)
    with tempfile.TemporaryDirectory(prefix="afterimage-presets-") as top:
        made = pictures(Path(top) / "pictures")

        def try_one(name):
            config = json.loads(call(args.binary, "train", "--preset", name, "--print-config").stdout)
            source = source_of(config, args.data, made)
            if source is None:
                return "left out", "needs --data"
            folder = Path(top) / name
            folder.mkdir()
            code, seconds, peak, last = train(args.binary, name, source, folder)
            words = f"{seconds:6.1f} s, at most {peak / 2**30:.2f} GiB"
            return ("failed", f"{words}: exit {code}: {last}") if code else ("passed", words)
        return count_each(args.names or listed, try_one)


if __name__ == "__main__":
    sys.exit(main())
