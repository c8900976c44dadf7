// Textures and buffers of the program's own, links of another thread, and options of draws: each is read back by OpenGL and
// compared. `objects cpu` or `objects opencl`.
#define GLFW_INCLUDE_GLCOREARB
#define GL_GLEXT_PROTOTYPES
#include <GLFW/glfw3.h>
#include <pixelferry.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using bytes = std::vector<std::uint8_t>;
constexpr std::uint32_t WIDTH = 16, HEIGHT = 8;

void holds(bool is_so, const char *what, int line) {
    if (!is_so) throw std::runtime_error("line " + std::to_string(line) + ": not " + what);
}
#define HOLDS(what) holds(what, #what, __LINE__)

// The call gives this status, and its message says so.
void gives(pf_status found, pf_status wanted, const char *said, int line) {
    const std::string message = pf_last_error_message();
    if (found != wanted || message.find(said) == std::string::npos)
        throw std::runtime_error("line " + std::to_string(line) + ": " + pf_status_name(found) + ", " + message);
}
#define GIVES(call, status, said) gives(call, status, said, __LINE__)

constexpr char RAMP[] = R"(
__kernel void ramp(PF_IMAGE(uchar4, out), uint blue) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x, y, blue, 255));
}
)";
constexpr char RAMP_WGSL[] = R"(
@compute @workgroup_size(8, 8)
fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {
    pf_store(id.xy, vec4<f32>(vec4<u32>(id.xy, pf_arg_u32(0), 255u)) / 255.0);
}
)";
std::int32_t ramp_row(void *, const pf_pixels *out, const pf_arg *args, std::size_t) {
    auto *pixel = static_cast<std::uint8_t *>(out->data);
    for (std::uint32_t x = 0; x < out->width; x++, pixel += 4) {
        pixel[0] = static_cast<std::uint8_t>(x), pixel[1] = static_cast<std::uint8_t>(out->row);
        pixel[2] = static_cast<std::uint8_t>(args[0].value.u32), pixel[3] = 255;
    }
    return 0;
}

// What an intake took, each byte one more.
constexpr char MORE[] = R"(
__kernel void more(PF_BUFFER(uchar, out), __global const uchar *scene) {
    size_t at = get_global_id(0);
    if (at < PF_LEN(out)) PF_ITEM(out, at) = scene[at] + 1;
}
)";
std::int32_t more_bytes(void *, const pf_pixels *out, const pf_arg *args, std::size_t) {
    for (std::size_t at = 0; at < out->row_bytes; at++)
        static_cast<std::uint8_t *>(out->data)[at] =
            static_cast<std::uint8_t>(static_cast<const std::uint8_t *>(args[0].value.host)[at] + 1);
    return 0;
}

// What an intake took, as a frame.
constexpr char SAME[] = R"(
__kernel void same(PF_IMAGE(uchar4, out), __global const uchar4 *scene) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < out_width && y < out_height) PF_STORE(out, x, y, scene[y * out_width + x]);
}
)";
std::int32_t same_row(void *, const pf_pixels *out, const pf_arg *args, std::size_t) {
    std::memcpy(out->data, static_cast<const std::uint8_t *>(args[0].value.host) + out->row * out->row_bytes, out->row_bytes);
    return 0;
}

struct engine {
    pixelferry::display display;
    pixelferry::backend backend;
    pixelferry::kernel ramp;
    pixelferry::kernel more;
    pixelferry::kernel same;
};

GLuint make_texture(const bytes &pixels) {
    GLuint made = 0;
    glGenTextures(1, &made);
    glBindTexture(GL_TEXTURE_2D, made);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    return made;
}

bytes texels(GLuint texture) {
    bytes read(WIDTH * HEIGHT * 4);
    glBindTexture(GL_TEXTURE_2D, texture);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, read.data());
    HOLDS(glGetError() == GL_NO_ERROR);
    return read;
}

// The ramp as OpenGL has it: row 0 of the picture is the last.
bytes ramp_of(std::uint8_t blue, bool from_top = true) {
    bytes made;
    for (std::uint32_t y = 0; y < HEIGHT; y++)
        for (std::uint32_t x = 0; x < WIDTH; x++) {
            const auto row = from_top ? HEIGHT - 1 - y : y;
            made.insert(made.end(), {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(row), blue, 255});
        }
    return made;
}

void outlets(const engine &e) {
    const auto texture = make_texture(bytes(WIDTH * HEIGHT * 4, 9));
    const auto object = pixelferry::gl_texture(texture, WIDTH, HEIGHT);
    auto from_top = pixelferry::outlet_options();
    from_top.row_order = PIXELFERRY_OUTLET_ROWS_TOP_DOWN;
    pixelferry::outlet outlet(e.backend, e.display, object, &from_top);
    HOLDS(texels(texture) == bytes(WIDTH * HEIGHT * 4, 9));
    outlet.frame([&](const pixelferry::frame &next) { next.launch(e.ramp, {pixelferry::arg(std::uint32_t{7})}); });
    HOLDS(texels(texture) == ramp_of(7));
    // A part, rows counted from the top; the rest stays.
    outlet.frame_region(2, 1, 3, 2, [](const pixelferry::frame &next) { next.write(bytes(24, 80).data(), 24); });
    auto wanted = ramp_of(7);
    for (std::uint32_t y = 1; y < 3; y++)
        std::fill_n(wanted.begin() + 4 * ((HEIGHT - 1 - y) * WIDTH + 2), 12, std::uint8_t{80});
    HOLDS(texels(texture) == wanted);
    // Mapped, and a frame that is given up.
    outlet.frame_region(0, 0, WIDTH, 1, [](const pixelferry::frame &next) {
        next.map([](const pf_pixels &pixels) { std::fill_n(static_cast<std::uint8_t *>(pixels.data), 4 * WIDTH, std::uint8_t{3}); });
    });
    std::fill_n(wanted.end() - 4 * WIDTH, 4 * WIDTH, std::uint8_t{3});
    HOLDS(texels(texture) == wanted);
    try {
        outlet.frame([](const pixelferry::frame &) { throw std::logic_error("on purpose"); });
        HOLDS(false);
    } catch (const std::logic_error &) {
    }
    outlet.finish();
    HOLDS(texels(texture) == wanted);
    HOLDS(outlet.explain().find("in use: ") == 0);

    // From below, and by a path that is named.
    auto options = pixelferry::outlet_options();
    options.row_order = PIXELFERRY_OUTLET_ROWS_BOTTOM_UP;
    options.unwritten = PIXELFERRY_LOAD_OVERWRITE;
    options.path = "host-round-trip";
    pixelferry::outlet below(e.backend, e.display, object, &options);
    HOLDS(below.explain().find("in use: host-round-trip") == 0);
    below.frame([&](const pixelferry::frame &next) { next.launch(e.ramp, {pixelferry::arg(std::uint32_t{4})}); });
    HOLDS(texels(texture) == ramp_of(4, false));

    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, 64, bytes(64, 1).data(), GL_DYNAMIC_DRAW);
    pixelferry::outlet vertices(e.backend, e.display, pixelferry::gl_buffer(buffer, 64));
    vertices.frame_bytes(8, 16, [](const pixelferry::frame &next) { next.write(bytes(16, 5).data(), 16); });
    bytes read(64), expected(64, 1);
    std::fill_n(expected.begin() + 8, 16, std::uint8_t{5});
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, 64, read.data());
    HOLDS(read == expected);

    // What a caller does wrong.
    pf_outlet *none = nullptr;
    auto wrong = object;
    wrong.width++;
    GIVES(pf_outlet_open(e.backend.get(), e.display.get(), &wrong, nullptr, &none), PIXELFERRY_ERROR_ARGUMENT, "pixels");
    wrong = object, wrong.handle = 4096;
    GIVES(pf_outlet_open(e.backend.get(), e.display.get(), &wrong, nullptr, &none), PIXELFERRY_ERROR_ARGUMENT, "no texture");
    wrong = object, wrong.handle = std::uint64_t{1} << 40;
    GIVES(pf_outlet_open(e.backend.get(), e.display.get(), &wrong, nullptr, &none), PIXELFERRY_ERROR_ARGUMENT, "32 bits");
    wrong = object, wrong.format = PIXELFERRY_FORMAT_R32F;
    GIVES(pf_outlet_open(e.backend.get(), e.display.get(), &wrong, nullptr, &none), PIXELFERRY_ERROR_ARGUMENT, "format");
    HOLDS(none == nullptr);
    static pf_outlet *outer;
    outer = outlet.get();
    outlet.frame([](const pixelferry::frame &next) {
        GIVES(pf_outlet_finish(outer), PIXELFERRY_ERROR_BUSY, "middle of a call");
        GIVES(pf_frame_finish(next.get()), PIXELFERRY_ERROR_BUSY, "that lent this frame");
        next.write(bytes(WIDTH * HEIGHT * 4, 6).data(), WIDTH * HEIGHT * 4);
    });
    HOLDS(texels(texture) == bytes(WIDTH * HEIGHT * 4, 6));
    GIVES(pf_outlet_frame_region(outer, 0, 0, 17, 1, [](void *, pf_frame *) { return 0; }, nullptr), PIXELFERRY_ERROR_ARGUMENT, "16x8");
    GIVES(pf_outlet_frame_bytes(outer, 0, 4, [](void *, pf_frame *) { return 0; }, nullptr), PIXELFERRY_ERROR_ARGUMENT, "");
    GIVES(pf_outlet_frame(outer, nullptr, nullptr), PIXELFERRY_ERROR_ARGUMENT, "compute is NULL");
    GIVES(pf_outlet_frame(outer, [](void *, pf_frame *) { return 3; }, nullptr), PIXELFERRY_ERROR_CALLBACK, "3");
    std::thread([] {
        GIVES(pf_outlet_finish(outer), PIXELFERRY_ERROR_THREAD, "another thread");
        GIVES(pf_outlet_free(outer), PIXELFERRY_ERROR_THREAD, "another thread");
    }).join();
}

void intakes(const engine &e) {
    const auto scene = ramp_of(20);
    const auto texture = make_texture(scene);
    pixelferry::intake intake(e.backend, e.display, pixelferry::gl_texture(texture, WIDTH, HEIGHT));
    const auto surface = intake.surface();
    HOLDS(surface.width == WIDTH && surface.height == HEIGHT && surface.format == PIXELFERRY_FORMAT_RGBA8);
    HOLDS(surface.row_order == PIXELFERRY_ROWS_BOTTOM_UP);
    HOLDS(intake.explain().find("in use: ") == 0);
    pixelferry::link link(e.backend, e.display, pixelferry::buffer(WIDTH * HEIGHT * 4));
    auto more = [&](const pixelferry::memory &taken) {
        link.frame([&](const pixelferry::frame &next) { next.launch(e.more, {pixelferry::arg(taken)}); });
        return link.read_back();
    };
    const auto one_more = [](bytes of) {
        for (auto &byte : of) byte++;
        return of;
    };
    {
        auto taken = intake.take();
        HOLDS(more(taken) == one_more(scene));
        bytes read(12);
        taken.read(8, read.data(), read.size());
        HOLDS(read == bytes(scene.begin() + 8, scene.begin() + 20));
        pf_memory *second = nullptr;
        GIVES(pf_intake_take(intake.get(), &second), PIXELFERRY_ERROR_BUSY, "in use");
        GIVES(pf_memory_write(taken.get(), 0, read.data(), 1), PIXELFERRY_ERROR_ARGUMENT, "read-only");
        GIVES(pf_memory_launch(taken.get(), e.more.get(), nullptr, 0), PIXELFERRY_ERROR_ARGUMENT, "read-only");
        GIVES(pf_memory_read(taken.get(), WIDTH * HEIGHT * 4, read.data(), 1), PIXELFERRY_ERROR_ARGUMENT, "512");
        auto *handle = intake.get();
        std::thread([=] { GIVES(pf_intake_free(handle), PIXELFERRY_ERROR_THREAD, "another thread"); }).join();
    }
    {
        // By default neither end turns the rows round.
        const auto copy = make_texture(bytes(WIDTH * HEIGHT * 4, 1));
        pixelferry::outlet outlet(e.backend, e.display, pixelferry::gl_texture(copy, WIDTH, HEIGHT));
        const auto taken = intake.take();
        outlet.frame([&](const pixelferry::frame &next) { next.launch(e.same, {pixelferry::arg(taken)}); });
        HOLDS(texels(copy) == scene);
        glDeleteTextures(1, &copy);
    }
    // What OpenGL renders next.
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glClearColor(0.2f, 0.4f, 0.6f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    bytes cleared;
    for (std::uint32_t at = 0; at < WIDTH * HEIGHT; at++) cleared.insert(cleared.end(), {51, 102, 153, 255});
    HOLDS(more(intake.take()) == one_more(cleared));
    // What was taken outlives the intake's handle.
    pf_intake *last = nullptr;
    const auto object = pixelferry::gl_texture(texture, WIDTH, HEIGHT);
    pixelferry::check(pf_intake_open(e.backend.get(), e.display.get(), &object, "host-round-trip", &last));
    pf_memory *held = nullptr;
    pixelferry::check(pf_intake_take(last, &held));
    pixelferry::check(pf_intake_free(last));
    GIVES(pf_intake_take(last, &held), PIXELFERRY_ERROR_HANDLE, "freed");
    HOLDS(held == nullptr);
    GIVES(pf_intake_open(e.backend.get(), e.display.get(), &object, "teleport", &last), PIXELFERRY_ERROR_ARGUMENT, "teleport");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

// Pixels of the framebuffer that is bound.
bytes read_pixels() {
    bytes read(WIDTH * HEIGHT * 4);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, read.data());
    return read;
}

void draws(const engine &e) {
    const auto target = make_texture(bytes(WIDTH * HEIGHT * 4, 0));
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    // A square in a target twice as wide, between two stripes of the background.
    auto surface = pixelferry::image(HEIGHT, HEIGHT);
    pixelferry::link link(e.backend, e.display, surface);
    link.frame([](const pixelferry::frame &next) { next.write(bytes(HEIGHT * HEIGHT * 4, 255).data(), HEIGHT * HEIGHT * 4); });
    auto options = pixelferry::draw_options();
    options.fit = PIXELFERRY_FIT_CONTAIN;
    options.background = PIXELFERRY_BACKGROUND_COLOR, options.red = 1, options.blue = 0.2f;
    bytes wanted;
    for (std::uint32_t at = 0; at < WIDTH * HEIGHT; at++) {
        const auto x = at % WIDTH;
        if (x >= 4 && x < 12) wanted.insert(wanted.end(), {255, 255, 255, 255});
        else wanted.insert(wanted.end(), {255, 0, 51, 255});
    }
    link.show().draw_gl(0, 0, WIDTH, HEIGHT, &options);
    HOLDS(read_pixels() == wanted);
    glClear(GL_COLOR_BUFFER_BIT);
    link.show().draw_gl_texture(target, 0, WIDTH, HEIGHT, &options);
    HOLDS(texels(target) == wanted);
    options.fit = PIXELFERRY_FIT_AT;
    options.placed_x = 0, options.placed_y = 0, options.placed_width = WIDTH, options.placed_height = 2;
    link.show().draw_gl(0, 0, WIDTH, HEIGHT, &options);
    HOLDS(read_pixels()[4 * WIDTH * (HEIGHT - 2)] == 255 && read_pixels()[4 * WIDTH * (HEIGHT - 2) + 1] == 255);
    HOLDS(read_pixels()[4 * WIDTH * (HEIGHT - 3) + 1] == 0);
    // Light of 2: cut off, and by Reinhard's curve 2 / (1 + 2), as sRGB.
    surface.format = PIXELFERRY_FORMAT_RGBA32F;
    surface.encoding = PIXELFERRY_ENCODING_LINEAR;
    pixelferry::link light(e.backend, e.display, surface);
    light.frame([](const pixelferry::frame &next) {
        const std::vector<float> twos(HEIGHT * HEIGHT * 4, 2.0f);
        next.write(twos.data(), 4 * twos.size());
    });
    auto toned = pixelferry::draw_options();
    light.show().draw_gl(0, 0, WIDTH, HEIGHT, &toned);
    HOLDS(read_pixels()[0] == 255);
    toned.tone_map = PIXELFERRY_TONE_MAP_REINHARD;
    light.show().draw_gl(0, 0, WIDTH, HEIGHT, &toned);
    HOLDS(std::abs(read_pixels()[0] - 213) <= 1);
    toned.exposure = -1;
    light.show().draw_gl(0, 0, WIDTH, HEIGHT, &toned);
    HOLDS(std::abs(read_pixels()[0] - 188) <= 1);
    const auto shown = light.show();
    toned.fit = 6;
    GIVES(pf_shown_draw_gl(shown.get(), 0, 0, 1, 1, &toned), PIXELFERRY_ERROR_ARGUMENT, "pf_draw_options.fit is 6");
    toned = pixelferry::draw_options(), toned.exposure = 99;
    GIVES(pf_shown_draw_gl(shown.get(), 0, 0, 1, 1, &toned), PIXELFERRY_ERROR_ARGUMENT, "99");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

// Frame and draw as one call: by a backend of another queue it is drawn, by the display's own it may go straight.
void shows(const engine &e) {
    const auto target = make_texture(bytes(WIDTH * HEIGHT * 4, 0));
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    auto surface = pixelferry::image(WIDTH, HEIGHT);
    surface.unwritten = PIXELFERRY_LOAD_OVERWRITE;
    pixelferry::link link(e.backend, e.display, surface);
    std::string way;
    auto ramp = [&](const pixelferry::frame &next) { next.launch(e.ramp, {pixelferry::arg(std::uint32_t{9})}); };
    HOLDS(link.show_gl(0, 0, WIDTH, HEIGHT, ramp, nullptr, &way) == PIXELFERRY_SHOWED_DRAWN);
    HOLDS(way.find("display's queue") != std::string::npos && texels(target) == ramp_of(9));
    try {
        link.show_gl(0, 0, WIDTH, HEIGHT, [](const pixelferry::frame &) { throw std::logic_error("on purpose"); });
        HOLDS(false);
    } catch (const std::logic_error &) {
    }
    HOLDS(texels(target) == ramp_of(9));
    GIVES(pf_link_show_gl(link.get(), 0, 0, 1, 1, nullptr, nullptr, nullptr, nullptr, nullptr), PIXELFERRY_ERROR_ARGUMENT, "compute is NULL");

    auto source = pixelferry::kernel_source("ramp");
    source.wgsl = RAMP_WGSL;
    const auto blue = pixelferry::arg(std::uint32_t{0});
    const auto ramp_in = [](const pixelferry::opened &in, std::uint32_t level) {
        return [&in, level](const pixelferry::frame &next) { next.launch(in.kernels[0], {pixelferry::arg(level)}); };
    };
    const pf_launch launch{&source, &blue, 1};
    auto frames = pixelferry::frames(surface);
    frames.launches = &launch, frames.launch_count = 1;
    frames.backend = "gl", frames.shown_by = e.display.get();
    // The first that works is taken, and stores are not timed.
    auto options = pixelferry::link_options();
    options.budget_ms = PIXELFERRY_BUDGET_NONE;
    frames.options = &options;
    auto opened = pixelferry::open_pair(frames);
    HOLDS(opened.link.show_gl(0, 0, WIDTH, HEIGHT, ramp_in(opened, 1), nullptr, &way) == PIXELFERRY_SHOWED_DRAWN);
    HOLDS(way.find("filter without mipmaps") != std::string::npos);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    for (std::uint32_t level = 1; level < 4; level++) {
        const auto showed = opened.link.show_gl(0, 0, WIDTH, HEIGHT, ramp_in(opened, level), nullptr, &way);
        HOLDS(showed == (level == 1 ? PIXELFERRY_SHOWED_DRAWN : PIXELFERRY_SHOWED_STRAIGHT));
        HOLDS(way.find(level == 1 ? "from the next one on" : "straight into the target") != std::string::npos);
        HOLDS(texels(target) == ramp_of(static_cast<std::uint8_t>(level)));
    }
    pf_shown *none = nullptr;
    GIVES(pf_link_show(opened.link.get(), &none), PIXELFERRY_ERROR_IN_TARGET, "read the target");
    opened.link.resize(pixelferry::image(0, 0));
    HOLDS(opened.link.show_gl(0, 0, WIDTH, HEIGHT, ramp) == PIXELFERRY_SHOWED_PAUSED);
    // Images of Vulkan are for Vulkan's displays.
    pf_target *nowhere = nullptr;
    auto image = pixelferry::gl_texture(target, WIDTH, HEIGHT);
    GIVES(pf_target_open(e.display.get(), &image, 0, 0, 1, 1, &nowhere), PIXELFERRY_ERROR_ARGUMENT, "pf_link_show_gl");
    image.kind = PIXELFERRY_OBJECT_VULKAN_IMAGE;
    GIVES(pf_target_open(e.display.get(), &image, 0, 0, 1, 1, &nowhere), PIXELFERRY_ERROR_ARGUMENT, "not a Vulkan display");
    const auto show_in = [](pixelferry::link &in, const pixelferry::target &place) {
        return in.show_in(place, [](const pixelferry::frame &) {});
    };
    (void)show_in;
    GIVES(pf_link_show_in(link.get(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), PIXELFERRY_ERROR_HANDLE, "pf_target is NULL");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

// Late frames overlap; which one is shown, measuring decides, and a flush shows the last.
void throughput(const engine &e) {
    auto options = pixelferry::link_options();
    options.mode = PIXELFERRY_MODE_THROUGHPUT;
    options.frames_behind = 3;
    pixelferry::link link(e.backend, e.display, pixelferry::image(WIDTH, HEIGHT), &options);
    for (std::uint32_t frame = 0; frame < 12; frame++)
        link.frame([&](const pixelferry::frame &next) { next.launch(e.ramp, {pixelferry::arg(frame)}); });
    const auto newest = link.read_back()[2];
    HOLDS(newest >= 8 && newest <= 11);
    link.flush();
    HOLDS(link.read_back()[2] == 11);
}

void threads(const engine &e, GLFWwindow *window) {
    // A context for the link's thread, which shares with this one.
    GLFWwindow *other = glfwCreateWindow(WIDTH, HEIGHT, "shared", nullptr, window);
    HOLDS(other != nullptr);
    {
        auto open = [&] {
            glfwMakeContextCurrent(other);
            return pixelferry::display::from_current_gl();
        };
        pixelferry::shared_link link(e.backend, open, pixelferry::image(WIDTH, HEIGHT));
        auto ramp = [&e](std::uint32_t blue) {
            return [&e, blue](const pixelferry::frame &next) { next.launch(e.ramp, {pixelferry::arg(blue)}); };
        };
        pf_shared_frame *none = nullptr;
        GIVES(pf_shared_link_show(link.get(), &none), PIXELFERRY_ERROR_NOTHING_SHOWN, "finish one");
        link.frame(ramp(1));
        std::thread waiting;
        {
            const auto frame = link.show();
            HOLDS(frame.number() == 1);
            const auto texture = frame.gl_texture();
            HOLDS(texture.target == GL_TEXTURE_2D && frame.surface().width == WIDTH);
            HOLDS(texels(texture.name) == ramp_of(1));
            // Nobody waits forever.
            auto started = link.start_frame(ramp(2));
            GIVES(pf_shared_link_frame(link.get(), [](void *, pf_frame *) { return 0; }, nullptr), PIXELFERRY_ERROR_BUSY, "wait for itself");
            try {
                started.wait();
                HOLDS(false);
            } catch (const pixelferry::error &busy) {
                HOLDS(busy.status() == PIXELFERRY_ERROR_BUSY);
            }
            HOLDS(texels(texture.name) == ramp_of(1));
            pf_pixels pixels{};
            pixels.size = sizeof pixels;
            GIVES(pf_shared_frame_pixels(frame.get(), &pixels), PIXELFERRY_ERROR_ARGUMENT, "plain memory");
            // Another thread may wait, until this one lets go.
            waiting = std::thread([&] { link.start_frame(ramp(3)).wait(); });
        }
        waiting.join();
        HOLDS(texels(link.show().gl_texture().name) == ramp_of(3));
        // Computed on one thread, drawn on another.
        std::thread simulation([&] {
            for (std::uint32_t blue = 4; blue < 40; blue++) link.frame(ramp(blue));
        });
        for (std::uint8_t blue = 3; blue < 39;) {
            const auto read = texels(link.show().gl_texture().name);
            if (read != ramp_of(read[2]) || read[2] < blue) {
                simulation.detach();
                HOLDS(read == ramp_of(read[2]) && read[2] >= blue);
            }
            blue = read[2];
        }
        simulation.join();
        link.resize(pixelferry::image(WIDTH, HEIGHT, PIXELFERRY_FORMAT_RGBA8));
        // An exception gives the frame up, and comes out where somebody waits.
        try {
            link.frame([](const pixelferry::frame &) { throw std::logic_error("on purpose"); });
            HOLDS(false);
        } catch (const std::logic_error &) {
        }
        HOLDS(link.read_back().size() == WIDTH * HEIGHT * 4);
        HOLDS(link.explain().find("in use:") != std::string::npos);
    }
    {
        auto open = [&] {
            glfwMakeContextCurrent(other);
            return pixelferry::display::from_current_gl();
        };
        pixelferry::shared_link link(e.backend, open, pixelferry::buffer(64));
        link.frame([](const pixelferry::frame &next) { next.write(bytes(64, 33).data(), 64); });
        const auto frame = link.show();
        const auto buffer = frame.gl_buffer();
        bytes read(64);
        HOLDS(buffer.bytes == 64 && frame.surface().bytes == 64);
        glBindBuffer(GL_ARRAY_BUFFER, buffer.name);
        glGetBufferSubData(GL_ARRAY_BUFFER, static_cast<GLintptr>(buffer.offset), 64, read.data());
        HOLDS(read == bytes(64, 33));
    }
    glfwDestroyWindow(other);
    // In plain memory, and a display that cannot be opened.
    pixelferry::shared_link link(e.backend, [] { return pixelferry::display::open("memory"); }, pixelferry::image(WIDTH, HEIGHT));
    link.frame([&e](const pixelferry::frame &next) { next.launch(e.ramp, {pixelferry::arg(std::uint32_t{8})}); });
    const auto frame = link.show();
    const auto pixels = frame.pixels();
    const auto *first = static_cast<const std::uint8_t *>(pixels.data);
    HOLDS(pixels.rows == HEIGHT && first[2] == 8 && first[pixels.row_pitch + 1] == 1);
    try {
        pixelferry::shared_link refused(e.backend, [] { return pixelferry::display::open("paper"); }, pixelferry::image(1, 1));
        HOLDS(false);
    } catch (const pixelferry::error &failure) {
        HOLDS(failure.status() == PIXELFERRY_ERROR_ARGUMENT);
    }
}

void run(GLFWwindow *window, const char *name) {
    auto ramp = pixelferry::kernel_source("ramp"), more = pixelferry::kernel_source("more"), same = pixelferry::kernel_source("same");
    ramp.opencl_c = RAMP, ramp.host = ramp_row;
    more.opencl_c = MORE, more.host = more_bytes, more.items = WIDTH * HEIGHT * 4;
    same.opencl_c = SAME, same.host = same_row;
    auto display = pixelferry::display::from_current_gl();
    auto backend = pixelferry::backend::open(name, {&ramp, &more, &same});
    auto built_ramp = backend.build(ramp), built_more = backend.build(more), built_same = backend.build(same);
    const engine e{std::move(display), std::move(backend), std::move(built_ramp), std::move(built_more), std::move(built_same)};
    outlets(e);
    intakes(e);
    draws(e);
    shows(e);
    throughput(e);
    threads(e, window);
    HOLDS(glGetError() == GL_NO_ERROR);
    std::printf("every pixel as computed, by %s\n", e.backend.json().c_str());
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2 || !glfwInit()) return 2;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow *window = glfwCreateWindow(WIDTH, HEIGHT, "objects", nullptr, nullptr);
    if (window == nullptr) return 2;
    glfwMakeContextCurrent(window);
    int wrong = 1;
    try {
        run(window, argv[1]);
        wrong = 0;
    } catch (const pixelferry::error &failure) {
        std::fprintf(stderr, "%s: %s\n", pf_status_name(failure.status()), failure.what());
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
    }
    glfwDestroyWindow(window);
    glfwTerminate();
    return wrong;
}
