"""A small Vulkan program by ctypes: what a program of Python's has, without a package for it."""

import ctypes
import functools
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_uint32, c_uint64, c_void_p

from conftest import missing

OPAQUE_FD = 1
R8G8B8A8_UNORM, B8G8R8A8_UNORM, R32G32B32A32_SFLOAT, D32_SFLOAT = 37, 44, 109, 126
GENERAL = 1
TRANSFER_SRC, TRANSFER_DST = 1, 2
DEVICE_LOCAL, HOST_COHERENT = 1, 6
MEMORY_FD, SEMAPHORE_FD = "VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"


@functools.cache
def layout(*kinds):
    return type("Struct", (ctypes.Structure,), {"_fields_": [(f"f{i}", kind) for i, kind in enumerate(kinds)]})


def struct(*values):
    """A structure of C, of values with their types; None is a null pointer."""
    return layout(*[c_void_p if value is None else type(value) for value in values])(*values)


def info(kind, next, *values):
    """A structure of Vulkan's: numbers are 32 bits."""
    values = [c_uint32(value) if isinstance(value, int) else value for value in values]
    made = struct(c_uint32(kind), None if next is None else ctypes.cast(byref(next), c_void_p), *values)
    made.kept = (next, values)
    return made


def address(thing):
    return ctypes.cast(byref(thing), c_void_p) if thing is not None else None


def names(texts):
    return (c_char_p * len(texts))(*[text.encode() for text in texts])


class Vulkan:
    """An instance, and the first device whose name contains one of `wanted`; the driver's extensions that are wanted and there."""

    def __init__(self, wanted, extensions=(MEMORY_FD, SEMAPHORE_FD), need="lavapipe"):
        try:
            self.library = ctypes.CDLL("libvulkan.so.1")
        except OSError as why:
            missing(need, why)
        self.instance, self.device, self.queue, self.family = c_void_p(), c_void_p(), c_void_p(), 0
        app = info(0, None, c_char_p(b"test"), 0, c_char_p(b"test"), 0, (1 << 22) | (2 << 12))
        self.call("vkCreateInstance", byref(info(1, None, 0, address(app), 0, None, 0, None)), None, byref(self.instance))
        count = c_uint32()
        self.call("vkEnumeratePhysicalDevices", self.instance, byref(count), None)
        devices = (c_void_p * count.value)()
        self.call("vkEnumeratePhysicalDevices", self.instance, byref(count), devices)
        found = [self.described(c_void_p(device)) for device in devices]
        matching = [device for device in found if wanted in device[1]]
        if not matching:
            missing(need, f"Vulkan lists {[name for _, name, _ in found]}")
        self.physical, self.name, self.uuid = matching[0]
        self.extensions = [name for name in extensions if name in self.listed()]
        counts = info(1000207000, None, 1)
        queue = info(2, None, 0, 0, 1, ctypes.pointer(c_float(1)))
        enabled = names(self.extensions)
        made = info(3, counts, 0, 1, address(queue), 0, None, len(enabled), enabled and address(enabled), None)
        self.call("vkCreateDevice", self.physical, byref(made), None, byref(self.device))
        self.library.vkGetDeviceQueue(self.device, 0, 0, byref(self.queue))
        self.pool = c_uint64()
        self.call("vkCreateCommandPool", self.device, byref(info(39, None, 0, 0)), None, byref(self.pool))
        self.made = []

    def call(self, name, *arguments):
        self.library.vkGetInstanceProcAddr.restype = c_void_p
        function = getattr(self.library, name, None)
        if function is None:
            self.library.vkGetDeviceProcAddr.restype = c_void_p
            function = ctypes.CFUNCTYPE(c_int32)(self.library.vkGetDeviceProcAddr(self.device, name.encode()))
        function.restype = c_int32
        result = function(*arguments)
        assert result == 0, f"{name}: {result}"

    def described(self, device):
        identity = (ctypes.c_uint8 * 64)()
        ctypes.cast(identity, POINTER(c_uint32))[0] = 1000071004
        about = (ctypes.c_uint8 * 4096)()
        ctypes.cast(about, POINTER(c_uint32))[0] = 1000059001
        ctypes.cast(about, POINTER(c_void_p))[1] = ctypes.addressof(identity)
        self.library.vkGetPhysicalDeviceProperties2(device, about)
        return device, bytes(about[36:292]).split(b"\0")[0].decode(), bytes(identity[16:32])

    def listed(self):
        count = c_uint32()
        self.call("vkEnumerateDeviceExtensionProperties", self.physical, None, byref(count), None)
        rows = (ctypes.c_uint8 * (260 * count.value))()
        self.call("vkEnumerateDeviceExtensionProperties", self.physical, None, byref(count), rows)
        return {bytes(rows[at:at + 256]).split(b"\0")[0].decode() for at in range(0, len(rows), 260)}

    def of(self, function, made, destroy):
        handle = c_uint64()
        self.call(function, self.device, byref(made), None, byref(handle))
        self.made.append((destroy, handle))
        return handle

    def memory_type(self, bits, flags):
        about = (c_uint32 * 512)()
        self.library.vkGetPhysicalDeviceMemoryProperties(self.physical, about)
        return next(i for i in range(about[0]) if bits & 1 << i and about[1 + 2 * i] & flags == flags)

    def memory(self, kind, thing, flags, next=None, bytes=None):
        """Memory for a buffer or image, bound to it, and its size."""
        needs = (c_uint64 * 3)()
        getattr(self.library, f"vkGet{kind}MemoryRequirements")(self.device, thing, needs)
        size = bytes or needs[0]
        wanted = info(5, next, c_uint64(size), self.memory_type(needs[2] & 0xffffffff, flags))
        memory = self.of("vkAllocateMemory", wanted, "vkFreeMemory")
        self.call(f"vkBind{kind}Memory", self.device, thing, memory, c_uint64(0))
        return memory, size

    def buffer(self, bytes, flags=HOST_COHERENT, external=False, next=None, allocation=None):
        shared = info(1000072000, None, OPAQUE_FD) if external else None
        made = info(12, shared, 0, c_uint64(bytes), TRANSFER_SRC | TRANSFER_DST | 0x20, 0, 0, None)
        buffer = self.of("vkCreateBuffer", made, "vkDestroyBuffer")
        return (buffer, *self.memory("Buffer", buffer, flags, next, allocation))

    def exported(self, bytes, flags=DEVICE_LOCAL):
        """A buffer, its memory, that one's size and a descriptor of it."""
        buffer, memory, size = self.buffer(bytes, flags, True, info(1000072002, None, OPAQUE_FD))
        return buffer, memory, size, self.memory_fd(memory)

    def memory_fd(self, memory):
        fd = c_int32(-1)
        self.call("vkGetMemoryFdKHR", self.device, byref(info(1000074002, None, memory, OPAQUE_FD)), byref(fd))
        return fd.value

    def opened(self, bytes, fd, allocation, flags=DEVICE_LOCAL):
        """A buffer in memory that others exported."""
        imported = info(1000074000, None, OPAQUE_FD, c_int32(fd))
        return self.buffer(bytes, flags, True, imported, allocation)[:2]

    def semaphore(self, timeline):
        kind = info(1000207002, None, 1, c_uint64(0)) if timeline else None
        made = info(9, info(1000077000, kind, OPAQUE_FD), 0)
        semaphore, fd = self.of("vkCreateSemaphore", made, "vkDestroySemaphore"), c_int32(-1)
        self.call("vkGetSemaphoreFdKHR", self.device, byref(info(1000079001, None, semaphore, OPAQUE_FD)), byref(fd))
        return semaphore, fd.value

    def mapped(self, memory, bytes):
        """The memory's bytes, which both see."""
        start = c_void_p()
        self.call("vkMapMemory", self.device, memory, c_uint64(0), c_uint64(2**64 - 1), 0, byref(start))
        return (ctypes.c_uint8 * bytes).from_address(start.value)

    def image(self, width, height, format=R8G8B8A8_UNORM, usage=TRANSFER_SRC | TRANSFER_DST):
        made = info(14, None, 0, 1, format, width, height, 1, 1, 1, 1, 0, usage, 0, 0, None, 0)
        image = self.of("vkCreateImage", made, "vkDestroyImage")
        self.memory("Image", image, DEVICE_LOCAL)
        self.submit(lambda commands: self.barrier(commands, image, 0))
        return image

    def barrier(self, commands, image, old):
        every, all_stages = (1 << 16) | (1 << 15), 1 << 16
        change = info(45, None, every, every, old, GENERAL, 0xffffffff, 0xffffffff, image, 1, 0, 1, 0, 1)
        self.library.vkCmdPipelineBarrier(commands, all_stages, all_stages, 0, 0, None, 0, None, 1, byref(change))

    def pixels(self, image, width, height, pixel=4):
        """The image's pixels, read in a submission of the program's own."""
        bytes_ = width * height * pixel
        buffer, memory, _ = self.buffer(bytes_)

        def record(commands):
            self.barrier(commands, image, GENERAL)
            region = struct(*[c_uint64(0), *map(c_uint32, [0, 0, 1, 0, 0, 1]), *[c_int32(0)] * 3,
                              *map(c_uint32, [width, height, 1])])
            self.library.vkCmdCopyImageToBuffer(commands, image, GENERAL, buffer, 1, byref(region))
        self.submit(record)
        return bytes(self.mapped(memory, bytes_))

    def copied(self, buffer, bytes_, **waits):
        """A buffer's bytes, by a copy on the device."""
        to, memory, _ = self.buffer(bytes_)
        region = (c_uint64 * 3)(0, 0, bytes_)
        self.submit(lambda commands: self.library.vkCmdCopyBuffer(commands, buffer, to, 1, region), **waits)
        return bytes(self.mapped(memory, bytes_))

    def fill(self, buffer, word, **signals):
        whole = c_uint64(2**64 - 1)
        self.submit(lambda commands: self.library.vkCmdFillBuffer(commands, buffer, c_uint64(0), whole, word), **signals)

    def submit(self, record, wait=None, signal=None, idle=True):
        """`wait` and `signal`: a semaphore and its value, which counts for timelines."""
        commands = c_void_p()
        asked = info(40, None, self.pool, 0, 1)
        self.call("vkAllocateCommandBuffers", self.device, byref(asked), byref(commands))
        self.call("vkBeginCommandBuffer", commands, byref(info(42, None, 1, None)))
        record(commands)
        self.call("vkEndCommandBuffer", commands)
        (waits, before), (signals, after) = [(semaphore, c_uint64(value)) for semaphore, value in
                                             [wait or (None, 0), signal or (None, 0)]]
        values = info(1000207003, None, int(waits is not None), address(before), int(signals is not None), address(after))
        stage = c_uint32(1 << 16)
        made = info(4, values, int(waits is not None), address(waits), address(stage), 1, address(commands),
                    int(signals is not None), address(signals))
        self.call("vkQueueSubmit", self.queue, 1, byref(made), c_uint64(0))
        if idle:
            self.call("vkQueueWaitIdle", self.queue)
            self.library.vkFreeCommandBuffers(self.device, self.pool, 1, byref(commands))

    def handles(self):
        """What pixelferry.vulkan.Texture asks for first."""
        return [handle.value for handle in (self.instance, self.physical, self.device, self.queue)] + [self.family]

    def free(self):
        """All that was made, the newest first."""
        while self.made:
            destroy, handle = self.made.pop()
            getattr(self.library, destroy)(self.device, handle, None)

    def close(self):
        self.call("vkDeviceWaitIdle", self.device)
        self.free()
        self.library.vkDestroyCommandPool(self.device, self.pool, None)
        self.library.vkDestroyDevice(self.device, None)
        self.library.vkDestroyInstance(self.instance, None)
