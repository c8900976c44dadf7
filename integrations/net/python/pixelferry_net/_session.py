"""A program's connection, and what it declares there."""

from __future__ import annotations

import json
import threading
import weakref

import zenoh


def join(connect: str) -> zenoh.Session:
    """Joins the network through the hub or router at an endpoint, such as ``tcp/127.0.0.1:7447``. Nothing listens.

    What is made of the session keeps it. Leave by ``session.close()`` or by ``with``.
    """
    return _open("client", [connect], [])


def hub(listen: str) -> zenoh.Session:
    """A hub, which passes on what others send: they join by its endpoint, such as ``tcp/127.0.0.1:7447``."""
    return _open("router", [], [listen])


def _open(mode: str, connect: list[str], listen: list[str]) -> zenoh.Session:
    config = zenoh.Config()
    for key, value in [
        ("mode", mode),
        ("connect/endpoints", connect),
        ("listen/endpoints", listen),
        ("scouting/multicast/enabled", False),
        ("transport/link/tx/lease", 2000),
    ]:
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


_declared: weakref.WeakSet[Declared] = weakref.WeakSet()
_watch = threading.Lock()


def _end_with_main_thread() -> None:
    """Every callback of Zenoh has a thread, for which a program that ends waits: so they end with the main thread."""
    threading.main_thread().join()
    for declared in list(_declared):
        declared.close()


def _undeclare(declared: list) -> None:
    while declared:
        try:
            declared.pop().undeclare()
        except zenoh.ZError:
            pass  # Its session was closed, and it with it.


class Declared:
    """What a program has in a session, which it keeps. It ends with `close`, a ``with`` block, the object or the program."""

    def __init__(self, session: zenoh.Session):
        self._session = session
        self._kept: list = []
        # The session's callbacks know the object weakly, else none of them would ever go.
        self._end = weakref.finalize(self, _undeclare, self._kept)
        _declared.add(self)
        if _watch.acquire(blocking=False):
            threading.Thread(target=_end_with_main_thread, name="pixelferry-net").start()

    def _keep(self, declared):
        self._kept.append(declared)
        return declared

    @staticmethod
    def _weak(method):
        weak = weakref.WeakMethod(method)

        def call(sample):
            if (method := weak()) is not None:
                method(sample)

        return call

    def close(self) -> None:
        """Ends it; the session stays."""
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
