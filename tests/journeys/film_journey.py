"""Film a scrub through training; close the window while one is recorded: nothing of it is left."""
import re

import apng
from window import Window


def ask_for_film(window, path):
    """By the menu; returns how many frames the card promises."""
    window.click("top_bar/menu/file")
    window.click("top_bar/menu/file.save_film")
    window.fill("film_card/main/file", str(path))
    window.click("film_card/main/save")
    window.until_value("film/main/progress", lambda words: words.startswith("Recording"))
    return int(re.search(r"of (\d+)", window.dump().value("film/main/progress") or "of 0").group(1))


def run(cli, screen):
    folder, films = cli.folder / "filmed", cli.folder / "films"
    films.mkdir()
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 60, "--set", "train.checkpoint_every=2",
           "--out", folder)
    with Window(cli, screen, folder) as window:
        window.click("top_bar/workspaces/biases")
        window.until(lambda d: any(w.kind == "map" and w.value == "drawn" for w in d.widgets), "the maps are drawn")
        count = ask_for_film(window, films / "scrub.apng")
        window.until(lambda d: any(w.kind == "toast" and "Film saved" in w.value for w in d.widgets), "it is saved",
                     120)
        frames = apng.read(films / "scrub.apng")
        cli.check("a frame for each stored step", len(frames) == count > 10, f"{len(frames)} of {count}")
        cli.check("no two alike", all(a.rows != b.rows for a, b in zip(frames, frames[1:])))
        ask_for_film(window, films / "closed.apng")
        cli.check("closing ends at once with 0", window.close() == 0, window.words())
    cli.check("and leaves nothing", [f.name for f in films.iterdir()] == ["scrub.apng"], list(films.iterdir()))
