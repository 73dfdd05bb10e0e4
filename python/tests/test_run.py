"""The run folder that a loop writes: its files, resuming, ranks, one writer, kills."""
import fcntl
import json
import os
import signal
import time
import unittest

import numpy as np

import afterimage
from case import Case
from afterimage import safetensors
from afterimage.files import steps_in

W = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)

ENDLESS = """
import sys, numpy as np, afterimage
run = afterimage.Run(sys.argv[1], resume=True)
for step in range(run.step + 1, 10**9):
    run.log(step, loss=1 / (1 + step))
    if step % 5 == 0:
        run.save(step, biases={"a": np.full((64, 64), step, np.float32)})
    if step == run.step + 20:  # the newest save is on the disk
        run.flush()
        print("going", flush=True)
"""


class Writing(Case):
    def test_files(self):
        with afterimage.Run(self.path, {"name": "mine"}, steps=10) as run:
            self.assertEqual(run.step, 0)
            for step in range(4):
                run.log(step, {"validation.loss": float("nan")}, loss=np.float32(0.1), lr=1e-3, count=3)
                self.assertTrue(run.save(step, biases={"a": W}, wait=True))
        self.assertEqual((run.failures, run.dropped, run.problem), (0, 0, None))
        config = json.loads((self.path / "config.json").read_text())
        self.assertEqual(config, {"name": "mine", "maps": {"causal": False, "layers": [
            {"name": "a", "layout": "full", "grid": [4], "gauge": "row"}]}})
        lines = self.lines()
        self.assertEqual([line["step"] for line in lines], [0, 0, 1, 1, 2, 2, 3, 3])
        self.assertEqual(lines[0] | {"timing": 0}, {"step": 0, "validation.loss": None, "loss": float(np.float32(0.1)),
                                                    "lr": 1e-3, "count": 3, "timing": 0})
        self.assertEqual((lines[1]["loss"], lines[1]["count"]), (float(np.float32(0.1)), 3))
        self.assertAlmostEqual(lines[1]["bias_norm.layer.0"], float(np.linalg.norm(W.astype(float))))
        self.assertEqual(lines[2]["timing"].keys(), {"step_ms"})
        event, = self.lines("events.jsonl")
        self.assertEqual((event["step"], event["kind"], event["detail"]["steps"]), (0, "target", 10))
        self.assertEqual(steps_in(self.path / "checkpoints"), [1, 2, 3])
        self.assertEqual(steps_in(self.path / "history"), [0, 1, 2, 3])
        tensors, metadata = safetensors.read(self.path / "checkpoints" / "step-00000003.safetensors")
        np.testing.assert_array_equal(tensors["biases.0"], W)
        self.assertEqual(json.loads(metadata["afterimage"]),
                         {"format_version": 1, "task": "maps", "step": 3, "maps": config["maps"]})
        self.assertIn("saved step 3", (self.path / "log.txt").read_text())
        self.assertFalse([p for p in self.path.rglob("*") if ".tmp-" in p.name])

    def test_without_steps_no_target_is_written(self):
        """The program takes train.steps = 0 of a run that it does not train as: nobody said how long."""
        with afterimage.Run(self.path, {"model": {"layers": 1}}) as run:
            run.log(857, loss=1)
        self.assertEqual(json.loads((self.path / "config.json").read_text())["train"]["steps"], 0)
        events = self.path / "events.jsonl"
        self.assertNotIn("target", events.read_text() if events.exists() else "")

    def test_norms_join_the_line_of_their_step(self):
        with afterimage.Run(self.path) as run:
            run.save(5, biases={"a": W}, wait=True)
            for step in (4, 5, 6):
                run.log(step, loss=1)
        self.assertEqual([(line["step"], "bias_norm.layer.0" in line)
                         for line in self.lines()], [(4, False), (5, True), (6, False)])

    def test_a_copy_is_taken(self):
        w = W.copy()
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": w}, wait=True)
            run.save(1, biases={"a": w})
            w[:] = 9
        tensors, _ = safetensors.read(self.path / "checkpoints" / "step-00000001.safetensors")
        np.testing.assert_array_equal(tensors["biases.0"], W)

    def test_keeps(self):
        with afterimage.Run(self.path, keep=2, history=4) as run:
            for step in range(3):
                run.save(step, biases={"a": W}, wait=True)
            (self.path / "checkpoints" / "step-00000001.kind").write_text("mine\n")
            (self.path / "notes.json").write_text('{"pinned": [2]}')
            for step in range(3, 12):
                run.save(step, biases={"a": W}, wait=True)
        self.assertEqual(steps_in(self.path / "checkpoints"), [1, 2, 10, 11])
        kept = steps_in(self.path / "history")
        self.assertEqual((len(kept), kept[0], kept[-1]), (4, 0, 11))
        self.assertLessEqual(max(b - a for a, b in zip(kept, kept[1:])), 7)

    def test_half_precision_where_it_fits(self):
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": W, "b": W * 1e6}, wait=True)
        raw = (self.path / "history" / "step-00000000.safetensors").read_bytes()
        header = json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])
        self.assertEqual((header["biases.0"]["dtype"], header["biases.1"]["dtype"]), ("F16", "F32"))

    def test_error_in_the_loop(self):
        with self.assertRaises(ZeroDivisionError), afterimage.Run(self.path) as run:
            run.log(7, loss=1)
            1 / 0
        event, = self.lines("events.jsonl")
        self.assertEqual((event["kind"], event["step"]), ("error", 8))
        self.assertIn("ZeroDivisionError", event["detail"]["text"])

    def test_wrong_calls(self):
        run = afterimage.Run(self.path)
        self.addCleanup(run.finish)
        run.log(5, loss=1)
        run.save(5, biases={"a": W}, wait=True)
        bad = {"'five'": lambda: run.log("five", loss=1), "comes after step 5": lambda: run.log(4, loss=1),
               "found -1": lambda: run.log(-1),
               "found 1.5": lambda: run.log(1.5), "found True": lambda: run.log(True),
               "'step'": lambda: run.log(6, {"step": 1}),
               "loss is a number": lambda: run.log(6, loss="low"), "control": lambda: run.log(6, {"a\nb": 1}),
               "save: step 4": lambda: run.save(4, biases={"a": W}), "found none": lambda: run.save(6),
               "found both": lambda: run.save(6, {}, biases={"a": W}),
               "holds maps of other": lambda: run.save(6, biases={"b": W}),
               "state dict is expected": lambda: run.save(6, 3), "holds no tensors": lambda: run.save(6, {"a": 1})}
        for words, call in bad.items():
            with self.subTest(words):
                self.fails([words.replace("'five'", "five")], call)
        run.finish()
        self.fails(["finished"], run.save, 6, biases={"a": W})
        self.assertEqual([line["step"] for line in self.lines()], [5, 5])

    def test_wrong_settings(self):
        run = afterimage.Run
        self.fails(["'modle'", "did you mean 'model'"], run, self.path, {"modle": {}})
        self.fails(["config['train']", "dictionary"], run, self.path, {"train": 3})
        self.fails(["name"], run, self.path, {"name": "../up"})
        self.fails(["alphabet", "aa"], run, self.path, alphabet=["aa"])
        self.fails(["alphabet"], run, self.path, alphabet="aa")
        self.fails(["resume"], run, self.path, resume="yes")
        self.fails(["steps"], run, self.path, steps=-1)
        with afterimage.Run(self.folder / "settings", {"train": {"steps": 3}}) as run:
            self.fails(["config['train']", "no settings"], run.save, 0, biases={"a": W})


class Resuming(Case):
    def begin(self):
        with afterimage.Run(self.path, keep=0) as run:
            for step in range(0, 30):
                run.log(step, loss=step)
                if step % 10 == 0:
                    run.save(step, biases={"a": W + step}, wait=True)

    def test_cuts_what_came_after(self):
        self.begin()
        with open(self.path / "metrics.jsonl", "a") as log:
            log.write('{"step": 30, "lo')
        (self.path / "checkpoints" / "step-00000040.safetensors.tmp-999999999-1").write_bytes(b"half")
        (self.path / "checkpoints" / "step-00000040.kind").write_text("by-hand\n")
        with afterimage.Run(self.path, resume=True) as run:
            self.assertEqual(run.step, 20)
            self.assertEqual(max(line["step"] for line in self.lines()), 20)
            run.log(21, loss=0.5)
        self.assertEqual([line["loss"] for line in self.lines() if "loss" in line][-2:], [20, 0.5])
        event, = self.lines("events.jsonl")
        self.assertEqual((event["kind"], event["step"]), ("lost", 20))
        self.assertIn("steps 21 to 29 were not saved", event["detail"]["text"])
        self.assertEqual(sorted(p.name for p in (self.path / "checkpoints").iterdir()),
                         [f"step-{s:08d}.safetensors" for s in (0, 10, 20)])

    def test_from_an_earlier_step(self):
        self.begin()
        with afterimage.Run(self.path, resume=12) as run:
            self.assertEqual(run.step, 12)
            self.fails(["comes after step 12"], run.save, 11, biases={"a": W})
            run.save(15, biases={"a": W}, wait=True)
        for name in ("checkpoints", "history"):
            self.assertEqual(steps_in(self.path / name), [0, 10, 15])
        self.assertEqual(max(line["step"] for line in self.lines()), 15)

    def test_refusals(self):
        self.begin()
        self.fails(["has been started", "resume=True"], afterimage.Run, self.path)
        with afterimage.Run(self.path, resume=True) as run:
            self.fails(["layers[0].name", "was a, is b"], run.save, 21, biases={"b": W}, wait=True)
        self.fails(["resume=3", "no run"], afterimage.Run, self.folder / "new", resume=3)
        with afterimage.Run(self.folder / "none", resume=True) as run:
            self.assertEqual(run.step, 0)

    def test_a_crash_before_the_first_step_does_not_block_the_next_try(self):
        def crash(*steps, **options):
            with self.assertRaises(ZeroDivisionError), afterimage.Run(self.path, steps=9, **options) as run:
                for step in steps:
                    run.save(step, biases={"a": W + len(steps)}, wait=True)
                1 / 0
        crash()
        crash(0)
        crash(0)
        self.assertEqual([line["kind"] for line in self.lines("events.jsonl")], ["target", "error"])
        self.assertEqual([line["step"] for line in self.lines()], [0])
        with afterimage.Run(self.path, {"name": "other"}) as run:
            run.save(0, biases={"b": 2 * W}, wait=True)
            run.log(1, loss=1)
            self.fails(["in use"], afterimage.Run, self.path)
        tensors, _ = safetensors.read(self.path / "checkpoints" / "step-00000000.safetensors")
        np.testing.assert_array_equal(tensors["biases.0"], 2 * W)
        self.assertEqual((afterimage.load(self.path).config["name"], self.lines("events.jsonl")), ("other", []))
        self.fails(["has been started", "resume=True"], afterimage.Run, self.path)

    def test_what_is_more_than_a_start_stays(self):
        def started(name, change):
            path = self.folder / name
            with self.assertRaises(ZeroDivisionError), afterimage.Run(path) as run:
                run.save(0, biases={"a": W}, wait=True)
                if name != "whole":
                    1 / 0
                run.finish()
                raise ZeroDivisionError
            change(path)
            before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file() and p.name != "run.lock"}
            self.fails([str(path), "has been started"], afterimage.Run, path)
            for file, content in before.items():
                self.assertEqual(file.read_bytes(), content, file)

        def add(name, text):
            return lambda path: (path / name).write_text(text)
        started("whole", lambda path: None)
        started("logged", add("metrics.jsonl", '{"step": 0, "loss": 3}\n'))
        started("later", add("metrics.jsonl", '{"step": 1}\n'))
        started("torn", add("metrics.jsonl", '{"step": 0, "bi'))
        started("notes", add("notes.json", '{"pinned": [0]}'))
        started("kept", add("checkpoints/step-00000000.kind", "by-hand\n"))
        started("saved", add("checkpoints/step-00000001.safetensors", ""))
        started("program", add("log.txt", "2026-01-01T00:00:00Z started mirror: aft-full\n"))
        started("unknown", lambda path: (path / "log.txt").unlink())

    def test_a_broken_log(self):
        self.begin()
        (self.path / "metrics.jsonl").write_text('{"step": 1}\nno json\n')
        self.fails(["metrics.jsonl", "byte 12", "not valid JSON"], afterimage.Run, self.path, resume=True)
        self.assertEqual((self.path / "metrics.jsonl").read_text(), '{"step": 1}\nno json\n')


class OneWriter(Case):
    def test_two_writers(self):
        with afterimage.Run(self.path):
            self.fails([str(self.path), "in use", f"process {os.getpid()}"], afterimage.Run, self.path, resume=True)
            self.assertTrue(afterimage.folder.is_locked(self.path))
        self.assertFalse(afterimage.folder.is_locked(self.path))
        afterimage.Run(self.path, resume=True).finish()

    def test_the_lock_is_a_flock(self):
        """What the program takes."""
        with afterimage.Run(self.path), open(self.path / "run.lock") as lock:
            with self.assertRaises(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open(self.path / "run.lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.fails(["in use"], afterimage.Run, self.path, resume=True)

    def test_a_forked_child_neither_writes_nor_holds_the_lock(self):
        run = afterimage.Run(self.path)
        run.log(1, loss=1)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(write)
            run.log(2, loss=2)
            saved = run.save(2, biases={"a": W})
            run.finish()
            os.read(read, 1)  # returns when the parent closes its end
            os._exit(3 if saved else 0)
        os.close(read)
        try:
            run.finish()
            afterimage.Run(self.path, resume=True).finish()  # while the child lives
        finally:
            os.close(write)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual([line["step"] for line in self.lines()], [])

    def test_places(self):
        (self.folder / "file").write_text("")
        self.fails(["is a file"], afterimage.Run, self.folder / "file")
        (self.folder / "other").mkdir()
        (self.folder / "other" / "thesis.txt").write_text("")
        self.fails(["not empty"], afterimage.Run, self.folder / "other")
        afterimage.Run(self.path).finish()
        (self.path / "metrics.jsonl").unlink(missing_ok=True)
        (self.path / "metrics.jsonl").symlink_to(self.folder / "file")
        self.fails(["metrics.jsonl", "symbolic link"], afterimage.Run, self.path)

    def test_ranks(self):
        run = afterimage.Run(self.path, rank=1)
        run.log("anything", loss="goes")
        self.assertFalse(run.save(-1))
        run.watch(None)
        run.finish()
        self.assertFalse(self.path.exists())
        os.environ["RANK"] = "2"
        self.addCleanup(os.environ.pop, "RANK", None)
        self.assertFalse(afterimage.Run(self.path).is_writer)
        os.environ["RANK"] = "two"
        self.fails(["RANK=two"], afterimage.Run, self.path)
        os.environ["RANK"] = "0"
        with afterimage.Run(self.path) as run:
            run.save(30, biases={"a": W}, wait=True)
        self.assertEqual(afterimage.Run(self.path, resume=True, rank=3).step, 30)


class Kills(Case):
    def test_kill_9(self):
        """Killed again and again, at any moment, the run is readable and continues."""
        reached = 0
        for attempt in range(4):
            process = self.python(ENDLESS, self.path)
            self.assertEqual(process.stdout.readline(), "going\n", process.stderr.read() if process.poll() else "")
            time.sleep(0.05 + 0.13 * attempt)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            run = afterimage.load(self.path)
            self.assertEqual(float(run.tensors["biases.0"][0, 0]), run.step)
            self.assertGreater(run.step, reached)
            reached = run.step
            steps = [line["step"] for line in run.metrics if "loss" in line]
            self.assertEqual(steps, sorted(steps))  # a step that is saved has two lines
        with afterimage.Run(self.path, resume=True):
            self.assertFalse([p for p in self.path.rglob("*") if ".tmp-" in p.name])

    def test_an_unfinished_run_is_finished_at_exit(self):
        code = "import sys, afterimage; run = afterimage.Run(sys.argv[1]); run.log(1, loss=2)"
        process = self.python(code, self.path)
        self.assertEqual(process.communicate()[1], "")
        self.assertEqual([line["loss"] for line in self.lines()], [2])


if __name__ == "__main__":
    unittest.main()
