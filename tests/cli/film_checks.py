"""Films without a display: the card's controls by a script, the film decoded by code that is not the program's."""
import re

import apng

# The pointer stays where it shows nothing; Enter saves. What the film shows is read for it alone; looked at again
# afterwards, when no message covers the panes.
SCRUB = """
open runs/film
view.workspace_biases
hover status/main/state 2 2
wait drawn 300
file.save_film
frames 4
set film_card/main/file film.apng
frames 2
dump card.txt
key Enter
wait "Film saved" 300
dump after.txt
frames 400
"""
# Takes a picture of a stored step once the caption names this step for the maps of both layers.
PICTURE = """
{action}
wait "film, step {step}" 300
selection.next_layer
wait "film, step {step}" 300
selection.previous_layer
frames 4
shot {name}.png
"""
GENERATION = """
file.open_demo
wait drawn 300
view.workspace_complete
wait source/main/picture 300
hover status/main/state 2 2
complete.start
wait "128 of 128" 300
wait "It is complete" 300
file.save_film
frames 4
click film_card/main/what=generation
frames 2
set film_card/main/most 6
set film_card/main/file pictures/
frames 2
click film_card/main/save
wait "Film saved" 300
"""
REFUSED = """
open runs/film
view.workspace_biases
wait drawn 300
file.save_film
frames 4
set film_card/main/file film.mp4
frames 2
click film_card/main/save
frames 4
dump refused.txt
"""


def script(cli, name, text, **options):
    return cli.ok(name, "script", cli.write("film.txt", text), "--headless", "--size", "1000x640", **options)


def run(cli):
    cli.ok("a short run", "train", "--preset", "demo-mirror", "--steps", 40, "--set", "train.checkpoint_every=10",
           "--out", "runs/film")
    cli.part(scrub)
    cli.part(generation)
    cli.part(refused)


def cut(rows, box):
    """x, y, width, height; without the frame of the one that is chosen."""
    x, y, width, height = box
    return [row[3 * (x + 1):3 * (x + width - 1)] for row in rows[y + 1:y + height - 1]]


def scrub(cli):
    history = (cli.folder / "runs/film/history").glob("step-*.safetensors")
    stored = sorted(int(path.stem[len("step-"):]) for path in history)
    moments = (("first", "time.first", 0), ("second", "time.forward", 1), ("last", "time.live", -1))
    pictures = [PICTURE.format(name=name, action=action, step=stored[at]) for name, action, at in moments]
    script(cli, "a film of a scrub", SCRUB + "".join(pictures))
    count = int(re.search(r"(\d+) frames, ", (cli.folder / "card.txt").read_text()).group(1))
    frames = apng.read(cli.folder / "film.apng")
    cli.check("a frame for each stored step", len(frames) == count >= 4, f"{len(frames)} frames of {count} steps")
    cli.check("no two alike", all(a.rows != b.rows for a, b in zip(frames, frames[1:])))
    after = (cli.folder / "after.txt").read_text()
    boxes = [tuple(map(int, place.split())) for place in re.findall(r"^map\t[^\t]*\t([\d ]+)\tdrawn\t", after, re.M)]
    cli.check("two maps are on the screen", len(boxes) == 2, boxes)
    cli.check("ten a second", all(frame.seconds == 0.1 for frame in frames), [frame.seconds for frame in frames])
    for name, frame in (("first", frames[0]), ("second", frames[1]), ("last", frames[-1])):
        shown, = apng.read(cli.folder / f"{name}.png")
        for box in boxes:
            cli.check(f"the {name} frame has the map of that step", apng.holds(frame.rows, cut(shown.rows, box)), box)
    cli.check("the window is live again", "\tlatest\t" in after, after[:300])


def generation(cli):
    script(cli, "a film of a completion", GENERATION)
    files = sorted((cli.folder / "pictures").iterdir())
    cli.check("every k-th position", [file.name for file in files] ==
              [f"pictures-{i + 1:04}.png" for i in range(6)], files)
    frames = [apng.read(file)[0].rows for file in files]
    cli.check("it fills in", all(a != b for a, b in zip(frames, frames[1:])))


def refused(cli):
    script(cli, "a film without ffmpeg", REFUSED, env={"PATH": str(cli.folder)})
    words = (cli.folder / "refused.txt").read_text()
    cli.check("without ffmpeg the card stays", "film_card/main/file" in words, words[-600:])
    cli.check("and writes nothing", not (cli.folder / "film.mp4").exists())
