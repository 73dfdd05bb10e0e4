#!/usr/bin/env python3
"""The suite in surroundings that differ from machine to machine: prints a table, a row an entry.

    tests/matrix.py [--list] [ENTRY...]     all entries, or those whose names begin so

An entry changes one thing (user, threads, umask, folders, locale, variables, load, network, compiler, system) and runs
the programs that it can affect, from build/release (scripts/build.sh release all first). Entries that need another build
make it. What cannot be run on this machine is named with its reason. Exit code 1 if a test failed.
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from suite_user import ordinary_user

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "matrix"
FILES = "core,session,cli,python"  # what touches folders, variables and texts
WINDOW = FILES + ",app,journeys"
NUMBERS = "model,session"
EVERYTHING = "core,model,session,cli,python,toys,bench,viz,app,journeys"


class NotHere(Exception):
    """What an entry needs and this machine does not have."""


@dataclass
class Entry:
    name: str
    programs: str  # of tests/run_suite.py --only
    env: dict = field(default_factory=dict)  # None removes a variable
    wrap: list = field(default_factory=list)  # in front of the suite's command
    arguments: list = field(default_factory=list)
    around: object = None  # context manager: folder -> (env, wrap)


def need(tool, package):
    if not shutil.which(tool):
        raise NotHere(f"no {tool} (package {package})")


def need_root():
    if os.geteuid() != 0:
        raise NotHere("only root can")


def made(folder, *parts):
    path = folder.joinpath(*parts)
    path.mkdir(parents=True)
    return str(path)


@contextmanager
def other_user(folder):
    """A user who owns nothing here, not even the source tree."""
    need_root()
    need("setpriv", "util-linux")
    wrap = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    if subprocess.run([*wrap, "test", "-r", ROOT / "tests" / "run_suite.py"], check=False).returncode:
        raise NotHere(f"other users cannot reach {ROOT}")
    for path in (folder, Path(made(folder, "home")), Path(made(folder, "tmp"))):
        os.chown(path, 65534, 65534)
    results = ROOT / "build" / "release" / "test-results"
    mode = results.stat().st_mode
    for path in [results, *results.iterdir()]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    try:
        yield {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}, wrap
    finally:
        results.chmod(mode)


@contextmanager
def as_root(folder):
    if ordinary_user()[1].startswith("user") and not ordinary_user()[0]:
        raise NotHere("only root can")
    yield {}, []


def cores(count):
    @contextmanager
    def around(folder):
        usable = sorted(os.sched_getaffinity(0))
        if len(usable) < count:
            raise NotHere(f"{len(usable)} usable cores")
        need("taskset", "util-linux")
        yield {}, ["taskset", "-c", ",".join(map(str, usable[:count]))]
    return around


@contextmanager
def odd_folders(folder):
    names = ("A home of Zoë's", "tmp — with ünïcode")
    yield {"HOME": made(folder, names[0]), "TMPDIR": made(folder, names[1])}, []


def in_locale(name):
    @contextmanager
    def around(folder):
        if name != "C" and name not in locales():
            need("localedef", "libc-bin")
            if not Path("/usr/share/i18n/locales").exists():
                raise NotHere(f"no {name} and no sources to make it (package locales)")
            language, charmap = name.split(".")
            subprocess.run(["localedef", "--no-archive", "-i", language, "-f", charmap, folder / name], check=True,
                           capture_output=True)
            yield {"LC_ALL": name, "LOCPATH": str(folder)}, []
        else:
            yield {"LC_ALL": name}, []
    return around


def locales():
    said = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return {name.replace(".utf8", ".UTF-8") for name in said}


@contextmanager
def leftover_settings(folder):
    """What an earlier version, or an accident, left in the user's folders."""
    home = Path(made(folder, "home"))
    for place in (".config/afterimage", ".cache/afterimage"):
        for name in ("window.json", "imgui.ini"):
            path = home / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b'{"theme": 7, "version": 99, \xff')
    yield {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_CACHE_HOME": str(home / ".cache")}, []


@contextmanager
def foreign_variables(folder):
    libraries = Path(made(folder, "lib"))
    for name in ("libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libfmt.so.9"):
        (libraries / name).write_bytes(b"not a library")
    yield {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "3", "MASTER_ADDR": "nowhere.invalid", "MASTER_PORT": "1",
           "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "8", "DISPLAY": ":77", "WAYLAND_DISPLAY": "wayland-7",
           "LD_LIBRARY_PATH": str(libraries), "PYTHONPATH": str(libraries)}, []


@contextmanager
def no_network(folder):
    """Loopback alone, in a network namespace."""
    up = "import fcntl,os,socket,struct,sys;fcntl.ioctl(socket.socket(),0x8914,struct.pack('16sh',b'lo',1));" \
        "os.execvp(sys.argv[1],sys.argv[1:])"
    wrap = ["unshare", "--user", "--map-root-user", "--net", "--", sys.executable, "-c", up]
    if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode:
        raise NotHere("unshare --net is refused")
    yield {}, wrap


@contextmanager
def load(folder):
    """Two processes that never rest."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield {}, []
    finally:
        for process in busy:
            process.kill()
            process.wait()


def build(folder, env, source=ROOT):
    """The release build in folder/release."""
    built = subprocess.run(["cmake", "--preset", "release", "-S", source, "-B", folder / "release", "-DAFTERIMAGE_BATCHES=ON"],
                           cwd=source, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if not built.returncode:
        built = subprocess.run(["ninja", "-C", folder / "release", "-j", str(os.cpu_count())], cwd=source,
                               env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if built.returncode:
        print("\n".join((built.stdout + built.stderr).splitlines()[-60:]), file=sys.stderr)
        raise RuntimeError("the build failed, see above")


@contextmanager
def read_only_tree(folder):
    """The source tree on a mount that nobody can write to, the build elsewhere."""
    wrap = ["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c",
            f'mount --bind {shlex.quote(str(ROOT))} {shlex.quote(str(ROOT))} && '
            f'mount -o remount,bind,ro {shlex.quote(str(ROOT))} && cd {shlex.quote(str(ROOT))} && exec "$@"', "sh"]
    if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode:
        raise NotHere("unshare --mount is refused")
    build(folder, {})
    yield {"AFTERIMAGE_BUILD": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}, wrap


def compiler(name, package):
    @contextmanager
    def around(folder):
        need(name, package)
        kept = ROOT / "build" / f"matrix-{name}"
        build(kept, {"CXX": name})
        yield {"AFTERIMAGE_BUILD": str(kept), "CXX": name}, []
    return around


def debian(codename):
    """scripts/test.sh --fast in a bare Debian, by a user of that system."""
    @contextmanager
    def around(folder):
        need_root()
        need("debootstrap", "debootstrap")
        system = ROOT / "build" / f"matrix-debian-{codename}"
        if not (system / "etc/os-release").exists():
            subprocess.run(["debootstrap", "--variant=minbase", codename, system], check=True, stdout=subprocess.DEVNULL)
        for name in ("etc/resolv.conf", "etc/pip.conf", "root/.config/pip/pip.conf"):
            if Path("/", name).exists():
                (system / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path("/", name), system / name)
        shutil.rmtree(system / "home/somebody/afterimage", ignore_errors=True)
        run = lambda command: subprocess.run(["chroot", system, "sh", "-c", command], check=True, stdout=subprocess.DEVNULL)
        run("apt-get -q update && apt-get install -qy --no-install-recommends git ca-certificates sudo >/dev/null;"
            " id somebody 2>/dev/null || useradd -m somebody; echo 'somebody ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/somebody")
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, system / "home/somebody/afterimage"], check=True)
        run("chown -R somebody /home/somebody")
        mounts = [(kind, system / kind) for kind in ("proc", "dev", "sys")]
        for kind, place in mounts:
            subprocess.run(["mount", "--rbind", f"/{kind}", place], check=True)
        try:
            yield {}, ["chroot", system, "su", "somebody", "-c",
                       "cd ~/afterimage && env -u TMPDIR scripts/test.sh --fast"]
        finally:
            for kind, place in mounts:
                subprocess.run(["umount", "-l", place], check=False)
    return around


WHOLE = "scripts/test.sh"  # the entry's own command is the whole suite
ENTRIES = [
    Entry("another user", WINDOW, around=other_user),
    Entry("root", WINDOW, arguments=["--as-root"], around=as_root),
    *[Entry(f"{n} thread{'s' * (n > 1)} by affinity", NUMBERS + ",cli", around=cores(n)) for n in (1, 2, 3, 8)],
    *[Entry(f"{n} thread{'s' * (n > 1)} by OMP_NUM_THREADS", NUMBERS + ",cli", env={"OMP_NUM_THREADS": str(n)})
      for n in (1, 2, 3, 8)],
    Entry("umask 077", FILES, wrap=["sh", "-c", 'umask 077; exec "$@"', "sh"]),
    Entry("HOME and TMPDIR with blanks and non-ASCII letters", WINDOW, around=odd_folders),
    Entry("no HOME", WINDOW, env={"HOME": None}),
    Entry("read-only source tree, build elsewhere", WINDOW, around=read_only_tree),
    *[Entry(f"LC_ALL={name}", WINDOW, around=in_locale(name)) for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "C")],
    Entry("TZ=Pacific/Kiritimati", FILES, env={"TZ": "Pacific/Kiritimati"}),
    Entry("leftover user settings", WINDOW, around=leftover_settings),
    Entry("variables of another job", WINDOW, around=foreign_variables),
    Entry("no network", FILES, around=no_network),
    Entry("load of two processes", EVERYTHING, around=load),
    *[Entry(name, EVERYTHING, around=compiler(name, package)) for name, package in
      (("g++-12", "g++-12"), ("g++-14", "g++-14"), ("clang++-16", "clang-16"), ("clang++-19", "clang-19"))],
    *[Entry(f"Debian {number} ({codename})", WHOLE, around=debian(codename))
      for number, codename in ((12, "bookworm"), (13, "trixie"))],
]


def run_entry(entry, folder):
    """-> what the table says of it, and whether a test failed."""
    surround = entry.around(folder) if entry.around else None
    env, wrap = surround.__enter__() if surround else ({}, [])
    try:
        command = [*wrap, *entry.wrap]
        if entry.programs != WHOLE:
            command += [sys.executable, str(ROOT / "tests" / "run_suite.py"), "--only", entry.programs, *entry.arguments, "release"]
        changed = {**os.environ, **entry.env, **env}
        environment = {name: value for name, value in changed.items() if value is not None}
        log = RESULTS / (entry.name.replace(" ", "-").replace("/", "-") + ".log")
        with open(log, "wb") as out:
            code = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.STDOUT, check=False).returncode
        last = (log.read_text(errors="replace").strip().splitlines() or [f"exit code {code}"])[-1]
        return (last if code == 0 else f"{last}; log: {os.path.relpath(log, ROOT)}"), code != 0
    finally:
        if surround:
            surround.__exit__(None, None, None)


def main():
    names = [name for name in sys.argv[1:] if name != "--list"]
    entries = [e for e in ENTRIES if not names or any(e.name.startswith(name) for name in names)]
    unknown = [name for name in names if not any(e.name.startswith(name) for e in ENTRIES)]
    if unknown:
        print(f"matrix.py: no entry begins with '{unknown[0]}' (--list names them)", file=sys.stderr)
        return 2
    if "--list" in sys.argv:
        print("\n".join(f"{e.name}: {e.programs}" for e in entries))
        return 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    failed = 0
    print("| surroundings | programs | result | s |\n|---|---|---|---:|", flush=True)
    for entry in entries:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="aft-matrix-") as folder:
            os.chmod(folder, 0o755)
            try:
                result, broke = run_entry(entry, Path(folder))
            except NotHere as missing:
                result, broke = f"not run: {missing}", False
            except (RuntimeError, subprocess.CalledProcessError) as error:
                result, broke = f"failed: {error}", True
        failed += broke
        print(f"| {entry.name} | {entry.programs} | {result} | {time.monotonic() - start:.0f} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
