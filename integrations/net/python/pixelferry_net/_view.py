"""A viewer: the newest picture of a scene."""

from __future__ import annotations

import dataclasses
import secrets
import struct
import threading
import time

import zenoh

from ._followed import NEWER, SESSION, Followed
from ._link import Meter
from ._session import Declared
from ._wire import HEADER_BYTES, INPUT, MOST_ARGS, PICTURE, Header, Refused, now, unpack


@dataclasses.dataclass(frozen=True)
class Picture:
    """A whole picture: ``pixels`` are tight rows in the header's row order."""

    header: Header
    pixels: bytes

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self.header.size

    @property
    def format(self) -> str:
        """The pixel format, such as ``RGBA8``."""
        return self.header.format

    @property
    def frame(self) -> int:
        """The frame's number in its session."""
        return self.header.frame

    @property
    def age(self) -> float:
        """Seconds since the frame was asked for, by the clocks of both machines."""
        return max(now() - self.header.time, 0) / 1e6


class _Wishes:
    """What ends a viewer's queries, as its other parts end."""

    def __init__(self):
        self.token = zenoh.CancellationToken()

    def undeclare(self):
        self.token.cancel()


def _ask(answer, session, key, token):
    """Asks for large pictures, the next whenever one came, until the viewer ends. Nothing is read in place: place 0."""
    wish = struct.pack("<2Q", secrets.randbits(64), 0)
    quality = {"priority": zenoh.Priority.BACKGROUND, "congestion_control": zenoh.CongestionControl.BLOCK}
    quality |= {"consolidation": zenoh.ConsolidationMode.NONE, "timeout": 60, "cancellation_token": token}
    while not token.is_cancelled:
        begun, is_heard = time.monotonic(), False
        try:
            for reply in session.get(key, payload=wish, **quality):
                is_heard = True
                answer(reply)
        except zenoh.ZError:
            return
        if not is_heard:
            # One that ended soon was heard by nobody.
            time.sleep(max(0.25 - (time.monotonic() - begun), 0))


class View(Declared):
    """Looks at a scene. Of pictures that come faster than they are read, only the newest is kept."""

    def __init__(self, session: zenoh.Session, scene: str):
        super().__init__(session)
        self._told = threading.Condition()
        self._followed, self._newest = Followed(), None
        self._meter = Meter(secrets.randbits(64))
        self._refused = 0
        root = f"pixelferry/{scene}"
        urgent = {"priority": zenoh.Priority.INTERACTIVE_HIGH, "express": True}
        self._input = self._keep(session.declare_publisher(f"{root}/input", **urgent))
        self._reports = self._keep(session.declare_publisher(f"{root}/view/report", **urgent))
        self._keep(session.declare_subscriber(f"{root}/view/mark", self._weak(self._mark)))
        self._keep(session.declare_subscriber(f"{root}/view", self._weak(self._take)))
        wishes = self._keep(_Wishes())
        asking = (self._weak(self._answer), session, f"{root}/view", wishes.token)
        threading.Thread(target=_ask, args=asking, name="pixelferry-wish").start()

    @property
    def refused(self) -> int:
        """Messages that were none of the protocol, or of other sessions."""
        return self._refused + self._meter.refused

    def _mark(self, sample):
        with self._told:
            self._meter.mark(bytes(sample.payload))

    def _answer(self, reply):
        if reply.ok is not None:
            # A mark goes ahead of a picture where the server measures.
            is_mark = len(reply.ok.payload) == HEADER_BYTES
            (self._mark if is_mark else self._take)(reply.ok)

    def _take(self, sample):
        message = bytes(sample.payload)
        with self._told:
            try:
                header = Header.read(message, PICTURE)
                if header.region != (0, 0, *header.size):
                    raise Refused("it is a part of a picture")
                news = self._followed.accept(header.epoch, header.frame)
            except Refused:
                self._refused += 1
                return
            self._meter.came(header)
            if news in (SESSION, NEWER):
                self._newest = (header, message)
                self._told.notify_all()

    def next(self, timeout: float) -> Picture | None:
        """The newest picture that no call gave yet, or ``None`` where none came in time.

        Pictures packed by LZ4 need ``lz4``, those packed by JPEG need Pillow; without it they are refused, and the log
        ``pixelferry_net`` says so.
        """
        until = time.monotonic() + timeout
        while True:
            with self._told:
                while self._newest is None and (left := until - time.monotonic()) > 0:
                    self._told.wait(left)
                newest, self._newest = self._newest, None
                due = self._meter.due()
            for _server, report in due:
                self._reports.put(report)
            if newest is None:
                return None
            header, message = newest
            try:
                return Picture(header, unpack(header, message[HEADER_BYTES:]))
            except Refused:
                with self._told:
                    self._refused += 1

    def send(self, data: bytes) -> None:
        """Sends bytes to the program that serves the scene: mouse, keys, whatever it understands."""
        if len(data) > MOST_ARGS:
            raise ValueError(f"{len(data)} bytes are more than the {MOST_ARGS} of an input")
        header = Header(INPUT, (1, 1), (0, 0, 1, 1), "R8", time=now(), payload=len(data))
        self._input.put(header.to_bytes() + data)
