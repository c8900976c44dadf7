// Functions that throw: what a kernel's `host` throws goes on from the call that launched it, on this thread or on threads of the
// library, and the link goes on. So does what a loader throws.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <pixelferry.hpp>
#include <stdexcept>
#include <string>

namespace {

struct failure {
    int number;
};
int throws = 0;

// A row of nines.
std::int32_t nines(void *user, const pf_pixels *out, const pf_arg *, std::size_t) {
    if (*static_cast<int *>(user) == 1) throw std::runtime_error("a lookup failed");
    if (*static_cast<int *>(user) == 2) throw failure{7};
    std::memset(out->data, 9, out->row_bytes);
    return *static_cast<int *>(user) == 3;
}

void holds(bool is_so, int line) {
    if (!is_so) throw std::logic_error("line " + std::to_string(line));
}
#define HOLDS(what) holds(what, __LINE__)

// What `call` throws, in words.
template <class Call> std::string thrown(Call call) {
    try {
        call();
        return "nothing";
    } catch (const pixelferry::error &why) {
        return std::string(pf_status_name(why.status()));
    } catch (const std::exception &why) {
        return why.what();
    } catch (const failure &why) {
        return "failure " + std::to_string(why.number);
    }
}

void kernels(std::uint32_t side) {
    throws = 0;
    auto source = pixelferry::kernel_source("nines");
    source.host = nines, source.host_user = &throws;
    const auto surface = pixelferry::image(side, side);
    pf_launch launch{&source, nullptr, 0};
    auto frames = pixelferry::frames(surface);
    frames.launches = &launch, frames.launch_count = 1, frames.backend = "cpu", frames.display = "memory";
    auto opened = pixelferry::open_pair(frames);
    const auto built = opened.backend.build(source);
    auto memory = opened.backend.allocate(4096);
    const pixelferry::kernel *both[] = {&built, &opened.kernels[0]};
    for (const auto *kernel : both) {
        const auto frame = [&] { opened.link.frame([&](const pixelferry::frame &next) { next.launch(*kernel); }); };
        const std::string said[] = {"nothing", "a lookup failed", "failure 7", "PIXELFERRY_ERROR_KERNEL_FAILED"};
        for (int round = 0; round < 3; round++)
            for (throws = 3; throws >= 0; throws--) {
                HOLDS(thrown(frame) == said[throws]);
                HOLDS(thrown([&] { memory.launch(*kernel); }) == said[throws]);
                HOLDS(thrown([&] { (*opened.link.acquire()).launch(*kernel); }) == said[throws]);
            }
        throws = 0, frame();
        HOLDS(opened.link.read_back() == std::vector<std::uint8_t>(4 * side * side, 9));
    }
    throws = 1;
    // No kernel runs before the first frame, also where the library chooses.
    frames.backend = frames.display = nullptr;
    HOLDS(thrown([&] { pixelferry::open_pair(frames); }) == "nothing");
    throws = 0;
    auto shared = pixelferry::shared_link(opened.backend, [] { return pixelferry::display::open("memory"); }, surface);
    const auto frame = [&] { shared.frame([&](const pixelferry::frame &next) { next.launch(built); }); };
    frame(), throws = 2;
    HOLDS(thrown(frame) == "failure 7");
    throws = 0, frame();
}

} // namespace

int main() {
    try {
        kernels(8);   // on this thread
        kernels(400); // on several
        const auto get_proc = [](void *, const char *) -> void * { throw failure{3}; };
        HOLDS(thrown([&] { pixelferry::display::from_gl_loader(get_proc, nullptr); }) == "failure 3");
    } catch (const std::exception &why) {
        std::cout << why.what() << std::endl;
        return 1;
    }
    std::cout << "all as expected" << std::endl;
}
