// A window with an OpenGL context of the program's own (GLFW) that shows a kernel of its own: rings around the pointer.
//
//   c++ -std=c++17 window.cpp $(pkg-config --cflags --libs pixelferry glfw3 gl) -o window && ./window
//
// `./window 30` ends after 30 frames and compares every pixel of the window. `./window 0 cpu` chooses what computes.
#include <GLFW/glfw3.h>
#include <pixelferry.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int WIDTH = 640, HEIGHT = 480;

// The kernel for GPUs, in OpenCL C. `out` is the frame; then come the arguments of the launch.
constexpr char OPENCL_C[] = R"(
__kernel void rings(PF_IMAGE(uchar4, out), int pointer_x, int pointer_y, int time) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= out_width || y >= out_height) return;
    int away = (x - pointer_x) * (x - pointer_x) + (y - pointer_y) * (y - pointer_y);
    int ring = (away >> 7) - time;
    PF_STORE(out, x, y, (uchar4)(ring, ring >> 1, 255 - (away >> 12), 255));
}
)";

// The same as a function, for machines without a GPU: one row of the frame.
std::array<std::uint8_t, 4> ring_at(int x, int y, int pointer_x, int pointer_y, int time) {
    const int away = (x - pointer_x) * (x - pointer_x) + (y - pointer_y) * (y - pointer_y);
    const int ring = (away >> 7) - time;
    return {static_cast<std::uint8_t>(ring), static_cast<std::uint8_t>(ring >> 1),
            static_cast<std::uint8_t>(255 - (away >> 12)), 255};
}
std::int32_t rings(void *, const pf_pixels *row, const pf_arg *args, std::size_t) {
    auto *pixel = static_cast<std::uint8_t *>(row->data);
    for (int x = 0; x < static_cast<int>(row->width); x++)
        for (auto channel : ring_at(x, static_cast<int>(row->row), args[0].value.i32, args[1].value.i32, args[2].value.i32))
            *pixel++ = channel;
    return 0;
}

// Compares the window with the function; row 0 of OpenGL is the last.
bool is_right(int pointer_x, int pointer_y, int time) {
    std::vector<std::uint8_t> read(WIDTH * HEIGHT * 4);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, read.data());
    for (int at = 0; at < WIDTH * HEIGHT; at++) {
        const auto wanted = ring_at(at % WIDTH, HEIGHT - 1 - at / WIDTH, pointer_x, pointer_y, time);
        for (int channel = 0; channel < 3; channel++)
            if (read[static_cast<std::size_t>(4 * at + channel)] != wanted[static_cast<std::size_t>(channel)]) return false;
    }
    return true;
}

int run(GLFWwindow *window, int frames_wanted, const char *backend_name) {
    // The display draws in the context that is current; whatever else the program draws there is its own.
    const auto display = pixelferry::display::from_current_gl();
    auto source = pixelferry::kernel_source("rings");
    source.opencl_c = OPENCL_C;
    source.host = rings;
    auto surface = pixelferry::image(WIDTH, HEIGHT);
    surface.unwritten = PIXELFERRY_LOAD_OVERWRITE;
    const pf_arg examples[] = {pixelferry::arg(0), pixelferry::arg(0), pixelferry::arg(0)};
    const pf_launch launch{&source, examples, 3};
    auto frames = pixelferry::frames(surface);
    frames.launches = &launch, frames.launch_count = 1;
    frames.shown_by = display.get(), frames.backend = backend_name;
    auto opened = pixelferry::open_pair(frames);

    auto options = pixelferry::draw_options();
    options.fit = PIXELFERRY_FIT_CONTAIN;
    options.background = PIXELFERRY_BACKGROUND_COLOR;
    for (int time = 0; !glfwWindowShouldClose(window); time++) {
        double x = 0, y = 0;
        int width = 0, height = 0;
        glfwPollEvents();
        glfwGetCursorPos(window, &x, &y);
        glfwGetFramebufferSize(window, &width, &height);
        const auto pointer_x = static_cast<std::int32_t>(x), pointer_y = static_cast<std::int32_t>(y);
        opened.link.frame([&](const pixelferry::frame &next) {
            next.launch(opened.kernels[0], {pixelferry::arg(pointer_x), pixelferry::arg(pointer_y), pixelferry::arg(time)});
        });
        // For a scene of your own: `opened.link.show().gl_texture()` is the frame as a texture.
        if (width > 0 && height > 0)
            opened.link.show().draw_gl(0, 0, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), &options);
        if (time + 1 == frames_wanted) {
            if (!is_right(pointer_x, pointer_y, time)) return 1;
            std::printf("%d frames by %s, every pixel as computed\n", frames_wanted, opened.link.path().c_str());
            return 0;
        }
        glfwSwapBuffers(window);
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    if (!glfwInit()) return std::fprintf(stderr, "no window system\n"), 2;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    GLFWwindow *window = glfwCreateWindow(WIDTH, HEIGHT, "pixelferry", nullptr, nullptr);
    int status = 2;
    if (window != nullptr) {
        glfwMakeContextCurrent(window);
        glfwSwapInterval(1);
        try {
            status = run(window, argc > 1 ? std::atoi(argv[1]) : 0, argc > 2 ? argv[2] : nullptr);
        } catch (const pixelferry::error &failure) {
            std::fprintf(stderr, "%s: %s\n", pf_status_name(failure.status()), failure.what());
            status = 1;
        }
        glfwDestroyWindow(window); // the context goes last
    }
    glfwTerminate();
    return status;
}
