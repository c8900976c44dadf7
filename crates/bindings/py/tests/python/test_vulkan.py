"""Memory and images of a program's own Vulkan, on Mesa's driver for the CPU."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pixelferry
import pixelferry.vulkan
import vk
from conftest import library, sample

BYTES = 10_000


@pytest.fixture(scope="module")
def device():
    made = vk.Vulkan("llvmpipe")
    yield made
    made.close()


@pytest.fixture
def vulkan(device):
    yield device
    device.free()


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def test_memory_that_the_program_exported_is_an_array(vulkan):
    _, memory, size, fd = vulkan.exported(BYTES)
    theirs = vulkan.mapped(memory, BYTES)
    theirs[:3] = 7, 8, 9
    shared = pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid)
    assert not is_open(fd), "it is taken"
    assert isinstance(shared, pixelferry.Array) and shared.shape == (size,) and shared.dtype == "uint8"
    assert shared.device == "cpu" and shared.allocation == size and not shared.dedicated
    ours = np.asarray(shared)
    assert ours[:3].tolist() == [7, 8, 9]
    assert np.from_dlpack(shared).ctypes.data == ours.ctypes.data, "one memory for all protocols"
    # No copy: both see what the other writes.
    ours[:BYTES] = np.arange(BYTES) % 251
    assert bytes(theirs) == ours[:BYTES].tobytes()
    theirs[BYTES - 1] = 250
    assert ours[BYTES - 1] == 250
    # Whoever has an array has its memory.
    del shared
    vulkan.free()
    assert ours[:BYTES - 1].tolist() == [n % 251 for n in range(BYTES - 1)]


def test_memory_that_we_export_is_a_buffer_of_the_programs(vulkan):
    ours = pixelferry.vulkan.Memory.export(BYTES, uuid=vulkan.uuid)
    array = np.asarray(ours)
    assert array.shape == (BYTES,) and not array.any() and ours.allocation >= BYTES
    array[:] = np.arange(BYTES) % 253
    for _ in range(3):
        fd = ours.fd()
        buffer, memory = vulkan.opened(BYTES, fd, ours.allocation)
        theirs = vulkan.mapped(memory, BYTES)
        assert bytes(theirs) == array.tobytes() == vulkan.copied(buffer, BYTES)
        theirs[5] = (theirs[5] + 1) % 256
        assert array[5] == theirs[5]
        vulkan.free()
    assert "bytes, cpu" in repr(ours)


def test_memory_is_shown(vulkan):
    picture = sample((48, 64, 4), "u1")
    memory = pixelferry.vulkan.Memory.export(picture.nbytes, uuid=vulkan.uuid)
    _, theirs = vulkan.opened(picture.nbytes, memory.fd(), memory.allocation)
    vulkan.mapped(theirs, picture.nbytes)[:] = picture.tobytes()
    with pixelferry.Viewer(64, 48, headless=True, display="memory") as viewer:
        viewer.show(np.from_dlpack(memory).reshape(picture.shape))
        assert np.asarray(viewer.screenshot()).tobytes() == picture.tobytes()


def test_nothing_leaks(vulkan):
    def once():
        *_, size, fd = vulkan.exported(BYTES)
        shared = pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid)
        exported = pixelferry.vulkan.Memory.export(BYTES, uuid=vulkan.uuid)
        os.close(exported.fd())
        assert np.from_dlpack(shared).nbytes == size
        vulkan.free()
    once()
    before = descriptors()
    for _ in range(50):
        once()
    assert descriptors() == before


def test_a_descriptor_that_is_refused_stays_the_programs(vulkan):
    _, memory, size, fd = vulkan.exported(BYTES)
    reader, writer = os.pipe()
    file = os.open(__file__, os.O_RDONLY)
    empty = os.memfd_create("zeros")
    os.truncate(empty, 1 << 20)
    closed = os.dup(reader)
    os.close(closed)
    other = bytes(16)
    before = descriptors()
    for given, bytes_, uuid, error, why in [
            (closed, size, vulkan.uuid, pixelferry.ShapeError, "cannot use fd"),
            (-1, size, vulkan.uuid, pixelferry.ShapeError, "not a file descriptor"),
            (1 << 40, size, vulkan.uuid, pixelferry.ShapeError, "not a file descriptor"),
            (reader, size, vulkan.uuid, pixelferry.ShapeError, "not memory"),
            (file, 1 << 30, vulkan.uuid, pixelferry.ShapeError, "the handle states"),
            (empty, size, vulkan.uuid, pixelferry.DeviceError, "vkAllocateMemory"),
            (fd, 1 << 20, vulkan.uuid, pixelferry.ShapeError, "the handle states"),
            (fd, 0, vulkan.uuid, pixelferry.ShapeError, "at least 1"),
            (fd, -5, vulkan.uuid, pixelferry.ShapeError, "at least 1"),
            (fd, size, other, pixelferry.DeviceError, "no Vulkan device"),
            (fd, size, b"short", pixelferry.ShapeError, "16 bytes"),
            (fd, size, "name", pixelferry.ShapeError, "16 bytes")]:
        with pytest.raises(error, match=why):
            pixelferry.vulkan.Memory(given, bytes_, uuid=uuid)
        assert descriptors() == before, why
    # Nothing was lost by it.
    vulkan.mapped(memory, BYTES)[9] = 99
    assert np.from_dlpack(pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid))[9] == 99
    for left in reader, writer, file, empty:
        os.close(left)


def test_what_is_not_exported_is_an_error(vulkan):
    *_, size, fd = vulkan.exported(BYTES)
    with pytest.raises(pixelferry.DeviceError, match="has its descriptor"):
        pixelferry.vulkan.Memory(fd, size, uuid=vulkan.uuid).fd()
    for bytes_, uuid, error in [(0, vulkan.uuid, pixelferry.ShapeError), (1 << 62, vulkan.uuid, pixelferry.DeviceError),
                                (BYTES, bytes(16), pixelferry.DeviceError)]:
        with pytest.raises(error):
            pixelferry.vulkan.Memory.export(bytes_, uuid=uuid)


def test_semaphores_are_for_cuda(vulkan):
    reader, writer = os.pipe()
    with pytest.raises(pixelferry.DeviceError, match="is not a CUDA device"):
        pixelferry.vulkan.Semaphore(reader, uuid=vulkan.uuid, timeline=True)
    assert is_open(reader)
    os.close(reader), os.close(writer)


FORMATS = {"rgba8": (vk.R8G8B8A8_UNORM, "u1"), "bgra8": (vk.B8G8R8A8_UNORM, "u1"),
           "rgba32f": (vk.R32G32B32A32_SFLOAT, "f4")}


@pytest.mark.parametrize("format", FORMATS)
def test_arrays_are_written_into_an_image(vulkan, format):
    number, dtype = FORMATS[format]
    image, usage = vulkan.image(64, 48, number), vk.TRANSFER_SRC | vk.TRANSFER_DST
    with pixelferry.vulkan.Texture(*vulkan.handles(), image.value, number, (64, 48), usage=usage,
                                   extensions=vulkan.extensions, timeline_semaphores=True) as texture:
        assert texture.size == (64, 48) and texture.format == format and texture.path is None
        for seed in range(4):
            array = sample((48, 64, 4), dtype, seed)
            texture.write(array)
            found = np.frombuffer(vulkan.pixels(image, 64, 48, array.itemsize * 4), dtype).reshape(48, 64, 4)
            expected = array[..., [2, 1, 0, 3]] if format == "bgra8" else array
            assert found.tobytes() == expected.tobytes(), texture.explain()
        print(format, "by", texture.path)
        assert texture.path in texture.explain() and texture.path in repr(texture)
        with pytest.raises(pixelferry.ShapeError, match="64x48"):
            texture.write(np.zeros((47, 64, 4), "u1"))
    with pytest.raises(pixelferry.ClosedError):
        texture.write(np.zeros((48, 64, 4), "u1"))
    texture.close()


def test_images_of_no_such_kind_are_refused(vulkan):
    image, both = vulkan.image(64, 48), vk.TRANSFER_SRC | vk.TRANSFER_DST
    right = [*vulkan.handles(), image.value, vk.R8G8B8A8_UNORM, (64, 48)]

    def refused(error, why, at=None, value=None, **options):
        arguments = list(right)
        if at is not None:
            arguments[at] = value
        with pytest.raises(error, match=why):
            pixelferry.vulkan.Texture(*arguments, **{"usage": both, **options})

    for at in range(4):
        refused(pixelferry.ShapeError, "null", at, 0)
    refused(pixelferry.ShapeError, "null", 5, 0)
    refused(pixelferry.ShapeError, "64-bit", 0, -1)
    refused(pixelferry.ShapeError, "64-bit", 0, 1 << 64)
    refused(pixelferry.DtypeError, "not a number", 2, "device")
    refused(pixelferry.Error, "family", 4, 99)
    refused(pixelferry.ShapeError, "exceeds Vulkan's range", 4, 1 << 40)
    refused(pixelferry.Error, "format", 6, vk.D32_SFLOAT)
    refused(pixelferry.Error, "0", 7, (0, 48))
    refused(pixelferry.ShapeError, "invalid size", 7, (-1, 48))
    refused(pixelferry.Error, "TRANSFER", usage=4)
    refused(pixelferry.Error, "layout", image_layout=0)
    refused(pixelferry.ShapeError, "zero", extensions=["VK\0"])
    refused(pixelferry.Error, "path", path="nonsense")
    refused(pixelferry.ShapeError, "backend", backend="nonsense")
    with pixelferry.vulkan.Texture(*right, usage=both) as texture:
        array = sample((48, 64, 4), "u1")
        texture.write(array)
        assert vulkan.pixels(image, 64, 48) == array.tobytes()


def test_what_a_device_should_have_is_told(vulkan):
    names, timeline = pixelferry.vulkan.device_extensions(vulkan.instance.value, vulkan.physical.value)
    assert vk.MEMORY_FD in names and set(names) <= vulkan.listed() and timeline is True
    with pytest.raises(pixelferry.ShapeError, match="null"):
        pixelferry.vulkan.device_extensions(vulkan.instance.value, 0)


def test_the_package_vulkan_has_these_handles():
    vulkan = library("vulkan")
    ffi = vulkan.ffi
    number = lambda handle: int(ffi.cast("uintptr_t", handle))  # noqa: E731
    instance = vulkan.vkCreateInstance(vulkan.VkInstanceCreateInfo(
        pApplicationInfo=vulkan.VkApplicationInfo(apiVersion=vulkan.VK_MAKE_VERSION(1, 2, 0))), None)
    physical = next(device for device in vulkan.vkEnumeratePhysicalDevices(instance)
                    if "llvmpipe" in vulkan.vkGetPhysicalDeviceProperties(device).deviceName)
    extensions, _ = pixelferry.vulkan.device_extensions(number(instance), number(physical))
    queue_info = vulkan.VkDeviceQueueCreateInfo(queueFamilyIndex=0, queueCount=1, pQueuePriorities=[1.0])
    device = vulkan.vkCreateDevice(physical, vulkan.VkDeviceCreateInfo(
        pQueueCreateInfos=[queue_info], ppEnabledExtensionNames=extensions), None)
    queue = vulkan.vkGetDeviceQueue(device, 0, 0)
    usage = vulkan.VK_IMAGE_USAGE_TRANSFER_SRC_BIT | vulkan.VK_IMAGE_USAGE_TRANSFER_DST_BIT
    image = vulkan.vkCreateImage(device, vulkan.VkImageCreateInfo(
        imageType=vulkan.VK_IMAGE_TYPE_2D, format=vulkan.VK_FORMAT_R8G8B8A8_UNORM,
        extent=vulkan.VkExtent3D(64, 48, 1), mipLevels=1, arrayLayers=1, samples=vulkan.VK_SAMPLE_COUNT_1_BIT,
        tiling=vulkan.VK_IMAGE_TILING_LINEAR, usage=usage, initialLayout=vulkan.VK_IMAGE_LAYOUT_UNDEFINED), None)
    needs = vulkan.vkGetImageMemoryRequirements(device, image)
    memory = vulkan.vkAllocateMemory(device, vulkan.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=0), None)
    vulkan.vkBindImageMemory(device, image, memory, 0)
    pool = vulkan.vkCreateCommandPool(device, vulkan.VkCommandPoolCreateInfo(queueFamilyIndex=0), None)
    commands, = vulkan.vkAllocateCommandBuffers(device, vulkan.VkCommandBufferAllocateInfo(
        commandPool=pool, level=vulkan.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1))
    vulkan.vkBeginCommandBuffer(commands, vulkan.VkCommandBufferBeginInfo())
    all_of_it = vulkan.VkImageSubresourceRange(aspectMask=vulkan.VK_IMAGE_ASPECT_COLOR_BIT, levelCount=1, layerCount=1)
    change = vulkan.VkImageMemoryBarrier(
        oldLayout=vulkan.VK_IMAGE_LAYOUT_UNDEFINED, newLayout=vulkan.VK_IMAGE_LAYOUT_GENERAL, image=image,
        srcQueueFamilyIndex=vulkan.VK_QUEUE_FAMILY_IGNORED, dstQueueFamilyIndex=vulkan.VK_QUEUE_FAMILY_IGNORED,
        srcAccessMask=0, dstAccessMask=vulkan.VK_ACCESS_MEMORY_WRITE_BIT, subresourceRange=all_of_it)
    every = vulkan.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
    vulkan.vkCmdPipelineBarrier(commands, every, every, 0, 0, None, 0, None, 1, [change])
    vulkan.vkEndCommandBuffer(commands)
    vulkan.vkQueueSubmit(queue, 1, [vulkan.VkSubmitInfo(pCommandBuffers=[commands])], vulkan.VK_NULL_HANDLE)
    vulkan.vkQueueWaitIdle(queue)
    array = sample((48, 64, 4), "u1")
    with pixelferry.vulkan.Texture(number(instance), number(physical), number(device), number(queue), 0, number(image),
                                   vulkan.VK_FORMAT_R8G8B8A8_UNORM, (64, 48), usage=usage,
                                   image_layout=vulkan.VK_IMAGE_LAYOUT_GENERAL, extensions=extensions) as texture:
        texture.write(array)
    vulkan.vkDeviceWaitIdle(device)
    seen = vulkan.vkMapMemory(device, memory, 0, needs.size, 0)
    assert bytes(seen)[:array.nbytes] == array.tobytes()
    vulkan.vkUnmapMemory(device, memory)
    vulkan.vkDestroyCommandPool(device, pool, None)
    vulkan.vkDestroyImage(device, image, None)
    vulkan.vkFreeMemory(device, memory, None)
    vulkan.vkDestroyDevice(device, None)
    vulkan.vkDestroyInstance(instance, None)


def test_a_texture_stays_on_its_thread(vulkan):
    image, array = vulkan.image(64, 48), sample((48, 64, 4), "u1")
    texture = pixelferry.vulkan.Texture(*vulkan.handles(), image.value, vk.R8G8B8A8_UNORM, (64, 48), usage=3)
    texture.write(array)

    def elsewhere(call):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()

    with pytest.raises(pixelferry.ContextError, match="another thread"):
        elsewhere(lambda: texture.write(array))
    assert elsewhere(lambda: (texture.path, texture.size, repr(texture)))[1] == (64, 48)
    # Closed there it is let go of at the next call here.
    elsewhere(texture.close)
    with pytest.raises(pixelferry.ClosedError):
        texture.write(array)
    other = vulkan.image(64, 48)
    pixelferry.vulkan.Texture(*vulkan.handles(), other.value, vk.R8G8B8A8_UNORM, (64, 48), usage=3).close()


def test_a_viewer_shows_by_vulkan(vulkan):
    array = sample((48, 64, 4), "u1")
    with pixelferry.Viewer(64, 48, headless=True, display="vulkan") as viewer:
        viewer.show(array)
        assert np.asarray(viewer.screenshot()).tobytes() == array.tobytes()
        assert viewer.report["display"]["api"] == "vulkan"
