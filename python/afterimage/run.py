"""`Run`: writes a run folder from a training loop of the user's own, so that the window follows it."""
from __future__ import annotations

import atexit
import os
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import maps as maps_of
from . import torch_side
from .arguments import (MOST_STEP, Mapped, Pathlike, checked_alphabet, checked_classes, checked_config, checked_key,
                        checked_name, checked_step, difference, logged_value, rank_of, table_of)
from .errors import Error
from .files import steps_in
from .folder import Folder, with_context
from .prepared import Prepared, prepare_maps, prepare_model
from .program import check_with_program
from .version import __version__
from .writer import Writer

live_runs: "set[Run]" = set()  # until they are finished


class Run:
    """A run folder that this process writes. Use it as a context manager, or call finish() at the end.

    path: the folder; new, empty, or one of a run to resume.
    config: {"name": ..., "model": {...}, "data": {...}, "train": {...}}, all optional: settings with the names of
        `afterimage train --print-config`; those of "model" are over what the origin's table says, and "data" says what
        the model sees: {"source": "images:/FOLDER?size=32"} or {"source": "text:/FILE?alphabet=used"}, paths whole. A
        run that is resumed keeps those of "data" and "train" that are not given.
    resume: False: a run that has begun there is an error, one that ended before its first step is begun anew. True:
        continue after its newest checkpoint (a new run where there is none). A number: continue after that step. What
        came after is cut; `step` says where the run stands.
    steps: the step to stop at, for the window's progress.
    alphabet: for models of text, the character of each token, in order.
    classes: for classifiers, the name of each class, in the order of the labels: a list of as many different texts as
        the model has classes, at most 65,536 of 200 bytes. Like alphabet it stays in a run that is resumed without.
    keep: checkpoints that stay (the newest; 0: all). history: moments of the biases that stay for the timeline.
    rank: of this process; by default that of the environment (RANK). Only rank 0 writes: the others' calls do nothing.

    Attributes: `step` (the newest checkpoint when it was opened, 0 in a new run), `path`, `is_writer`.
    Raises Error where the folder holds something else, a run that is not resumed, or is in use by another process.
    From then on nothing that fails in writing ends the training: it is counted (`failures`, `dropped`), its words are
    in `problem`, and the first gives one warning. What is wrong with the arguments of a call raises Error.
    """

    def __init__(self, path: Pathlike, config: Optional[Mapping[str, Any]] = None, resume: Union[bool, int] = False, *,
                 steps: Optional[int] = None, alphabet: Union[str, bytes, Iterable[str], None] = None,
                 classes: Optional[Sequence[str]] = None, keep: int = 3, history: int = 64,
                 rank: Optional[int] = None) -> None:
        self.path = Path(path).absolute()
        self.given = checked_config(config)
        self.name = checked_name(self.given.get("name") or self.path.name or "run")
        known = {"alphabet": checked_alphabet(alphabet), "classes": checked_classes(classes)}
        self.known = {key: value for key, value in known.items() if value is not None}  # of the data
        self.is_writer = rank_of(rank) == 0
        self.step = self.last_logged = self.last_saved = 0
        self.logged_at: Optional[tuple[int, float]] = None
        self.norms: dict[int, dict[str, float]] = {}  # writer's thread: not yet in the log
        self.row: tuple[int, dict[str, Any]] = -1, {}  # writer's thread: the newest line
        self.content: Optional[dict[str, Any]] = None  # {"maps": ...} or {"model": ...}, once it is known
        self.map_shapes: dict[str, list[int]] = {}  # of maps alone, by layer, once they are known
        self.hooks: list[Any] = []
        self.at_end: list[Callable[[], None]] = []
        self.copier = torch_side.Copier()
        self.writer = Writer(str(self.path))
        self.folder = Folder(self.path, int(keep), int(history))
        if self.is_writer:
            self.open(resume, steps)
        elif resume is not False:
            saved = steps_in(self.path / "checkpoints")
            self.step = int(resume) if resume is not True else saved[-1] if saved else 0

    # Opening and closing

    def open(self, resume: Union[bool, int], steps: Optional[int]) -> None:
        if resume is not True and resume is not False:
            resume = checked_step(resume, 0, "resume")
        if steps is not None:
            steps = checked_step(steps, 0, "steps")
        with_context(str(self.path), lambda: self.folder.open(resume))
        try:
            with_context(str(self.path), lambda: self.begin(resume, steps))
        except BaseException:
            self.folder.close()
            raise
        live_runs.add(self)

    def begin(self, resume: Union[bool, int], steps: Optional[int]) -> None:
        if resume is not False and self.folder.is_run():
            config = self.folder.config()
            self.content = {key: config[key] for key in ("maps", "model") if key in config} or None
            if "model" in config:
                self.given = {**{key: config[key] for key in ("data", "train") if key in config}, **self.given}
            self.step, self.last_logged = self.folder.resume_from(None if resume is True else resume)
            self.last_saved = self.step
            self.map_shapes = self.folder.map_shapes(self.step)
            self.known = {**self.folder.known_data(), **self.known}
        else:
            self.folder.write_config(self.config_of({}))
            self.folder.say(f"started {self.name} (afterimage for Python {__version__})")
        if steps is not None:
            self.folder.event("target", self.step, {"text": f"target step {steps}", "steps": steps})

    def config_of(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """config.json of a run of this content: maps stand alone, a model has settings beside it."""
        if "maps" in content:
            extra = [key for key in self.given if key != "name"]
            if extra:
                raise Error(f"config['{extra[0]}']: a run of maps alone has no settings but its name")
            if "classes" in self.known:
                raise Error("classes: maps alone have no classes; allowed: models of the task classify")
            return {"name": self.name, "maps": content["maps"]}
        train = {"steps": 0, **self.given.get("train", {})}
        return {"name": self.name, **content, "data": dict(self.given.get("data", {})), "train": train}

    def finish(self, save_watched: bool = True) -> None:
        """Saves what watch() follows as it is now (save_watched), writes what waits, removes the hooks, and gives the
        folder back. Does nothing the second time."""
        for save_last in self.at_end if save_watched else []:
            self.writer.run(save_last)
        for hook in self.hooks:
            hook.remove()
        self.hooks, self.at_end = [], []
        live_runs.discard(self)
        if self.folder.lock is None:
            return
        self.writer.submit(lambda: self.write_norms(MOST_STEP))
        self.writer.close()
        self.writer.run(lambda: self.folder.say(f"finished at step {max(self.last_logged, self.last_saved)}"))
        self.folder.close()

    def leave_to_parent(self) -> None:
        """In a process that was forked off: it is not the writer, and must not hold the lock when its parent ends."""
        self.folder.close()
        self.is_writer, self.hooks, self.at_end, self.writer = False, [], [], Writer(str(self.path))

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Optional[type], error: Optional[BaseException], _: Any) -> None:
        if error is not None and self.folder.lock is not None:
            words = f"{type(error).__name__}: {error}"[:500]
            step = max(self.last_logged, self.last_saved)
            if isinstance(error, Exception):
                self.writer.submit(lambda: self.folder.event("error", step + 1, {"text": words}))
            else:
                self.writer.submit(lambda: self.folder.event("note", step, {"text": f"stopped: {words}"}))
        self.finish(save_watched=error is None)

    # What failed

    @property
    def dropped(self) -> int:
        """Saves that were replaced by a newer one before they were written."""
        return self.writer.dropped

    @property
    def failures(self) -> int:
        """Lines and saves that could not be written."""
        return self.writer.failures

    @property
    def problem(self) -> Optional[str]:
        """The newest failure in words."""
        return self.writer.problem

    def flush(self, timeout_s: Optional[float] = None) -> bool:
        """Waits until everything is on the disk. False: not within that many seconds."""
        return self.writer.flush(timeout_s)

    # Logging

    def log(self, step: int, values: Optional[Mapping[str, Any]] = None, **more: Any) -> None:
        """One line of metrics.jsonl: `run.log(step, loss=loss, lr=lr)`, or a dictionary for names with dots.

        step: whole, from 0, never below that of the line before. Values are numbers or tensors of one element on any
        device; not a number is written as null. Returns at once: tensors of a device are read in the writer's thread.
        """
        if not self.is_writer:
            return
        step = checked_step(step, self.last_logged, "log")
        line = {checked_key(key): logged_value(key, value) for key, value in {**(values or {}), **more}.items()}
        now, timing = time.monotonic(), {}
        if self.logged_at and step > self.logged_at[0]:
            timing = {"step_ms": 1000 * (now - self.logged_at[1]) / (step - self.logged_at[0])}
        if self.logged_at is None or step > self.logged_at[0]:
            self.logged_at = step, now
        self.last_logged = step
        self.writer.submit(lambda: self.write_line(step, line, timing))

    def write_line(self, step: int, line: Mapping[str, Any], timing: Mapping[str, float]) -> None:
        """Norms of a save at the same step go into its line, so that steps never descend."""
        self.write_norms(step)
        numbers = {key: value() if callable(value) else value for key, value in line.items()}
        self.write_row(step, {**numbers, **self.norms.pop(step, {})}, timing)

    def write_norms(self, before: int) -> None:
        for step in sorted(s for s in self.norms if s < before):
            self.write_row(step, self.norms.pop(step))

    def write_row(self, step: int, row: Mapping[str, Any], timing: Mapping[str, float] = {}) -> None:
        """Of lines of the same step the last one holds the values of all: what shows the newest line lacks nothing."""
        self.row = step, {**(self.row[1] if self.row[0] == step else {}), **row}
        self.folder.log({"step": step, **self.row[1], **({"timing": dict(timing)} if timing else {})})

    # Saving

    def save(self, step: int, model: Any = None, *, biases: Optional[maps_of.Biases] = None,
             grid: Optional[Iterable[int]] = None, gauge: Optional[str] = None, causal: bool = False,
             mapping: Optional[Mapped] = None, wait: bool = False) -> bool:
        """One checkpoint: a whole model, or position biases alone.

        model: torch.nn.Module or state dict of a known origin (`afterimage list importers`), or of your own with
            mapping=FILE or the dictionary that such a file holds (docs/imports.md). A module says its number of heads;
            of a state dict it may have to be given by config={"model": {"heads": N}}, which is over both.
        biases: {name of a layer: w}, w an array or tensor [T, T], [heads, T, T], a band [heads, T, s] or a kernel
            [heads, s] or [heads, s, s]; float, in nats; target-major: w[t, j] is how much target t attends to source j.
            -infinity masks, NaN is refused. `Map` where layers differ in grid, gauge or layout. Or a mixer of
            afterimage.nn in place of w, which says its layout, gauge and causal. Names and shapes stay what they were
            at the first save.
        grid: (T,), (H, W) or (H, W, C). gauge: "row" (default) where a constant may be added to a row of w, as under
            softmax; else "none". causal: whether a target sees only what is before it.
        wait: return only when it is on the disk.

        Copies the tensors and returns; a thread writes them. Of saves that wait only the newest is written. The first
        save is written before the call returns, and raises Error where the model is not recognised, a value is not
        finite, or the program, where it is found (AFTERIMAGE_PROGRAM), could not open it: a shape or a setting that
        does not fit. What is found later gives the one warning. -> False where it was not written (wait), or by this
        rank.
        """
        if not self.is_writer or self.folder.lock is None:
            if self.is_writer:
                raise Error(f"{self.path}: the run is finished")
            return False
        step = checked_step(step, self.last_saved, "save")
        if (model is None) == (biases is None):
            raise Error("save: one of a model and biases={name: w}, found"
                        f" {'both' if biases is not None else 'none'}")
        prepare, is_doubtful = (self.model_work(step, model, mapping) if biases is None
                                else self.maps_work(step, maps_of.merged(biases, grid, gauge),
                                                    maps_of.causal_of(biases, causal)))
        is_first = self.content is None
        if is_first or is_doubtful or wait:
            ready = prepare()
            self.check_content(ready.content)
            if is_first and "model" in ready.content:
                check_with_program(ready.tensors, ready.description)
            self.content, self.map_shapes = ready.content, ready.map_shapes()
            prepare = lambda: ready  # noqa: E731
        failures, self.last_saved = self.failures, step
        self.writer.submit(lambda: self.write(step, prepare()), is_save=True)
        if not wait and not is_first:
            return True
        is_written = self.flush() and self.failures == failures
        return is_written or not wait

    def maps_work(self, step: int, biases: Mapping[str, maps_of.Map],
                  causal: bool) -> tuple[Callable[[], Prepared], bool]:
        description = maps_of.describe(biases, causal)
        self.check_content({"maps": description})
        maps_of.check_shapes(biases, self.map_shapes)
        copies = self.copier.copy({f"biases.{i}": map.w for i, map in enumerate(biases.values())})
        # Values on the host are checked in the call; what is sure at a glance need not be looked at there.
        is_doubtful = copies.are_here() and not maps_of.are_surely_finite(copies.get().values())
        return lambda: prepare_maps(copies.get(), description, step), is_doubtful

    def model_work(self, step: int, model: Any, mapping: Optional[Mapped]) -> tuple[Callable[[], Prepared], bool]:
        copies = self.copier.copy(torch_side.state_of(model))
        given = {f"model.{key}": value for key, value in self.given.get("model", {}).items()}
        table, heads = table_of(mapping), torch_side.heads_of(model)
        known = (self.content or {}).get("model", {}).get("heads")
        if len(heads) != 1 and known is not None:
            heads = {known}  # as the saves before it

        def prepare() -> Prepared:
            ready = prepare_model(copies.get(), given, table, heads)
            config = self.config_of(ready.content)
            return ready.described(step, config, self.known)
        return prepare, False

    def check_content(self, content: Mapping[str, Any]) -> None:
        self.config_of(content)
        if self.content is not None and self.content != content:
            kind = "maps" if "maps" in self.content else "a model"
            new = "maps" if "maps" in content else "a model"
            raise Error(f"{self.path}: this run holds"
                        f" {kind}{' of other settings or layers' if kind == new else f', not {new}'}:"
                        f" {difference(self.content, content)}; write into another folder")

    def write(self, step: int, ready: Prepared) -> None:
        self.check_content(ready.content)
        self.folder.write_config(self.config_of(ready.content))
        self.write_norms(step)
        self.norms[step] = ready.norms
        with_context(f"step {step} could not be saved",
                     lambda: self.folder.save(step, ready.tensors, ready.description))
        self.folder.remember(step, ready.biases, ready.history_metadata)

    # Watching

    def watch(self, model: Any, every: int = 50, *, optimizer: Any = None,
              biases: Union[maps_of.Biases, Callable[[Any], maps_of.Biases], None] = None,
              grid: Optional[Iterable[int]] = None, gauge: Optional[str] = None, causal: bool = False,
              mapping: Optional[Mapped] = None, loss: Any = None) -> None:
        """Saves `model` every so many steps from now on, and logs the loss of each, without a call in the loop.

        Steps are counted from `step`: by optimizer.step() where an optimizer is given, else by the forward passes of
        `model` in training mode (one a step: give the optimizer where gradients are accumulated, or the model is
        compiled). biases: a function of the model that returns what save(biases=...) takes, or {name of a layer: mixer}
        of mixers of afterimage.nn; without it the whole model is saved. loss: the torch.nn.Module that computes the
        training loss, a mean: what it returns is logged as `loss` at every step. The other options are those of save().
        In a new run the model is saved at once, so that what is wrong with it raises Error here and not in the loop.
        """
        if not self.is_writer:
            return
        every, count = checked_step(every, 1, "every"), max(self.step, self.last_saved)
        options = {"grid": grid, "gauge": gauge, "causal": causal}
        find = None if biases is None else maps_of.followed(biases)

        def save_now(step: int) -> None:
            what = {"model": model, "mapping": mapping} if find is None else {"biases": find(model), **options}
            self.save(step, **what)

        def passed() -> None:
            nonlocal count
            count += 1
            if count % every == 0 and count >= self.last_saved:
                self.writer.run(lambda: save_now(count))
            if newest and count >= self.last_logged:
                self.writer.run(lambda: self.log(count, loss=newest.pop()))

        def before_forward() -> None:
            nonlocal begun
            if begun:  # the pass before this one has ended in an update
                passed()
            begun = True

        def at_end() -> None:
            if begun:
                passed()
            if count > self.last_saved:
                save_now(count)
        begun, newest = False, []
        if loss is not None:
            self.hooks.append(torch_side.hook_loss(loss, lambda value: newest.__setitem__(slice(None), [value])))
        if count == 0:
            save_now(0)
        self.at_end.append(at_end)
        self.hooks.append(torch_side.hook_forward(model, before_forward) if optimizer is None
                          else torch_side.hook_optimizer(optimizer, passed))


def finish_all() -> None:
    for run in list(live_runs):
        run.finish(save_watched=False)


def leave_all() -> None:
    for run in list(live_runs):
        run.leave_to_parent()


atexit.register(finish_all)
os.register_at_fork(after_in_child=leave_all)
