/* A picture of OpenCL for the scene of GLFW's example `gears`, which tests/suite/foreign.rs takes from Debian's package: opened in
 * the example's context, drawn in each frame behind its wheels. And a copy of the screen, as the X server has it. */
#include <pixelferry.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 300, FRAMES = 20 };

static pf_display *display;
static pf_backend *backend;
static pf_kernel *kernel;
static pf_link *link_;

static void check(pf_status status) {
    if (status == PIXELFERRY_OK) return;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), pf_last_error_message());
    exit(1);
}

static void picture_open(void) {
    pf_kernel_source source = {
        .size = sizeof source,
        .name = "carpet",
        .opencl_c = "__kernel void carpet(PF_IMAGE(uchar4, out)) {\n"
                    "    uint x = get_global_id(0), y = get_global_id(1);\n"
                    "    if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x, y, 200, 255));\n"
                    "}\n",
    };
    pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_RGBA8, .width = SIDE, .height = SIDE};
    pf_launch launch = {&source, NULL, 0};
    pf_frames frames = {.size = sizeof frames, .surface = &surface, .launches = &launch, .launch_count = 1, .backend = "opencl"};
    check(pf_display_from_current_gl(NULL, &display));
    frames.shown_by = display;
    check(pf_open_pair(&frames, &backend, NULL, &kernel, &link_, NULL));
}

static int32_t picture_compute(void *user, pf_frame *frame) {
    (void)user;
    return pf_frame_launch(frame, kernel, NULL, 0);
}

static void picture_draw(void) {
    pf_shown *shown = NULL;
    check(pf_link_frame(link_, picture_compute, NULL));
    check(pf_link_show(link_, &shown));
    check(pf_shown_draw_gl(shown, 0, 0, SIDE, SIDE, NULL));
    check(pf_shown_release(shown));
}

static void picture_close(void) {
    check(pf_link_free(link_));
    check(pf_kernel_free(kernel));
    check(pf_backend_free(backend));
    check(pf_display_free(display));
}

/* After some frames, all alike: copies the file in which Xvfb keeps its screen, and ends the example. */
static void screen_saved(GLFWwindow *window) {
    static int frames;
    static char bytes[1 << 16];
    FILE *from, *to;
    size_t count;
    if (++frames < FRAMES) return;
    from = fopen(getenv("SCREEN_FILE"), "rb");
    to = fopen(getenv("COPY_FILE"), "wb");
    if (from == NULL || to == NULL || glGetError() != GL_NO_ERROR) exit(1);
    while ((count = fread(bytes, 1, sizeof bytes, from)) > 0) fwrite(bytes, 1, count, to);
    fclose(from);
    if (fclose(to) != 0) exit(1);
    glfwSetWindowShouldClose(window, GLFW_TRUE);
}
