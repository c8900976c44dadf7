"""A display, which requests whole frames."""

from __future__ import annotations

import secrets
import threading
import time

import zenoh

from ._alive import Owing, Workers
from ._job import JobMessage
from ._link import Meter
from ._session import Declared
from ._wire import HEADER_BYTES, JOB, PIXEL_BYTES, TILE, Header, Refused, now, unpack

_ASK_AGAIN = 0.25


class Assembly(Declared):
    """The display of a scene. It requests whole frames, and returns each one when all of its tiles have arrived."""

    def __init__(self, session: zenoh.Session, scene: str, size, format="RGBA8", tile=(256, 256)):
        super().__init__(session)
        self._told = threading.Condition()
        self._size, self._format, self._tile = tuple(size), format, tuple(tile)
        self._epoch, self._frame, self._came = now(), 0, {}
        self._workers, self._owing = Workers(), Owing()
        self.refused = 0
        job = self._job((), {}, b"")
        # What the workers would refuse is refused here already.
        JobMessage.read(job.to_bytes())
        self._tiles = job.tiles()
        root = f"pixelferry/{scene}"
        self._publisher = self._keep(session.declare_publisher(
            f"{root}/job", congestion_control=zenoh.CongestionControl.BLOCK, express=True,
            priority=zenoh.Priority.INTERACTIVE_HIGH,
        ))  # fmt: skip
        self._meter, self._root = Meter(secrets.randbits(64)), root
        self._keep(session.declare_subscriber(f"{root}/tile/*/mark", self._weak(self._mark)))
        self._keep(session.declare_subscriber(f"{root}/tile/*", self._weak(self._take)))
        live = session.liveliness()
        self._keep(live.declare_subscriber(f"{root}/worker/*/*", self._weak(self._live), history=True))

    def _live(self, sample):
        with self._told:
            try:
                self._workers.take(str(sample.key_expr), sample.kind == zenoh.SampleKind.PUT)
            except Refused:
                self.refused += 1

    def _mark(self, sample):
        with self._told:
            self._meter.mark(bytes(sample.payload))

    def _take(self, sample):
        message = bytes(sample.payload)
        try:
            header = Header.read(message, TILE)
            if header.epoch != self._epoch or header.size != self._size or header.format != self._format:
                raise Refused("the tile belongs to another session or picture")
            if header.region not in self._tiles:
                raise Refused("the tile is not one of the picture's tiles")
            with self._told:
                self._meter.came(header)
                if header.sender in self._workers.nodes():
                    self._owing.sent(header.sender, time.monotonic())
                if header.frame != self._frame or header.region in self._came:
                    return
            pixels = unpack(header, message[HEADER_BYTES:])
        except Refused:
            self.refused += 1
            return
        with self._told:
            if header.frame == self._frame:
                self._came.setdefault(header.region, pixels)
                self._told.notify_all()

    def frame(self, args: bytes, timeout: float):
        """Requests a frame. Returns its pixels in tight rows, or ``None`` if it was not complete in time."""
        with self._told:
            self._frame, self._came = self._frame + 1, {}
            self._owing.begin()
        until, again = time.monotonic() + timeout, 0.0
        while True:
            with self._told:
                missing = [index for index, region in enumerate(self._tiles) if region not in self._came]
                if not missing:
                    self._owing.clear()
                    return self._lay(self._came)
                due = self._meter.due()
            for sender, report in due:
                self._session.put(f"{self._root}/tile/{sender:016x}/report", report, express=True)
            at = time.monotonic()
            if at >= until:
                return None
            if at >= again:
                self._ask(missing, args, timeout)
                again = at + _ASK_AGAIN
            with self._told:
                if len(self._came) < len(self._tiles):
                    self._told.wait(min(again, until) - at)

    def _job(self, wanted, weights, args):
        header = Header(
            JOB, self._size, (0, 0, *self._size), self._format, epoch=self._epoch, frame=self._frame, time=now()
        )  # fmt: skip
        return JobMessage(header, self._tile, tuple(wanted), weights, args)

    def _ask(self, missing, args, deadline):
        at = time.monotonic()
        with self._told:
            # Those who take over owe from now on.
            for _ in range(2):
                weights = self._owing.weights(at)
                owners = self._workers.owners(self._tiles, weights)
                self._owing.look({owners[index] for index in missing} - {None}, self._workers.nodes(), deadline, at)
            job = self._job(missing, self._owing.weights(at), args)
        self._publisher.put(job.to_bytes())

    def passed_over(self) -> dict[int, float]:
        """The live workers that are passed over, with the number of seconds for which they have owed tiles."""
        with self._told:
            owed = self._owing.owed(time.monotonic())
            return {node: waited for node, waited in owed.items() if node in self._workers.nodes()}

    def _lay(self, came) -> bytearray:
        pixel = PIXEL_BYTES[self._format]
        pitch = self._size[0] * pixel
        picture = bytearray(pitch * self._size[1])
        for (x, y, width, height), pixels in came.items():
            row = width * pixel
            for line in range(height):
                start = (y + line) * pitch + x * pixel
                picture[start : start + row] = pixels[line * row : (line + 1) * row]
        return picture
