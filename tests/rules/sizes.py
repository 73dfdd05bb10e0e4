"""Sizes of files, functions, parameter lists and classes."""
import ast
import re

from rules.sources import CODE, TEXT, bare, line_of

FILE_LINES, HEADER_LINES, FUNCTION_LINES, PARAMETERS = 400, 150, 60, 4


def file_sizes():
    for path in CODE:
        lines = TEXT[path].count("\n")
        limit = HEADER_LINES if path.endswith(".h") else FILE_LINES
        if lines > limit:
            yield path, 0, f"{lines} lines, allowed {limit}"


NO_FUNCTION = re.compile(r"\b(namespace|class|struct|enum|union|if|for|while|switch|catch|do|else|try|return)\b")


def parameter_count(head):
    """Parameters of the first (...) of a function's head, 0 for none."""
    depth, count, seen = 0, 1, False
    for c in head[head.index("("):]:
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif c == "," and depth == 1:
            count += 1
        elif not c.isspace():
            seen = True
    return count if seen else 0


def functions(path):
    """(line, name, lines, parameters) of each function with a body, lambdas counted to theirs."""
    text = bare(TEXT[path])
    stack, begin, inside = [], 0, 0
    for i, c in enumerate(text):
        if c == "{":
            head = text[begin:i]
            is_function = (not inside and "(" in head and not NO_FUNCTION.search(head.split("(")[0])
                           and not re.search(r"=\s*$|=\s*\w*\s*$", head) and "[" not in head.split("(")[0])
            start = begin + len(head) - len(head.lstrip())
            stack.append((is_function, start, head.strip()))
            inside += is_function
            begin = i + 1
        elif c == "}" and stack:
            is_function, start, head = stack.pop()
            inside -= is_function
            if is_function:
                first = line_of(text, start)
                name = head.split("(")[0].split()[-1] if head.split("(")[0].split() else "?"
                yield first, name, line_of(text, i) - first + 1, parameter_count(head)
            begin = i + 1
        elif c == ";" and not inside:
            begin = i + 1


def function_sizes():
    for path in CODE:
        for line, name, lines, _ in functions(path):
            if lines > FUNCTION_LINES:
                yield path, line, f"{name}: {lines} lines, allowed {FUNCTION_LINES}"


def parameter_counts():
    for path in CODE:
        if path.endswith(".cu"):
            continue  # kernels take pointers and sizes one by one
        of_autograd = "torch::autograd::Function" in TEXT[path]
        for line, name, _, count in functions(path):
            if name == "forward" and of_autograd:
                continue  # LibTorch's form: one parameter for each input
            if name == "reportMemoryUsage":
                continue  # an override of LibTorch's
            if count > PARAMETERS:
                yield path, line, f"{name}: {count} parameters, allowed {PARAMETERS} (then a struct)"


LINE_WIDTH = 120


def python_sizes():
    """Files of Python; in the package functions and the width of lines, too."""
    for path in (p for p in TEXT if p.endswith(".py")):
        lines = TEXT[path].splitlines()
        if len(lines) > FILE_LINES:
            yield path, 0, f"{len(lines)} lines, allowed {FILE_LINES}"
        if not path.startswith("python/"):
            continue
        for number, line in enumerate(lines, 1):
            if len(line) > LINE_WIDTH:
                yield path, number, f"{len(line)} columns, allowed {LINE_WIDTH}"
        for node in ast.walk(ast.parse(TEXT[path])):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                count = node.end_lineno - node.lineno + 1
                if count > FUNCTION_LINES:
                    yield path, node.lineno, f"{node.name}: {count} lines, allowed {FUNCTION_LINES}"
