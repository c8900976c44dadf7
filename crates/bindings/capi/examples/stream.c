/* Sends frames from one process to another: CPU threads draw rings as long as the publisher runs, and the subscriber compares
 * every pixel.
 *
 *   cc stream.c $(pkg-config --cflags --libs pixelferry) -o stream
 *   ./stream publish rings & ./stream subscribe rings
 */
#define _POSIX_C_SOURCE 200809L
#include <pixelferry.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 320, HEIGHT = 200, FRAMES = 20 };

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

static int publish_frame(pf_link *link, struct launch *launch) {
    pf_shown *shown = NULL;
    pf_published published = {.size = sizeof published};
    if (failed(pf_link_frame(link, compute, launch)) || failed(pf_link_show(link, &shown))) return 1;
    int wrong = failed(pf_stream_publish(shown, &published)) || published.number != launch->frame;
    return failed(pf_shown_release(shown)) || wrong;
}

static int publish(pf_backend *backend, const char *name) {
    pf_kernel_source source = {.size = sizeof source, .name = "rings", .host = row};
    pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_RGBA8, .width = WIDTH, .height = HEIGHT};
    struct launch launch = {NULL, 0};
    pf_display *stream = NULL;
    pf_link *link = NULL;
    surface.unwritten = PIXELFERRY_LOAD_OVERWRITE, surface.encoding = PIXELFERRY_ENCODING_SRGB;
    int wrong = failed(pf_kernel_build(backend, &source, &launch.kernel)) ||
                failed(pf_stream_open(backend, name, NULL, &stream)) ||
                failed(pf_link_open(backend, stream, &surface, NULL, &link));
    while (!wrong) {
        launch.frame++;
        wrong = publish_frame(link, &launch);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    pf_link_free(link);
    pf_display_free(stream);
    pf_kernel_free(launch.kernel);
    return wrong;
}

static int compare(pf_subscriber *subscriber) {
    static uint8_t pixels[WIDTH * HEIGHT * 4];
    pf_surface surface = {.size = sizeof surface};
    pf_stream_frame frame = {.size = sizeof frame};
    if (failed(pf_subscriber_surface(subscriber, &surface)) || failed(pf_subscriber_frame(subscriber, &frame))) return 1;
    int wrong = surface.width != WIDTH || surface.height != HEIGHT || surface.format != PIXELFERRY_FORMAT_RGBA8 ||
                surface.encoding != PIXELFERRY_ENCODING_SRGB || failed(pf_subscriber_read(subscriber, pixels, sizeof pixels, 0));
    for (uint32_t at = 0; !wrong && at < WIDTH * HEIGHT; at++) {
        uint8_t expected[4];
        rings(at % WIDTH, at / WIDTH, (uint32_t)frame.number, expected);
        wrong = memcmp(expected, pixels + 4 * at, 4) != 0;
    }
    if (wrong) fprintf(stderr, "another picture\n");
    return wrong;
}

static int subscribe(pf_backend *backend, const char *name) {
    pf_subscriber *subscriber = NULL;
    int taken = 0, wrong = failed(pf_subscriber_open(backend, name, &subscriber));
    while (!wrong && taken < FRAMES) {
        uint32_t next = PIXELFERRY_NEXT_NOTHING;
        wrong = failed(pf_subscriber_next(subscriber, 1000, &next)) || next == PIXELFERRY_NEXT_ENDED;
        if (!wrong && next == PIXELFERRY_NEXT_FRAME) {
            taken++;
            wrong = compare(subscriber);
        }
    }
    pf_subscriber_free(subscriber);
    if (!wrong) printf("%d frames, every pixel as computed\n", taken);
    return wrong;
}

int main(int count, char **words) {
    pf_backend *backend = NULL;
    int publishes = count == 3 && strcmp(words[1], "publish") == 0;
    if (!publishes && (count != 3 || strcmp(words[1], "subscribe") != 0)) {
        fprintf(stderr, "stream publish NAME, or stream subscribe NAME\n");
        return 2;
    }
    int wrong = failed(pf_backend_open("cpu", NULL, 0, &backend)) ||
                (publishes ? publish(backend, words[2]) : subscribe(backend, words[2]));
    pf_backend_free(backend);
    return wrong;
}
