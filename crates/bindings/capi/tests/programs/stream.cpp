// Both sides of a stream in C++. `stream publish NAME` writes frames from the host, of another size after some; `stream subscribe
// NAME BACKEND` compares them by copies and by a kernel, says so, and waits until somebody kills the publisher.
#include <pixelferry.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using bytes = std::vector<std::uint8_t>;
constexpr std::uint32_t WIDTH = 33, HEIGHT = 17, SMALLER = 9;

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

// A frame of one byte a pixel.
bytes picture(std::uint64_t number, std::uint32_t height) {
    bytes pixels(WIDTH * height);
    for (std::size_t at = 0; at < pixels.size(); at++) pixels[at] = static_cast<std::uint8_t>(at * 7 + number);
    return pixels;
}

void publish(const char *name) {
    const auto backend = pixelferry::backend::open("cpu");
    auto options = pf_stream_options{};
    options.size = sizeof options, options.readers = 2;
    const auto stream = pixelferry::display::stream(backend, name, &options);
    pixelferry::link link(backend, stream, pixelferry::image(WIDTH, HEIGHT, PIXELFERRY_FORMAT_R8));
    auto height = HEIGHT;
    for (std::uint64_t number = 1;; number++) {
        // The kernel's subscriber joins in the middle.
        const auto wanted = number / 20 % 2 ? SMALLER : HEIGHT;
        if (wanted != height) link.resize(pixelferry::image(WIDTH, height = wanted, PIXELFERRY_FORMAT_R8));
        const auto pixels = picture(number, height);
        link.frame([&](const pixelferry::frame &next) { next.write(pixels.data(), pixels.size()); });
        const auto published = link.show().publish();
        HOLDS(published.number == number && published.subscribers <= 2);
        HOLDS(stream.subscribers() <= 2);
        static_cast<void>(stream.is_awaited());
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
}

// The bytes of a row as kernels see them, each one more.
constexpr char MORE[] = R"(
__kernel void more(PF_BUFFER(uchar, out), __global const uchar *scene, uint first) {
    size_t at = get_global_id(0);
    if (at < PF_LEN(out)) PF_ITEM(out, at) = scene[first + at] + 1;
}
)";
std::int32_t more_bytes(void *, const pf_pixels *out, const pf_arg *args, std::size_t) {
    for (std::size_t at = 0; at < out->row_bytes; at++)
        static_cast<std::uint8_t *>(out->data)[at] =
            static_cast<std::uint8_t>(static_cast<const std::uint8_t *>(args[0].value.host)[args[1].value.u32 + at] + 1);
    return 0;
}

// A row that was copied to the host, and one that a kernel read.
void compare(pixelferry::subscriber &taken, const pixelferry::backend &backend, const pixelferry::kernel &more) {
    const auto surface = taken.surface();
    const auto frame = taken.frame();
    HOLDS(surface.width == WIDTH && surface.format == PIXELFERRY_FORMAT_R8 && frame.row_bytes == WIDTH);
    const auto expected = picture(frame.number, surface.height);
    HOLDS(taken.read() == expected);

    constexpr std::size_t pitch = WIDTH + 7;
    bytes rows(pitch * (surface.height - 1) + WIDTH, 99);
    taken.read(rows.data(), rows.size(), pitch);
    for (std::size_t y = 0; y < surface.height; y++) {
        HOLDS(bytes(&rows[y * pitch], &rows[y * pitch] + WIDTH) == bytes(&expected[y * WIDTH], &expected[y * WIDTH] + WIDTH));
        HOLDS(y + 1 == surface.height || rows[y * pitch + WIDTH] == 99);
    }
    GIVES(pf_subscriber_read(taken.get(), rows.data(), rows.size() - 1, pitch), PIXELFERRY_ERROR_ARGUMENT, "row pitch of 40");
    GIVES(pf_subscriber_read(taken.get(), rows.data(), rows.size(), WIDTH - 1), PIXELFERRY_ERROR_ARGUMENT, "row pitch of 32");
    GIVES(pf_subscriber_read(taken.get(), nullptr, 9, 0), PIXELFERRY_ERROR_ARGUMENT, "data is NULL");

    const auto memory = taken.memory();
    auto row = backend.allocate(WIDTH);
    const auto second = frame.offset + static_cast<std::uint64_t>(frame.row_pitch);
    row.launch(more, {pixelferry::arg(memory), pixelferry::arg(static_cast<std::uint32_t>(second))});
    bytes computed(WIDTH);
    row.read(0, computed.data(), computed.size());
    for (std::size_t x = 0; x < WIDTH; x++) HOLDS(computed[x] == static_cast<std::uint8_t>(expected[WIDTH + x] + 1));

    // It is held, and only read.
    std::uint32_t next = 7;
    pf_memory *again = nullptr;
    GIVES(pf_subscriber_next(taken.get(), 0, &next), PIXELFERRY_ERROR_BUSY, "is held");
    GIVES(pf_subscriber_memory(taken.get(), &again), PIXELFERRY_ERROR_BUSY, "is already held");
    GIVES(pf_memory_write(memory.get(), 0, computed.data(), 1), PIXELFERRY_ERROR_ARGUMENT, "read-only");
    GIVES(pf_memory_launch(memory.get(), more.get(), nullptr, 0), PIXELFERRY_ERROR_ARGUMENT, "read-only");
    GIVES(pf_memory_read(memory.get(), 0, computed.data(), 1), PIXELFERRY_ERROR_ARGUMENT, "pf_subscriber_read");
    HOLDS(next == PIXELFERRY_NEXT_NOTHING && again == nullptr);
}

void subscribe(const char *name, const char *wanted) {
    auto source = pixelferry::kernel_source("more");
    source.opencl_c = MORE, source.host = more_bytes;
    const auto backend = pixelferry::backend::open(wanted, {&source});
    const auto more = backend.build(source);
    pixelferry::subscriber taken(backend, name);
    HOLDS(pixelferry::streams_json().find(name) != std::string::npos);
    bool was_small = false, was_large = false;
    std::uint64_t last = 0;
    for (int count = 0; count < 20 || !was_small || !was_large; count++) {
        HOLDS(taken.next(30000) == PIXELFERRY_NEXT_FRAME);
        HOLDS(taken.frame().number > last);
        last = taken.frame().number;
        (taken.surface().height == HEIGHT ? was_large : was_small) = true;
        compare(taken, backend, more);
    }
    std::printf("every pixel as published, by %s", taken.explain().c_str());
    std::fflush(stdout);
    // Somebody kills the publisher now.
    while (taken.next(30000) != PIXELFERRY_NEXT_ENDED) {
    }
    compare(taken, backend, more);
    HOLDS(taken.next(0) == PIXELFERRY_NEXT_ENDED);
    // The memory of the last frame outlives the handle.
    const auto held = taken.memory();
    { const auto gone = std::move(taken); }
    auto row = backend.allocate(WIDTH);
    row.launch(more, {pixelferry::arg(held), pixelferry::arg(0u)});
    std::puts("the last frame stays");
}

} // namespace

int main(int count, char **words) {
    try {
        const std::string does = count > 2 ? words[1] : "";
        if (does == "publish") publish(words[2]);
        else if (does == "subscribe" && count > 3) subscribe(words[2], words[3]);
        else return 2;
    } catch (const pixelferry::error &error) {
        std::printf("%s: %s\n", pf_status_name(error.status()), error.what());
        return 1;
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    return 0;
}
