// A C++ program without a window. It draws with OpenGL if the machine has it, otherwise into plain memory. Every pixel is compared.
//
//   c++ -std=c++17 picture.cpp $(pkg-config --cflags --libs pixelferry) -o picture && ./picture [backend [display]]
#include <pixelferry.hpp>

#include <cstdio>
#include <stdexcept>

namespace {

constexpr std::uint32_t WIDTH = 200, HEIGHT = 120;

// Returns the expected pixel.
std::uint8_t expected(std::uint32_t x, std::uint32_t y, std::uint32_t frame, int channel) {
    const std::uint32_t channels[] = {x + 3 * frame, y, x ^ y, 255};
    return static_cast<std::uint8_t>(channels[channel]);
}

constexpr char WGSL[] = R"(
@compute @workgroup_size(8, 8)
fn weave(@builtin(global_invocation_id) id: vec3<u32>) {
    let channels = vec3(id.x + 3u * pf_arg_u32(0), id.y, id.x ^ id.y) & vec3(255u);
    pf_store(id.xy, vec4(vec3<f32>(channels) / 255.0, 1.0));
}
)";

constexpr char OPENCL_C[] = R"(
__kernel void weave(PF_IMAGE(uchar4, out), uint frame) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x + 3 * frame, y, x ^ y, 255));
}
)";

constexpr char CUDA_CPP[] = R"(
__global__ void weave(PF_IMAGE(uchar4, out), unsigned frame) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < out_width && y < out_height) PF_STORE(out, x, y, make_uchar4(x + 3 * frame, y, x ^ y, 255));
}
)";

void fill(const pf_pixels &pixels, std::uint32_t frame) {
    for (std::uint32_t y = 0; y < pixels.rows; y++) {
        auto *pixel = static_cast<std::uint8_t *>(pixels.data) + static_cast<std::ptrdiff_t>(y) * pixels.row_pitch;
        for (std::uint32_t x = 0; x < pixels.width; x++, pixel += 4)
            for (int channel = 0; channel < 4; channel++) pixel[channel] = expected(x, pixels.row + y, frame, channel);
    }
}

// CPU threads run it if there is no other device.
std::int32_t row(void *, const pf_pixels *pixels, const pf_arg *args, std::size_t) {
    fill(*pixels, args[0].value.u32);
    return 0;
}

void compare(pixelferry::link &link, std::uint32_t frame) {
    const auto pixels = link.read_back();
    if (pixels.size() != WIDTH * HEIGHT * 4) throw std::runtime_error("another size");
    for (std::uint32_t at = 0; at < pixels.size(); at++)
        if (pixels[at] != expected(at / 4 % WIDTH, at / 4 / WIDTH, frame, static_cast<int>(at % 4)))
            throw std::runtime_error("pixel " + std::to_string(at / 4) + " of frame " + std::to_string(frame) + " is another");
}

void run(const char *backend_name, const char *display_name) {
    auto source = pixelferry::kernel_source("weave");
    source.wgsl = WGSL;
    source.opencl_c = OPENCL_C;
    source.cuda_cpp = CUDA_CPP;
    source.host = row;
    auto surface = pixelferry::image(WIDTH, HEIGHT);
    surface.unwritten = PIXELFERRY_LOAD_OVERWRITE;
    auto options = pixelferry::link_options();
    options.profiles = "";
    const pf_arg first = pixelferry::arg(std::uint32_t{0});
    const pf_launch launch{&source, &first, 1};
    auto frames = pixelferry::frames(surface);
    frames.launches = &launch, frames.launch_count = 1;
    frames.backend = backend_name, frames.display = display_name;
    frames.options = &options;
    auto [backend, display, kernels, link, report] = pixelferry::open_pair(frames);
    const auto &weave = kernels[0];

    // Frames written by a kernel.
    for (std::uint32_t frame = 0; frame < 2; frame++) {
        link.frame([&](const pixelferry::frame &next) { next.launch(weave, {pixelferry::arg(frame)}); });
        compare(link, frame);
    }
    // Frames written by this program into the frame's own memory, in one call and in two.
    link.frame([&](const pixelferry::frame &next) { next.map([](const pf_pixels &pixels) { fill(pixels, 2); }); });
    compare(link, 2);
    auto frame = link.acquire();
    frame.map([](const pf_pixels &pixels) { fill(pixels, 3); });
    frame.finish();
    compare(link, 3);
    // An exception abandons the frame; the previous one stays.
    try {
        link.frame([](const pixelferry::frame &) { throw std::logic_error("on purpose"); });
        throw std::runtime_error("the exception is gone");
    } catch (const std::logic_error &) {
        compare(link, 3);
    }
    std::printf("by %s, every pixel as computed, by %s\n", link.path().c_str(), backend.json().c_str());
}

} // namespace

int main(int argc, char **argv) {
    try {
        run(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : nullptr);
        return 0;
    } catch (const pixelferry::error &failure) {
        std::fprintf(stderr, "%s: %s\n", pf_status_name(failure.status()), failure.what());
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
    }
    return 1;
}
