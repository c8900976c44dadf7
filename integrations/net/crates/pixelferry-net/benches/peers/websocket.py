"""What a user would take instead, for the bench: pictures by WebSockets from Python, seen by viewers in Python.

``websocket.py serve PORT FILE`` sends the file's bytes 60 times a second; ``websocket.py view PORT`` sees them; and
``websocket.py count ENDPOINT`` sees pixelferry's. As the bench's own processes, each says ``ready``, and when its input ends
with a time from and to, it prints the ages in microseconds of what it saw between them.
"""

import asyncio
import json
import struct
import sys
import threading
import time

SEEN = []


def now():
    return time.time_ns() // 1000


def note(message):
    # Where the header of pixelferry's messages has the time.
    at = now()
    SEEN.append((at, at - struct.unpack_from("<Q", message, 24)[0]))


def end():
    """Waits for the end of the input, and prints what was seen."""
    begin, until = (int(word) for word in sys.stdin.read().split())
    print(json.dumps([age for at, age in SEEN if begin <= at < until]), flush=True)


async def serve(port, file):
    from websockets.asyncio.server import broadcast, serve

    with open(file, "rb") as file:
        packed = file.read()

    async def connected(connection):
        await connection.wait_closed()

    async with serve(connected, "127.0.0.1", int(port), compression=None, max_size=None) as server:
        print("ready", flush=True)
        ended = asyncio.create_task(asyncio.to_thread(end))
        begun, sent = time.monotonic(), 0
        while not ended.done():
            broadcast(server.connections, struct.pack("<24xQ96x", now()) + packed)
            sent += 1
            await asyncio.sleep(max(begun + sent / 60 - time.monotonic(), 0))


async def view(port):
    from websockets.asyncio.client import connect

    async with connect(f"ws://127.0.0.1:{port}", compression=None, max_size=None) as connection:
        print("ready", flush=True)
        ended = asyncio.create_task(asyncio.to_thread(end))
        while not ended.done():
            arrived = asyncio.create_task(connection.recv())
            await asyncio.wait([arrived, ended], return_when=asyncio.FIRST_COMPLETED)
            if arrived.done():
                note(arrived.result())
            else:
                arrived.cancel()


def count(endpoint):
    import zenoh

    config = zenoh.Config()
    for key, value in [("mode", "client"), ("connect/endpoints", [endpoint]), ("scouting/multicast/enabled", False)]:
        config.insert_json5(key, json.dumps(value))
    with zenoh.open(config) as session:
        session.declare_subscriber("pixelferry/bench/view", lambda sample: note(bytes(sample.payload)))
        print("ready", flush=True)
        end()


if __name__ == "__main__":
    part, *arguments = sys.argv[1:]
    if part == "count":
        count(*arguments)
    else:
        asyncio.run({"serve": serve, "view": view}[part](*arguments))
