"""A viewer, which receives the newest picture of a scene."""

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
from ._wire import HEADER_BYTES, INPUT, MOST_ARGS, PICTURE, Header, Refused, message_bytes, now, unpack


@dataclasses.dataclass(frozen=True)
class Picture:
    """A whole picture: ``pixels`` holds tight rows in the header's row order."""

    header: Header
    pixels: bytes

    @property
    def size(self) -> tuple[int, int]:
        """The width and height in pixels."""
        return self.header.size

    @property
    def format(self) -> str:
        """The pixel format, such as ``RGBA8``."""
        return self.header.format

    @property
    def frame(self) -> int:
        """The number of the frame in its session."""
        return self.header.frame

    @property
    def age(self) -> float:
        """The seconds since the frame was requested, by the clocks of both machines."""
        return max(now() - self.header.time, 0) / 1e6


class _Wishes:
    """Tells the server regularly what a viewer wants and has: messages may be lost, and servers may restart."""

    def __init__(self, publisher, number: int):
        self._publisher, self._number, self._taken = publisher, number, 0
        self._ended = threading.Event()

    def tell(self, taken: int | None = None) -> None:
        if taken is not None:
            self._taken = taken
        try:
            # Nothing is read in place, which is place 0.
            self._publisher.put(struct.pack("<4Q", self._number, 0, 0, self._taken))
        except zenoh.ZError:
            self._ended.set()

    def repeat(self) -> None:
        while not self._ended.wait(0.25):
            self.tell()

    def undeclare(self) -> None:
        self._ended.set()


class _Coming:
    """A picture that arrives in pieces."""

    def __init__(self):
        self._epoch, self._heard, self._length, self._came, self._pieces = 0, 0.0, 0, 0, []

    def take(self, epoch: int, offset: int, piece: bytes) -> bytes | None:
        """Takes a piece, and returns the whole message after its last one."""
        if epoch < self._epoch and time.monotonic() - self._heard < 5:
            raise Refused("the piece belongs to an earlier session")
        self._epoch, self._heard = epoch, time.monotonic()
        if offset == 0:
            self._length, self._came, self._pieces = message_bytes(piece), 0, []
        if offset != self._came or not self._length:
            self._length = 0  # A piece was lost before.
            return None
        self._pieces.append(piece)
        self._came += len(piece)
        if self._came < self._length:
            return None
        self._length, pieces, self._pieces = 0, self._pieces, []
        return b"".join(pieces)


class View(Declared):
    """A viewer of a scene. If pictures arrive faster than they are read, only the newest is kept."""

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
        number, self._coming = secrets.randbits(64), _Coming()
        publisher = self._keep(session.declare_publisher(f"{root}/view/wish", **urgent))
        self._wishes = self._keep(_Wishes(publisher, number))
        self._keep(session.declare_subscriber(f"{root}/view/to/{number:016x}", self._weak(self._apart)))
        self._wishes.tell()
        threading.Thread(target=self._wishes.repeat, name="pixelferry-wish").start()

    @property
    def refused(self) -> int:
        """The number of messages that were not part of the protocol, or belonged to other sessions."""
        return self._refused + self._meter.refused

    def _mark(self, sample):
        with self._told:
            self._meter.mark(bytes(sample.payload))

    def _apart(self, sample):
        """Takes what is sent to this viewer only: pieces, and the marks ahead of them if the server measures the
        link."""
        place = bytes(sample.attachment or b"")
        if len(place) != 24:
            return self._mark(sample)
        epoch, number, offset = struct.unpack("<3Q", place)
        self._wishes.tell(number)
        try:
            message = self._coming.take(epoch, offset, bytes(sample.payload))
        except Refused:
            self._refused += 1
            return
        if message is not None:
            self._hear(message)

    def _take(self, sample):
        self._hear(bytes(sample.payload))

    def _hear(self, message):
        with self._told:
            try:
                header = Header.read(message, PICTURE)
                if header.region != (0, 0, *header.size):
                    raise Refused("the message is only a part of a picture")
                news = self._followed.accept(header.epoch, header.frame)
            except Refused:
                self._refused += 1
                return
            self._meter.came(header)
            if news in (SESSION, NEWER):
                self._newest = (header, message)
                self._told.notify_all()

    def next(self, timeout: float) -> Picture | None:
        """The newest picture that no call has returned yet, or ``None`` if none arrived in time.

        Pictures packed with LZ4 need ``lz4``, and those packed with JPEG need Pillow. Without it they are refused, and
        the logger ``pixelferry_net`` reports that.
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
        """Sends bytes to the program that serves the scene: mouse, keys, or whatever it understands."""
        if len(data) > MOST_ARGS:
            raise ValueError(f"{len(data)} bytes exceed the limit of {MOST_ARGS} for an input")
        header = Header(INPUT, (1, 1), (0, 0, 1, 1), "R8", time=now(), payload=len(data))
        self._input.put(header.to_bytes() + data)
