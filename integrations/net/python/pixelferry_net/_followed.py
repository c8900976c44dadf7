"""Which session a receiver follows: the rule under "Sessions and frames" in ``integrations/net/docs/protocol.md``."""

from __future__ import annotations

import math
import time

from ._wire import Refused

#: How a message relates to the session that is followed: it begins another session, or belongs to a newer frame, the
#: newest one or an older one.
SESSION, NEWER, AGAIN, OLDER = range(4)

_SILENCE, _SLOT, _WINDOW, _WARY = 5.0, 0.2, 4.0, 60.0
_REGULAR_SLOTS, _REGULAR_TIME, _RARE = 4, 1.0, 2
_LEAP, _MOST_RIVALS = 1000, 8


class _Rival:
    """A session whose messages are ignored, and the time slots in which it was heard."""

    def __init__(self, now: float, others: int):
        self.since, self.slot, self.slots, self.others = now, now, 1, others


class Followed:
    """The session that is followed, and its newest frame."""

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._newest, self._heard, self._slot, self._slots = None, 0.0, 0.0, 0
        self._rivals, self._wary = {}, -math.inf

    def accept(self, epoch: int, frame: int) -> int:
        """Takes the session and the frame of a message. Raises `Refused` for a session that is not followed."""
        now, new = self._clock(), (epoch, frame)
        if self._newest is None:
            return self._follow(new, now)
        current, newest = self._newest
        waited, is_below = now - self._heard, new < self._newest
        leap = _LEAP + _LEAP * int(waited)
        is_claim = is_below or (now < self._wary and (epoch > current or frame - newest > leap))
        if not is_claim and epoch == current:
            if now - self._slot >= _SLOT:
                self._slot, self._slots = now, self._slots + 1
            self._newest, self._heard = new, now
            return NEWER if frame > newest else AGAIN
        if is_claim and waited < _SILENCE:
            if not self._rival((epoch, not is_below), now):
                if epoch == current:
                    return OLDER
                raise Refused("the message belongs to another session than the one that is followed")
            self._wary = now + _WARY
        if is_claim:
            self._rivals = {}
        return self._follow(new, now)

    def _follow(self, new, now: float) -> int:
        self._newest, self._heard, self._slot, self._slots = new, now, now, self._slots + 1
        return SESSION

    def _rival(self, key, now: float) -> bool:
        self._rivals = {key: rival for key, rival in self._rivals.items() if now - rival.since < _WINDOW}
        rival = self._rivals.get(key)
        if rival is None:
            if len(self._rivals) >= _MOST_RIVALS:
                # Invented sessions were heard only once.
                self._rivals.pop(min(self._rivals, key=lambda key: self._rivals[key].slots))
            self._rivals[key] = _Rival(now, self._slots)
            return False
        if now - rival.slot >= _SLOT:
            rival.slot, rival.slots = now, rival.slots + 1
        others = self._slots - rival.others
        is_regular = rival.slots >= _REGULAR_SLOTS and now - rival.since >= _REGULAR_TIME
        # Greater numbers are a claim of their own: about the same regularity is enough.
        return is_regular and (rival.slots * 4 >= others * 3 if key[1] else rival.slots >= others * _RARE)
