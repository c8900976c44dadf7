"""Tensors in memory and images of NVIDIA's Vulkan: PIXELFERRY_GPU=1 says that there is such a GPU."""

import os
import struct

import numpy as np
import pytest

import pixelferry
import pixelferry.vulkan
import vk
from conftest import library, missing, sample

if os.environ.get("PIXELFERRY_GPU") != "1":
    missing("nvidia", "it is tested where PIXELFERRY_GPU=1 is set")

torch = library("torch")

FRAMES = 20_000
BYTES = 1 << 20
# What the driver and PyTorch take for themselves, once.
SLACK = 64 << 20


@pytest.fixture(scope="module")
def device():
    made = vk.Vulkan("NVIDIA", need="nvidia-vulkan")
    yield made
    made.close()


@pytest.fixture
def vulkan(device):
    yield device
    torch.cuda.synchronize()
    device.free()


def used():
    """Bytes of the GPU and of the host, and descriptors."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return total - free, pages * os.sysconf("SC_PAGESIZE"), len(os.listdir("/proc/self/fd"))


def flat(once, times, warm=200):
    """Runs it so often, and fails where memory or descriptors grow."""
    for at in range(warm):
        once(at)
    before = used()
    for at in range(warm, times):
        once(at)
    after = used()
    print(f"{times} times: {before} to {after}")
    assert after[0] - before[0] <= SLACK and after[1] - before[1] <= SLACK and after[2] == before[2]


def shared(vulkan, bytes_=BYTES):
    buffer, _, size, fd = vulkan.exported(bytes_)
    memory = pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid)
    assert memory.device == "cuda:0" and memory.__dlpack_device__() == (2, 0)
    return buffer, memory


def words(tensor, count):
    return tensor.view(torch.int32)[:count]


@pytest.mark.parametrize("timeline", [True, False])
def test_the_gpu_waits_for_each_side(vulkan, timeline):
    buffer, memory = shared(vulkan)
    tensor = words(torch.from_dlpack(memory), BYTES // 4)
    (theirs, their_fd), (ours, our_fd) = vulkan.semaphore(timeline), vulkan.semaphore(timeline)
    written = pixelferry.vulkan.Semaphore(their_fd, uuid=vulkan.uuid, timeline=timeline)
    done = pixelferry.vulkan.Semaphore(our_fd, uuid=vulkan.uuid, timeline=timeline)
    assert written.timeline is timeline
    side = torch.cuda.Stream()
    for stream in [torch.cuda.current_stream(), side]:
        with torch.cuda.stream(stream):
            for frame in range(1, 20):
                value = frame + (100 if stream is side else 0)
                vulkan.fill(buffer, 3 * value, signal=(theirs, value), idle=False)
                written.wait(value, stream.cuda_stream)
                tensor += value
                done.signal(value, stream.cuda_stream)
                found = vulkan.copied(buffer, BYTES, wait=(ours, value))
                assert found == struct.pack("i", 4 * value) * (BYTES // 4), value
    done.close(), written.close(), written.close()
    with pytest.raises(pixelferry.ClosedError):
        done.wait(1)


def test_memory_that_we_export_is_vulkans(vulkan):
    memory = pixelferry.vulkan.Memory.export(BYTES, uuid=torch.cuda.get_device_properties(0).uuid)
    tensor = torch.from_dlpack(memory)
    assert tensor.shape == (BYTES,) and tensor.is_cuda and memory.allocation >= BYTES
    buffer, _ = vulkan.opened(BYTES, memory.fd(), memory.allocation)
    tensor.copy_(torch.from_numpy(sample((BYTES,), "u1")))
    torch.cuda.synchronize()
    assert vulkan.copied(buffer, BYTES) == sample((BYTES,), "u1").tobytes()
    vulkan.fill(buffer, 0x01010101)
    assert (tensor == 1).all()
    # On the host, too, by a copy.
    assert (np.from_dlpack(torch.from_dlpack(memory).cpu()) == 1).all()


def test_frames_leave_memory_flat(vulkan):
    buffer, memory = shared(vulkan)
    tensor = words(torch.from_dlpack(memory), BYTES // 4)
    (theirs, their_fd), (ours, our_fd) = vulkan.semaphore(True), vulkan.semaphore(True)
    written = pixelferry.vulkan.Semaphore(their_fd, uuid=vulkan.uuid, timeline=True)
    done = pixelferry.vulkan.Semaphore(our_fd, uuid=vulkan.uuid, timeline=True)

    def once(frame):
        vulkan.fill(buffer, frame, signal=(theirs, frame + 1))
        written.wait(frame + 1)
        torch.from_dlpack(memory)
        tensor.add_(1)
        done.signal(frame + 1)
        vulkan.submit(lambda commands: None, wait=(ours, frame + 1))
    flat(once, FRAMES)
    assert vulkan.copied(buffer, BYTES) == struct.pack("i", FRAMES) * (BYTES // 4)


def test_objects_leave_memory_flat(vulkan):
    def once(frame):
        _, memory = shared(vulkan)
        _, fd = vulkan.semaphore(frame % 2 == 0)
        pixelferry.vulkan.Semaphore(fd, uuid=vulkan.uuid, timeline=frame % 2 == 0).close()
        exported = pixelferry.vulkan.Memory.export(BYTES, uuid=vulkan.uuid)
        os.close(exported.fd())
        del memory, exported
        vulkan.free()
    flat(once, 1000, 50)


def test_tensors_are_written_into_an_image(vulkan):
    image = vulkan.image(64, 48)
    host = sample((48, 64, 4), "u1")
    tensor = torch.from_numpy(host).cuda()
    with pixelferry.vulkan.Texture(*vulkan.handles(), image.value, vk.R8G8B8A8_UNORM, (64, 48),
                                   usage=vk.TRANSFER_SRC | vk.TRANSFER_DST, extensions=vulkan.extensions,
                                   timeline_semaphores=True) as texture:
        def once(frame):
            tensor.add_(1)
            texture.write(tensor)
        flat(once, FRAMES)
        print(texture.explain())
        # At this size they differ by less than a millisecond's thousandth: which one is measured to be the quickest is open.
        assert texture.path in ("external-upload", "exported-upload", "host-visible-upload"), texture.explain()
        assert vulkan.pixels(image, 64, 48) == ((host.astype("i4") + FRAMES) % 256).astype("u1").tobytes()


def test_what_the_driver_refuses_stays_the_programs(vulkan):
    *_, size, fd = vulkan.exported(BYTES)
    reader, writer = os.pipe()
    for make in [lambda fd: pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid),
                 lambda fd: pixelferry.vulkan.Semaphore(fd, uuid=vulkan.uuid, timeline=True)]:
        with pytest.raises(pixelferry.Error):
            make(reader)
        os.fstat(reader)
    with pytest.raises(pixelferry.DeviceError):
        pixelferry.vulkan.Memory(fd, size, uuid=bytes(16))
    os.fstat(fd)
    assert torch.from_dlpack(pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid)).is_cuda
    os.close(reader), os.close(writer)
