"""Film a scrub through training; close the window while one is recorded: nothing of it is left."""
import re
import signal

import apng
from harness import stop_process
from window import TRIES, Window


def ask_for_film(window, path):
    """Starts a film by the menu; returns how many frames the card promises."""
    window.click("top_bar/menu/file")
    window.click("top_bar/menu/file.save_film")
    window.fill("film_card/main/file", str(path))
    hint = window.until_value("film_card/main/hint", lambda words: re.match(r"\d+ frames", words))
    window.click("film_card/main/save")
    return int(hint.value("film_card/main/hint").split()[0])


def is_recording(dump):
    return dump.value("film/main/progress").startswith("Recording")


def close_while_recording(window, screen, folder):
    """Closes the window within a film that is not finished; returns the exit code."""
    film = folder / "closed.apng"
    for _ in range(TRIES):
        ask_for_film(window, film)
        window.until(lambda d: is_recording(d) or film.exists(), "a film begins")
        stop_process(window.process)
        if is_recording(window.dump()):
            screen.close_window(window.id)
            window.process.send_signal(signal.SIGCONT)
            return window.wait()
        window.process.send_signal(signal.SIGCONT)
        window.until(lambda d: film.exists() and not d.find("film/main/progress"), "a film that was faster is saved")
        film.unlink()
    return "every film was finished"


def run(cli, screen):
    folder, films = cli.folder / "filmed", cli.folder / "films"
    films.mkdir()
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 60, "--set", "train.checkpoint_every=2",
           "--out", folder)
    with Window(cli, screen, folder) as window:
        window.click("top_bar/workspaces/biases")
        window.until(lambda d: any(w.kind == "map" and w.value == "drawn" for w in d.widgets), "the maps are drawn")
        count = ask_for_film(window, films / "scrub.apng")
        window.until(lambda d: any(w.kind == "toast" and "Film saved" in w.value for w in d.widgets), "it is saved")
        frames = apng.read(films / "scrub.apng")
        cli.check("a frame for each stored step", len(frames) == count > 10, f"{len(frames)} of {count}")
        cli.check("no two alike", all(a.rows != b.rows for a, b in zip(frames, frames[1:])))
        code = close_while_recording(window, screen, films)
        cli.check("closing ends at once with 0", code == 0, f"{code}: {window.words()}")
    cli.check("and leaves nothing", [f.name for f in films.iterdir()] == ["scrub.apng"], list(films.iterdir()))
