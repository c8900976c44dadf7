"""A program's connection, and what it declares there."""

from __future__ import annotations

import json
import threading
import weakref

import zenoh


def join(connect: str) -> zenoh.Session:
    """Joins the network through the hub or router at an endpoint such as ``tcp/127.0.0.1:7447``. This program does not
    listen.

    Objects created from the session keep it open. End it with ``session.close()`` or a ``with`` block.
    """
    return _open("client", [connect], [])


def hub(listen: str) -> zenoh.Session:
    """Opens a hub, which forwards what other programs send. They join through its endpoint, such as
    ``tcp/127.0.0.1:7447``."""
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
    """Every callback of Zenoh has a thread, for which an ending program waits. So the callbacks end with the main
    thread."""
    threading.main_thread().join()
    for declared in list(_declared):
        declared.close()


def _undeclare(declared: list) -> None:
    while declared:
        try:
            declared.pop().undeclare()
        except zenoh.ZError:
            pass  # Its session was closed, which removed it, too.


class Declared:
    """What a program has declared in a session, which it keeps open. It ends with `close`, a ``with`` block, the object
    or the program."""

    def __init__(self, session: zenoh.Session):
        self._session = session
        self._kept: list = []
        # The session's callbacks hold the object weakly; otherwise no object would ever be collected.
        self._end = weakref.finalize(self, _undeclare, self._kept)
        _declared.add(self)
        if _watch.acquire(blocking=False):
            threading.Thread(target=_end_with_main_thread, name="pixelferry-net").start()

    def _keep(self, declared):
        self._kept.append(declared)
        return declared

    def _drop(self, declared):
        if declared in self._kept:
            self._kept.remove(declared)
            _undeclare([declared])

    @staticmethod
    def _weak(method):
        weak = weakref.WeakMethod(method)

        def call(sample):
            if (method := weak()) is not None:
                method(sample)

        return call

    def close(self) -> None:
        """Ends this object; the session stays open."""
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
