"""Tar shards of pictures: packed by the program and read by Python's tarfile, and the other way round."""
import gzip
import io
import json
import tarfile

from train_checks import add_class, lines_of, timeless

TRAIN = ["train", "--preset", "demo-shapes", "--set", "train.batch=4", "--set", "train.validate_every=3",
         "--set", "train.validate_examples=12", "--set", "data.augment=recipe-c"]


def folder_of_classes(cli):
    root = cli.folder / "photos"
    for part in ("train", "val"):
        for at, name in enumerate(("ant", "bee", "cow")):
            add_class(root / part, name, 4 * at)
    return root


def packed(cli, root):
    """Byte for byte, in the order of the names, with the numbers of the classes; the same again is the same."""
    out = cli.folder / "shards"
    made = cli.ok("data pack", "data", "pack", f"images:{root}", "-o", out / "train-%05d.tar", "--json").json() or {}
    cli.check("--json says what was packed", [(p["part"], p["examples"], p["shards"]) for p in made.get("parts", [])]
              == [("train", 12, 1), ("validation", 12, 1)] and made.get("classes") == 3, made)
    cli.check("--json says how it is read", made.get("data") == f"shards:{out}", made)
    files = sorted(p for p in (root / "train").rglob("*.pgm"))
    with tarfile.open(out / "train-00000.tar") as shard:
        members = {m.name: shard.extractfile(m).read() for m in shard}
    cli.check("another reader finds pictures and labels", list(members) == [
        f"{i:08}.{kind}" for i in range(12) for kind in ("pgm", "cls")], list(members))
    for i, path in enumerate(files):
        cli.check(f"{path.name} is there byte for byte", members.get(f"{i:08}.pgm") == path.read_bytes(), path)
        cli.check(f"{path.name} has its label", members.get(f"{i:08}.cls") == str(i // 4).encode(), members.get(f"{i:08}.cls"))
    index = json.loads((out / "index.json").read_text())
    cli.check("index.json has the classes", index["classes"] == ["ant", "bee", "cow"], index)
    again = cli.folder / "again"
    cli.ok("data pack with a star", "data", "pack", f"images:{root}", "-o", again / "train-*.tar")
    cli.check("the same files give the same bytes", all((again / p.name).read_bytes() == p.read_bytes() for p in out.iterdir()),
              sorted(p.name for p in again.iterdir()))
    cli.bad("data pack over shards", ["data", "pack", f"images:{root}", "-o", out / "train-%05d.tar"], [1], "train-00000.tar",
            "--force")
    cli.ok("data pack --force", "data", "pack", f"images:{root}", "-o", out / "train-%05d.tar", "--force", "--seed", 3)
    cli.check("--seed shuffles", (out / "train-00000.tar").read_bytes() != (again / "train-00000.tar").read_bytes(), "the same")
    return again


def trained(cli, root, shards):
    """Training on shards is training on the folder, also when it resumes."""
    runs = {name: cli.folder / f"run-{name}" for name in ("folder", "shards", "parts")}
    cli.ok("train on the folder", *TRAIN, "--data", f"images:{root}?size=16", "--steps", 6, "--out", runs["folder"])
    cli.ok("train on shards", *TRAIN, "--data", f"shards:{shards}?size=16", "--steps", 3, "--out", runs["shards"])
    cli.ok("resume on shards", "train", "--resume", runs["shards"], "--steps", 6)
    pattern = f"shards:{shards}/train-*.tar?val={shards}/val-*.tar&size=16"
    cli.ok("train on patterns of shards", *TRAIN, "--data", pattern, "--steps", 6, "--out", runs["parts"])
    wanted = timeless(lines_of(runs["folder"]))
    for name in ("shards", "parts"):
        found = timeless(lines_of(runs[name]))
        cli.check(f"the log of {name} is that of the folder", found == wanted and len(found) == 6,
                  next(((a, b) for a, b in zip(found, wanted) if a != b), (len(found), len(wanted))))
    whole = cli.ok("eval of shards", "eval", runs["folder"], "--data", f"shards:{shards}/*.tar?split=all", "--json").json() or {}
    cli.check("24 pictures are measured", whole.get("examples") == 24, whole)
    return runs["folder"]


def add(shard, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    shard.addfile(member, io.BytesIO(content))


def strange(cli, root, run):
    picture = next((root / "train" / "bee").iterdir()).read_bytes()
    names = cli.folder / "names.tar"
    with tarfile.open(names, "w", format=tarfile.PAX_FORMAT) as shard:
        for i in range(150):
            key = f"{'long' * 40}/{i}"
            add(shard, f"{key}.pgm", picture)
            add(shard, f"{key}.json", json.dumps({"label": ("cow", "bee")[i % 2]}).encode())
        add(shard, "broken.pgm", b"no picture")
        add(shard, "broken.cls", b"bee")
    found = cli.run("eval", run, "--data", f"shards:{names}?split=all", "--classes", "by-name", "--json")
    measured = found.json() or {}
    cli.check("names of another writer, one of 151 left out", found.code == 0 and measured.get("examples") == 150
              and "broken.pgm" in found.err, found)
    cut = cli.write("cut.tar", names.read_bytes()[:200_000])
    for name, path, words in (("cut", cut, ["cut.tar", "1 %"]), ("text", cli.write("text.tar", "no tar"), ["text.tar", "tar file"]),
                              ("gzip", cli.write("a.tar.gz", gzip.compress(names.read_bytes())), ["a.tar.gz", "gzip"])):
        cli.bad(f"eval of a shard that is {name}", ["eval", run, "--data", f"shards:{path}?split=all", "--classes", "by-name"],
                [1, 2], *words)
    cli.bad("eval of no shard", ["eval", run, "--data", f"shards:{cli.folder}/none-*.tar"], [1], "none-*.tar")
    out = cli.folder / "no-shards" / "train-%05d.tar"
    for name, args, words in (("nothing", ["pack"], ["SPEC"]), ("a generator", ["pack", "mirror?size=8", "-o", out], ["images"]),
                              ("no number", ["pack", f"images:{root}", "-o", "a.tar"], ["a.tar", "%05d"]),
                              ("an action that is missing", [f"images:{root}", "-o", out], ["action", "pack"]),
                              ("no action", ["wobble", f"images:{root}", "-o", out], ["wobble", "pack"]),
                              ("too small", ["pack", f"images:{root}", "-o", out, "--shard-mb", 0], ["--shard-mb"]),
                              ("a missing folder", ["pack", f"images:{root}/none", "-o", out], ["none"])):
        cli.bad(f"data pack of {name}", ["data", *args], [1, 2], *words)
    cli.check("a refusal writes nothing", not out.parent.exists(), "")


def run(cli):
    root = folder_of_classes(cli)
    shards = packed(cli, root)
    trained_run = trained(cli, root, shards)
    strange(cli, root, trained_run)
