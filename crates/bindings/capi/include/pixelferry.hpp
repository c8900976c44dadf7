// pixelferry for C++17: pixelferry.h with owning classes, exceptions and lambdas.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each class owns one handle of pixelferry.h, can be moved but not copied, and frees the handle in its destructor. The
// header's rules apply: what each call does, which thread it runs on, what you vouch for. Calls that fail throw
// pixelferry::error. Exceptions of your lambdas do not pass through the library: it cancels the frame, and the call
// rethrows them. The same holds for a kernel's `host`, from `launch`, and for a loader. The library itself calls
// functions in other structs of pixelferry.h, which must not throw: pf_gl_options.is_current and the functions of
// pf_vulkan_device.
#ifndef PIXELFERRY_HPP
#define PIXELFERRY_HPP

#include "pixelferry.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pixelferry {

// A failed call: what() says what failed, on which device, and what to try.
class error : public std::runtime_error {
public:
    error(pf_status status, const char *message) : std::runtime_error(message), status_(status) {}
    // PIXELFERRY_ERROR_...
    pf_status status() const noexcept { return status_; }

private:
    pf_status status_;
};

inline void check(pf_status status) {
    if (status != PIXELFERRY_OK) throw error(status, pf_last_error_message());
}

namespace detail {

struct text_end {
    void operator()(char *text) const noexcept { pf_string_free(text); }
};

// Returns the text that a call of the C ABI provides.
template <class Call> std::string text(Call call) {
    char *given = nullptr;
    check(call(&given));
    std::unique_ptr<char, text_end> owned(given);
    return std::string(given);
}

// Reads what a link shows with the call for its kind.
template <class Handle>
std::vector<std::uint8_t> read_back(pf_status (*call)(Handle *, void *, std::size_t, std::size_t *), Handle *link) {
    std::size_t needed = 0;
    check(call(link, nullptr, 0, &needed));
    std::vector<std::uint8_t> pixels(needed);
    check(call(link, pixels.data(), pixels.size(), nullptr));
    return pixels;
}

template <class Handle, pf_status (*End)(Handle *)> struct end {
    void operator()(Handle *handle) const noexcept { End(handle); }
};
// Owns a handle: can be moved, not copied.
template <class Handle, pf_status (*End)(Handle *)> using owner = std::unique_ptr<Handle, end<Handle, End>>;

// Passes a lambda to C. Catches its exception, which `done` rethrows.
template <class Function> class guarded {
public:
    explicit guarded(Function &function) : function_(function) {}

    template <class... Arguments> std::int32_t operator()(Arguments &&...arguments) noexcept {
        thrown_ = nullptr;
        try {
            function_(std::forward<Arguments>(arguments)...);
            return 0;
        } catch (...) {
            thrown_ = std::current_exception();
            return 1;
        }
    }

    void done(pf_status status) const {
        if (status != PIXELFERRY_OK && thrown_) std::rethrow_exception(thrown_);
        check(status);
    }

private:
    Function &function_;
    std::exception_ptr thrown_;
};

// Passes the host function of a kernel's source to C; threads of the library call it. Catches its first exception,
// which `done` rethrows.
class guarded_host {
public:
    explicit guarded_host(const pf_kernel_source &source) : host_(source.host), user_(source.host_user) {}

    // Returns the source with this object in place of its function; it must not outlive this object.
    pf_kernel_source source(const pf_kernel_source &from) {
        pf_kernel_source made = from;
        if (host_) made.host = call, made.host_user = this;
        return made;
    }

    // Rethrows the function's exception if it made the call fail; otherwise throws the call's error.
    void done(pf_status status) {
        if (status != PIXELFERRY_OK) rethrow();
        check(status);
    }
    void rethrow() {
        std::exception_ptr thrown;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            std::swap(thrown, thrown_);
        }
        if (thrown) std::rethrow_exception(thrown);
    }

private:
    static std::int32_t call(void *user, const pf_pixels *pixels, const pf_arg *args, std::size_t count) noexcept {
        auto &self = *static_cast<guarded_host *>(user);
        try {
            return self.host_(self.user_, pixels, args, count);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(self.mutex_);
            if (!self.thrown_) self.thrown_ = std::current_exception();
            return 1;
        }
    }
    pf_host_function host_;
    void *user_;
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

} // namespace detail

// Machine-wide calls.
inline std::string version() { return pf_version(); }
inline std::uint32_t version_number() { return pf_version_number(); }
inline std::string backends_json() { return detail::text(pf_backends_json); }
inline std::string streams_json() { return detail::text(pf_streams_json); }
inline std::string probe_json(const pf_surface &surface, const pf_link_options *options = nullptr) {
    return detail::text([&](char **json) { return pf_probe_json(&surface, options, json); });
}

// Describes an image of `width` x `height` pixels; change its other fields as needed.
inline pf_surface image(std::uint32_t width, std::uint32_t height, std::uint32_t format = PIXELFERRY_FORMAT_RGBA8) {
    pf_surface surface{};
    surface.size = sizeof surface;
    surface.width = width;
    surface.height = height;
    surface.format = format;
    return surface;
}

// Describes a buffer.
inline pf_surface buffer(std::uint64_t bytes) {
    pf_surface surface{};
    surface.size = sizeof surface;
    surface.bytes = bytes;
    return surface;
}

// A kernel without sources; sources and functions must stay valid until it is built.
inline pf_kernel_source kernel_source(const char *name) {
    pf_kernel_source source{};
    source.size = sizeof source;
    source.name = name;
    return source;
}

// All defaults.
inline pf_link_options link_options() {
    pf_link_options options{};
    options.size = sizeof options;
    return options;
}
inline pf_draw_options draw_options() {
    pf_draw_options options{};
    options.size = sizeof options;
    return options;
}
inline pf_outlet_options outlet_options() {
    pf_outlet_options options{};
    options.size = sizeof options;
    return options;
}

// A texture of OpenGL, level 0 of a GL_TEXTURE_2D.
inline pf_object gl_texture(std::uint32_t name, std::uint32_t width, std::uint32_t height,
                            std::uint32_t format = PIXELFERRY_FORMAT_RGBA8) {
    pf_object object{};
    object.size = sizeof object;
    object.kind = PIXELFERRY_OBJECT_GL_TEXTURE;
    object.handle = name;
    object.width = width;
    object.height = height;
    object.format = format;
    return object;
}

// The first bytes of a buffer of OpenGL.
inline pf_object gl_buffer(std::uint32_t name, std::uint64_t bytes) {
    pf_object object{};
    object.size = sizeof object;
    object.kind = PIXELFERRY_OBJECT_GL_BUFFER;
    object.handle = name;
    object.bytes = bytes;
    return object;
}

// Frames of this surface, which must stay valid until they are opened; add launches and choices.
inline pf_frames frames(const pf_surface &surface) {
    pf_frames frames{};
    frames.size = sizeof frames;
    frames.surface = &surface;
    return frames;
}

struct opened;

class kernel {
public:
    pf_kernel *get() const noexcept { return handle_.get(); }

private:
    friend class backend;
    friend opened open_pair(const pf_frames &frames);
    friend class memory;
    friend class frame;
    kernel(pf_kernel *handle, std::unique_ptr<detail::guarded_host> host) : host_(std::move(host)), handle_(handle) {}
    // Declared after the handle, whose launches call it.
    std::unique_ptr<detail::guarded_host> host_;
    detail::owner<pf_kernel, pf_kernel_free> handle_;
};

class memory {
public:
    pf_memory *get() const noexcept { return handle_.get(); }
    void write(std::size_t offset, const void *data, std::size_t bytes) {
        check(pf_memory_write(get(), offset, data, bytes));
    }
    void read(std::size_t offset, void *data, std::size_t bytes) { check(pf_memory_read(get(), offset, data, bytes)); }
    void launch(const kernel &kernel, std::initializer_list<pf_arg> args = {}) {
        kernel.host_->done(pf_memory_launch(get(), kernel.get(), args.begin(), args.size()));
    }

private:
    friend class backend;
    friend class intake;
    friend class subscriber;
    explicit memory(pf_memory *handle) : handle_(handle) {}
    detail::owner<pf_memory, pf_memory_free> handle_;
};

// Makes an argument of a launch; its type selects the kind.
inline pf_arg arg(std::int32_t value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_I32, made.value.i32 = value;
    return made;
}
inline pf_arg arg(std::uint32_t value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_U32, made.value.u32 = value;
    return made;
}
inline pf_arg arg(float value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_F32, made.value.f32 = value;
    return made;
}
inline pf_arg arg(std::int64_t value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_I64, made.value.i64 = value;
    return made;
}
inline pf_arg arg(std::uint64_t value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_U64, made.value.u64 = value;
    return made;
}
inline pf_arg arg(double value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_F64, made.value.f64 = value;
    return made;
}
inline pf_arg arg(const memory &value) {
    pf_arg made{};
    made.kind = PIXELFERRY_ARG_MEMORY, made.value.memory = value.get();
    return made;
}

class backend {
public:
    // nullptr: opens the first that has a language of every one of `kernels`.
    static backend open(const char *name = nullptr, const std::vector<const pf_kernel_source *> &kernels = {}) {
        pf_backend *made = nullptr;
        check(pf_backend_open(name, kernels.data(), kernels.size(), &made));
        return backend(made);
    }

    pf_backend *get() const noexcept { return handle_.get(); }
    kernel build(const pf_kernel_source &source) const {
        auto host = std::make_unique<detail::guarded_host>(source);
        const auto guarded = host->source(source);
        pf_kernel *made = nullptr;
        host->done(pf_kernel_build(get(), &guarded, &made));
        return kernel(made, std::move(host));
    }
    memory allocate(std::size_t bytes) const {
        pf_memory *made = nullptr;
        check(pf_memory_new(get(), bytes, &made));
        return memory(made);
    }
    void finish() const { check(pf_backend_finish(get())); }
    std::string json() const {
        return detail::text([&](char **json) { return pf_backend_json(get(), json); });
    }

private:
    friend opened open_pair(const pf_frames &frames);
    explicit backend(pf_backend *handle) : handle_(handle) {}
    detail::owner<pf_backend, pf_backend_free> handle_;
};

class display {
public:
    // Opens a display without a window; nullptr: the first that works.
    static display open(const char *name = nullptr) {
        pf_display *made = nullptr;
        check(pf_display_open(name, &made));
        return display(made);
    }
    // Uses the OpenGL context that is current on this thread; destroy the context after this, its links and backends.
    static display from_current_gl(const pf_gl_options *options = nullptr) {
        pf_display *made = nullptr;
        check(pf_display_from_current_gl(options, &made));
        return display(made);
    }
    // Like from_current_gl with a loader, which is called during this call only.
    static display from_gl_loader(pf_get_proc_function get_proc, void *user, const pf_gl_options *options = nullptr) {
        struct loader {
            pf_get_proc_function get_proc;
            void *user;
            std::exception_ptr thrown;
        } given{get_proc, user, nullptr};
        const pf_get_proc_function guarded = [](void *loads, const char *name) noexcept -> void * {
            auto &self = *static_cast<loader *>(loads);
            try {
                return self.get_proc(self.user, name);
            } catch (...) {
                self.thrown = std::current_exception();
                return nullptr;
            }
        };
        pf_display *made = nullptr;
        const auto status = pf_display_from_gl_loader(get_proc ? guarded : nullptr, &given, options, &made);
        display owned(made);
        if (given.thrown) std::rethrow_exception(given.thrown);
        check(status);
        return owned;
    }

    // Uses a Vulkan device of the program; destroy the device after this, its links and backends.
    static display from_vulkan(const pf_vulkan_device &device) {
        pf_display *made = nullptr;
        check(pf_display_from_vulkan(&device, &made));
        return display(made);
    }

    // Opens a stream of this name for frames of `backend`: links to it publish with `shown::publish`.
    static display stream(const backend &backend, const char *name, const pf_stream_options *options = nullptr) {
        pf_display *made = nullptr;
        check(pf_stream_open(backend.get(), name, options, &made));
        return display(made);
    }

    pf_display *get() const noexcept { return handle_.get(); }
    // Only for a stream.
    std::uint32_t subscribers() const {
        std::uint32_t count = 0;
        check(pf_stream_subscribers(get(), &count, nullptr));
        return count;
    }
    // Returns whether a stream's newest frame should be published again.
    bool is_awaited() const {
        std::uint32_t count = 0, awaited = 0;
        check(pf_stream_subscribers(get(), &count, &awaited));
        return awaited != 0;
    }
    // Gives up the handle, which the caller then owns.
    pf_display *release() noexcept { return handle_.release(); }
    void make_current() const { check(pf_display_make_current(get())); }
    void gl_context_lost() const { check(pf_display_gl_context_lost(get())); }
    void finish() const { check(pf_display_finish(get())); }
    std::string json() const {
        return detail::text([&](char **json) { return pf_display_json(get(), json); });
    }

private:
    friend opened open_pair(const pf_frames &frames);
    explicit display(pf_display *handle) : handle_(handle) {}
    detail::owner<pf_display, pf_display_free> handle_;
};

// A frame being written: `link::frame` passes it to a lambda, and `owned_frame` owns it.
class frame {
public:
    explicit frame(pf_frame *handle) noexcept : handle_(handle) {}
    pf_frame *get() const noexcept { return handle_; }
    void launch(const kernel &kernel, std::initializer_list<pf_arg> args = {}) const {
        kernel.host_->done(pf_frame_launch(get(), kernel.get(), args.begin(), args.size()));
    }
    // Writes the whole frame; row_pitch is in bytes, 0 for tight rows.
    void write(const void *data, std::size_t bytes, std::size_t row_pitch = 0) const {
        check(pf_frame_write(get(), data, bytes, row_pitch));
    }
    // Calls `write(const pf_pixels &)` with the frame's memory.
    template <class Write> void map(Write &&write) const {
        auto by = [&](const pf_pixels *pixels) { write(*pixels); };
        detail::guarded<decltype(by)> guarded(by);
        guarded.done(pf_frame_map(
            get(),
            [](void *user, const pf_pixels *pixels) {
                return (*static_cast<detail::guarded<decltype(by)> *>(user))(pixels);
            },
            &guarded));
    }
    pf_device_memory device_memory() const {
        pf_device_memory memory{};
        memory.size = sizeof memory;
        check(pf_frame_device_memory(get(), &memory));
        return memory;
    }

private:
    pf_frame *handle_;
};

namespace detail {

// Calls `call(compute, user)`, a call of the C ABI that runs `compute(pixelferry::frame)`, which may throw.
template <class Compute, class Call> void computed(Compute &compute, Call call) {
    auto by = [&](pf_frame *handle) { compute(pixelferry::frame(handle)); };
    using lambda = guarded<decltype(by)>;
    lambda guarded(by);
    pf_frame_function function = [](void *user, pf_frame *handle) { return (*static_cast<lambda *>(user))(handle); };
    guarded.done(call(function, &guarded));
}

} // namespace detail

// A frame from `link::acquire`; it is cancelled in the destructor unless `finish` was called.
class owned_frame {
public:
    frame operator*() const noexcept { return frame(handle_.get()); }
    void launch(const kernel &kernel, std::initializer_list<pf_arg> args = {}) const { (**this).launch(kernel, args); }
    void write(const void *data, std::size_t bytes, std::size_t row_pitch = 0) const {
        (**this).write(data, bytes, row_pitch);
    }
    template <class Write> void map(Write &&write) const { (**this).map(std::forward<Write>(write)); }
    pf_device_memory device_memory() const { return (**this).device_memory(); }
    void finish() { check(pf_frame_finish(handle_.release())); }

private:
    friend class link;
    explicit owned_frame(pf_frame *handle) : handle_(handle) {}
    detail::owner<pf_frame, pf_frame_cancel> handle_;
};

// A shown frame; the link can continue after its destructor.
class shown {
public:
    pf_shown *get() const noexcept { return handle_.get(); }
    pf_surface surface() const {
        pf_surface surface{};
        surface.size = sizeof surface;
        check(pf_shown_surface(get(), &surface));
        return surface;
    }
    pf_gl_texture gl_texture() const {
        pf_gl_texture texture{};
        texture.size = sizeof texture;
        check(pf_shown_gl_texture(get(), &texture));
        return texture;
    }
    pf_gl_buffer gl_buffer() const {
        pf_gl_buffer buffer{};
        buffer.size = sizeof buffer;
        check(pf_shown_gl_buffer(get(), &buffer));
        return buffer;
    }
    pf_vulkan_frame vulkan() const {
        pf_vulkan_frame frame{};
        frame.size = sizeof frame;
        check(pf_shown_vulkan(get(), &frame));
        return frame;
    }
    void vulkan_read_until(std::uint64_t semaphore, std::uint64_t value) const {
        check(pf_shown_vulkan_read_until(get(), semaphore, value));
    }
    void draw_gl(std::int32_t x, std::int32_t y, std::uint32_t width, std::uint32_t height,
                 const pf_draw_options *options = nullptr) const {
        check(pf_shown_draw_gl(get(), x, y, width, height, options));
    }
    void draw_gl_texture(std::uint32_t texture, std::uint32_t level, std::uint32_t width, std::uint32_t height,
                         const pf_draw_options *options = nullptr) const {
        check(pf_shown_draw_gl_texture(get(), texture, level, width, height, options));
    }
    // Publishes to the subscribers of the stream that the link shows on.
    pf_published publish() const {
        pf_published published{};
        published.size = sizeof published;
        check(pf_stream_publish(get(), &published));
        return published;
    }

private:
    friend class link;
    explicit shown(pf_shown *handle) : handle_(handle) {}
    detail::owner<pf_shown, pf_shown_release> handle_;
};

// An image of the program's Vulkan device that shows frames; destroy the image after this and `display::finish`.
class target {
public:
    target(const display &display, const pf_object &image, std::uint32_t x, std::uint32_t y, std::uint32_t width,
           std::uint32_t height) {
        pf_target *made = nullptr;
        check(pf_target_open(display.get(), &image, x, y, width, height, &made));
        handle_.reset(made);
    }

    pf_target *get() const noexcept { return handle_.get(); }

private:
    detail::owner<pf_target, pf_target_free> handle_;
};

class link {
public:
    link(const backend &backend, const display &display, const pf_surface &surface,
         const pf_link_options *options = nullptr) {
        pf_link *made = nullptr;
        check(pf_link_open(backend.get(), display.get(), &surface, options, &made));
        handle_.reset(made);
    }

    pf_link *get() const noexcept { return handle_.get(); }

    // Computes one frame with `compute(pixelferry::frame)`, which is called again if a path fails.
    template <class Compute> void frame(Compute &&compute) {
        detail::computed(compute, [&](auto function, void *user) { return pf_link_frame(get(), function, user); });
    }
    owned_frame acquire() {
        pf_frame *made = nullptr;
        check(pf_link_acquire(get(), &made));
        return owned_frame(made);
    }
    owned_frame acquire_region(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height) {
        pf_frame *made = nullptr;
        check(pf_link_acquire_region(get(), x, y, width, height, &made));
        return owned_frame(made);
    }
    owned_frame acquire_bytes(std::size_t offset, std::size_t bytes) {
        pf_frame *made = nullptr;
        check(pf_link_acquire_bytes(get(), offset, bytes, &made));
        return owned_frame(made);
    }
    shown show() {
        pf_shown *made = nullptr;
        check(pf_link_show(get(), &made));
        return shown(made);
    }
    // Computes a frame with `compute(pixelferry::frame)` and draws it in one call, directly in the framebuffer if
    // possible. Returns PIXELFERRY_SHOWED_; `way` is set to the same in words.
    template <class Compute>
    std::uint32_t show_gl(std::int32_t x, std::int32_t y, std::uint32_t width, std::uint32_t height, Compute &&compute,
                          const pf_draw_options *options = nullptr, std::string *way = nullptr) {
        return showed(compute, way, [&](auto... rest) {
            return pf_link_show_gl(get(), x, y, width, height, options, rest...);
        });
    }
    // Like show_gl, in an image of Vulkan.
    template <class Compute>
    std::uint32_t show_in(const target &target, Compute &&compute, const pf_draw_options *options = nullptr,
                          std::string *way = nullptr) {
        return showed(compute, way, [&](auto... rest) { return pf_link_show_in(get(), target.get(), options, rest...); });
    }
    void resize(const pf_surface &surface) { check(pf_link_resize(get(), &surface)); }
    void flush() { check(pf_link_flush(get())); }
    // Reads back the shown frame: tight rows in the surface's order.
    std::vector<std::uint8_t> read_back() { return detail::read_back(pf_link_read_back, get()); }
    void save(const char *file, const pf_draw_options *options = nullptr) {
        check(pf_link_save(get(), file, options));
    }
    std::string path() const {
        return detail::text([&](char **path) { return pf_link_path(get(), path); });
    }
    std::string explain() const {
        return detail::text([&](char **text) { return pf_link_explain(get(), text); });
    }
    std::string report_json() const {
        return detail::text([&](char **json) { return pf_link_report_json(get(), json); });
    }

private:
    template <class Compute, class Show> std::uint32_t showed(Compute &compute, std::string *way, Show show) {
        std::uint32_t showed = 0;
        char *said = nullptr;
        detail::computed(compute, [&](auto function, void *user) {
            return show(function, user, &showed, way ? &said : nullptr);
        });
        std::unique_ptr<char, detail::text_end> owned(said);
        if (way) *way = said;
        return showed;
    }
    friend opened open_pair(const pf_frames &frames);
    explicit link(pf_link *handle) : handle_(handle) {}
    detail::owner<pf_link, pf_link_free> handle_;
};

// Both sides, the declared kernels and the link, which were chosen together.
struct opened {
    pixelferry::backend backend;
    pixelferry::display display; // has no handle if frames.shown_by was given
    std::vector<kernel> kernels;
    pixelferry::link link;
    std::string report; // JSON
};

inline opened open_pair(const pf_frames &frames) {
    pf_backend *computes = nullptr;
    pf_display *shows = nullptr;
    pf_link *joins = nullptr;
    std::vector<pf_kernel *> built(frames.launch_count);
    std::vector<std::unique_ptr<detail::guarded_host>> hosts;
    std::vector<pf_kernel_source> sources(frames.launch_count);
    std::vector<pf_launch> launches;
    if (frames.launches) launches.assign(frames.launches, frames.launches + frames.launch_count);
    for (std::size_t at = 0; at < launches.size(); at++) {
        if (!launches[at].source) continue; // which the call refuses
        hosts.push_back(std::make_unique<detail::guarded_host>(*launches[at].source));
        sources[at] = hosts.back()->source(*launches[at].source);
        launches[at].source = &sources[at];
    }
    pf_frames guarded = frames;
    if (frames.launches) guarded.launches = launches.data();
    auto report = detail::text([&](char **json) {
        const auto status = pf_open_pair(&guarded, &computes, &shows, built.data(), &joins, json);
        for (auto &host : hosts)
            if (status != PIXELFERRY_OK) host->rethrow();
        return status;
    });
    opened made{backend(computes), display(shows), {}, link(joins), std::move(report)};
    for (std::size_t at = 0; at < built.size(); at++) made.kernels.push_back(kernel(built[at], std::move(hosts[at])));
    return made;
}

// Writes frames into a texture or buffer of the program, whose name never changes.
class outlet {
public:
    outlet(const backend &backend, const display &display, const pf_object &object,
           const pf_outlet_options *options = nullptr) {
        pf_outlet *made = nullptr;
        check(pf_outlet_open(backend.get(), display.get(), &object, options, &made));
        handle_.reset(made);
    }

    pf_outlet *get() const noexcept { return handle_.get(); }

    // Computes one frame with `compute(pixelferry::frame)`, which is called again if a path fails.
    template <class Compute> void frame(Compute &&compute) {
        detail::computed(compute, [&](auto function, void *user) { return pf_outlet_frame(get(), function, user); });
    }
    template <class Compute>
    void frame_region(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height, Compute &&compute) {
        detail::computed(compute, [&](auto function, void *user) {
            return pf_outlet_frame_region(get(), x, y, width, height, function, user);
        });
    }
    template <class Compute> void frame_bytes(std::size_t offset, std::size_t bytes, Compute &&compute) {
        detail::computed(compute, [&](auto function, void *user) {
            return pf_outlet_frame_bytes(get(), offset, bytes, function, user);
        });
    }
    void finish() { check(pf_outlet_finish(get())); }
    std::string explain() const {
        return detail::text([&](char **text) { return pf_outlet_explain(get(), text); });
    }

private:
    detail::owner<pf_outlet, pf_outlet_free> handle_;
};

// Takes what was rendered into a texture or buffer of the program, as memory for kernels.
class intake {
public:
    intake(const backend &backend, const display &display, const pf_object &object, const char *path = nullptr) {
        pf_intake *made = nullptr;
        check(pf_intake_open(backend.get(), display.get(), &object, path, &made));
        handle_.reset(made);
    }

    pf_intake *get() const noexcept { return handle_.get(); }
    // Returns read-only memory. The intake takes nothing else while it lives.
    memory take() {
        pf_memory *made = nullptr;
        check(pf_intake_take(get(), &made));
        return memory(made);
    }
    pf_surface surface() const {
        pf_surface surface{};
        surface.size = sizeof surface;
        check(pf_intake_surface(get(), &surface));
        return surface;
    }
    std::string explain() const {
        return detail::text([&](char **text) { return pf_intake_explain(get(), text); });
    }

private:
    detail::owner<pf_intake, pf_intake_free> handle_;
};

// A frame of a shared link; the next one is handed over after its destructor.
class shared_frame {
public:
    pf_shared_frame *get() const noexcept { return handle_.get(); }
    pf_surface surface() const { return filled<pf_surface>(pf_shared_frame_surface); }
    pf_gl_texture gl_texture() const { return filled<pf_gl_texture>(pf_shared_frame_gl_texture); }
    pf_gl_buffer gl_buffer() const { return filled<pf_gl_buffer>(pf_shared_frame_gl_buffer); }
    pf_vulkan_frame vulkan() const { return filled<pf_vulkan_frame>(pf_shared_frame_vulkan); }
    pf_pixels pixels() const { return filled<pf_pixels>(pf_shared_frame_pixels); }
    std::uint64_t number() const {
        std::uint64_t number = 0;
        check(pf_shared_frame_number(get(), &number));
        return number;
    }

private:
    friend class shared_link;
    explicit shared_frame(pf_shared_frame *handle) : handle_(handle) {}
    template <class Struct> Struct filled(pf_status (*call)(pf_shared_frame *, Struct *)) const {
        Struct made{};
        made.size = sizeof made;
        check(call(get(), &made));
        return made;
    }
    detail::owner<pf_shared_frame, pf_shared_frame_release> handle_;
};

// A link for all threads: it lives with its display on a thread of its own.
class shared_link {
public:
    // `open()` makes the display (`return pixelferry::display::open("memory");`) on the link's thread.
    template <class Open>
    shared_link(const backend &backend, Open &&open, const pf_surface &surface,
                const pf_link_options *options = nullptr) {
        auto by = [&](pf_display **to) { *to = open().release(); };
        using lambda = detail::guarded<decltype(by)>;
        lambda guarded(by);
        pf_shared_link *made = nullptr;
        guarded.done(pf_shared_link_open(
            backend.get(), [](void *user, pf_display **to) { return (*static_cast<lambda *>(user))(to); }, &guarded,
            &surface, options, &made));
        handle_.reset(made);
    }

    pf_shared_link *get() const noexcept { return handle_.get(); }

    // Computes one frame with `compute(pixelferry::frame)` on the link's thread; waits until it is shown.
    template <class Compute> void frame(Compute &&compute) const {
        detail::computed(compute,
                         [&](auto function, void *user) { return pf_shared_link_frame(get(), function, user); });
    }

    // A frame that is being computed. The destructor waits for it and ignores errors; release the shared frames of this
    // thread before.
    class started {
    public:
        started(started &&) noexcept = default;
        started &operator=(started &&) = delete;
        ~started() {
            if (!handle_) return;
            const auto status = pf_started_wait(handle_.get());
            // This thread holds a frame and cannot wait; the link's thread may still call the function.
            if (status == PIXELFERRY_ERROR_BUSY) static_cast<void>(task_.release());
            else static_cast<void>(handle_.release());
        }
        // Waits until it is shown, and rethrows the exception of `compute`.
        void wait() {
            const auto status = pf_started_wait(handle_.get());
            if (status == PIXELFERRY_ERROR_BUSY) check(status);
            static_cast<void>(handle_.release());
            task_->guarded.done(status);
        }

    private:
        friend class shared_link;
        // Stays at one address, because the link's thread calls it.
        struct task {
            explicit task(std::function<void(pixelferry::frame)> compute)
                : by([compute = std::move(compute)](pf_frame *handle) { compute(pixelferry::frame(handle)); }), guarded(by) {}
            std::function<void(pf_frame *)> by;
            detail::guarded<std::function<void(pf_frame *)>> guarded;
        };
        explicit started(std::unique_ptr<task> given) : task_(std::move(given)) {}
        std::unique_ptr<task> task_;
        detail::owner<pf_started, pf_started_free> handle_;
    };
    // Like frame, without waiting. `compute` is kept until the frame is finished.
    started start_frame(std::function<void(pixelferry::frame)> compute) const {
        using task = started::task;
        started made(std::make_unique<task>(std::move(compute)));
        pf_started *handle = nullptr;
        check(pf_shared_link_start_frame(
            get(), [](void *user, pf_frame *frame) { return static_cast<task *>(user)->guarded(frame); },
            made.task_.get(), &handle));
        made.handle_.reset(handle);
        return made;
    }

    // Returns the newest frame, for this thread to draw.
    shared_frame show() const {
        pf_shared_frame *made = nullptr;
        check(pf_shared_link_show(get(), &made));
        return shared_frame(made);
    }
    void resize(const pf_surface &surface) const { check(pf_shared_link_resize(get(), &surface)); }
    std::vector<std::uint8_t> read_back() const { return detail::read_back(pf_shared_link_read_back, get()); }
    std::string explain() const {
        return detail::text([&](char **text) { return pf_shared_link_explain(get(), text); });
    }

private:
    detail::owner<pf_shared_link, pf_shared_link_free> handle_;
};

// Receives the frames of another process; each is valid until the next.
class subscriber {
public:
    subscriber(const backend &backend, const char *name) {
        pf_subscriber *made = nullptr;
        check(pf_subscriber_open(backend.get(), name, &made));
        handle_.reset(made);
    }

    pf_subscriber *get() const noexcept { return handle_.get(); }
    // Waits for a newer frame; PIXELFERRY_NEXT_.
    std::uint32_t next(std::uint32_t timeout_ms) {
        std::uint32_t found = PIXELFERRY_NEXT_NOTHING;
        check(pf_subscriber_next(get(), timeout_ms, &found));
        return found;
    }
    pf_surface surface() const {
        pf_surface surface{};
        surface.size = sizeof surface;
        check(pf_subscriber_surface(get(), &surface));
        return surface;
    }
    pf_stream_frame frame() const {
        pf_stream_frame frame{};
        frame.size = sizeof frame;
        check(pf_subscriber_frame(get(), &frame));
        return frame;
    }
    void read(void *data, std::size_t bytes, std::size_t row_pitch = 0) const {
        check(pf_subscriber_read(get(), data, bytes, row_pitch));
    }
    // Reads tight rows, top row first.
    std::vector<std::uint8_t> read() const {
        const auto whole = surface();
        std::vector<std::uint8_t> pixels(whole.bytes ? whole.bytes : whole.height * frame().row_bytes);
        read(pixels.data(), pixels.size());
        return pixels;
    }
    // Returns memory that kernels may only read. The subscriber takes nothing else while it lives.
    pixelferry::memory memory() const {
        pf_memory *made = nullptr;
        check(pf_subscriber_memory(get(), &made));
        return pixelferry::memory(made);
    }
    std::string explain() const {
        return detail::text([&](char **text) { return pf_subscriber_explain(get(), text); });
    }

private:
    detail::owner<pf_subscriber, pf_subscriber_free> handle_;
};

} // namespace pixelferry

#endif
