// The compute half, and the frames that both halves see: memory of CUDA's virtual memory management, exported by file
// descriptor and imported by OpenGL, or textures of OpenGL registered with CUDA.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <memory>

#include "screen.h"

// Declared here because cuda_gl_interop.h wants GL headers.
extern "C" cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource**, GLuint, unsigned);
extern "C" cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource**, GLuint, GLenum, unsigned);

inline void cuda_check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    cudaGetLastError();
    throw Failure(std::string(what) + ": " + cudaGetErrorString(code));
}
#define CUDA(call) cuda_check((call), #call)

__device__ inline uchar4 pixel_of(int x, int y, int n) {
    return make_uchar4((unsigned char)(x + n), (unsigned char)y, (unsigned char)n, 255);
}

__global__ void write_linear(uchar4* out, int w, int h, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = pixel_of(x, y, n);
}

__global__ void write_surface(cudaSurfaceObject_t out, int w, int h, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) surf2Dwrite(pixel_of(x, y, n), out, x * 4, y);
}

struct Extent {
    int width, height;
    size_t bytes() const { return static_cast<size_t>(width) * height * 4; }
};

inline void launch(uchar4* out, Extent e, int n, cudaStream_t stream) {
    const dim3 block(32, 8), grid((e.width + 31) / 32, (e.height + 7) / 8);
    write_linear<<<grid, block, 0, stream>>>(out, e.width, e.height, n);
}

inline void launch(cudaSurfaceObject_t out, Extent e, int n, cudaStream_t stream) {
    const dim3 block(32, 8), grid((e.width + 31) / 32, (e.height + 7) / 8);
    write_surface<<<grid, block, 0, stream>>>(out, e.width, e.height, n);
}

// The driver API's virtual memory management, from libcuda.so.1 itself.
struct Driver {
    decltype(&cuMemGetAllocationGranularity) granularity;
    decltype(&cuMemCreate) create;
    decltype(&cuMemExportToShareableHandle) share;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemMap) map;
    decltype(&cuMemSetAccess) allow;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemAddressFree) unreserve;
    decltype(&cuMemRelease) release;
    decltype(&cuStreamWaitValue32) wait_value;

    // Work put into `stream` from here on starts once the page-locked word has reached `value`.
    void wait_for(cudaStream_t stream, const void* word, unsigned value) const {
        const CUresult code = wait_value(stream, reinterpret_cast<CUdeviceptr>(word), value, CU_STREAM_WAIT_VALUE_GEQ);
        if (code != CUDA_SUCCESS) throw Failure("cuStreamWaitValue32: CUDA error " + std::to_string(code));
    }

    static const Driver& get() {
        static const Driver driver;
        return driver;
    }

  private:
    Driver() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW);
        if (!library) throw Failure("libcuda.so.1 cannot be loaded");
        const auto load = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
            if (!function) throw Failure(std::string("libcuda has no ") + name);
        };
        load(granularity, "cuMemGetAllocationGranularity");
        load(create, "cuMemCreate");
        load(share, "cuMemExportToShareableHandle");
        load(reserve, "cuMemAddressReserve");
        load(map, "cuMemMap");
        load(allow, "cuMemSetAccess");
        load(unmap, "cuMemUnmap");
        load(unreserve, "cuMemAddressFree");
        load(release, "cuMemRelease");
        load(wait_value, "cuStreamWaitValue32_v2");
    }
};

// Device memory that CUDA sees as a pointer and OpenGL as a memory object.
class SharedMemory {
  public:
    // `dedicated`: for one texture alone. Without that word NVIDIA's driver (580.159) gives some textures other memory
    // than the imported one, and says nothing.
    explicit SharedMemory(size_t wanted, bool dedicated = false) {
        const Driver& d = Driver::get();
        int device = 0;
        CUDA(cudaGetDevice(&device));
        CUmemAllocationProp property = {};
        property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        property.location.id = device;
        property.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        size_t grain = 0;
        call(d.granularity(&grain, &property, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "granularity");
        size_ = (wanted + grain - 1) / grain * grain;
        call(d.create(&handle_, size_, &property, 0), "cuMemCreate");
        call(d.reserve(&address_, size_, 0, 0, 0), "cuMemAddressReserve");
        call(d.map(address_, size_, 0, handle_, 0), "cuMemMap");
        CUmemAccessDesc access = {};
        access.location = property.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        call(d.allow(address_, size_, &access, 1), "cuMemSetAccess");
        int fd = export_fd();
        glCreateMemoryObjectsEXT(1, &object_);
        const GLint yes = 1;
        if (dedicated) glMemoryObjectParameterivEXT(object_, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
        glImportMemoryFdEXT(object_, size_, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);  // takes the descriptor over
        gl_check("glImportMemoryFdEXT");
    }

    ~SharedMemory() {
        const Driver& d = Driver::get();
        glDeleteMemoryObjectsEXT(1, &object_);
        d.unmap(address_, size_);
        d.unreserve(address_, size_);
        d.release(handle_);
    }

    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    int export_fd() const {
        int fd = -1;
        call(Driver::get().share(&fd, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), "export");
        return fd;
    }

    uchar4* pointer() const { return reinterpret_cast<uchar4*>(address_); }
    size_t size() const { return size_; }
    GLuint object() const { return object_; }

  private:
    static void call(CUresult code, const char* what) {
        if (code != CUDA_SUCCESS) throw Failure(std::string(what) + ": CUDA error " + std::to_string(code));
    }

    size_t size_ = 0;
    CUmemGenericAllocationHandle handle_ = 0;
    CUdeviceptr address_ = 0;
    GLuint object_ = 0;
};

// One frame that a kernel can write and a shader can read. Who may touch it when is the caller's business.
class Slot {
  public:
    virtual ~Slot() = default;
    virtual void write(int n, cudaStream_t stream) = 0;
    View view = {};
};

enum class Kind { TextureBuffer, StorageBuffer, CopiedBuffer, ArrayTexture };

inline const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::TextureBuffer: return "shared memory as texture buffer";
        case Kind::StorageBuffer: return "shared memory as storage buffer";
        case Kind::CopiedBuffer: return "shared memory, compute-shader copy";
        case Kind::ArrayTexture: return "shared memory as CUDA array and texture";
    }
    return "";
}

// Linear shared memory, read in one of three ways.
class LinearSlot : public Slot {
  public:
    LinearSlot(Kind kind, Extent e) : extent_(e), memory_(e.bytes()) {
        glCreateBuffers(1, &buffer_);
        glNamedBufferStorageMemEXT(buffer_, static_cast<GLsizeiptr>(e.bytes()), memory_.object(), 0);
        view = {Read::StorageBuffer, buffer_};
        if (kind == Kind::CopiedBuffer) {
            glCreateTextures(GL_TEXTURE_2D, 1, &texture_);
            glTextureStorage2D(texture_, 1, GL_RGBA8, e.width, e.height);
            view = {Read::Texture, texture_, buffer_};
        }
        if (kind == Kind::TextureBuffer) {
            glCreateTextures(GL_TEXTURE_BUFFER, 1, &texture_);
            glTextureBuffer(texture_, GL_RGBA8, buffer_);
            view = {Read::TextureBuffer, texture_};
        }
        gl_check("a frame in shared memory");
    }

    ~LinearSlot() override {
        glDeleteTextures(1, &texture_);
        glDeleteBuffers(1, &buffer_);
    }

    void write(int n, cudaStream_t stream) override { launch(memory_.pointer(), extent_, n, stream); }

  private:
    Extent extent_;
    SharedMemory memory_;
    GLuint buffer_ = 0, texture_ = 0;
};

// Shared memory imported once more by CUDA, as an array, beside a texture of OpenGL's own tiling: the kernel writes the
// very texture, with nothing to map. Tiles reach below the image: both APIs ask for whole blocks of 128 rows.
class ArraySlot : public Slot {
  public:
    explicit ArraySlot(Extent e) : extent_(e), memory_(tiled_bytes(e), true) {
        glCreateTextures(GL_TEXTURE_2D, 1, &texture_);
        glTextureParameteri(texture_, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTextureStorageMem2DEXT(texture_, 1, GL_RGBA8, e.width, e.height, memory_.object(), 0);
        gl_check("texture over shared memory");
        cudaExternalMemoryHandleDesc handle = {};
        handle.type = cudaExternalMemoryHandleTypeOpaqueFd;
        handle.handle.fd = memory_.export_fd();
        handle.size = memory_.size();
        CUDA(cudaImportExternalMemory(&external_, &handle));
        cudaExternalMemoryMipmappedArrayDesc array = {};
        array.formatDesc = cudaCreateChannelDesc<uchar4>();
        array.extent = make_cudaExtent(e.width, e.height, 0);
        array.flags = cudaArraySurfaceLoadStore | cudaArrayColorAttachment;
        array.numLevels = 1;
        CUDA(cudaExternalMemoryGetMappedMipmappedArray(&levels_, external_, &array));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        CUDA(cudaGetMipmappedArrayLevel(&resource.res.array.array, levels_, 0));
        CUDA(cudaCreateSurfaceObject(&surface_, &resource));
        view = {Read::Texture, texture_};
    }

    ~ArraySlot() override {
        if (surface_) cudaDestroySurfaceObject(surface_);
        if (levels_) cudaFreeMipmappedArray(levels_);
        if (external_) cudaDestroyExternalMemory(external_);
        glDeleteTextures(1, &texture_);
    }

    void write(int n, cudaStream_t stream) override { launch(surface_, extent_, n, stream); }

  private:
    static size_t tiled_bytes(Extent e) {
        return Extent{(e.width + 15) / 16 * 16, (e.height + 127) / 128 * 128}.bytes();
    }

    Extent extent_;
    SharedMemory memory_;
    GLuint texture_ = 0;
    cudaExternalMemory_t external_ = nullptr;
    cudaMipmappedArray_t levels_ = nullptr;
    cudaSurfaceObject_t surface_ = 0;
};

// A texture of OpenGL's, registered with CUDA. `write` needs it mapped, and `attach` called after each mapping.
class RegisteredSlot : public Slot {
  public:
    cudaGraphicsResource* resource = nullptr;

    explicit RegisteredSlot(Extent e) : extent_(e) {
        glCreateTextures(GL_TEXTURE_2D, 1, &texture_);
        glTextureStorage2D(texture_, 1, GL_RGBA8, e.width, e.height);
        gl_check("texture");
        CUDA(cudaGraphicsGLRegisterImage(&resource, texture_, GL_TEXTURE_2D,
                                         cudaGraphicsRegisterFlagsSurfaceLoadStore |
                                             cudaGraphicsRegisterFlagsWriteDiscard));
        view = {Read::Texture, texture_};
    }

    ~RegisteredSlot() override {
        if (surface_) cudaDestroySurfaceObject(surface_);
        if (resource) cudaGraphicsUnregisterResource(resource);
        glDeleteTextures(1, &texture_);
    }

    void attach() {
        cudaArray_t array = nullptr;
        CUDA(cudaGraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
        if (array == array_) return;
        if (surface_) CUDA(cudaDestroySurfaceObject(surface_));
        cudaResourceDesc description = {};
        description.resType = cudaResourceTypeArray;
        description.res.array.array = array;
        CUDA(cudaCreateSurfaceObject(&surface_, &description));
        array_ = array;
    }

    void write(int n, cudaStream_t stream) override { launch(surface_, extent_, n, stream); }

  private:
    Extent extent_;
    GLuint texture_ = 0;
    cudaArray_t array_ = nullptr;
    cudaSurfaceObject_t surface_ = 0;
};

inline std::unique_ptr<Slot> make_slot(Kind kind, Extent e) {
    if (kind == Kind::ArrayTexture) return std::make_unique<ArraySlot>(e);
    return std::make_unique<LinearSlot>(kind, e);
}
