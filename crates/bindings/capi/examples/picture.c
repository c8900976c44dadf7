/* Draws rings into plain memory with CPU threads, saves them and compares every pixel.
 *
 *   cc picture.c $(pkg-config --cflags --libs pixelferry) -o picture && ./picture rings.png
 */
#include <pixelferry.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 200 };

static int failed(pf_status status) {
    if (status == PIXELFERRY_OK) return 0;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), pf_last_error_message());
    return 1;
}

/* Returns the expected pixel. */
static void rings(uint32_t x, uint32_t y, uint32_t frame, uint8_t *pixel) {
    uint32_t away = x * x + y * y;
    pixel[0] = (uint8_t)(away / 64 + 16 * frame);
    pixel[1] = (uint8_t)x;
    pixel[2] = (uint8_t)y;
    pixel[3] = 255;
}

/* The kernel: one row, on any thread. */
static int32_t row(void *user, const pf_pixels *out, const pf_arg *args, size_t arg_count) {
    uint8_t *pixel = out->data;
    (void)user;
    if (arg_count != 1 || args[0].kind != PIXELFERRY_ARG_U32) return 1;
    for (uint32_t x = 0; x < out->width; x++, pixel += 4) rings(x, out->row, args[0].value.u32, pixel);
    return 0;
}

struct launch {
    pf_kernel *kernel;
    uint32_t frame;
};

/* Computes a frame; may be called again for the same frame on another path. */
static int32_t compute(void *user, pf_frame *frame) {
    const struct launch *launch = user;
    pf_arg arg = {.kind = PIXELFERRY_ARG_U32, .value.u32 = launch->frame};
    return failed(pf_frame_launch(frame, launch->kernel, &arg, 1));
}

static int compare(pf_link *link, uint32_t frame) {
    size_t bytes = (size_t)WIDTH * HEIGHT * 4;
    uint8_t *pixels = malloc(bytes);
    int wrong = pixels == NULL || failed(pf_link_read_back(link, pixels, bytes, NULL));
    for (uint32_t at = 0; !wrong && at < WIDTH * HEIGHT; at++) {
        uint8_t expected[4];
        rings(at % WIDTH, at / WIDTH, frame, expected);
        for (int channel = 0; channel < 4; channel++) wrong |= pixels[4 * at + channel] != expected[channel];
    }
    free(pixels);
    if (wrong) fprintf(stderr, "another picture\n");
    return wrong;
}

int main(int argc, char **argv) {
    pf_backend *backend = NULL;
    pf_display *display = NULL;
    pf_link *link = NULL;
    struct launch launch = {NULL, 0};
    pf_kernel_source source = {.size = sizeof source, .name = "rings", .host = row};
    pf_surface surface = {
        .size = sizeof surface,
        .format = PIXELFERRY_FORMAT_RGBA8,
        .width = WIDTH,
        .height = HEIGHT,
        .unwritten = PIXELFERRY_LOAD_OVERWRITE,
    };
    pf_link_options options = {.size = sizeof options, .profiles = ""};
    pf_arg frame = {.kind = PIXELFERRY_ARG_U32};
    pf_launch launches[] = {{&source, &frame, 1}};
    pf_frames frames = {.size = sizeof frames,
                        .surface = &surface,
                        .launches = launches,
                        .launch_count = 1,
                        .backend = "cpu",
                        .display = "memory",
                        .options = &options};

    int wrong = failed(pf_open_pair(&frames, &backend, &display, &launch.kernel, &link, NULL));
    for (; !wrong && launch.frame < 3; launch.frame++) {
        wrong = failed(pf_link_frame(link, compute, &launch)) || compare(link, launch.frame);
    }
    if (!wrong) {
        char *path = NULL;
        wrong = failed(pf_link_path(link, &path)) || (argc > 1 && failed(pf_link_save(link, argv[1], NULL)));
        if (!wrong) printf("pixelferry %s: %dx%d by %s, every pixel as computed\n", pf_version(), WIDTH, HEIGHT, path);
        pf_string_free(path);
    }
    pf_link_free(link);
    pf_kernel_free(launch.kernel);
    pf_display_free(display);
    pf_backend_free(backend);
    return wrong;
}
