/* An engine's own Vulkan device, made in C: what pixelferry computes is an image there, which a command buffer of the engine's
 * copies out. Every pixel is compared.
 *
 *   cc vulkan.c $(pkg-config --cflags --libs pixelferry vulkan) -o vulkan && ./vulkan [backend]
 */
#include <pixelferry.h>
#include <vulkan/vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 128, HEIGHT = 96, FRAMES = 3, BYTES = WIDTH * HEIGHT * 4, MOST = 64 };

static int failed(pf_status status) {
    if (status == PIXELFERRY_OK) return 0;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), pf_last_error_message());
    return 1;
}

static int refused(VkResult result) {
    if (result == VK_SUCCESS) return 0;
    fprintf(stderr, "Vulkan gave %d\n", result);
    return 1;
}

/* What an engine has anyway. */
struct engine {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer;
    VkDeviceMemory memory;
    const uint8_t *pixels;
    char *names;
    const char *extensions[MOST];
    uint32_t extension_count;
    uint32_t timelines;
};

static pf_vulkan_device handles(struct engine *engine) {
    pf_vulkan_device handles = {
        .size = sizeof handles,
        .get_instance_proc_addr = (pf_void_function)vkGetInstanceProcAddr,
        .instance = engine->instance,
        .physical_device = engine->physical,
        .device = engine->device,
        .queue = engine->queue,
        .extensions = engine->extensions,
        .extension_count = engine->extension_count,
        .timeline_semaphores = engine->timelines,
    };
    return handles;
}

/* A device with what pixelferry asks for. */
static int make_device(struct engine *engine) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    uint32_t count = 1;
    if (vkCreateInstance(&instance, NULL, &engine->instance) != VK_SUCCESS) return 2;
    VkResult listed = vkEnumeratePhysicalDevices(engine->instance, &count, &engine->physical);
    if (count == 0 || (listed != VK_SUCCESS && listed != VK_INCOMPLETE)) return 2;

    pf_vulkan_device asked = handles(engine);
    if (failed(pf_vulkan_needs(&asked, &engine->names, &engine->timelines))) return 1;
    for (char *name = strtok(engine->names, " "); name != NULL && engine->extension_count < MOST; name = strtok(NULL, " ")) {
        engine->extensions[engine->extension_count++] = name;
    }
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = engine->timelines};
    VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &timelines,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = engine->extension_count,
        .ppEnabledExtensionNames = engine->extensions,
    };
    if (refused(vkCreateDevice(engine->physical, &device, NULL, &engine->device))) return 1;
    vkGetDeviceQueue(engine->device, 0, 0, &engine->queue);
    return 0;
}

/* Where the engine copies what it gets: memory that the host sees. */
static int make_buffer(struct engine *engine) {
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = BYTES, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (refused(vkCreateCommandPool(engine->device, &pool, NULL, &engine->pool)) ||
        refused(vkCreateBuffer(engine->device, &buffer, NULL, &engine->buffer)))
        return 1;
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = engine->pool, .commandBufferCount = 1};
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties memories;
    vkGetBufferMemoryRequirements(engine->device, engine->buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(engine->physical, &memories);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memories.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) || (memories.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size, .memoryTypeIndex = type};
    void *mapped = NULL;
    int wrong = refused(vkAllocateCommandBuffers(engine->device, &commands, &engine->commands)) ||
                refused(vkAllocateMemory(engine->device, &memory, NULL, &engine->memory)) ||
                refused(vkBindBufferMemory(engine->device, engine->buffer, engine->memory, 0)) ||
                refused(vkMapMemory(engine->device, engine->memory, 0, BYTES, 0, &mapped));
    engine->pixels = mapped;
    return wrong;
}

/* A submission of the engine's that reads the frame. It goes to the display's own queue, so that it waits for nothing. */
static int copy_out(struct engine *engine, const pf_vulkan_frame *frame) {
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferImageCopy whole = {
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageExtent = {frame->width, frame->height, 1},
    };
    VkMemoryBarrier seen = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &engine->commands};
    if (refused(vkBeginCommandBuffer(engine->commands, &begin))) return 1;
    vkCmdCopyImageToBuffer(engine->commands, (VkImage)(uintptr_t)frame->object, (VkImageLayout)frame->vk_layout,
                           engine->buffer, 1, &whole);
    vkCmdPipelineBarrier(engine->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0,
                         NULL, 0, NULL);
    return refused(vkEndCommandBuffer(engine->commands)) ||
           refused(vkQueueSubmit(engine->queue, 1, &submit, VK_NULL_HANDLE)) || refused(vkQueueWaitIdle(engine->queue));
}

/* Red is the column, green the row, blue the frame. */
static int32_t write_pixels(void *user, const pf_pixels *out) {
    for (uint32_t y = 0; y < out->rows; y++) {
        uint8_t *pixel = (uint8_t *)out->data + (ptrdiff_t)y * out->row_pitch;
        for (uint32_t x = 0; x < out->width; x++, pixel += 4)
            pixel[0] = (uint8_t)x, pixel[1] = (uint8_t)y, pixel[2] = *(uint8_t *)user, pixel[3] = 255;
    }
    return 0;
}

static int32_t compute(void *user, pf_frame *frame) { return failed(pf_frame_map(frame, write_pixels, user)); }

static int show(struct engine *engine, pf_link *link, uint8_t frame) {
    pf_shown *shown = NULL;
    pf_vulkan_frame found = {.size = sizeof found};
    int wrong = failed(pf_link_frame(link, compute, &frame)) || failed(pf_link_show(link, &shown)) ||
                failed(pf_shown_vulkan(shown, &found)) || found.kind != PIXELFERRY_VULKAN_IMAGE ||
                found.vk_format != VK_FORMAT_R8G8B8A8_UNORM || copy_out(engine, &found);
    pf_shown_release(shown);
    for (uint32_t at = 0; !wrong && at < WIDTH * HEIGHT; at++) {
        const uint8_t *pixel = engine->pixels + 4 * at;
        wrong = pixel[0] != at % WIDTH || pixel[1] != at / WIDTH || pixel[2] != frame || pixel[3] != 255;
        if (wrong) fprintf(stderr, "pixel %u of frame %u is another: %d %d %d\n", at, frame, pixel[0], pixel[1], pixel[2]);
    }
    return wrong;
}

static int run(struct engine *engine, const char *name) {
    pf_vulkan_device device = handles(engine);
    pf_display *display = NULL;
    pf_backend *backend = NULL;
    pf_link *link = NULL;
    pf_surface surface = {
        .size = sizeof surface,
        .format = PIXELFERRY_FORMAT_RGBA8,
        .width = WIDTH,
        .height = HEIGHT,
        .unwritten = PIXELFERRY_LOAD_OVERWRITE,
    };
    pf_frames frames = {.size = sizeof frames, .surface = &surface, .backend = name};
    int wrong = failed(pf_display_from_vulkan(&device, &display)) ||
                (frames.shown_by = display, failed(pf_open_pair(&frames, &backend, NULL, NULL, &link, NULL)));
    for (uint8_t frame = 0; !wrong && frame < FRAMES; frame++) wrong = show(engine, link, frame);
    if (!wrong) {
        char *path = NULL;
        wrong = failed(pf_link_path(link, &path));
        printf("%d frames by %s, every pixel as computed, %u extensions\n", FRAMES, path, engine->extension_count);
        pf_string_free(path);
    }
    /* The device goes last. */
    pf_link_free(link);
    pf_backend_free(backend);
    pf_display_free(display);
    return wrong;
}

int main(int argc, char **argv) {
    struct engine engine = {0};
    int wrong = make_device(&engine);
    if (!wrong) wrong = make_buffer(&engine) || run(&engine, argc > 1 ? argv[1] : NULL);
    if (wrong == 2) fprintf(stderr, "no Vulkan device\n");
    if (engine.device != NULL) {
        vkDeviceWaitIdle(engine.device);
        vkDestroyBuffer(engine.device, engine.buffer, NULL);
        vkFreeMemory(engine.device, engine.memory, NULL);
        vkDestroyCommandPool(engine.device, engine.pool, NULL);
        vkDestroyDevice(engine.device, NULL);
    }
    if (engine.instance != NULL) vkDestroyInstance(engine.instance, NULL);
    pf_string_free(engine.names);
    return wrong;
}
