"""Several processes train one model: the same bits, whatever their number; none is left behind, none waits for ever."""
import csv
import json
import signal
import socket
import subprocess
from pathlib import Path

import tensors
from harness import HANG_S, RUN_S, wait_until
from sweep_checks import SWEEP
from train_checks import SMALL, line_count, lines_of, timeless

STEPS = 12
TREE = [*SMALL, *(word for setting in (f"train.steps={STEPS}", "train.history_frames=8", "train.validate_every=6",
                                       "train.batch=8", "train.micro_batch=2", "train.reproducible=true")
                  for word in ("--set", setting))]
LONG = [*SMALL, *(word for setting in ("train.steps=1000000", "train.checkpoint_every=0", "train.validate_every=0",
                                       "train.batch=8", "train.log_every=1") for word in ("--set", setting))]


def last_of(run, step=STEPS):
    return tensors.read(run / "checkpoints" / f"step-{step:08d}.safetensors")[0]


def same_bits(cli):
    runs = {}
    for name, flags in {"one": ["--nproc", 1], "two threads": ["--threads", 2], "two": ["--nproc", 2], "four": ["--nproc", 4],
                        "two shards": ["--nproc", 2, "--set", "train.shard_optimizer=true"]}.items():
        runs[name] = cli.folder / name.replace(" ", "-")
        threads = [] if "--threads" in flags else ["--threads", 1]
        cli.ok(f"train with {name}", "train", *TREE, *threads, *flags, "--out", runs[name])
    weights, lines = last_of(runs["one"]), timeless(lines_of(runs["one"]))
    for name, run in runs.items():
        cli.check(f"{name}: the weights and averages of one process", weights and last_of(run) == weights, "they differ")
        cli.check(f"{name}: its log, line by line", len(lines) == STEPS and timeless(lines_of(run)) == lines,
                  next((pair for pair in zip(lines, timeless(lines_of(run))) if pair[0] != pair[1]), "fewer lines"))
    return runs


def other_number(cli, runs):
    more = STEPS + 6
    for name, flags in {"one": ["--nproc", 4], "two-shards": [], "four": ["--nproc", 2]}.items():
        cli.ok(f"resume {name} with another number", "train", "--resume", runs[name.replace("-", " ")], *flags,
               "--threads", 1, "--steps", more)
    ends = [last_of(run, more) for run in (runs["one"], runs["two shards"], runs["four"])]
    cli.check("resumed with 4, 1 and 2 ranks: the same weights", ends[0] and ends[0] == ends[1] == ends[2], "they differ")


def whole_batch(cli):
    """Without micro batches the sums differ in their order alone."""
    curves = []
    for n in (1, 3):
        run = cli.folder / f"whole-{n}"
        result = cli.ok(f"train the whole batch with {n}", "train", *SMALL, "--set", "train.batch=8", "--steps", 20, "--nproc", n,
                        "--out", run, "--json")
        cli.check(f"the result says {n} ranks", (result.json() or {}).get("ranks") == n, result)
        curves.append([(line["loss"], line["grad_norm"]) for line in lines_of(run)])
    far = [[abs(a - b) / a for a, b in zip(*pair)] for pair in zip(*curves)]  # [steps][loss, norm]
    # First a mean in float64 of losses off by a few u, and gradients summed over 512 tokens: sqrt(512) u = 1.3e-6.
    # Adam then divides rounding left of gradients near 0 by its own size: 20 steps may part a hundred times as far.
    cli.check("3 ranks give the losses of one process", len(curves[0]) == len(curves[1]) == 20 and far[0][0] < 1e-6
              and far[0][1] < 1e-5 and max(step[0] for step in far) < 1e-4, far)


def children(process):
    seen = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
    return [int(word) for word in seen.split()]


def alive(processes):
    return [pid for pid in processes if Path(f"/proc/{pid}").exists()]


def start_long(cli, name, *flags):
    run = cli.folder / name
    process = cli.start("train", *LONG, "--nproc", 2, *flags, "--out", run)
    begins = wait_until(lambda: process.poll() is not None or line_count(run) > 0)
    cli.check(f"{name}: two ranks train", begins and process.poll() is None, f"exit code {process.poll()}")
    return run, process, children(process)


def ended(cli, name, process, code, *mentions):
    try:
        err = process.communicate(timeout=HANG_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        err = f"still there after {HANG_S} s: {process.communicate()[1]}"
    seen = f"code {process.returncode}, {err[-600:]}"
    cli.check(name, process.returncode == code and all(m in err for m in mentions), seen)


def saved_whole(cli, name, run):
    """What was saved is a step that can be trained on from."""
    last = max((int(p.stem[5:]) for p in (run / "checkpoints").glob("step-*.safetensors")), default=0)
    cli.check(f"{name}: its last step is saved", last == lines_of(run)[-1]["step"], last)
    cli.ok(f"{name}: one process continues", "train", "--resume", run, "--steps", last + 2)


def lost_ranks(cli):
    for name, sent, flags in (("killed", signal.SIGKILL, []), ("hung", signal.SIGSTOP, ["--rank-timeout", 20])):
        run, process, others = start_long(cli, name, *flags)
        cli.check(f"{name}: there is one other", len(others) == 1, others)
        subprocess.run(["kill", f"-{int(sent)}", *map(str, others)])
        ended(cli, f"a rank that is {name}: named, saved", process, 1, "rank 1 (", "ended or does not answer", "is saved in")
        saved_whole(cli, name, run)
        cli.check(f"{name}: no process is left", wait_until(lambda: not alive(others)), others)
    run, process, others = start_long(cli, "leader")
    process.kill()
    process.communicate()
    cli.check("without their leader the others end", others and wait_until(lambda: not alive(others), 120), others)


def asked_to_end(cli):
    for name, to_leader in (("leader", True), ("worker", False)):
        run, process, others = start_long(cli, f"asked-{name}")
        subprocess.run(["kill", "-TERM", str(process.pid if to_leader else others[0])])
        ended(cli, f"SIGTERM to the {name}", process, 130)
        saved_whole(cli, f"SIGTERM to the {name}", run)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


LAUNCHERS = {
    "torchrun": lambda rank, port: {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": 2,
                                    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": 1},
    "srun": lambda rank, port: {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": 2, "SLURM_LOCALID": rank, "MASTER_PORT": port,
                                "SLURM_STEP_TASKS_PER_NODE": "2(x1)", "SLURM_STEP_NODELIST": "localhost"},
    "mpirun": lambda rank, port: {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": 2, "OMPI_COMM_WORLD_LOCAL_RANK": rank,
                                  "OMPI_COMM_WORLD_LOCAL_SIZE": 2, "MASTER_PORT": port},
}


def start_ranks(cli, launcher, out, per_rank=((), ())):
    port, started = free_port(), []
    for rank in (0, 1):
        env = {**cli.env, **{key: str(value) for key, value in LAUNCHERS[launcher](rank, port).items()}}
        started.append(subprocess.Popen(cli.command("train", *TREE, *per_rank[rank], "--out", out), cwd=cli.folder, env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    return [(p, *p.communicate(timeout=HANG_S)) for p in started]


def launchers(cli, one):
    for name in LAUNCHERS:
        run = cli.folder / name
        (leader, said, note), (other, silent, _) = start_ranks(cli, name, run)
        cli.check(f"{name}'s variables: both end well", leader.returncode == other.returncode == 0, (note, _))
        cli.check(f"{name}: only rank 0 prints", "done at step" in said and silent == "" and "2 ranks of" in note, (said, silent, note))
        cli.check(f"{name}: the weights of one process", last_of(run) == last_of(one), "they differ")
    results = start_ranks(cli, "torchrun", cli.folder / "differs", ((), ("--set", "train.clip=7")))
    for process, _, err in results:
        cli.check("ranks with other settings: both say which", process.returncode == 1 and "/settings/train/clip" in err
                  and "rank 1 (" in err and "has 7" in err, err)
    cli.check("and nothing was begun", not (cli.folder / "differs").exists(), "a folder")


def refusals(cli):
    port = free_port()
    one = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    train = ["train", *TREE, "--out", "none", "--rank-timeout", 1]
    cli.bad("a rank that does not come", train, [1], "rank 1 of 2 has not come within 1 s", env=one)
    cli.bad("rank 0 that does not come", train, [1], "rank 1 of 2", "127.0.0.1", env={**one, "RANK": "1"})
    cli.bad("RANK alone is missing", train, [2], "WORLD_SIZE is set, RANK is not", env={"WORLD_SIZE": "2"})
    cli.bad("RANK is no number", train, [2], "RANK='x'", "0 to 1", env={**one, "RANK": "x"})
    cli.bad("RANK too large", train, [2], "RANK='2'", "0 to 1", env={**one, "RANK": "2"})
    cli.bad("MASTER_PORT is no port", train, [2], "MASTER_PORT='70000'", env={**one, "MASTER_PORT": "70000"})
    cli.bad("several machines without an address", train, [2], "MASTER_ADDR",
            env={"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"})
    cli.bad("--nproc among ranks", [*train, "--nproc", 2], [2], "--nproc 2", "rank 0 of 2", env=one)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        cli.bad("a port in use", train, [1], "is the port taken", env={**one, "MASTER_PORT": str(taken.getsockname()[1])})
    cli.bad("a batch too small", ["train", *TREE, "--out", "none", "--set", "train.batch=2", "--nproc", 3], [2],
            "train.batch is 2", "at least 3")
    cli.bad("a tree for 3", ["train", *TREE, "--out", "none", "--nproc", 3], [2], "train.reproducible", "multiple of the 3 ranks")
    cli.bad("a tree of 3", ["train", *TREE, "--out", "none", "--set", "train.batch=6"], [2], "train.reproducible", "6/2")
    cli.check("nothing was begun", not (cli.folder / "none").exists(), "a folder")


def measured(cli):
    """eval: the sums and the lines of one process, whatever the number; a lost rank is named."""
    text = cli.write("words.txt", "to be, or not to be: that is the question. " * 400)
    cli.ok("a run of classes", "train", "--preset", "demo-shapes", "--steps", 1, "--set", "train.batch=2", "--out", "shapes")
    cli.ok("a run of bytes", "train", "--preset", "shakespeare-small", "--data", f"text:{text}", "--steps", 1, "--set",
           "train.batch=2", "--set", "model.layers=1", "--set", "train.validate_every=0", "--out", "bytes")
    for run, data in (("shapes", "shapes"), ("bytes", f"text:{text}")):
        seen = []
        for n in (1, 2, 3):
            result = cli.ok(f"eval of {run} with {n}", "eval", run, "--data", data, "--limit", 40, "--batch", 3, "--threads", 1,
                            "--nproc", n, "--examples", f"{run}-{n}.csv", "--json").json() or {}
            seen.append(({key: value for key, value in result.items() if key not in ("seconds", "peak_memory_bytes")},
                         (cli.folder / f"{run}-{n}.csv").read_text()))
        cli.check(f"{run}: 2 and 3 ranks measure what one process does", seen[0][0].get("examples", 0) > 1 and
                  seen[0] == seen[1] == seen[2], seen)
    drawn = []
    for n in (1, 2, 4):  # three samples: with four ranks one has none
        result = cli.ok(f"complete with {n}", "complete", "bytes", "--prompt", "to be", "--length", 40, "--samples", 3, "--seed", 5,
                        "--threads", 1, "--nproc", n, "--json").json() or {}
        drawn.append({key: value for key, value in result.items() if key != "seconds"})
    cli.check("2 and 4 ranks draw what one process draws", len(drawn[0].get("samples", [])) == 3 and
              drawn[0] == drawn[1] == drawn[2], drawn)
    said = cli.folder / "measured.err"
    with open(said, "w") as err:
        process = cli.start("eval", "shapes", "--data", "shapes", "--limit", 2000, "--batch", 1, "--nproc", 2, err=err)
    # Progress is printed once all ranks have joined: a rank that is killed before is only missing.
    begins = wait_until(lambda: process.poll() is not None or " examples" in said.read_text(), pause=0.005)
    cli.check("two ranks measure", begins and process.poll() is None, said.read_text())
    subprocess.run(["kill", "-9", *map(str, children(process))], check=False)
    process.communicate(timeout=HANG_S)
    err = said.read_text()
    cli.check("a rank that is killed while it measures is named", process.returncode == 1 and "rank 1 (" in err, err)


def shared_sweep(cli):
    """A run per rank; a run whose rank is killed is continued by another; Ctrl-C saves all of them."""
    plan = {**SWEEP, "set": {**SWEEP["set"]}}
    (cli.folder / "sweep.json").write_text(json.dumps(plan))
    tables = []
    for n in (1, 3):
        cli.ok(f"a sweep with {n}", "sweep", "sweep.json", "--threads", 1, "--nproc", n, "--out", f"sweep-{n}")
        rows = list(csv.DictReader(open(cli.folder / f"sweep-{n}" / "runs.csv", newline="")))
        tables.append([{key: row[key] for key in ("point", "seed", "state", "train_loss", "bits_per_dim")} for row in rows])
    cli.check("3 ranks make the table of one process", len(tables[0]) == 4 and tables[0] == tables[1], tables)
    plan["set"].update({"train.steps": 3000, "train.schedule_steps": 3000, "train.checkpoint_every": 0})
    (cli.folder / "long.json").write_text(json.dumps(plan))

    def begun():
        return [run for run in (cli.folder / "long").glob("window*") if (run / "history").is_dir()]
    process = cli.start("sweep", "long.json", "--threads", 1, "--nproc", 2, "--out", "long", "--json")
    cli.check("two runs begin", wait_until(lambda: process.poll() is not None or len(begun()) > 1)
              and process.poll() is None, begun())
    subprocess.run(["kill", "-9", *map(str, children(process))], check=False)
    out = process.communicate(timeout=RUN_S)[0]
    cli.check("a killed rank's run is done by another", process.returncode == 0 and
              [run["state"] for run in json.loads(out)["runs"]] == ["done"] * 4, out)
    plan["set"].update({"train.steps": 1000000, "train.schedule_steps": 1000000})
    (cli.folder / "endless.json").write_text(json.dumps(plan))
    process = cli.start("sweep", "endless.json", "--threads", 1, "--nproc", 2, "--out", "endless")
    logs = lambda: list((cli.folder / "endless").glob("window*/metrics.jsonl"))
    cli.check("two endless runs begin", wait_until(lambda: process.poll() is not None or len(logs()) > 1)
              and process.poll() is None, logs())
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=HANG_S)[1]
    saved = list((cli.folder / "endless").glob("window*/checkpoints/step-*.safetensors"))
    cli.check("Ctrl-C saves the run of each rank", process.returncode == 130 and len(saved) == 2, (err, saved))


def no_number(cli):
    """NaN in a run's weights: the rank that meets it is named, nothing is applied, nobody hangs."""
    run = cli.folder / "no-number"
    cli.ok("a run", "train", *TREE, "--out", run)
    path = run / "checkpoints" / f"step-{STEPS:08d}.safetensors"
    found, metadata = tensors.read(path)
    name = next(key for key in found if key.endswith("mlp.fc1.weight"))
    dtype, shape, values = found[name]
    tensors.write(path, {**found, name: (dtype, shape, [float("nan")] * len(values))}, metadata)
    seen = cli.run("train", "--resume", run, "--steps", STEPS + 5, "--nproc", 2)
    cli.check("NaN names a rank and the layer", seen.code == 1 and "rank 0 (" in seen.err and name in seen.err
              and "the step was not applied" in seen.err, seen)
    cli.check("... once", seen.err.count("afterimage: ") == 1, seen)


def run(cli):
    runs = cli.part(same_bits)
    if runs:
        cli.part(other_number, runs)
        cli.part(launchers, runs["two threads"])
    for group in (whole_batch, lost_ranks, asked_to_end, refusals, no_number, measured, shared_sweep):
        cli.part(group)
