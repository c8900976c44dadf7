/* An engine's own Vulkan device, made in C: what pixelferry computes is an image there, which a command buffer of the engine's
 * copies out. Frames go into a buffer and an image of the engine's, too, and back to kernels; kernels in the display's queue store
 * into the image themselves. Every pixel is compared.
 *
 *   cc vulkan.c $(pkg-config --cflags --libs pixelferry vulkan) -pthread -o vulkan && ./vulkan [backend]
 */
#include <pixelferry.h>
#include <vulkan/vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum { WIDTH = 128, HEIGHT = 96, FRAMES = 3, BYTES = WIDTH * HEIGHT * 4, MOST = 64 };

enum { BUFFER_USAGE = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT };
enum { IMAGE_USAGE = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_STORAGE_BIT };

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

/* The objects that every engine has. The lock guards its queue, which the thread of a shared link also uses. */
struct engine {
    mtx_t lock;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkImage image;
    VkDeviceMemory image_memory;
    uint8_t *pixels;
    char *names;
    const char *extensions[MOST];
    uint32_t extension_count;
    uint32_t timelines;
};

static void lock(void *user) { mtx_lock(user); }
static void unlock(void *user) { mtx_unlock(user); }

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
        .lock = lock,
        .unlock = unlock,
        .lock_user = &engine->lock,
    };
    return handles;
}

/* Creates a device with the extensions and features that pixelferry requests. */
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

/* Returns the first suitable memory type. */
static uint32_t memory_type(struct engine *engine, uint32_t types, VkMemoryPropertyFlags wanted) {
    VkPhysicalDeviceMemoryProperties memories;
    uint32_t type = 0;
    vkGetPhysicalDeviceMemoryProperties(engine->physical, &memories);
    while (type < memories.memoryTypeCount &&
           (!(types >> type & 1) || (memories.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    return type;
}

/* Creates the buffer into which the engine copies frames, in memory visible to the host. */
static int make_buffer(struct engine *engine) {
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = BYTES, .usage = BUFFER_USAGE};
    if (refused(vkCreateCommandPool(engine->device, &pool, NULL, &engine->pool)) ||
        refused(vkCreateBuffer(engine->device, &buffer, NULL, &engine->buffer)))
        return 1;
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = engine->pool, .commandBufferCount = 1};
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(engine->device, engine->buffer, &needs);
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(engine, needs.memoryTypeBits,
                                       VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT),
    };
    void *mapped = NULL;
    int wrong = refused(vkAllocateCommandBuffers(engine->device, &commands, &engine->commands)) ||
                refused(vkAllocateMemory(engine->device, &memory, NULL, &engine->memory)) ||
                refused(vkBindBufferMemory(engine->device, engine->buffer, engine->memory, 0)) ||
                refused(vkMapMemory(engine->device, engine->memory, 0, BYTES, 0, &mapped));
    engine->pixels = mapped;
    return wrong;
}

/* Creates an image that the engine keeps in the layout GENERAL. */
static int make_image(struct engine *engine) {
    VkImageCreateInfo image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {WIDTH, HEIGHT, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = IMAGE_USAGE,
    };
    VkMemoryRequirements needs;
    if (refused(vkCreateImage(engine->device, &image, NULL, &engine->image))) return 1;
    vkGetImageMemoryRequirements(engine->device, engine->image, &needs);
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(engine, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
    };
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkImageMemoryBarrier general = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = engine->image,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1},
    };
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &engine->commands};
    if (refused(vkAllocateMemory(engine->device, &memory, NULL, &engine->image_memory)) ||
        refused(vkBindImageMemory(engine->device, engine->image, engine->image_memory, 0)) ||
        refused(vkBeginCommandBuffer(engine->commands, &begin)))
        return 1;
    vkCmdPipelineBarrier(engine->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0,
                         NULL, 0, NULL, 1, &general);
    return refused(vkEndCommandBuffer(engine->commands)) ||
           refused(vkQueueSubmit(engine->queue, 1, &submit, VK_NULL_HANDLE)) || refused(vkQueueWaitIdle(engine->queue));
}

/* Submits commands of the engine that read the frame. They go to the display's own queue, so they need no semaphore. */
static int copy_out(struct engine *engine, VkImage image, int32_t layout) {
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferImageCopy whole = {
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageExtent = {WIDTH, HEIGHT, 1},
    };
    VkMemoryBarrier seen = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &engine->commands};
    if (refused(vkBeginCommandBuffer(engine->commands, &begin))) return 1;
    vkCmdCopyImageToBuffer(engine->commands, image, (VkImageLayout)layout, engine->buffer, 1, &whole);
    vkCmdPipelineBarrier(engine->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0,
                         NULL, 0, NULL);
    if (refused(vkEndCommandBuffer(engine->commands))) return 1;
    lock(&engine->lock);
    int wrong = refused(vkQueueSubmit(engine->queue, 1, &submit, VK_NULL_HANDLE)) || refused(vkQueueWaitIdle(engine->queue));
    unlock(&engine->lock);
    return wrong;
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

/* Checks whether the buffer holds the frame. */
static int differs(const uint8_t *pixels, uint8_t frame, const char *what) {
    for (uint32_t at = 0; at < WIDTH * HEIGHT; at++) {
        const uint8_t *pixel = pixels + 4 * at;
        if (pixel[0] != at % WIDTH || pixel[1] != at / WIDTH || pixel[2] != frame || pixel[3] != 255) {
            fprintf(stderr, "%s: pixel %u of frame %u is %d %d %d\n", what, at, frame, pixel[0], pixel[1], pixel[2]);
            return 1;
        }
    }
    return 0;
}

static int show(struct engine *engine, pf_link *link, uint8_t frame) {
    pf_shown *shown = NULL;
    pf_vulkan_frame found = {.size = sizeof found};
    int wrong = failed(pf_link_frame(link, compute, &frame)) || failed(pf_link_show(link, &shown)) ||
                failed(pf_shown_vulkan(shown, &found)) || found.kind != PIXELFERRY_VULKAN_IMAGE ||
                found.vk_format != VK_FORMAT_R8G8B8A8_UNORM || found.width != WIDTH || found.height != HEIGHT ||
                copy_out(engine, (VkImage)(uintptr_t)found.object, found.vk_layout);
    pf_shown_release(shown);
    return wrong || differs(engine->pixels, frame, "the image shown");
}

/* Compares what kernels would read from an object. */
static int taken(pf_backend *backend, pf_display *display, const pf_object *object, uint8_t frame, const char *what) {
    static uint8_t pixels[BYTES];
    pf_intake *intake = NULL;
    pf_memory *memory = NULL;
    int wrong = failed(pf_intake_open(backend, display, object, NULL, &intake)) ||
                failed(pf_intake_take(intake, &memory)) || failed(pf_memory_read(memory, 0, pixels, BYTES)) ||
                differs(pixels, frame, what);
    pf_memory_free(memory);
    pf_intake_free(intake);
    return wrong;
}

static int32_t write_bytes(void *user, pf_frame *frame) { return failed(pf_frame_write(frame, user, BYTES, 0)); }

static pf_object own_image(struct engine *engine) {
    pf_object image = {
        .size = sizeof image,
        .kind = PIXELFERRY_OBJECT_VULKAN_IMAGE,
        .handle = (uint64_t)(uintptr_t)engine->image,
        .width = WIDTH,
        .height = HEIGHT,
        .vk_format = VK_FORMAT_R8G8B8A8_UNORM,
        .vk_usage = IMAGE_USAGE,
        .vk_layout = VK_IMAGE_LAYOUT_GENERAL,
    };
    return image;
}

/* The kernel that computes the same pixels in the display's queue. */
static const char RAMP[] = "@compute @workgroup_size(8, 8)\n"
                           "fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {\n"
                           "    pf_store(id.xy, vec4<f32>(vec4<u32>(id.xy, pf_arg_u32(0), 255u)) / 255.0);\n"
                           "}\n";

struct ramp {
    pf_kernel *kernel;
    pf_arg frame;
};

static int32_t launch(void *user, pf_frame *frame) {
    struct ramp *ramp = user;
    return failed(pf_frame_launch(frame, ramp->kernel, &ramp->frame, 1));
}

/* Shows frames in the engine's own image: the first is copied, later ones are stored directly where that is faster. */
static int shown_in_place(struct engine *engine, pf_display *display, const pf_surface *surface) {
    pf_kernel_source source = {.size = sizeof source, .name = "ramp", .wgsl = RAMP};
    struct ramp ramp = {.frame = {.kind = PIXELFERRY_ARG_U32}};
    pf_launch launched = {&source, &ramp.frame, 1};
    pf_frames frames = {.size = sizeof frames,
                        .surface = surface,
                        .launches = &launched,
                        .launch_count = 1,
                        .backend = "vulkan",
                        .shown_by = display};
    pf_object image = own_image(engine);
    pf_backend *backend = NULL;
    pf_link *link = NULL;
    pf_target *target = NULL;
    int wrong = failed(pf_open_pair(&frames, &backend, NULL, &ramp.kernel, &link, NULL)) ||
                failed(pf_target_open(display, &image, 0, 0, WIDTH, HEIGHT, &target));
    for (uint8_t frame = 80; !wrong && frame < 80 + FRAMES; frame++) {
        uint32_t showed = 0;
        char *way = NULL;
        ramp.frame.value.u32 = frame;
        wrong = failed(pf_link_show_in(link, target, NULL, launch, &ramp, &showed, &way)) ||
                copy_out(engine, engine->image, VK_IMAGE_LAYOUT_GENERAL) || differs(engine->pixels, frame, "shown in place");
        if (!wrong) printf("  %s, %s\n", showed == PIXELFERRY_SHOWED_STRAIGHT ? "no copy" : "a copy", way);
        pf_string_free(way);
    }
    pf_target_free(target);
    pf_link_free(link);
    pf_kernel_free(ramp.kernel);
    pf_backend_free(backend);
    return wrong;
}

/* Copies frames into the engine's own image and buffer, and back. */
static int own_objects(struct engine *engine, pf_backend *backend, pf_display *display) {
    static uint8_t pixels[BYTES];
    uint8_t frame = 40;
    pf_outlet *outlet = NULL;
    pf_object image = own_image(engine);
    pf_object buffer = {
        .size = sizeof buffer,
        .kind = PIXELFERRY_OBJECT_VULKAN_BUFFER,
        .handle = (uint64_t)(uintptr_t)engine->buffer,
        .bytes = BYTES,
        .vk_usage = BUFFER_USAGE,
    };
    int wrong = failed(pf_outlet_open(backend, display, &image, NULL, &outlet)) ||
                failed(pf_outlet_frame(outlet, compute, &frame)) ||
                copy_out(engine, engine->image, VK_IMAGE_LAYOUT_GENERAL) ||
                differs(engine->pixels, frame, "the engine's image") ||
                taken(backend, display, &image, frame, "what was taken of the image");
    pf_outlet_free(outlet);
    outlet = NULL;
    for (uint32_t at = 0; at < WIDTH * HEIGHT; at++)
        pixels[4 * at] = at % WIDTH, pixels[4 * at + 1] = at / WIDTH, pixels[4 * at + 2] = 41, pixels[4 * at + 3] = 255;
    wrong = wrong || failed(pf_outlet_open(backend, display, &buffer, NULL, &outlet)) ||
            failed(pf_outlet_frame(outlet, write_bytes, pixels)) || failed(pf_outlet_finish(outlet)) ||
            differs(engine->pixels, 41, "the engine's buffer") ||
            taken(backend, display, &buffer, 41, "what was taken of the buffer");
    pf_outlet_free(outlet);
    return wrong;
}

/* Opens the display of a link that has its own thread. */
static int32_t open_display(void *user, pf_display **display) {
    pf_vulkan_device device = handles(user);
    return failed(pf_display_from_vulkan(&device, display));
}

/* Draws frames on this thread that another thread computes. */
static int shared(struct engine *engine, pf_backend *backend, const pf_surface *surface) {
    pf_shared_link *link = NULL;
    int wrong = failed(pf_shared_link_open(backend, open_display, engine, surface, NULL, &link));
    for (uint8_t frame = 60; !wrong && frame < 60 + FRAMES; frame++) {
        pf_shared_frame *shown = NULL;
        pf_vulkan_frame found = {.size = sizeof found};
        wrong = failed(pf_shared_link_frame(link, compute, &frame)) || failed(pf_shared_link_show(link, &shown)) ||
                failed(pf_shared_frame_vulkan(shown, &found)) || found.kind != PIXELFERRY_VULKAN_IMAGE ||
                copy_out(engine, (VkImage)(uintptr_t)found.object, found.vk_layout) ||
                differs(engine->pixels, frame, "the image of a shared link");
        pf_shared_frame_release(shown);
    }
    pf_shared_link_free(link);
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
    wrong = wrong || own_objects(engine, backend, display) || shared(engine, backend, &surface) ||
            shown_in_place(engine, display, &surface);
    if (!wrong) {
        char *path = NULL;
        wrong = failed(pf_link_path(link, &path));
        printf("%d frames by %s, every pixel as computed, %u extensions\n", FRAMES, path, engine->extension_count);
        pf_string_free(path);
    }
    /* The device is destroyed last. */
    pf_link_free(link);
    pf_backend_free(backend);
    if (display != NULL) pf_display_finish(display);
    pf_display_free(display);
    return wrong;
}

int main(int argc, char **argv) {
    struct engine engine = {0};
    if (mtx_init(&engine.lock, mtx_plain) != thrd_success) return 1;
    int wrong = make_device(&engine);
    if (!wrong) wrong = make_buffer(&engine) || make_image(&engine) || run(&engine, argc > 1 ? argv[1] : NULL);
    if (wrong == 2) fprintf(stderr, "no Vulkan device\n");
    if (engine.device != NULL) {
        vkDeviceWaitIdle(engine.device);
        vkDestroyImage(engine.device, engine.image, NULL);
        vkFreeMemory(engine.device, engine.image_memory, NULL);
        vkDestroyBuffer(engine.device, engine.buffer, NULL);
        vkFreeMemory(engine.device, engine.memory, NULL);
        vkDestroyCommandPool(engine.device, engine.pool, NULL);
        vkDestroyDevice(engine.device, NULL);
    }
    if (engine.instance != NULL) vkDestroyInstance(engine.instance, NULL);
    pf_string_free(engine.names);
    mtx_destroy(&engine.lock);
    return wrong;
}
