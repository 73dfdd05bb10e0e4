"""The user that the programs of the suite run as.

Permissions refuse nothing to root, so a suite that only root runs cannot see what an ordinary user meets. Where root
starts the suite, its programs get the rights of an ordinary user who owns the source tree; the tests of files, folders
and locks run once more as root (ROOT_TESTS).
"""
import functools
import os
import subprocess
import tempfile

USER = 1000
# First choice: to the kernel the process is still root, and so the owner of the files, but without root's rights.
# Second, where user namespaces are turned off (most containers): the same without the other number.
WAYS = {
    f"user {USER} (started by root, in a user namespace)":
        ["unshare", "--user", f"--map-user={USER}", f"--map-group={USER}", "--"],
    "root without capabilities (started by root; user namespaces are turned off here)":
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs", "--"],
}
# Program -> files of its tests that run as root, too; of the command line: its parts.
ROOT_TESTS = {
    "core": ("tests/core/files_test.cpp", "tests/core/free_file_test.cpp", "tests/core/writers_test.cpp"),
    "model": ("tests/model/train/run_folder_test.cpp", "tests/model/train/mutants_run_folder_test.cpp",
              "tests/model/train/saves_test.cpp"),
    "session": ("tests/session/errors_test.cpp", "tests/session/following_test.cpp", "tests/session/damaged_test.cpp",
                "tests/session/saves_test.cpp"),
    "cli": ("files", "kills"),
}


def is_refused(command, folder):
    """Whether `command` runs a program to which `folder` is not writable."""
    try:
        done = subprocess.run([*command, "sh", "-c", 'test -w "$0" || echo refused', folder], capture_output=True, text=True)
    except OSError:
        return False
    return done.stdout == "refused\n"


@functools.cache
def ordinary_user():
    """-> the words in front of a command that runs it as an ordinary user (none where this process is one), and who
    that is. Without a way the words are none, too, and root is said."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        if is_refused([], folder):
            return [], f"user {os.geteuid()}"
        for who, command in WAYS.items():
            if is_refused(command, folder):
                return command, who
    return [], "root (no way to run programs as an ordinary user here: unshare --user and setpriv are refused)"


def is_root():
    """Whether this process has root's rights, and its programs can be run without them."""
    return bool(ordinary_user()[0])
