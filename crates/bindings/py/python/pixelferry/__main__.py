"""python -m pixelferry, or pixelferry-py: reports what this machine can do, and shows arrays from files."""

import argparse
import importlib
import json
import os
import sys
import typing

import pixelferry
from ._pixelferry import _look_options  # type: ignore[import-not-found]

# Options that are numbers for `show`; the others are texts.
_NUMBERS: dict[str, typing.Any] = {"exposure": float, "gamma": float}


def _size(text: str) -> tuple[int, int]:
    width, x, height = text.partition("x")
    if not (x and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT")
    return int(width), int(height)


def _name() -> str:
    """Returns the command as the user started it."""
    started = os.path.basename(sys.argv[0])
    return "python -m pixelferry" if started == "__main__.py" else started


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=_name(), description="Arrays on the screen.")
    parser.add_argument("--version", action="version", version=f"pixelferry {pixelferry.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    probe = commands.add_parser("probe", help="try every path between every device and display, each proved by pixels")
    probe.add_argument("--size", type=_size, default=(1280, 720), metavar="WIDTHxHEIGHT")
    probe.add_argument("--all", action="store_true", help="report every device, every pair of devices and every path")
    probe.add_argument("--json", action="store_true", help="print the report as JSON")
    show = commands.add_parser("show", help="show an array from a file that numpy.save wrote")
    show.add_argument("file", help="a .npy file")
    show.add_argument("--save", metavar="PICTURE", help="open no window, save .png or .jpg")
    for name, value, text in _look_options():
        # A range may consist of two words.
        many: dict[str, typing.Any] = {"nargs": "+"} if name == "range" else {"type": _NUMBERS.get(name, str)}
        show.add_argument(f"--{name}", metavar=value, help=text.replace("%", "%%"), **many)
    show.add_argument("--backend", help='for example "cuda"; the default is measured to be the fastest')
    return parser.parse_args()


def _run(given: argparse.Namespace) -> None:
    if given.command == "probe":
        report = pixelferry.probe(*given.size)
        # The first paragraph is the answer; the details follow an empty line.
        text = str(report) if given.all else str(report).partition("\n\n")[0]
        print(json.dumps(report, indent=2) if given.json else text)
        return
    try:
        numpy = importlib.import_module("numpy")
    except ModuleNotFoundError:
        sys.exit(f"{_name()} show: reading the file needs NumPy; pip install numpy")
    try:
        array = numpy.load(given.file)
    except (OSError, ValueError) as error:
        sys.exit(f"{_name()} show: {given.file}: {error}")
    asked: dict[str, typing.Any] = {name: getattr(given, name) for name, _, _ in _look_options()}
    if asked["range"] is not None:
        asked["range"] = ",".join(asked["range"])
    asked = {name: value for name, value in asked.items() if value is not None}
    pixelferry.show(array, given.file, save=given.save, backend=given.backend, **asked)


def main() -> None:
    """Runs the command `pixelferry-py`."""
    try:
        _run(_arguments())
        sys.stdout.flush()
    except pixelferry.Error as error:
        sys.exit(f"{_name()}: {error}")
    except BrokenPipeError:
        # The reader has closed the pipe. Python's own flush at exit must not fail on that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        sys.exit(f"{_name()}: {error}")


if __name__ == "__main__":
    main()
