"""python -m pixelferry, or pixelferry-py: what this machine can do, and arrays from files."""

import argparse
import importlib
import json
import os
import sys
import typing

import pixelferry
from ._pixelferry import _look_options  # type: ignore[import-not-found]

# Of those that are numbers to `show`; the others are texts.
_NUMBERS: dict[str, typing.Any] = {"exposure": float, "gamma": float}


def _size(text: str) -> tuple[int, int]:
    width, x, height = text.partition("x")
    if not (x and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT")
    return int(width), int(height)


def _name() -> str:
    """The command as it was started."""
    started = os.path.basename(sys.argv[0])
    return "python -m pixelferry" if started == "__main__.py" else started


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=_name(), description="Arrays on the screen.")
    parser.add_argument("--version", action="version", version=f"pixelferry {pixelferry.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    probe = commands.add_parser("probe", help="try every path between every device and display, each proved by pixels")
    probe.add_argument("--size", type=_size, default=(1280, 720), metavar="WIDTHxHEIGHT")
    probe.add_argument("--all", action="store_true", help="tell of every device, every pairing and every path")
    probe.add_argument("--json", action="store_true", help="print the report as JSON")
    show = commands.add_parser("show", help="show an array that numpy.save wrote")
    show.add_argument("file", help="a .npy file")
    show.add_argument("--save", metavar="PICTURE", help="open no window, save .png or .jpg")
    for name, value, text in _look_options():
        # Two ends may be two words.
        many: dict[str, typing.Any] = {"nargs": "+"} if name == "range" else {"type": _NUMBERS.get(name, str)}
        show.add_argument(f"--{name}", metavar=value, help=text.replace("%", "%%"), **many)
    show.add_argument("--backend", help='"cuda", say, instead of the one that is measured to be the quickest')
    return parser.parse_args()


def _run(given: argparse.Namespace) -> None:
    if given.command == "probe":
        report = pixelferry.probe(*given.size)
        # The answer is the lines before the first empty one.
        text = str(report) if given.all else str(report).partition("\n\n")[0]
        print(json.dumps(report, indent=2) if given.json else text)
        return
    try:
        numpy = importlib.import_module("numpy")
    except ModuleNotFoundError:
        sys.exit(f"{_name()} show: NumPy reads the file; pip install numpy")
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
    """The command `pixelferry-py`."""
    try:
        _run(_arguments())
        sys.stdout.flush()
    except pixelferry.Error as error:
        sys.exit(f"{_name()}: {error}")
    except BrokenPipeError:
        # Whoever reads wants no more; Python's own flush at the end must not fail on it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        sys.exit(f"{_name()}: {error}")


if __name__ == "__main__":
    main()
