/* Writes the frame's memory with the program's own calls of the compute API: rows are copied to a cl_mem or a CUdeviceptr, in
 * the queue that the library names. Every pixel is compared.
 *
 *   cc device.c $(pkg-config --cflags --libs pixelferry) -ldl -o device && ./device opencl|cuda [display]
 */
#include <pixelferry.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, HEIGHT = 40, FRAMES = 3 };

static int failed(pf_status status) {
    if (status == PIXELFERRY_OK) return 0;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), pf_last_error_message());
    return 1;
}

/* Finds a function of a library, which is installed wherever the backend works. */
static int find(const char *library, const char *name, void *function, size_t size) {
    void *opened = dlopen(library, RTLD_NOW);
    void *found = opened == NULL ? NULL : dlsym(opened, name);
    memcpy(function, &found, size);
    if (found == NULL) fprintf(stderr, "%s has no %s\n", library, name);
    return found == NULL;
}

/* Copies one row: to a cl_mem (without wait and event) or to an address. */
static int copy_row(const pf_device_memory *memory, size_t at, const uint8_t *row) {
    if (memory->api == PIXELFERRY_API_OPENCL) {
        int32_t (*write)(void *, void *, uint32_t, size_t, size_t, const void *, uint32_t, const void *, void *);
        if (find("libOpenCL.so.1", "clEnqueueWriteBuffer", &write, sizeof write)) return 1;
        return write(memory->queue, memory->object, 1, at, memory->row_bytes, row, 0, NULL, NULL) != 0;
    }
    int (*retain)(void **, int), (*enter)(void *), (*copy)(uint64_t, const void *, size_t, void *), (*wait)(void *);
    void *context = NULL;
    return find("libcuda.so.1", "cuDevicePrimaryCtxRetain", &retain, sizeof retain) ||
           find("libcuda.so.1", "cuCtxSetCurrent", &enter, sizeof enter) ||
           find("libcuda.so.1", "cuMemcpyHtoDAsync_v2", &copy, sizeof copy) ||
           find("libcuda.so.1", "cuStreamSynchronize", &wait, sizeof wait) || retain(&context, 0) != 0 ||
           enter(context) != 0 || copy(memory->address + at, row, memory->row_bytes, memory->queue) != 0 ||
           wait(memory->queue) != 0;
}

static int32_t compute(void *user, pf_frame *frame) {
    pf_device_memory memory = {.size = sizeof memory};
    if (failed(pf_frame_device_memory(frame, &memory))) return 1;
    for (uint32_t y = 0; y < memory.height; y++) {
        uint8_t row[4 * WIDTH];
        for (uint32_t x = 0; x < memory.width; x++) {
            uint8_t pixel[4] = {(uint8_t)x, (uint8_t)y, *(uint8_t *)user, 255};
            memcpy(row + 4 * x, pixel, 4);
        }
        if (copy_row(&memory, (size_t)memory.offset + (size_t)((ptrdiff_t)y * memory.row_pitch), row)) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    pf_backend *backend = NULL;
    pf_display *display = NULL;
    pf_link *link = NULL;
    pf_surface surface = {
        .size = sizeof surface,
        .format = PIXELFERRY_FORMAT_RGBA8,
        .width = WIDTH,
        .height = HEIGHT,
        .unwritten = PIXELFERRY_LOAD_OVERWRITE,
    };
    /* These paths use memory of the backend's own. */
    pf_link_options options = {.size = sizeof options, .path = "host-round-trip", .profiles = ""};
    static uint8_t pixels[WIDTH * HEIGHT * 4];
    pf_frames frames = {.size = sizeof frames,
                        .surface = &surface,
                        .backend = argc > 1 ? argv[1] : "opencl",
                        .display = argc > 2 ? argv[2] : "memory",
                        .options = &options};
    int wrong = failed(pf_open_pair(&frames, &backend, &display, NULL, &link, NULL));
    for (uint8_t frame = 0; !wrong && frame < FRAMES; frame++) {
        wrong = failed(pf_link_frame(link, compute, &frame)) || failed(pf_link_read_back(link, pixels, sizeof pixels, NULL));
        for (uint32_t at = 0; !wrong && at < WIDTH * HEIGHT; at++) {
            const uint8_t *pixel = pixels + 4 * at;
            wrong = pixel[0] != at % WIDTH || pixel[1] != at / WIDTH || pixel[2] != frame || pixel[3] != 255;
            if (wrong) fprintf(stderr, "pixel %u of frame %u is another\n", at, frame);
        }
    }
    if (!wrong) printf("%d frames written by the program itself, every pixel as computed\n", FRAMES);
    pf_link_free(link);
    pf_display_free(display);
    pf_backend_free(backend);
    return wrong;
}
