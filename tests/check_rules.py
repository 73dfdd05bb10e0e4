#!/usr/bin/env python3
"""Rules of the code that a machine can check; prints what breaks them and `N passed, N failed`.

    tests/check_rules.py [--list]     --list names the rules

One count per rule. A rule is a function of tests/rules/ that yields (file, line or 0, message) for each breach.
"""
import sys

from rules import (classes, commands, comments, content, declared, ids, includes, layers, names, places, rooms, sizes,
                   types, words)

RULES = {
    "include direction": includes.include_direction,
    "what is used is included": declared.declared,
    "layers of model and app": layers.layers,
    "panels ask by commands": commands.commands,
    "places that catch, start threads or share": places.places,
    "places that are named are needed": places.unused_places,
    "LibTorch only in model, bench, tests": includes.libtorch_places,
    "ImGui only in viz and the floors of app": includes.imgui_places,
    "OpenGL and GLFW only in viz and app/host/window": includes.opengl_places,
    "headers that promise no LibTorch": includes.plain_headers,
    "headers say what they are for": content.header_openings,
    "file sizes": sizes.file_sizes,
    "function sizes": sizes.function_sizes,
    "sizes in Python": sizes.python_sizes,
    "parameter counts": sizes.parameter_counts,
    "class sizes": classes.class_sizes,
    "rooms and their lists": rooms.room_lists,
    "one room a file, without a header": rooms.one_room_a_file,
    "no comparison with names of rooms": names.room_names,
    "operators are asked for by their rooms": names.operator_kinds,
    "tests find controls by their ids": ids.found_by_id,
    "exceptions of ids are needed": ids.unused_exceptions,
    "words that do not belong": content.words,
    "house words": words.house_words,
    "two types never share a name": types.type_names,
    "documents that are named are there": content.documents,
    "no using namespace in headers": content.using_namespace,
    "no raw new and delete": content.naked_new,
    "JSON is read in one place": content.json_readers,
    "JSON is made in one place": content.json_makers,
    "kernels hide no constant": content.hidden_constants,
    "comments that need more than their line": comments.trailing_comments,
    "formatting": content.formatting,
    "scripts are executable": content.scripts_are_executable,
}


def main():
    if "--list" in sys.argv[1:]:
        print("\n".join(RULES))
        return 0
    failed = 0
    for name, rule in RULES.items():
        breaches = sorted(set(rule()))
        failed += bool(breaches)
        for path, line, message in breaches:
            print(f"FAIL {name}: {path}{f':{line}' if line else ''}: {message}")
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
