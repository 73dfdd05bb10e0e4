"""The thread that writes a run folder. Its queue is bounded: at most one save waits, and the newest wins."""
from __future__ import annotations

import threading
import warnings
from collections import deque
from typing import Callable, Optional

MOST_LINES = 10_000  # log lines that may wait while a checkpoint is written
PAUSE_S = 0.1  # between looks at the log lines: every wakeup takes the interpreter from the training for a moment


class Writer:
    """Runs small pieces of work in the order in which they came, in a thread of its own.

    A piece that fails is counted, and the first failure gives one warning: the user's training continues. `dropped`
    counts saves that a newer one has replaced before they were begun.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.queue: deque[tuple[bool, Callable[[], None]]] = deque()
        self.changed = threading.Condition()
        self.is_busy = self.is_closed = self.is_urgent = False
        self.dropped = self.failures = 0
        self.problem: Optional[str] = None  # the newest failure in words
        self.thread: Optional[threading.Thread] = None

    def submit(self, work: Callable[[], None], is_save: bool = False) -> None:
        """Returns at once."""
        with self.changed:
            if self.is_closed:
                return
            if is_save:
                waiting = next((i for i, (save, _) in enumerate(self.queue) if save), None)
                if waiting is not None:
                    del self.queue[waiting]
                    self.dropped += 1
            elif len(self.queue) >= MOST_LINES:
                self.count(RuntimeError(f"more than {MOST_LINES} lines of the log wait to be written; the newest is"
                                        " dropped"))
                return
            self.queue.append((is_save, work))
            if self.thread is None:
                self.thread = threading.Thread(target=self.loop, name="afterimage writer", daemon=True)
                self.thread.start()
            if is_save:
                self.is_urgent = True
                self.changed.notify_all()

    def loop(self) -> None:
        while True:
            with self.changed:
                self.is_busy = False
                while not self.queue:
                    self.is_urgent = False
                    self.changed.notify_all()
                    if self.is_closed:
                        return
                    self.changed.wait_for(lambda: self.is_urgent or self.is_closed, PAUSE_S)
                _, work = self.queue.popleft()
                self.is_busy = True
            self.run(work)
            del work  # its copies are not kept until the next one

    def run(self, work: Callable[[], None]) -> bool:
        """True where it did not fail."""
        try:
            work()
            return True
        except Exception as error:  # whatever it is: the user's loop must not end by it
            self.count(error)
            return False

    def count(self, error: Exception) -> None:
        self.failures += 1
        self.problem = str(error) or type(error).__name__
        if self.failures > 1:
            return
        try:
            warnings.warn(f"afterimage: {self.name} could not be written, training continues: {self.problem}",
                          RuntimeWarning, stacklevel=2)
        except RuntimeWarning:
            pass  # warnings are errors, but not in this thread

    def flush(self, timeout_s: Optional[float] = None) -> bool:
        """Waits until all is written. False: not within the time."""
        with self.changed:
            self.is_urgent = True
            self.changed.notify_all()
            return self.changed.wait_for(lambda: not self.queue and not self.is_busy, timeout_s)

    def close(self) -> None:
        """Writes what waits, and ends the thread."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()
        if self.thread is not None:
            self.thread.join()
