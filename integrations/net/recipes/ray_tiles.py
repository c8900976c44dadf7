"""Ray places workers of pixelferry's network and starts them again; this program shows what they compute.

    pip install ray numpy ./integrations/net/python
    python ray_tiles.py --workers 4 --frames 100 --picture last.ppm

Every worker is an actor with ``max_restarts=-1``: where one dies, the others take over its tiles at once, and Ray starts it
again, on another machine if need be; so it does with one whose code raises. ``--kill`` shows that: it kills workers on the
way, lets one raise, and compares every frame with the picture of one process.
"""

import argparse
import os
import signal
import threading
import time
import traceback

import numpy
import pixelferry_net as net
import ray

SCENE, SIZE, TILE = "ray", (320, 180), (64, 64)


def pixels_of(region, moment):
    """A part of a Julia set that turns: RGBA8 in tight rows."""
    x, y, width, height = region
    rows, columns = numpy.mgrid[y : y + height, x : x + width]
    z = (columns - SIZE[0] / 2) / 90 + 1j * (rows - SIZE[1] / 2) / 90
    c = 0.7885 * numpy.exp(1j * moment / 20)
    steps = numpy.zeros(z.shape, numpy.uint8)
    for _ in range(60):
        inside = numpy.abs(z) < 2
        z[inside] = z[inside] ** 2 + c
        steps += inside
    colours = [steps * 4, steps * 3, 255 - steps * 4, numpy.full(steps.shape, 255)]
    return numpy.stack(colours, axis=-1).astype(numpy.uint8).tobytes()


@ray.remote(max_restarts=-1)
class Worker:
    """Computes tiles from its start on, and from every start again."""

    def __init__(self, hub):
        self.tile, self.fails = net.Tile(net.join(hub), SCENE), False
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        try:
            self.tile.run(self.compute)
        except Exception:
            traceback.print_exc()
        # An actor without its thread computes nothing: so it ends, and Ray starts it again.
        os._exit(1)

    def compute(self, job):
        if self.fails:
            raise RuntimeError("a mistake in this line")
        job.pixels[:] = pixels_of(job.region, int.from_bytes(job.args, "little"))

    def fail(self):
        self.fails = True

    def process(self):
        return os.getpid()


def process_of(worker, other_than=None):
    """The process that an actor runs in now; ``other_than`` is one that was killed."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            process = ray.get(worker.process.remote(), timeout=60)
        except ray.exceptions.RayError:
            process = other_than  # It is being started.
        if process != other_than:
            return process
        time.sleep(0.1)
    raise SystemExit("Ray did not start the worker again within a minute")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--address", help="a Ray cluster; without this one is started here")
    options.add_argument("--listen", default="tcp/127.0.0.1:7447", help="where workers find this program")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--frames", type=int, default=30)
    options.add_argument("--picture", help="file (PPM) for the last frame")
    options.add_argument("--kill", action="store_true", help="kill workers on the way and compare every frame")
    options = options.parse_args()

    # Where the cluster is this program's own, nothing of it is told to others.
    here = {"_node_ip_address": "127.0.0.1", "include_dashboard": False, "num_cpus": options.workers}
    ray.init(address=options.address, log_to_driver=False, **({} if options.address else here))
    with net.hub(options.listen) as session, net.Assembly(session, SCENE, SIZE, tile=TILE) as display:
        workers = [Worker.remote(options.listen) for _ in range(options.workers)]
        processes = [process_of(worker) for worker in workers]
        begun, slowest = time.monotonic(), 0.0
        for frame in range(options.frames):
            killed = None
            if options.kill and frame in (options.frames // 4, options.frames // 2, options.frames * 3 // 4):
                killed = processes[0]
                # Once as a machine that fails does, once by Ray, once by a mistake in the worker's code.
                if frame == options.frames // 4:
                    os.kill(killed, signal.SIGKILL)
                elif frame == options.frames // 2:
                    ray.kill(workers[0], no_restart=False)
                else:
                    ray.get(workers[0].fail.remote())
            asked = time.monotonic()
            picture = display.frame(frame.to_bytes(4, "little"), 60)
            if picture is None:
                raise SystemExit(f"frame {frame} did not come")
            if options.kill and bytes(picture) != pixels_of((0, 0, *SIZE), frame):
                raise SystemExit(f"frame {frame} is another picture than that of one process")
            if killed:
                slowest = max(slowest, time.monotonic() - asked)
                processes[0] = process_of(workers[0], killed)
        seconds = time.monotonic() - begun
        print(f"{options.frames} frames by {len(workers)} workers in {seconds:.1f} s, {display.refused} messages refused")
        if options.kill:
            print(f"every frame is that of one process; the slowest after a kill took {slowest:.1f} s")
        if options.picture:
            rgb = numpy.frombuffer(picture, numpy.uint8).reshape(-1, 4)[:, :3].tobytes()
            with open(options.picture, "wb") as file:
                file.write(b"P6 %d %d 255\n" % SIZE + rgb)
    ray.shutdown()


if __name__ == "__main__":
    main()
