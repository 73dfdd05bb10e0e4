"""What a run has logged, as CSV and as an event file, which is decoded here from its bytes alone."""
import csv
import io
import json
import struct

from train_checks import SMALL, lines_of


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(content):
    at = 0
    while at < len(content):
        head = content[at:at + 8]
        size, = struct.unpack("<Q", head)
        body = content[at + 12:at + 12 + size]
        head_crc, = struct.unpack("<I", content[at + 8:at + 12])
        body_crc, = struct.unpack("<I", content[at + 12 + size:at + 16 + size])
        if (head_crc, body_crc) != (masked(head), masked(body)):
            raise ValueError(f"checksums of the record at byte {at}")
        yield body
        at += 16 + size


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def message(data):
    """Fields of a protobuf message as (number, value): bytes of the fixed and the long ones."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def events(path):
    for body in records(path.read_bytes()):
        fields = dict(message(body))
        values = {}
        for number, value in message(fields.get(5, b"")):
            tag = dict(message(value))
            values[tag[1].decode()] = struct.unpack("<f", tag[2])[0]
        yield struct.unpack("<d", fields[1])[0], fields.get(2, 0), fields.get(3), values


def flat(line):
    out = {k: v for k, v in line.items() if k not in ("step", "timing")}
    out.update({f"timing.{k}": v for k, v in line.get("timing", {}).items()})
    return {k: v for k, v in out.items() if v is not None}


def as_csv(cli, run, logged):
    file = cli.folder / "run.csv"
    shown = cli.ok("metrics -o FILE.csv", "metrics", run, "-o", file, "--json").json() or {}
    rows = list(csv.DictReader(io.StringIO(file.read_text()))) if file.exists() else []
    cli.check("a line for each logged step", [int(row["step"]) for row in rows] == [line["step"] for line in logged], rows)
    cli.check("metrics --json counts", (shown.get("rows"), shown.get("first_step"), shown.get("last_step"))
              == (len(logged), logged[0]["step"], logged[-1]["step"]), shown)
    for row, line in zip(rows, logged):
        found = {k: float(v) for k, v in row.items() if k != "step" and v != ""}
        cli.check(f"CSV of step {line['step']} is what is logged, empty elsewhere", found == flat(line), row)
    cli.ok("the file is replaced", "metrics", run, "-o", file)


def as_events(cli, run, logged):
    folder = cli.folder / "board"
    shown = cli.ok("metrics --as tensorboard", "metrics", run, "--as", "tensorboard", "-o", folder, "--json").json()
    files = list(folder.iterdir())
    cli.check("one event file", len(files) == 1 and files[0].name.startswith("events.out.tfevents."), files)
    cli.check("--json names it", shown and shown["file"] == str(files[0]), shown)
    first, *others = events(files[0])
    cli.check("the first record is the version", first[2] == b"brain.Event:2" and not first[3], first)
    cli.check("an event for each logged step", [step for _, step, _, _ in others] == [line["step"] for line in logged], others)
    times = [time for time, _, _, _ in others]
    changed = (run / "metrics.jsonl").stat().st_mtime
    cli.check("times rise up to the log's", times == sorted(times) and changed - 2 < times[-1] <= changed + 1, times)
    for (_, step, _, values), line in zip(others, logged):
        wanted = {k.replace(".", "/", 1): struct.unpack("<f", struct.pack("<f", v))[0] for k, v in flat(line).items()}
        cli.check(f"event of step {step} is what is logged", values == wanted, values)
    cli.bad("a second event file in a folder", ["metrics", run, "--as", "tensorboard", "-o", folder], [1], "board",
            files[0].name[:20])
    cli.check("the first one is still alone", list(folder.iterdir()) == files)


def strange(cli, run):
    out = cli.folder / "no.csv"
    cli.bad("metrics of a missing folder", ["metrics", cli.folder / "nowhere", "-o", out], [1], "nowhere", "run folder")
    model = next((run / "checkpoints").glob("*.safetensors"))
    cli.bad("metrics of a checkpoint", ["metrics", model, "-o", out], [1], model.name, "run folder")
    cli.bad("metrics to no .csv", ["metrics", run, "-o", "run.txt"], [2], "run.txt", ".csv")
    cli.bad("metrics into a folder", ["metrics", run, "-o", cli.write("a.csv/x", "").parent], [1], "a.csv")
    cli.bad("event file into a file", ["metrics", run, "--as", "tensorboard", "-o", model], [1], model.name)
    cli.bad("metrics as nothing", ["metrics", run, "--as", "wobble", "-o", out], [2], "wobble", "tensorboard")
    config = (run / "config.json").read_text()
    for name, log, words in (("unlogged", None, "no metrics"), ("blank", "", "no metrics"),
                             ("torn", '{"step": 1, "lo', "no metrics"), ("stepless", '{"step": 1}\n', "no metrics"),
                             ("broken", '{"step": 1, "loss": 2}\nrubbish\n', "byte 23"),
                             ("listed", '{"step": 1, "loss": 2}\n[1, 2]\n', "byte 23")):
        cli.write(f"{name}/config.json", config)
        if log is not None:
            cli.write(f"{name}/metrics.jsonl", log)
        cli.bad(f"metrics of a run that is {name}", ["metrics", cli.folder / name, "-o", out], [1], name, words)
    cli.check("a refusal writes nothing", not out.exists())


def names(cli, run):
    """Names of metrics that a separator, a quote or a terminal would take for its own."""
    cli.write("names/config.json", (run / "config.json").read_text())
    line = {"step": 5, 'a,"b"': 1.5, "x\u001b[2J\n.y": 2.5, "tiny": 1e-300}
    cli.write("names/metrics.jsonl", json.dumps(line) + "\n" + '{"step": 6, "torn')
    file = cli.folder / "names.csv"
    cli.ok("metrics with strange names", "metrics", cli.folder / "names", "-o", file)
    rows = list(csv.reader(io.StringIO(file.read_text()))) if file.exists() else []
    cli.check("CSV keeps them in their cells", rows == [["step", 'a,"b"', "tiny", "x\\x1b[2J\\n.y"],
                                                        ["5", "1.5", "1e-300", "2.5"]], rows)
    cli.ok("events with strange names", "metrics", cli.folder / "names", "--as", "tensorboard", "-o", cli.folder / "e")
    found = [values for path in (cli.folder / "e").iterdir() for _, _, _, values in events(path)]
    cli.check("tags are printable", found[-1] == {'a,"b"': 1.5, "tiny": 0.0, "x\\x1b[2J\\n/y": 2.5}, found)


def run(cli):
    folder = cli.folder / "logged"
    cli.ok("train with a log", "train", *SMALL, "--out", folder, "--steps", 12)
    logged = lines_of(folder)
    if not cli.check("the run has logged", len(logged) > 1 and any("validation.loss" in line for line in logged)
                     and not all("validation.loss" in line for line in logged), logged):
        return
    as_csv(cli, folder, logged)
    as_events(cli, folder, logged)
    strange(cli, folder)
    names(cli, folder)
