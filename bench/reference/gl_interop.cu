// What careful hand-written programs reach when a CUDA kernel writes frames and OpenGL draws them: floors, the classic
// ways, shared memory, host round trips, and pipelines with several frames in flight. Every row's pixels are compared.
#include <cstdlib>
#include <cstring>

#include "pipeline.h"
#include "report.h"

namespace {

struct Options {
    std::string json, size = "both";
    int frames = 320, repeats = 5;
    bool explore = false;
};

struct Size {
    const char* name;
    Extent extent;
};

// Draws every frame with the comparing shader, then reads the framebuffer back as a second opinion.
long check_row(Row& row, Bench& b) {
    if (!row.shows_frames()) return -1;
    const int frames = 40;
    b.screen.clear();
    b.screen.check(true);
    for (int n = 0; n < frames; ++n) row.frame(n);
    row.finish();
    const long wrong = b.screen.wrong();
    b.screen.check(false);
    return wrong + b.screen.wrong_in_framebuffer(frames - 1);
}

void time_row(const NamedRow& named, const Size& size, Bench& b, const Options& o, Report& report) {
    try {
        const std::unique_ptr<Row> row = named.make(b);
        Result latency, throughput;
        latency.row = throughput.row = named.name;
        latency.size = throughput.size = size.name;
        latency.mode = "latency";
        throughput.mode = "throughput";
        throughput.frames_per_sample = o.frames;
        latency.wrong = throughput.wrong = check_row(*row, b);
        int n = 1000;
        for (int i = 0; i < o.frames + 20; ++i, ++n) {
            const double start = now_us();
            row->frame(n);
            row->finish();
            if (i >= 20) latency.samples.push_back(now_us() - start);
        }
        for (int r = 0; r < o.repeats; ++r) {
            const double start = now_us();
            for (int i = 0; i < o.frames; ++i, ++n) row->frame(n);
            row->finish();
            throughput.samples.push_back((now_us() - start) / o.frames);
        }
        gl_check(named.name);
        const double lat = report.add(latency), thr = report.add(throughput);
        if (strstr(named.name, "unsynchronised")) {
            report.set_floor(size.name, "latency", lat);
            report.set_floor(size.name, "throughput", thr);
        }
    } catch (const Failure& failure) {
        report.unavailable(named.name, size.name, failure.what());
    }
}

void time_plan(const Plan& plan, const Size& size, Bench& b, const Options& o, Report& report) {
    try {
        Pipeline pipeline(b, plan);
        const int frames = (o.frames + plan.group - 1) / plan.group * plan.group;
        const int few = (96 + plan.group - 1) / plan.group * plan.group;
        Result result;
        result.row = plan.name();
        result.size = size.name;
        result.mode = "throughput";
        result.frames_per_sample = frames;
        b.screen.clear();
        b.screen.check(true);
        pipeline.run(0, few);
        result.wrong = b.screen.wrong();
        b.screen.check(false);
        result.wrong += b.screen.wrong_in_framebuffer(few - 1);
        int n = 1000;
        for (int r = 0; r < o.repeats; ++r, n += frames) {
            const double start = now_us();
            const int age = pipeline.run(n, frames);
            result.samples.push_back((now_us() - start) / frames);
            result.age = std::max(result.age, age);
        }
        report.add(result);
    } catch (const Failure& failure) {
        report.unavailable(plan.name(), size.name, failure.what());
    }
}

Plan one_at_a_time(Kind kind, int ring, int late, bool gated) {
    Plan plan;
    plan.kind = kind;
    plan.groups = ring;
    plan.late = late;
    plan.gated = gated;
    return plan;
}

// The whole ring is one group: written, waited for, drawn, waited for.
Plan whole_ring(Kind kind, int ring) {
    Plan plan;
    plan.kind = kind;
    plan.group = ring;
    plan.groups = 1;
    plan.late = 0;
    return plan;
}

Plan registered(int group, int groups, int late) {
    Plan plan;
    plan.registered = true;
    plan.group = group;
    plan.groups = groups;
    plan.late = late;
    return plan;
}

Plan threaded(Kind kind, int group, int groups) {
    Plan plan = whole_ring(kind, group);
    plan.groups = groups;
    plan.threads = true;
    return plan;
}

std::vector<Plan> plans(bool explore) {
    const Kind best = Kind::ArrayTexture;
    std::vector<Plan> all;
    for (int ring : {2, 3, 4, 8, 10, 12, 16}) all.push_back(whole_ring(best, ring));
    for (int ring : {4, 8, 12, 16}) all.push_back(registered(ring, 1, 0));
    for (int ring : {4, 8, 16}) all.push_back(whole_ring(Kind::CopiedBuffer, ring));
    for (int ring : {4, 8, 16}) all.push_back(whole_ring(Kind::TextureBuffer, ring));
    for (auto [ring, late, gated] : {std::tuple{3, 1, false}, {8, 4, false}, {4, 2, true}, {8, 3, true}, {18, 8, true}})
        all.push_back(one_at_a_time(best, ring, late, gated));
    if (!explore) return all;
    for (Kind kind : {best, Kind::CopiedBuffer, Kind::StorageBuffer}) {
        for (auto [ring, late] : {std::pair{2, 1}, {4, 1}, {4, 2}, {6, 2}, {8, 2}, {8, 7}, {10, 4}, {14, 6}, {16, 8}})
            for (bool gated : {false, true}) all.push_back(one_at_a_time(kind, ring, late, gated));
        for (auto [group, groups] : {std::pair{1, 8}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 2}, {8, 2}})
            all.push_back(threaded(kind, group, groups));
    }
    for (auto [group, groups, late] : {std::tuple{1, 2, 1}, {2, 2, 1}, {4, 2, 1}, {4, 3, 2}, {8, 2, 1}})
        all.push_back(registered(group, groups, late));
    return all;
}

int usage(const char* program) {
    fprintf(stderr,
            "usage: %s [--json FILE] [--size 1080p|4K|both] [--frames N] [--repeats N] [--explore]\n",
            program);
    return 2;
}

bool parse(int count, char** words, Options& o) {
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--explore") {
            o.explore = true;
            continue;
        }
        if (i + 1 >= count) return false;
        const std::string value = words[++i];
        if (word == "--json") o.json = value;
        else if (word == "--size") o.size = value;
        else if (word == "--frames") o.frames = atoi(value.c_str());
        else if (word == "--repeats") o.repeats = atoi(value.c_str());
        else return false;
    }
    return o.frames > 0 && o.repeats > 0 && (o.size == "1080p" || o.size == "4K" || o.size == "both");
}

}  // namespace

int main(int count, char** words) {
    Options o;
    if (!parse(count, words, o)) return usage(words[0]);
    try {
        CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
        CUDA(cudaSetDevice(0));
        Context context(0);
        cudaDeviceProp device = {};
        CUDA(cudaGetDeviceProperties(&device, 0));
        int driver = 0;
        CUDA(cudaDriverGetVersion(&driver));
        printf("CUDA: %s, driver for CUDA %d.%d; GL: %s, %s\n", device.name, driver / 1000, driver % 1000 / 10,
               reinterpret_cast<const char*>(glGetString(GL_RENDERER)),
               reinterpret_cast<const char*>(glGetString(GL_VERSION)));
        Report report;
        if (!o.json.empty()) report.open(o.json);
        for (const Size& size : {Size{"1080p", {1920, 1080}}, Size{"4K", {3840, 2160}}}) {
            if (o.size != "both" && o.size != size.name) continue;
            Screen screen(size.extent.width, size.extent.height);
            cudaStream_t stream = nullptr;
            CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            Bench b{size.extent, screen, stream};
            report.head(size.name);
            for (double end = now_us() + 3e5; now_us() < end; glFinish()) screen.clear();  // clocks up
            for (const NamedRow& row : simple_rows()) time_row(row, size, b, o, report);
            for (const Plan& plan : plans(o.explore)) time_plan(plan, size, b, o, report);
            CUDA(cudaStreamDestroy(stream));
        }
    } catch (const Failure& failure) {
        fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
