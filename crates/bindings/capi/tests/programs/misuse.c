/* Everything that a caller may do wrong gives a status and a message, and what was there before goes on. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <pixelferry.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong;

/* The call gives this status; where it is an error, the message names the call and says what is wrong. */
static void expect_at(int line, pf_status found, pf_status wanted, const char *call, const char *said) {
    const char *message = pf_last_error_message();
    if (found != wanted || (wanted != PIXELFERRY_OK && (strstr(message, said) == NULL || strncmp(message, call, strcspn(call, "(")) != 0))) {
        fprintf(stderr, "line %d: %s\n  gave %s (%s), not %s with \"%s\"\n", line, call, pf_status_name(found), message,
                pf_status_name(wanted), said);
        wrong = 1;
    }
}
#define GIVES(call, status, said) expect_at(__LINE__, call, status, #call, said)
#define WORKS(call) expect_at(__LINE__, call, PIXELFERRY_OK, #call, "")
#define HOLDS(what) \
    do { \
        if (!(what)) fprintf(stderr, "line %d: not %s\n", __LINE__, #what), wrong = 1; \
    } while (0)

enum { WIDTH = 8, HEIGHT = 6, BYTES = WIDTH * HEIGHT };

static pf_backend *backend;
static pf_display *display;
static pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_R8, .width = WIDTH, .height = HEIGHT};
static pf_link_options options = {.size = sizeof options, .profiles = "", .budget_ms = PIXELFERRY_BUDGET_NONE};

static pf_link *open_link(void) {
    pf_link *link = NULL;
    WORKS(pf_link_open(backend, display, &surface, &options, &link));
    return link;
}

/* A frame of one number, and whether it is what is shown. */
static void show_number(pf_link *link, int number) {
    uint8_t pixels[BYTES];
    pf_frame *frame = NULL;
    memset(pixels, number, sizeof pixels);
    WORKS(pf_link_acquire(link, &frame));
    WORKS(pf_frame_write(frame, pixels, sizeof pixels, 0));
    WORKS(pf_frame_finish(frame));
}

static int shows_number(pf_link *link, int number) {
    uint8_t pixels[BYTES];
    WORKS(pf_link_read_back(link, pixels, sizeof pixels, NULL));
    for (int at = 0; at < BYTES; at++)
        if (pixels[at] != number) return 0;
    return 1;
}

static void handles(void) {
    pf_link *link = open_link(), *none = NULL;
    char *text = NULL;
    int local = 0;
    WORKS(pf_link_free(NULL));
    WORKS(pf_string_free(NULL));
    GIVES(pf_link_flush(NULL), PIXELFERRY_ERROR_HANDLE, "NULL");
    GIVES(pf_link_flush((pf_link *)backend), PIXELFERRY_ERROR_HANDLE, "is a pf_backend; give a pf_link");
    GIVES(pf_backend_finish((pf_backend *)link), PIXELFERRY_ERROR_HANDLE, "is a pf_link; give a pf_backend");
    GIVES(pf_link_flush((pf_link *)&local), PIXELFERRY_ERROR_HANDLE, "never made it");
    GIVES(pf_link_flush((pf_link *)(uintptr_t)-1), PIXELFERRY_ERROR_HANDLE, "never made it");
    GIVES(pf_link_open(backend, NULL, &surface, NULL, &none), PIXELFERRY_ERROR_HANDLE, "pf_display is NULL");
    HOLDS(none == NULL);
    GIVES(pf_link_open(backend, display, &surface, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "link is NULL");
    WORKS(pf_link_path(link, &text));
    GIVES(pf_string_free(text + 1), PIXELFERRY_ERROR_HANDLE, "text");
    WORKS(pf_string_free(text));
    GIVES(pf_string_free(text), PIXELFERRY_ERROR_HANDLE, "freed before");
    WORKS(pf_link_free(link));
    GIVES(pf_link_free(link), PIXELFERRY_ERROR_HANDLE, "freed or finished before");
    GIVES(pf_link_flush(link), PIXELFERRY_ERROR_HANDLE, "freed or finished before");
    /* A new one has another handle. */
    none = open_link();
    GIVES(pf_link_flush(link), PIXELFERRY_ERROR_HANDLE, "freed or finished before");
    WORKS(pf_link_flush(none));
    WORKS(pf_link_free(none));
}

static void structs(void) {
    pf_link *link = NULL;
    pf_surface other = surface;
    pf_shown *shown = NULL;
    pf_surface asked = {.size = 0};

    other.size = 0;
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "pf_surface.size is 0");
    other.size = sizeof other + 1;
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "set it to sizeof(pf_surface)");
    GIVES(pf_link_open(backend, display, NULL, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "pf_surface is NULL");
    /* A size that no header had may cut a field in two. */
    other.size = offsetof(pf_surface, unwritten);
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "this library accepts 48");
    pf_link_options cut = options;
    cut.path = "pinned-upload";
    cut.size = offsetof(pf_link_options, path) + sizeof cut.path / 2;
    GIVES(pf_link_open(backend, display, &surface, &cut, &link), PIXELFERRY_ERROR_ARGUMENT, "pf_link_options.size is 12");
    /* Nothing behind a struct is read. */
    pf_surface *exact = malloc(sizeof *exact);
    memcpy(exact, &surface, sizeof *exact);
    WORKS(pf_link_open(backend, display, exact, &options, &link));
    show_number(link, 7);
    WORKS(pf_link_show(link, &shown));
    GIVES(pf_shown_surface(shown, &asked), PIXELFERRY_ERROR_ARGUMENT, "size is 0");
    exact->width = 0;
    WORKS(pf_shown_surface(shown, exact));
    HOLDS(exact->size == sizeof *exact && exact->width == WIDTH);
    WORKS(pf_shown_release(shown));
    WORKS(pf_link_free(link));
    free(exact);

    other = surface, other.format = 77;
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "PIXELFERRY_FORMAT_");
    other = surface, other.bytes = 4;
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "give only one of the two");
    other = surface, other.unwritten = 9;
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "unwritten is 9");
    other = surface, other.width = 0;
    GIVES(pf_link_open(backend, display, &other, &options, &link), PIXELFERRY_ERROR_ARGUMENT, "zero side");
    pf_link_options named = options;
    named.path = "teleport";
    GIVES(pf_link_open(backend, display, &surface, &named, &link), PIXELFERRY_ERROR_ARGUMENT, "teleport");
    named.path = "\xff\xfe";
    GIVES(pf_link_open(backend, display, &surface, &named, &link), PIXELFERRY_ERROR_ARGUMENT, "UTF-8");
    named.path = "direct";
    GIVES(pf_link_open(backend, display, &surface, &named, &link), PIXELFERRY_ERROR_NO_PATH, "direct");
    pf_backend *nobody = NULL;
    GIVES(pf_backend_open("abacus", NULL, 0, &nobody), PIXELFERRY_ERROR_ARGUMENT, "cpu");
    GIVES(pf_backend_open("cpu", NULL, 1, &nobody), PIXELFERRY_ERROR_ARGUMENT, "kernels is NULL");
    pf_display *nowhere = NULL;
    GIVES(pf_display_open("paper", &nowhere), PIXELFERRY_ERROR_ARGUMENT, "memory");
    GIVES(pf_display_from_gl_loader(NULL, NULL, NULL, &nowhere), PIXELFERRY_ERROR_ARGUMENT, "get_proc is NULL");
    pf_vulkan_device device = {.size = sizeof device};
    uint32_t timelines = 7;
    char *names = NULL;
    GIVES(pf_vulkan_needs(&device, &names, &timelines), PIXELFERRY_ERROR_ARGUMENT, "null");
    HOLDS(names == NULL && timelines == 0);
    GIVES(pf_display_from_vulkan(&device, &nowhere), PIXELFERRY_ERROR_ARGUMENT, "get_instance_proc_addr is NULL");
    device.extension_count = 1;
    GIVES(pf_display_from_vulkan(&device, &nowhere), PIXELFERRY_ERROR_ARGUMENT, "NULL");
}

/* What a function that is given may not do. */
static pf_link *outer;
static pf_frame *kept;

static int32_t map_inside(void *user, const pf_pixels *pixels) {
    pf_frame *frame = user;
    GIVES(pf_frame_cancel(frame), PIXELFERRY_ERROR_BUSY, "middle of a call");
    GIVES(pf_frame_write(frame, pixels->data, BYTES, 0), PIXELFERRY_ERROR_BUSY, "middle of a call");
    memset(pixels->data, 5, BYTES);
    return 0;
}

static int32_t inside(void *user, pf_frame *frame) {
    pf_frame *second = NULL;
    int code = *(int *)user;
    kept = frame;
    GIVES(pf_link_acquire(outer, &second), PIXELFERRY_ERROR_BUSY, "middle of a call");
    GIVES(pf_link_flush(outer), PIXELFERRY_ERROR_BUSY, "middle of a call");
    GIVES(pf_frame_finish(frame), PIXELFERRY_ERROR_BUSY, "the call that lent this frame");
    WORKS(pf_frame_map(frame, map_inside, frame));
    return code;
}

static int32_t refuse(void *user, const pf_pixels *pixels) {
    memset(pixels->data, 99, pixels->row_bytes);
    return *(int *)user;
}

static void frames(void) {
    pf_link *link = outer = open_link();
    pf_frame *frame = NULL, *second = NULL;
    pf_shown *shown = NULL, *again = NULL;
    pf_gl_texture texture = {.size = sizeof texture};
    pf_device_memory memory = {.size = sizeof memory};
    pf_vulkan_frame image = {.size = sizeof image};
    uint8_t pixels[2 * BYTES] = {0};
    size_t needed = 0;
    int code = 0;

    GIVES(pf_link_show(link, &shown), PIXELFERRY_ERROR_NOTHING_SHOWN, "finish one");
    GIVES(pf_link_read_back(link, pixels, BYTES, NULL), PIXELFERRY_ERROR_NOTHING_SHOWN, "finish one");
    GIVES(pf_link_save(link, "nothing.png", NULL), PIXELFERRY_ERROR_NOTHING_SHOWN, "finish one");
    show_number(link, 1);
    WORKS(pf_link_read_back(link, NULL, 0, &needed));
    HOLDS(needed == BYTES);
    GIVES(pf_link_read_back(link, pixels, BYTES - 1, &needed), PIXELFERRY_ERROR_ARGUMENT, "48");
    GIVES(pf_link_save(link, "/nowhere/at/all.png", NULL), PIXELFERRY_ERROR_FILE, "all.png");

    /* One at a time. */
    WORKS(pf_link_acquire(link, &frame));
    GIVES(pf_link_acquire(link, &second), PIXELFERRY_ERROR_BUSY, "finish or cancel");
    GIVES(pf_link_show(link, &shown), PIXELFERRY_ERROR_BUSY, "finish or cancel");
    GIVES(pf_frame_write(frame, pixels, BYTES - 1, 0), PIXELFERRY_ERROR_ARGUMENT, "47 bytes");
    GIVES(pf_frame_write(frame, pixels, BYTES, WIDTH - 1), PIXELFERRY_ERROR_ARGUMENT, "row pitch of 7");
    GIVES(pf_frame_write(frame, pixels, BYTES, WIDTH + 1), PIXELFERRY_ERROR_ARGUMENT, "row pitch of 9");
    GIVES(pf_frame_write(frame, NULL, BYTES, 0), PIXELFERRY_ERROR_ARGUMENT, "data is NULL");
    GIVES(pf_frame_map(frame, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "write is NULL");
    GIVES(pf_frame_device_memory(frame, &memory), PIXELFERRY_ERROR_UNSUPPORTED, "pf_frame_map");
    code = 42;
    GIVES(pf_frame_map(frame, refuse, &code), PIXELFERRY_ERROR_CALLBACK, "42");
    WORKS(pf_frame_cancel(frame));
    GIVES(pf_frame_cancel(frame), PIXELFERRY_ERROR_HANDLE, "finished before");
    HOLDS(shows_number(link, 1));
    GIVES(pf_link_acquire_region(link, 4, 0, 5, 1, &frame), PIXELFERRY_ERROR_ARGUMENT, "8x6");
    GIVES(pf_link_acquire_bytes(link, 0, 4, &frame), PIXELFERRY_ERROR_ARGUMENT, "image");
    GIVES(pf_link_acquire_bytes(link, 2, SIZE_MAX, &frame), PIXELFERRY_ERROR_ARGUMENT, "address space");

    /* While it is shown, others may look. */
    WORKS(pf_link_show(link, &shown));
    GIVES(pf_link_acquire(link, &frame), PIXELFERRY_ERROR_BUSY, "release it first");
    GIVES(pf_link_show(link, &again), PIXELFERRY_ERROR_BUSY, "release it first");
    GIVES(pf_shown_gl_texture(shown, &texture), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL display");
    GIVES(pf_shown_draw_gl(shown, 0, 0, 8, 8, NULL), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL display");
    GIVES(pf_shown_draw_gl_texture(shown, 1, 0, 8, 8, NULL), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL display");
    GIVES(pf_shown_vulkan(shown, &image), PIXELFERRY_ERROR_ARGUMENT, "not a Vulkan display");
    GIVES(pf_shown_vulkan_read_until(shown, 1, 1), PIXELFERRY_ERROR_ARGUMENT, "not a Vulkan display");
    char *text = NULL;
    WORKS(pf_link_explain(link, &text));
    HOLDS(text != NULL && strstr(text, "in use:") != NULL);
    WORKS(pf_string_free(text));
    WORKS(pf_link_report_json(link, &text));
    HOLDS(text != NULL && text[0] == '{');
    WORKS(pf_string_free(text));
    WORKS(pf_shown_release(shown));

    /* Functions that are given. */
    code = 0;
    GIVES(pf_link_frame(link, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "compute is NULL");
    GIVES(pf_link_show_gl(link, 0, 0, 8, 8, NULL, inside, &code, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL display");
    WORKS(pf_link_frame(link, inside, &code));
    HOLDS(shows_number(link, 5));
    GIVES(pf_frame_write(kept, pixels, BYTES, 0), PIXELFERRY_ERROR_HANDLE, "finished before");
    show_number(link, 6);
    code = -3;
    GIVES(pf_link_frame(link, inside, &code), PIXELFERRY_ERROR_CALLBACK, "-3");
    HOLDS(shows_number(link, 6));

    /* Rows with something between them, and a part with others' pixels around it. */
    for (int at = 0; at < 2 * BYTES; at++) pixels[at] = (uint8_t)(at % (WIDTH + 3) < WIDTH ? 8 : 200);
    WORKS(pf_link_acquire(link, &frame));
    WORKS(pf_frame_write(frame, pixels, sizeof pixels, WIDTH + 3));
    WORKS(pf_frame_finish(frame));
    HOLDS(shows_number(link, 8));
    code = 0;
    WORKS(pf_link_acquire_region(link, 2, 1, 3, 1, &frame));
    WORKS(pf_frame_map(frame, refuse, &code));
    WORKS(pf_frame_finish(frame));
    WORKS(pf_link_read_back(link, pixels, BYTES, NULL));
    for (int at = 0; at < BYTES; at++) HOLDS(pixels[at] == (at / WIDTH == 1 && at % WIDTH >= 2 && at % WIDTH < 5 ? 99 : 8));

    /* Minimised. */
    pf_surface size = surface;
    size.width = size.height = 0;
    WORKS(pf_link_resize(link, &size));
    GIVES(pf_link_acquire(link, &frame), PIXELFERRY_ERROR_PAUSED, "resize it");
    WORKS(pf_link_frame(link, inside, &code));
    WORKS(pf_link_resize(link, &surface));
    show_number(link, 3);

    /* A link goes with the frame that is open. */
    WORKS(pf_link_acquire(link, &frame));
    WORKS(pf_link_free(link));
    GIVES(pf_frame_finish(frame), PIXELFERRY_ERROR_HANDLE, "finished before");
    link = open_link();
    show_number(link, 2);
    WORKS(pf_link_show(link, &shown));
    WORKS(pf_link_free(link));
    GIVES(pf_shown_release(shown), PIXELFERRY_ERROR_HANDLE, "finished before");
}

static int32_t sum(void *user, const pf_pixels *pixels, const pf_arg *args, size_t arg_count) {
    int code = *(int *)user;
    uint8_t *bytes = pixels->data;
    if (code != 0 || arg_count != 3) return code;
    HOLDS(args[0].kind == PIXELFERRY_ARG_MEMORY && args[1].kind == PIXELFERRY_ARG_F64 && args[2].kind == PIXELFERRY_ARG_I64);
    HOLDS(args[0].bytes == pixels->row_bytes);
    for (size_t at = 0; at < pixels->row_bytes; at++)
        bytes[at] = (uint8_t)(((const uint8_t *)args[0].value.host)[at] + args[1].value.f64 + (double)args[2].value.i64);
    return 0;
}

static void kernels(void) {
    int code = 0;
    pf_kernel_source source = {.size = sizeof source, .name = "sum", .host = sum, .host_user = &code};
    pf_kernel_source text = {.size = sizeof text, .name = "text", .opencl_c = "__kernel void text() {}"};
    pf_kernel *kernel = NULL;
    pf_memory *from = NULL, *to = NULL;
    uint8_t bytes[16];
    for (int at = 0; at < 16; at++) bytes[at] = (uint8_t)at;
    GIVES(pf_kernel_build(backend, &text, &kernel), PIXELFERRY_ERROR_UNSUPPORTED, "OpenCL C");
    text.name = NULL;
    GIVES(pf_kernel_build(backend, &text, &kernel), PIXELFERRY_ERROR_ARGUMENT, "name is NULL");
    WORKS(pf_kernel_build(backend, &source, &kernel));
    WORKS(pf_memory_new(backend, 16, &from));
    WORKS(pf_memory_new(backend, 16, &to));
    WORKS(pf_memory_write(from, 0, bytes, 16));
    GIVES(pf_memory_write(from, 8, bytes, 9), PIXELFERRY_ERROR_ARGUMENT, "16");
    GIVES(pf_memory_read(from, 17, bytes, 1), PIXELFERRY_ERROR_ARGUMENT, "16");
    pf_arg args[3] = {
        {.kind = PIXELFERRY_ARG_MEMORY, .value.memory = from},
        {.kind = PIXELFERRY_ARG_F64, .value.f64 = 2},
        {.kind = PIXELFERRY_ARG_I64, .value.i64 = 5},
    };
    WORKS(pf_memory_launch(to, kernel, args, 3));
    WORKS(pf_memory_read(to, 0, bytes, 16));
    for (int at = 0; at < 16; at++) HOLDS(bytes[at] == at + 7);
    args[0].value.memory = to;
    GIVES(pf_memory_launch(to, kernel, args, 3), PIXELFERRY_ERROR_BUSY, "target");
    args[0].value.memory = NULL;
    GIVES(pf_memory_launch(to, kernel, args, 3), PIXELFERRY_ERROR_HANDLE, "NULL");
    args[0].kind = 70;
    GIVES(pf_memory_launch(to, kernel, args, 3), PIXELFERRY_ERROR_ARGUMENT, "args[0].kind is 70");
    GIVES(pf_memory_launch(to, kernel, NULL, 3), PIXELFERRY_ERROR_ARGUMENT, "args is NULL");
    code = 12;
    GIVES(pf_memory_launch(to, kernel, NULL, 0), PIXELFERRY_ERROR_KERNEL_FAILED, "ended with 12");
    WORKS(pf_memory_free(from));
    WORKS(pf_memory_free(to));
    WORKS(pf_kernel_free(kernel));
    GIVES(pf_kernel_free(kernel), PIXELFERRY_ERROR_HANDLE, "freed");
}

/* Opens what is quickest for frames of a kernel in C, and closes it; returns what was reported. */
static char *opened(const char *profiles) {
    int code = 0;
    pf_kernel_source source = {.size = sizeof source, .name = "sum", .host = sum, .host_user = &code};
    pf_arg args[3] = {{.kind = PIXELFERRY_ARG_MEMORY, .bytes = WIDTH}, {.kind = PIXELFERRY_ARG_F64}, {.kind = PIXELFERRY_ARG_I64}};
    pf_launch launches[] = {{&source, args, 3}};
    pf_link_options link_options = {.size = sizeof link_options, .profiles = profiles};
    pf_frames frames = {.size = sizeof frames, .surface = &surface, .display = "memory", .options = &link_options};
    pf_backend *computes = NULL;
    pf_display *shows = NULL;
    pf_kernel *kernel = NULL;
    pf_link *link = NULL;
    char *report = NULL;
    frames.launches = launches, frames.launch_count = 1;
    WORKS(pf_open_pair(&frames, &computes, &shows, &kernel, &link, &report));
    HOLDS(report != NULL);
    WORKS(pf_link_free(link));
    WORKS(pf_kernel_free(kernel));
    WORKS(pf_display_free(shows));
    WORKS(pf_backend_free(computes));
    args[0].kind = 70;
    GIVES(pf_open_pair(&frames, &computes, &shows, &kernel, &link, NULL), PIXELFERRY_ERROR_ARGUMENT, "args[0].kind is 70");
    frames.launches = NULL;
    GIVES(pf_open_pair(&frames, &computes, &shows, &kernel, &link, NULL), PIXELFERRY_ERROR_ARGUMENT, "launches is NULL");
    frames.launch_count = 0, frames.backend = "abacus";
    GIVES(pf_open_pair(&frames, &computes, &shows, NULL, &link, NULL), PIXELFERRY_ERROR_ARGUMENT, "cpu");
    HOLDS(computes == NULL && shows == NULL && link == NULL);
    return report;
}

/* Nothing is measured before a frame is shown, and so nothing is remembered. */
static void pairs(void) {
    char folder[] = "/tmp/pixelferry-pairs-XXXXXX", command[64];
    HOLDS(mkdtemp(folder) != NULL && unsetenv("PIXELFERRY_PROFILES") == 0);
    char *first = opened(folder), *second = opened(folder);
    HOLDS(strstr(first, "\"cost-model\"") != NULL && strstr(second, "\"cost-model\"") != NULL);
    WORKS(pf_string_free(first));
    WORKS(pf_string_free(second));
    snprintf(command, sizeof command, "rm -r %s", folder);
    HOLDS(system(command) == 0);
}

/* A line for a path that was left, at the level that was asked for. */
static void heard(void *user, uint32_t level, const char *text) {
    if (level <= PIXELFERRY_LOG_INFO && strchr(text, ':') != NULL) ++*(int *)user;
}

static void logs(void) {
    int lines = 0, before;
    GIVES(pf_set_log(heard, &lines, 9), PIXELFERRY_ERROR_ARGUMENT, "most is 9");
    WORKS(pf_set_log(heard, &lines, PIXELFERRY_LOG_INFO));
    WORKS(pf_link_free(open_link()));
    HOLDS(lines > 0);
    WORKS(pf_set_log(NULL, NULL, 0));
    before = lines;
    WORKS(pf_link_free(open_link()));
    HOLDS(lines == before);
}

/* Objects of one's own: those of another display, and handles that are none. What is alive is misused in objects.cpp. */
static void objects(void) {
    pf_link *link = open_link();
    pf_outlet *outlet = NULL;
    pf_intake *intake = NULL;
    pf_memory *taken = NULL;
    pf_object object = {.size = sizeof object, .kind = PIXELFERRY_OBJECT_GL_TEXTURE, .handle = 1, .format = PIXELFERRY_FORMAT_R8};
    pf_outlet_options wishes = {.size = sizeof wishes};
    object.width = object.height = 4;
    GIVES(pf_outlet_open(backend, display, &object, NULL, &outlet), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL display");
    GIVES(pf_intake_open(backend, display, &object, NULL, &intake), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL display");
    object.kind = PIXELFERRY_OBJECT_VULKAN_BUFFER;
    GIVES(pf_intake_open(backend, display, &object, NULL, &intake), PIXELFERRY_ERROR_ARGUMENT, "not a Vulkan display");
    object.kind = PIXELFERRY_OBJECT_VULKAN_IMAGE;
    GIVES(pf_outlet_open(backend, display, &object, NULL, &outlet), PIXELFERRY_ERROR_ARGUMENT, "not a Vulkan display");
    object.kind = 0;
    GIVES(pf_outlet_open(backend, display, &object, NULL, &outlet), PIXELFERRY_ERROR_ARGUMENT, "pf_object.kind is 0");
    object.size = 3;
    GIVES(pf_outlet_open(backend, display, &object, NULL, &outlet), PIXELFERRY_ERROR_ARGUMENT, "pf_object.size is 3");
    GIVES(pf_outlet_open(backend, display, NULL, NULL, &outlet), PIXELFERRY_ERROR_ARGUMENT, "pf_object is NULL");
    object.size = sizeof object;
    wishes.unwritten = 3;
    GIVES(pf_outlet_open(backend, display, &object, &wishes, &outlet), PIXELFERRY_ERROR_ARGUMENT, "unwritten is 3");
    wishes.unwritten = 0, wishes.path = "teleport";
    GIVES(pf_outlet_open(backend, display, &object, &wishes, &outlet), PIXELFERRY_ERROR_ARGUMENT, "teleport");
    GIVES(pf_intake_open(backend, display, &object, "\xff", &intake), PIXELFERRY_ERROR_ARGUMENT, "UTF-8");
    GIVES(pf_outlet_open(backend, display, &object, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "outlet is NULL");
    GIVES(pf_outlet_open(backend, NULL, &object, NULL, &outlet), PIXELFERRY_ERROR_HANDLE, "pf_display is NULL");
    HOLDS(outlet == NULL && intake == NULL);
    WORKS(pf_outlet_free(NULL));
    WORKS(pf_intake_free(NULL));
    GIVES(pf_outlet_finish(NULL), PIXELFERRY_ERROR_HANDLE, "pf_outlet is NULL");
    GIVES(pf_outlet_free((pf_outlet *)link), PIXELFERRY_ERROR_HANDLE, "is a pf_link; give a pf_outlet");
    GIVES(pf_intake_take(NULL, &taken), PIXELFERRY_ERROR_HANDLE, "pf_intake is NULL");
    GIVES(pf_intake_free((pf_intake *)display), PIXELFERRY_ERROR_HANDLE, "is a pf_display; give a pf_intake");
    WORKS(pf_link_free(link));
}

/* Options of draws, by a picture that is saved. */
static void draws(void) {
    char folder[] = "/tmp/pixelferry-draws-XXXXXX", file[64], command[64];
    pf_link *link = open_link();
    pf_draw_options drawn = {.size = sizeof drawn, .exposure = 1, .tone_map = PIXELFERRY_TONE_MAP_ACES_HILL};
    HOLDS(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/a.png", folder);
    show_number(link, 7);
    GIVES(pf_link_save(link, file, &drawn), PIXELFERRY_ERROR_ARGUMENT, "encoding");
    WORKS(pf_link_free(link));
    pf_surface light = surface;
    light.encoding = PIXELFERRY_ENCODING_LINEAR;
    WORKS(pf_link_open(backend, display, &light, &options, &link));
    show_number(link, 7);
    WORKS(pf_link_save(link, file, &drawn));
    drawn.filter = 2;
    GIVES(pf_link_save(link, file, &drawn), PIXELFERRY_ERROR_ARGUMENT, "pf_draw_options.filter is 2");
    drawn.filter = 0, drawn.tone_map = 5;
    GIVES(pf_link_save(link, file, &drawn), PIXELFERRY_ERROR_ARGUMENT, "pf_draw_options.tone_map is 5");
    drawn.tone_map = PIXELFERRY_TONE_MAP_REINHARD, drawn.white = -1;
    GIVES(pf_link_save(link, file, &drawn), PIXELFERRY_ERROR_ARGUMENT, "-1");
    drawn.white = 0, drawn.size = 8;
    GIVES(pf_link_save(link, file, &drawn), PIXELFERRY_ERROR_ARGUMENT, "pf_draw_options.size is 8");
    WORKS(pf_link_free(link));
    snprintf(command, sizeof command, "rm -r %s", folder);
    HOLDS(system(command) == 0);
    pf_link_options late = options;
    late.mode = 2;
    GIVES(pf_link_open(backend, display, &surface, &late, &link), PIXELFERRY_ERROR_ARGUMENT, "pf_link_options.mode is 2");
    late.mode = PIXELFERRY_MODE_THROUGHPUT, late.frames_behind = 17;
    GIVES(pf_link_open(backend, display, &surface, &late, &link), PIXELFERRY_ERROR_ARGUMENT, "16");
    late.frames_behind = 2;
    WORKS(pf_link_open(backend, display, &surface, &late, &link));
    for (int number = 1; number < 8; number++) show_number(link, number);
    WORKS(pf_link_flush(link));
    HOLDS(shows_number(link, 7));
    WORKS(pf_link_free(link));
}

/* A link for all threads. */
static int32_t open_memory(void *user, pf_display **to) {
    HOLDS(*(pf_status *)user == PIXELFERRY_OK);
    return pf_display_open("memory", to);
}

static int32_t open_nothing(void *user, pf_display **to) {
    (void)to;
    return *(pf_status *)user;
}

static pf_shared_link *shared;

static int32_t write_number(void *user, pf_frame *frame) {
    uint8_t pixels[BYTES];
    memset(pixels, *(int *)user, sizeof pixels);
    kept = frame;
    GIVES(pf_shared_link_frame(shared, write_number, user), PIXELFERRY_ERROR_BUSY, "wait for itself");
    GIVES(pf_shared_link_read_back(shared, pixels, sizeof pixels, NULL), PIXELFERRY_ERROR_BUSY, "wait for itself");
    GIVES(pf_frame_finish(frame), PIXELFERRY_ERROR_BUSY, "that lent this frame");
    return pf_frame_write(frame, pixels, *(int *)user < 100 ? BYTES : BYTES - 1, 0);
}

static int shared_number(void) {
    uint8_t pixels[BYTES];
    WORKS(pf_shared_link_read_back(shared, pixels, sizeof pixels, NULL));
    return pixels[BYTES - 1];
}

static void *shared_elsewhere(void *user) {
    pf_shared_frame *shown = NULL;
    pf_started *started = NULL;
    pf_pixels pixels = {.size = sizeof pixels};
    (void)user;
    for (int number = 20; number < 30; number++) {
        WORKS(pf_shared_link_start_frame(shared, write_number, &number, &started));
        WORKS(pf_started_wait(started));
        WORKS(pf_shared_link_show(shared, &shown));
        WORKS(pf_shared_frame_pixels(shown, &pixels));
        HOLDS(pixels.width == WIDTH && pixels.format == PIXELFERRY_FORMAT_RGBA8);
        WORKS(pf_shared_frame_release(shown));
    }
    return NULL;
}

static void shared_links(void) {
    pf_status status = PIXELFERRY_OK, refused = 5;
    pf_shared_frame *shown = NULL, *second = NULL;
    pf_started *started = NULL;
    pf_gl_texture texture = {.size = sizeof texture};
    pf_vulkan_frame image = {.size = sizeof image};
    pf_surface other = surface;
    uint8_t pixels[BYTES];
    uint64_t frame = 0;
    size_t needed = 0;
    int number = 7;
    GIVES(pf_shared_link_open(backend, NULL, NULL, &surface, &options, &shared), PIXELFERRY_ERROR_ARGUMENT, "open is NULL");
    GIVES(pf_shared_link_open(backend, open_nothing, &refused, &surface, &options, &shared), PIXELFERRY_ERROR_CALLBACK, "5");
    GIVES(pf_shared_link_open(backend, open_nothing, &status, &surface, &options, &shared), PIXELFERRY_ERROR_HANDLE, "NULL");
    GIVES(pf_shared_link_open(NULL, open_memory, &status, &surface, &options, &shared), PIXELFERRY_ERROR_HANDLE, "NULL");
    HOLDS(shared == NULL);
    WORKS(pf_shared_link_open(backend, open_memory, &status, &surface, &options, &shared));
    GIVES(pf_shared_link_show(shared, &shown), PIXELFERRY_ERROR_NOTHING_SHOWN, "finish one");
    GIVES(pf_shared_link_frame(shared, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "compute is NULL");
    WORKS(pf_shared_link_frame(shared, write_number, &number));
    HOLDS(shared_number() == 7);
    GIVES(pf_frame_finish(kept), PIXELFERRY_ERROR_HANDLE, "finished before");
    number = 100;
    GIVES(pf_shared_link_frame(shared, write_number, &number), PIXELFERRY_ERROR_ARGUMENT, "47 bytes");
    WORKS(pf_shared_link_read_back(shared, NULL, 0, &needed));
    HOLDS(needed == BYTES && shared_number() == 7);
    GIVES(pf_shared_link_read_back(shared, pixels, 3, NULL), PIXELFERRY_ERROR_ARGUMENT, "48");

    /* While it is held. */
    WORKS(pf_shared_link_show(shared, &shown));
    WORKS(pf_shared_frame_number(shown, &frame));
    HOLDS(frame == 1);
    GIVES(pf_shared_frame_number(shown, NULL), PIXELFERRY_ERROR_ARGUMENT, "number is NULL");
    GIVES(pf_shared_frame_gl_texture(shown, &texture), PIXELFERRY_ERROR_ARGUMENT, "not an OpenGL texture");
    GIVES(pf_shared_frame_vulkan(shown, &image), PIXELFERRY_ERROR_ARGUMENT, "not a frame of a Vulkan display");
    number = 8;
    GIVES(pf_shared_link_frame(shared, write_number, &number), PIXELFERRY_ERROR_BUSY, "wait for itself");
    GIVES(pf_shared_link_resize(shared, &surface), PIXELFERRY_ERROR_BUSY, "wait for itself");
    WORKS(pf_shared_link_start_frame(shared, write_number, &number, &started));
    GIVES(pf_started_wait(started), PIXELFERRY_ERROR_BUSY, "wait for itself");
    WORKS(pf_shared_link_show(shared, &second));
    WORKS(pf_shared_frame_release(shown));
    WORKS(pf_shared_frame_release(second));
    GIVES(pf_shared_frame_release(second), PIXELFERRY_ERROR_HANDLE, "freed");
    GIVES(pf_shared_frame_surface(second, &other), PIXELFERRY_ERROR_HANDLE, "freed");
    WORKS(pf_started_wait(started));
    GIVES(pf_started_wait(started), PIXELFERRY_ERROR_HANDLE, "finished before");
    HOLDS(shared_number() == 8);
    GIVES(pf_started_wait((pf_started *)shared), PIXELFERRY_ERROR_HANDLE, "is a pf_shared_link; give a pf_started");

    /* Every thread may use it. */
    pthread_t some[3];
    for (int at = 0; at < 3; at++) HOLDS(pthread_create(&some[at], NULL, shared_elsewhere, NULL) == 0);
    for (int at = 0; at < 3; at++) pthread_join(some[at], NULL);
    HOLDS(shared_number() == 29);
    other.width = 2;
    WORKS(pf_shared_link_resize(shared, &other));

    /* What is held outlives the link. */
    WORKS(pf_shared_link_show(shared, &shown));
    WORKS(pf_shared_link_free(shared));
    GIVES(pf_shared_link_free(shared), PIXELFERRY_ERROR_HANDLE, "freed");
    WORKS(pf_shared_frame_surface(shown, &other));
    HOLDS(other.width == WIDTH);
    WORKS(pf_shared_frame_release(shown));
}

static void *subscribed_elsewhere(void *user) {
    uint32_t next = 0;
    GIVES(pf_subscriber_next(user, 0, &next), PIXELFERRY_ERROR_THREAD, "another thread");
    GIVES(pf_subscriber_free(user), PIXELFERRY_ERROR_THREAD, "another thread");
    return NULL;
}

/* Both sides of a stream in one process. Two processes are in stream.c and stream.cpp. */
static void streams(void) {
    char name[32], *text = NULL;
    pf_stream_options few = {.size = sizeof few, .readers = 17};
    pf_published published = {.size = sizeof published};
    pf_stream_frame frame = {.size = sizeof frame};
    pf_surface taken = {.size = sizeof taken};
    pf_display *stream = NULL, *second = NULL;
    pf_link *link = NULL, *other = open_link();
    pf_shown *shown = NULL;
    pf_subscriber *subscriber = NULL;
    pf_memory *memory = NULL;
    pthread_t thread;
    uint32_t next = 9, count = 9, awaited = 9;
    uint8_t pixels[BYTES + 1];
    snprintf(name, sizeof name, "misuse-%d", (int)getpid());

    GIVES(pf_stream_open(NULL, name, NULL, &stream), PIXELFERRY_ERROR_HANDLE, "NULL");
    GIVES(pf_stream_open(backend, NULL, NULL, &stream), PIXELFERRY_ERROR_ARGUMENT, "name is NULL");
    GIVES(pf_stream_open(backend, name, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "stream is NULL");
    GIVES(pf_stream_open(backend, "a/b", NULL, &stream), PIXELFERRY_ERROR_ARGUMENT, "a/b");
    GIVES(pf_stream_open(backend, name, &few, &stream), PIXELFERRY_ERROR_ARGUMENT, "17 readers");
    few.size = 5;
    GIVES(pf_stream_open(backend, name, &few, &stream), PIXELFERRY_ERROR_ARGUMENT, "pf_stream_options.size is 5");
    few.size = sizeof few, few.readers = 1;
    GIVES(pf_subscriber_open(backend, name, &subscriber), PIXELFERRY_ERROR_UNAVAILABLE, name);
    HOLDS(stream == NULL && subscriber == NULL);
    WORKS(pf_stream_open(backend, name, &few, &stream));
    GIVES(pf_stream_open(backend, name, NULL, &second), PIXELFERRY_ERROR_ARGUMENT, name);
    HOLDS(second == NULL);
    WORKS(pf_streams_json(&text));
    HOLDS(strstr(text, name) != NULL);
    WORKS(pf_string_free(text));
    GIVES(pf_streams_json(NULL), PIXELFERRY_ERROR_ARGUMENT, "json is NULL");

    WORKS(pf_link_open(backend, stream, &surface, &options, &link));
    WORKS(pf_subscriber_open(backend, name, &subscriber));
    GIVES(pf_subscriber_surface(subscriber, &taken), PIXELFERRY_ERROR_NOTHING_SHOWN, "");
    GIVES(pf_subscriber_frame(subscriber, &frame), PIXELFERRY_ERROR_NOTHING_SHOWN, "");
    GIVES(pf_subscriber_read(subscriber, pixels, BYTES, 0), PIXELFERRY_ERROR_NOTHING_SHOWN, "");
    GIVES(pf_subscriber_memory(subscriber, &memory), PIXELFERRY_ERROR_NOTHING_SHOWN, "");
    WORKS(pf_subscriber_next(subscriber, 1, &next));
    HOLDS(next == PIXELFERRY_NEXT_NOTHING && memory == NULL);
    GIVES(pf_subscriber_next(subscriber, 0, NULL), PIXELFERRY_ERROR_ARGUMENT, "next is NULL");
    WORKS(pf_stream_subscribers(stream, &count, &awaited));
    HOLDS(count == 1 && awaited == 0);
    WORKS(pf_stream_subscribers(stream, &count, NULL));
    GIVES(pf_stream_subscribers(stream, NULL, NULL), PIXELFERRY_ERROR_ARGUMENT, "subscribers is NULL");
    GIVES(pf_stream_subscribers(display, &count, NULL), PIXELFERRY_ERROR_ARGUMENT, "not a stream");

    show_number(other, 1);
    WORKS(pf_link_show(other, &shown));
    GIVES(pf_stream_publish(shown, NULL), PIXELFERRY_ERROR_ARGUMENT, "not a stream");
    WORKS(pf_shown_release(shown));
    GIVES(pf_stream_publish(shown, NULL), PIXELFERRY_ERROR_HANDLE, "finished before");
    show_number(link, 41);
    WORKS(pf_link_show(link, &shown));
    published.size = 3;
    GIVES(pf_stream_publish(shown, &published), PIXELFERRY_ERROR_ARGUMENT, "pf_published.size is 3");
    published.size = sizeof published;
    WORKS(pf_stream_publish(shown, &published));
    HOLDS(published.number == 1 && published.subscribers == 1);
    WORKS(pf_stream_publish(shown, NULL));
    WORKS(pf_shown_release(shown));

    WORKS(pf_subscriber_next(subscriber, 10000, &next));
    HOLDS(next == PIXELFERRY_NEXT_FRAME);
    WORKS(pf_subscriber_frame(subscriber, &frame));
    WORKS(pf_subscriber_surface(subscriber, &taken));
    HOLDS(frame.number == 2 && frame.row_bytes == WIDTH && taken.width == WIDTH && taken.height == HEIGHT);
    pixels[BYTES] = 77;
    WORKS(pf_subscriber_read(subscriber, pixels, BYTES, 0));
    HOLDS(pixels[0] == 41 && pixels[BYTES - 1] == 41 && pixels[BYTES] == 77);
    GIVES(pf_subscriber_read(subscriber, pixels, BYTES - 1, 0), PIXELFERRY_ERROR_ARGUMENT, "rows of");
    GIVES(pf_subscriber_read(subscriber, pixels, BYTES, WIDTH - 1), PIXELFERRY_ERROR_ARGUMENT, "row pitch");
    GIVES(pf_subscriber_read(subscriber, pixels, BYTES, SIZE_MAX), PIXELFERRY_ERROR_ARGUMENT, "row pitch");
    GIVES(pf_subscriber_read(subscriber, NULL, BYTES, 0), PIXELFERRY_ERROR_ARGUMENT, "data is NULL");
    GIVES(pf_subscriber_read((pf_subscriber *)link, pixels, BYTES, 0), PIXELFERRY_ERROR_HANDLE, "give a pf_subscriber");
    GIVES(pf_subscriber_frame(subscriber, NULL), PIXELFERRY_ERROR_ARGUMENT, "pf_stream_frame is NULL");
    WORKS(pf_subscriber_explain(subscriber, &text));
    HOLDS(strstr(text, "in use: ") != NULL);
    WORKS(pf_string_free(text));
    HOLDS(pthread_create(&thread, NULL, subscribed_elsewhere, subscriber) == 0);
    pthread_join(thread, NULL);

    /* Links, stream and subscriber go in the wrong order. */
    WORKS(pf_subscriber_memory(subscriber, &memory));
    WORKS(pf_display_free(stream));
    WORKS(pf_link_free(link));
    GIVES(pf_subscriber_next(subscriber, 0, &next), PIXELFERRY_ERROR_BUSY, "is held");
    WORKS(pf_memory_free(memory));
    WORKS(pf_subscriber_next(subscriber, 10000, &next));
    HOLDS(next == PIXELFERRY_NEXT_ENDED);
    WORKS(pf_subscriber_read(subscriber, pixels, BYTES, 0));
    HOLDS(pixels[BYTES - 1] == 41);
    WORKS(pf_subscriber_free(subscriber));
    GIVES(pf_subscriber_free(subscriber), PIXELFERRY_ERROR_HANDLE, "freed");
    WORKS(pf_link_free(other));
}

static void *elsewhere(void *user) {
    pf_link *link = user, *made = NULL;
    pf_display *own = NULL;
    HOLDS(pf_last_error_message()[0] == 0);
    GIVES(pf_link_flush(link), PIXELFERRY_ERROR_THREAD, "another thread");
    GIVES(pf_link_free(link), PIXELFERRY_ERROR_THREAD, "another thread");
    GIVES(pf_display_free(display), PIXELFERRY_ERROR_THREAD, "another thread");
    WORKS(pf_backend_finish(backend));
    WORKS(pf_display_open("memory", &own));
    WORKS(pf_link_open(backend, own, &surface, &options, &made));
    show_number(made, 4);
    HOLDS(shows_number(made, 4));
    WORKS(pf_display_free(own));
    WORKS(pf_link_free(made));
    return NULL;
}

static void threads(void) {
    pf_link *link = open_link();
    pthread_t some[4];
    GIVES(pf_link_flush(NULL), PIXELFERRY_ERROR_HANDLE, "NULL");
    for (int at = 0; at < 4; at++) HOLDS(pthread_create(&some[at], NULL, elsewhere, link) == 0);
    for (int at = 0; at < 4; at++) pthread_join(some[at], NULL);
    HOLDS(strstr(pf_last_error_message(), "pf_link_flush") != NULL);
    show_number(link, 9);
    HOLDS(shows_number(link, 9));
    WORKS(pf_link_free(link));
}

/* With `own`, it opens no driver: what Mesa does with its memory is not asked. */
int main(int count, char **words) {
    char *json = NULL;
    pf_link *link = NULL;
    pf_frames given = {.size = sizeof given, .surface = &surface, .backend = "cpu", .display = "memory"};
    given.options = &options;
    WORKS(pf_open_pair(&given, &backend, &display, NULL, &link, NULL));
    WORKS(pf_link_free(link));
    WORKS(pf_display_json(display, &json));
    HOLDS(json != NULL && strstr(json, "plain memory") != NULL);
    WORKS(pf_string_free(json));
    handles();
    structs();
    frames();
    kernels();
    if (count < 2 || strcmp(words[1], "own")) pairs();
    objects();
    draws();
    shared_links();
    streams();
    logs();
    threads();
    /* What a link needs it holds. */
    pf_link *last = open_link();
    WORKS(pf_backend_free(backend));
    WORKS(pf_display_free(display));
    show_number(last, 1);
    WORKS(pf_link_free(last));
    if (!wrong) printf("all as expected\n");
    return wrong;
}
