"""The plan of the house: what a reader may count on when walking through the source."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
PACKAGE = SRC / "labelrank"
KERNELS = PACKAGE / "kernels"
# A command's signature is its options.
LONGEST = 40


def module_name(path):
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def imported_at_the_top(name):
    """Modules of the package that a module imports when it is imported."""
    for node in TREES[name].body:
        if isinstance(node, ast.ImportFrom) and node.module in FILES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)


def walk(name):
    """The files a reader may have to open to follow a module, without those everybody knows."""
    own = ("kernels._compile", "errors", "interrupts", "_types", "_estimators")
    known = {"labelrank", *(f"labelrank.{name}" for name in own)}
    opened, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module not in opened | known:
            opened.add(module)
            waiting += imported_at_the_top(module)
    return opened


@pytest.mark.parametrize(
    ("module", "most"),
    [("labelrank.learners.margins.prosvm", 14), ("labelrank.learners.pairwise.perceptron", 22)],
)
def test_few_files_are_opened_on_a_walk(module, most):
    assert len(walk(module)) <= most, sorted(walk(module))


def test_learners_has_few_files_of_its_own():
    own = [path for path in (PACKAGE / "learners").glob("*.py") if path.name != "__init__.py"]
    assert len(own) <= 14, own


def functions():
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield name, node


def test_no_function_is_longer_than_a_page():
    long = []
    for name, node in functions():
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body and node.end_lineno - body[0].lineno + 1 > LONGEST:
            long.append(f"{name}.{node.name}")
    assert not long


def is_kernel(node):
    return any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in node.decorator_list)


def called_from_python():
    """Kernels that modules outside `kernels` import or reach through an imported module."""
    outside = [tree for name, tree in TREES.items() if not name.startswith("labelrank.kernels")]
    for tree in outside:
        modules = {}
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "labelrank.kernels"
            ):
                continue
            for alias in node.names:
                if node.module == "labelrank.kernels":
                    modules[alias.asname or alias.name] = alias.name
                else:
                    yield node.module.rpartition(".")[2], alias.name
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
            ):
                yield modules[node.value.id], node.attr


def test_no_kernel_called_from_python_takes_more_than_ten_parameters():
    called = set(called_from_python())
    wide = [
        f"{name}.{node.name}"
        for name, node in functions()
        if is_kernel(node)
        and (name.rpartition(".")[2], node.name) in called
        and len(node.args.args) > 10
    ]
    assert called
    assert not wide


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.name)
def test_every_kernel_file_says_what_it_computes(path):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    assert len(docstring) > 20
