// The rows that keep several frames in flight, so that the GPU changes between compute and graphics once per group of
// frames and not once per frame.
#pragma once

#include <atomic>
#include <thread>

#include "simple_rows.h"

// Frames move in groups of `group`; the ring holds `groups` groups; group g is drawn once group g + `late` has been
// handed to the GPU. One group that is the whole ring, drawn 0 late, is the quickest.
struct Plan {
    Kind kind = Kind::TextureBuffer;
    bool registered = false;  // textures mapped and unmapped a group at a time; `kind` is then of no account
    int group = 1, groups = 2, late = 1;
    bool threads = false;  // one host thread for CUDA, one for GL; `late` is then what the threads make it
    bool gated = false;    // kernels wait behind a gate that the host opens when drawing would run dry

    std::string name() const {
        char text[128];
        snprintf(text, sizeof text, "pipelined: %s, ring %d, groups of %d, %s%s",
                 registered ? "registered textures" : name_of(kind), group * groups, group,
                 threads ? "two threads" : (std::to_string(late) + " late").c_str(), gated ? ", gated" : "");
        return text;
    }
};

// A pipeline runs a stretch of frames and returns how far, at most, compute was ahead of a frame when it was drawn.
class Pipeline {
  public:
    Pipeline(Bench& b, const Plan& plan) : b_(b), plan_(plan) {
        if (plan.groups < 1 || plan.group < 1 || plan.late < 0 || plan.late >= plan.groups)
            throw Failure("the ring must hold more groups than drawing is late");
        const int ring = plan.group * plan.groups;
        for (int i = 0; i < ring; ++i) {
            if (plan.registered)
                slots_.push_back(std::make_unique<RegisteredSlot>(b.extent));
            else
                slots_.push_back(make_slot(plan.kind, b.extent));
        }
        fences_.resize(plan.groups);
        events_.resize(plan.groups);
        for (cudaEvent_t& event : events_) CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        CUDA(cudaHostAlloc(&gate_, sizeof *gate_, cudaHostAllocMapped));
        gate_->store(0);
        CUDA(cudaDeviceSynchronize());
        glFinish();
    }

    ~Pipeline() {
        for (GLsync fence : fences_)
            if (fence) glDeleteSync(fence);
        for (cudaEvent_t event : events_) cudaEventDestroy(event);
        if (stream_) cudaStreamDestroy(stream_);
        cudaFreeHost(gate_);
    }

    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    // Runs frames `first .. first + count`; `count` is a multiple of the group. Everything is finished on return.
    int run(int first, int count) {
        first_ = first;
        const int batches = count / plan_.group;
        if (plan_.registered) return run_registered(batches);
        return plan_.threads ? run_threads(batches) : run_one_thread(batches);
    }

  private:
    Slot& slot(int batch, int i) { return *slots_[(batch % plan_.groups) * plan_.group + i]; }
    int frame_of(int batch, int i) const { return first_ + batch * plan_.group + i; }

    void write(int batch) {
        if (plan_.gated) Driver::get().wait_for(stream_, gate_, ++gate_given_);
        for (int i = 0; i < plan_.group; ++i) slot(batch, i).write(frame_of(batch, i), stream_);
        CUDA(cudaEventRecord(events_[batch % plan_.groups], stream_));
    }

    bool written(int batch) {
        const cudaError_t code = cudaEventQuery(events_[batch % plan_.groups]);
        if (code == cudaErrorNotReady) return false;
        CUDA(code);
        return true;
    }

    void draw(int batch) {
        for (int i = 0; i < plan_.group; ++i) b_.screen.draw(slot(batch, i).view, frame_of(batch, i));
    }

    void fence(int batch) {
        fences_[batch % plan_.groups] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        glFlush();
    }

    void open_gate() { gate_->store(gate_given_, std::memory_order_release); }

    // Compute: waits, on the host, for the fence of the group that held these slots `groups` groups ago; launches;
    // records an event. Graphics: waits, on the host, for the event `late` groups back; draws; fences; flushes.
    int run_one_thread(int batches) {
        for (int batch = 0; batch < batches + plan_.late; ++batch) {
            if (batch < batches) {
                wait_fence(fences_[batch % plan_.groups]);
                write(batch);
            }
            const int due = batch - plan_.late;
            if (due < 0) continue;
            if (plan_.gated && !written(due)) open_gate();
            while (!written(due)) {
            }
            draw(due);
            fence(due);
        }
        finish();
        return (plan_.late + 1) * plan_.group - 1;
    }

    int run_threads(int batches) {
        std::atomic<int> launched{0}, freed{0};
        std::atomic<bool> stop{false};
        std::string failure;
        std::thread producer([&] {
            try {
                CUDA(cudaSetDevice(0));
                for (int batch = 0; batch < batches; ++batch) {
                    while (batch - freed.load(std::memory_order_acquire) >= plan_.groups)
                        if (stop) return;
                    write(batch);
                    launched.store(batch + 1, std::memory_order_release);
                }
            } catch (const Failure& f) {
                failure = f.what();
                stop = true;
            }
        });
        int drawn = 0, oldest = 0, age = 0;
        try {
            while (oldest < batches && !stop) {
                if (oldest < drawn && passed_fence(fences_[oldest % plan_.groups]))
                    freed.store(++oldest, std::memory_order_release);
                const int ready = launched.load(std::memory_order_acquire);
                if (drawn < ready && written(drawn)) {
                    age = std::max(age, (ready - drawn) * plan_.group - 1);
                    draw(drawn);
                    fence(drawn++);
                }
            }
        } catch (...) {
            stop = true;
            producer.join();
            throw;
        }
        producer.join();
        if (!failure.empty()) throw Failure(failure);
        finish();
        return age;
    }

    // Map and unmap are the only order: GL work issued before a map is done before the CUDA work after it, CUDA work
    // before an unmap is done before the GL work after it. A late draw is therefore issued between the two.
    int run_registered(int batches) {
        std::vector<cudaGraphicsResource*> resources(plan_.group);
        for (int batch = 0; batch < batches + plan_.late; ++batch) {
            const int due = batch - plan_.late;
            if (batch < batches) {
                for (int i = 0; i < plan_.group; ++i) resources[i] = registered(batch, i).resource;
                CUDA(cudaGraphicsMapResources(plan_.group, resources.data(), stream_));
                for (int i = 0; i < plan_.group; ++i) registered(batch, i).attach();
                write(batch);
            }
            if (due >= 0 && plan_.late > 0) {
                draw(due);
                glFlush();
            }
            if (batch < batches) CUDA(cudaGraphicsUnmapResources(plan_.group, resources.data(), stream_));
            if (due >= 0 && plan_.late == 0) {
                draw(due);
                glFlush();
            }
        }
        finish();
        return (plan_.late + 1) * plan_.group - 1;
    }

    RegisteredSlot& registered(int batch, int i) { return static_cast<RegisteredSlot&>(slot(batch, i)); }

    void finish() {
        open_gate();
        glFinish();
        CUDA(cudaStreamSynchronize(stream_));
        for (GLsync& fence : fences_) wait_fence(fence);
        gl_check("pipeline");
    }

    Bench& b_;
    Plan plan_;
    int first_ = 0;
    std::atomic<unsigned>* gate_ = nullptr;  // page-locked: the stream waits until it reaches a group's number
    unsigned gate_given_ = 0;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<GLsync> fences_;
    std::vector<cudaEvent_t> events_;
    cudaStream_t stream_ = nullptr;
};
