// The rows that hand over each frame on its own: floors, and the ways everybody writes first.
#pragma once

#include <functional>

#include "slots.h"

// One way to bring a frame from a kernel to the screen. `frame(n)` leaves every command issued and correct; the caller
// decides when to wait for the last one.
class Row {
  public:
    virtual ~Row() = default;
    virtual void frame(int n) = 0;
    virtual void finish() { glFinish(); }
    virtual bool shows_frames() const { return true; }
};

struct Bench {
    Extent extent;
    Screen& screen;
    cudaStream_t stream;
};

class KernelAlone : public Row {
  public:
    explicit KernelAlone(Bench& b) : b_(b) { CUDA(cudaMalloc(&out_, b.extent.bytes())); }
    ~KernelAlone() override { cudaFree(out_); }
    void frame(int n) override { launch(out_, b_.extent, n, b_.stream); }
    void finish() override { CUDA(cudaStreamSynchronize(b_.stream)); }
    bool shows_frames() const override { return false; }

  protected:
    Bench& b_;
    uchar4* out_ = nullptr;
};

class DrawAlone : public Row {
  public:
    explicit DrawAlone(Bench& b) : b_(b) {
        glCreateTextures(GL_TEXTURE_2D, 1, &texture_);
        glTextureStorage2D(texture_, 1, GL_RGBA8, b.extent.width, b.extent.height);
    }
    ~DrawAlone() override { glDeleteTextures(1, &texture_); }
    void frame(int n) override { b_.screen.draw({Read::Texture, texture_}, n); }
    bool shows_frames() const override { return false; }

  protected:
    Bench& b_;
    GLuint texture_ = 0;
};

// Kernel and draw that share nothing, with or without a wait in between.
class NothingShared : public Row {
  public:
    NothingShared(Bench& b, bool wait) : kernel_(b), draw_(b), wait_(wait) {}
    void frame(int n) override {
        kernel_.frame(n);
        if (wait_) kernel_.finish();
        draw_.frame(n);
        if (wait_) glFlush();
    }
    void finish() override {
        glFinish();
        kernel_.finish();
    }
    bool shows_frames() const override { return false; }

  private:
    KernelAlone kernel_;
    DrawAlone draw_;
    bool wait_;
};

// cudaGraphicsMapResources, surf2Dwrite, unmap, draw.
class ClassicTexture : public Row {
  public:
    explicit ClassicTexture(Bench& b) : b_(b), slot_(b.extent) {}
    void frame(int n) override {
        CUDA(cudaGraphicsMapResources(1, &slot_.resource, b_.stream));
        slot_.attach();
        slot_.write(n, b_.stream);
        CUDA(cudaGraphicsUnmapResources(1, &slot_.resource, b_.stream));
        b_.screen.draw(slot_.view, n);
    }

  private:
    Bench& b_;
    RegisteredSlot slot_;
};

// A texture that each frame is uploaded into, from a pixel buffer or from client memory; with `by_shader`, from a
// pixel buffer by a compute shader.
class Uploaded : public Row {
  public:
    Uploaded(Bench& b, bool by_shader) : b_(b), by_shader_(by_shader) {
        glCreateTextures(GL_TEXTURE_2D, 1, &texture_);
        glTextureStorage2D(texture_, 1, GL_RGBA8, b.extent.width, b.extent.height);
    }
    ~Uploaded() override { glDeleteTextures(1, &texture_); }

  protected:
    void upload_and_draw(GLuint pixel_buffer, const void* pixels, int n) {
        if (by_shader_) return b_.screen.draw({Read::Texture, texture_, pixel_buffer}, n);
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pixel_buffer);
        glTextureSubImage2D(texture_, 0, 0, 0, b_.extent.width, b_.extent.height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        b_.screen.draw({Read::Texture, texture_}, n);
    }

    Bench& b_;
    bool by_shader_;
    GLuint texture_ = 0;
};

// Map a pixel buffer, kernel, unmap, TexSubImage, draw.
class ClassicPixelBuffer : public Uploaded {
  public:
    ClassicPixelBuffer(Bench& b, bool by_shader) : Uploaded(b, by_shader) {
        glCreateBuffers(1, &buffer_);
        glNamedBufferData(buffer_, static_cast<GLsizeiptr>(b.extent.bytes()), nullptr, GL_STREAM_DRAW);
        CUDA(cudaGraphicsGLRegisterBuffer(&resource_, buffer_, cudaGraphicsRegisterFlagsWriteDiscard));
    }
    ~ClassicPixelBuffer() override {
        if (resource_) cudaGraphicsUnregisterResource(resource_);
        glDeleteBuffers(1, &buffer_);
    }
    void frame(int n) override {
        CUDA(cudaGraphicsMapResources(1, &resource_, b_.stream));
        void* pointer = nullptr;
        size_t bytes = 0;
        CUDA(cudaGraphicsResourceGetMappedPointer(&pointer, &bytes, resource_));
        launch(static_cast<uchar4*>(pointer), b_.extent, n, b_.stream);
        CUDA(cudaGraphicsUnmapResources(1, &resource_, b_.stream));
        upload_and_draw(buffer_, nullptr, n);
    }

  private:
    GLuint buffer_ = 0;
    cudaGraphicsResource* resource_ = nullptr;
};

// One slot of shared memory; the host waits for the kernel before the draw, and for the draw before the next kernel.
class SharedOneSlot : public Row {
  public:
    SharedOneSlot(Bench& b, Kind kind) : b_(b), slot_(make_slot(kind, b.extent)) {}
    ~SharedOneSlot() override {
        if (fence_) glDeleteSync(fence_);
    }
    void frame(int n) override {
        wait_fence(fence_);
        slot_->write(n, b_.stream);
        CUDA(cudaStreamSynchronize(b_.stream));
        b_.screen.draw(slot_->view, n);
        fence_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        glFlush();
    }

  private:
    Bench& b_;
    std::unique_ptr<Slot> slot_;
    GLsync fence_ = nullptr;
};

// Kernel, copy to the host into a persistently mapped pixel buffer that CUDA registered, TexSubImage, draw. Three
// buffers, so that the copy of one frame does not wait for the upload of the one before.
class HostPixelBuffer : public Uploaded {
  public:
    HostPixelBuffer(Bench& b, bool by_shader) : Uploaded(b, by_shader) {
        CUDA(cudaMalloc(&frame_, b.extent.bytes()));
        const GLbitfield flags = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
        for (Buffer& buffer : buffers_) {
            glCreateBuffers(1, &buffer.name);
            glNamedBufferStorage(buffer.name, static_cast<GLsizeiptr>(b.extent.bytes()), nullptr,
                                 flags | GL_CLIENT_STORAGE_BIT);
            void* mapped = glMapNamedBufferRange(buffer.name, 0, static_cast<GLsizeiptr>(b.extent.bytes()), flags);
            gl_check("persistent mapping");
            CUDA(cudaHostRegister(mapped, b.extent.bytes(), cudaHostRegisterDefault));
            buffer.mapped = mapped;
        }
    }
    ~HostPixelBuffer() override {
        for (Buffer& buffer : buffers_) {
            if (buffer.fence) glDeleteSync(buffer.fence);
            if (buffer.mapped) {
                cudaHostUnregister(buffer.mapped);
                glUnmapNamedBuffer(buffer.name);
            }
            glDeleteBuffers(1, &buffer.name);
        }
        cudaFree(frame_);
    }
    void frame(int n) override {
        Buffer& buffer = buffers_[n % 3];
        wait_fence(buffer.fence);
        launch(frame_, b_.extent, n, b_.stream);
        CUDA(cudaMemcpyAsync(buffer.mapped, frame_, b_.extent.bytes(), cudaMemcpyDeviceToHost, b_.stream));
        CUDA(cudaStreamSynchronize(b_.stream));
        upload_and_draw(buffer.name, nullptr, n);
        buffer.fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        glFlush();
    }

  private:
    struct Buffer {
        GLuint name = 0;
        void* mapped = nullptr;
        GLsync fence = nullptr;
    };
    Buffer buffers_[3];
    uchar4* frame_ = nullptr;
};

// Kernel, copy to pinned host memory, TexSubImage from there, draw. GL has read the memory when the call returns.
class HostClientMemory : public Uploaded {
  public:
    explicit HostClientMemory(Bench& b) : Uploaded(b, false) {
        CUDA(cudaMalloc(&frame_, b.extent.bytes()));
        CUDA(cudaMallocHost(&host_, b.extent.bytes()));
    }
    ~HostClientMemory() override {
        cudaFreeHost(host_);
        cudaFree(frame_);
    }
    void frame(int n) override {
        launch(frame_, b_.extent, n, b_.stream);
        CUDA(cudaMemcpyAsync(host_, frame_, b_.extent.bytes(), cudaMemcpyDeviceToHost, b_.stream));
        CUDA(cudaStreamSynchronize(b_.stream));
        upload_and_draw(0, host_, n);
    }

  private:
    uchar4* frame_ = nullptr;
    void* host_ = nullptr;
};

struct NamedRow {
    const char* name;
    std::function<std::unique_ptr<Row>(Bench&)> make;
};

inline const std::vector<NamedRow>& simple_rows() {
    static const std::vector<NamedRow> rows = {
        {"floor: kernel and draw unsynchronised, nothing shared",
         [](Bench& b) { return std::make_unique<NothingShared>(b, false); }},
        {"floor: kernel alone", [](Bench& b) { return std::make_unique<KernelAlone>(b); }},
        {"floor: draw alone", [](Bench& b) { return std::make_unique<DrawAlone>(b); }},
        {"floor: kernel, host wait, draw, nothing shared",
         [](Bench& b) { return std::make_unique<NothingShared>(b, true); }},
        {"classic: map texture, surf2Dwrite, unmap, draw",
         [](Bench& b) { return std::make_unique<ClassicTexture>(b); }},
        {"classic: map pixel buffer, kernel, unmap, TexSubImage, draw",
         [](Bench& b) { return std::make_unique<ClassicPixelBuffer>(b, false); }},
        {"map pixel buffer, kernel, unmap, compute-shader copy, draw",
         [](Bench& b) { return std::make_unique<ClassicPixelBuffer>(b, true); }},
        {"shared memory as CUDA array and texture, host wait, draw",
         [](Bench& b) { return std::make_unique<SharedOneSlot>(b, Kind::ArrayTexture); }},
        {"shared memory as texture buffer, host wait, draw",
         [](Bench& b) { return std::make_unique<SharedOneSlot>(b, Kind::TextureBuffer); }},
        {"shared memory as storage buffer, host wait, draw",
         [](Bench& b) { return std::make_unique<SharedOneSlot>(b, Kind::StorageBuffer); }},
        {"shared memory, host wait, compute-shader copy, draw",
         [](Bench& b) { return std::make_unique<SharedOneSlot>(b, Kind::CopiedBuffer); }},
        {"device to host, mapped pixel buffer, TexSubImage, draw",
         [](Bench& b) { return std::make_unique<HostPixelBuffer>(b, false); }},
        {"device to host, mapped pixel buffer, compute-shader copy, draw",
         [](Bench& b) { return std::make_unique<HostPixelBuffer>(b, true); }},
        {"device to host, pinned client memory, TexSubImage, draw",
         [](Bench& b) { return std::make_unique<HostClientMemory>(b); }},
    };
    return rows;
}
