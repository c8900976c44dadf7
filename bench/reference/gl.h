// The little of EGL and OpenGL 4.6 that these programs call, loaded at run time: no GL header or library is needed to
// build. Constants are those of the Khronos registry.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

typedef unsigned GLenum, GLuint, GLbitfield;
typedef int GLint, GLsizei;
typedef unsigned char GLboolean;
typedef float GLfloat;
typedef ptrdiff_t GLsizeiptr, GLintptr;
typedef struct GlSync* GLsync;

enum : GLenum {
    GL_TRIANGLES = 0x0004,
    GL_COLOR = 0x1800,
    GL_RGBA = 0x1908,
    GL_RGBA8 = 0x8058,
    GL_UNSIGNED_BYTE = 0x1401,
    GL_VENDOR = 0x1F00,
    GL_RENDERER = 0x1F01,
    GL_VERSION = 0x1F02,
    GL_TEXTURE_2D = 0x0DE1,
    GL_TEXTURE_BUFFER = 0x8C2A,
    GL_NEAREST = 0x2600,
    GL_TEXTURE_MAG_FILTER = 0x2800,
    GL_TEXTURE_MIN_FILTER = 0x2801,
    GL_FRAMEBUFFER = 0x8D40,
    GL_FRAMEBUFFER_COMPLETE = 0x8CD5,
    GL_COLOR_ATTACHMENT0 = 0x8CE0,
    GL_FRAGMENT_SHADER = 0x8B30,
    GL_VERTEX_SHADER = 0x8B31,
    GL_COMPUTE_SHADER = 0x91B9,
    GL_TEXTURE_FETCH_BARRIER_BIT = 0x0008,
    GL_WRITE_ONLY = 0x88B9,
    GL_DYNAMIC_STORAGE_BIT = 0x0100,
    GL_COMPILE_STATUS = 0x8B81,
    GL_LINK_STATUS = 0x8B82,
    GL_PIXEL_UNPACK_BUFFER = 0x88EC,
    GL_STREAM_DRAW = 0x88E0,
    GL_SHADER_STORAGE_BUFFER = 0x90D2,
    GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117,
    GL_ALREADY_SIGNALED = 0x911A,
    GL_TIMEOUT_EXPIRED = 0x911B,
    GL_CONDITION_SATISFIED = 0x911C,
    GL_SYNC_FLUSH_COMMANDS_BIT = 0x0001,
    GL_MAP_WRITE_BIT = 0x0002,
    GL_MAP_PERSISTENT_BIT = 0x0040,
    GL_MAP_COHERENT_BIT = 0x0080,
    GL_CLIENT_STORAGE_BIT = 0x0200,
    GL_HANDLE_TYPE_OPAQUE_FD_EXT = 0x9586,
    GL_DEDICATED_MEMORY_OBJECT_EXT = 0x9581,
};

// Return type, name without "gl", parameters.
#define GL_FUNCTIONS(X)                                                                                    \
    X(GLenum, GetError, (void))                                                                            \
    X(const unsigned char*, GetString, (GLenum))                                                           \
    X(void, Finish, (void))                                                                                \
    X(void, Flush, (void))                                                                                 \
    X(void, Viewport, (GLint, GLint, GLsizei, GLsizei))                                                    \
    X(void, DrawArrays, (GLenum, GLint, GLsizei))                                                          \
    X(void, CreateTextures, (GLenum, GLsizei, GLuint*))                                                    \
    X(void, DeleteTextures, (GLsizei, const GLuint*))                                                      \
    X(void, TextureStorage2D, (GLuint, GLsizei, GLenum, GLsizei, GLsizei))                                 \
    X(void, TextureParameteri, (GLuint, GLenum, GLint))                                                    \
    X(void, TextureSubImage2D,                                                                             \
      (GLuint, GLint, GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, const void*))                        \
    X(void, TextureBuffer, (GLuint, GLenum, GLuint))                                                       \
    X(void, BindTextureUnit, (GLuint, GLuint))                                                             \
    X(void, CreateBuffers, (GLsizei, GLuint*))                                                             \
    X(void, DeleteBuffers, (GLsizei, const GLuint*))                                                       \
    X(void, NamedBufferData, (GLuint, GLsizeiptr, const void*, GLenum))                                    \
    X(void, NamedBufferStorage, (GLuint, GLsizeiptr, const void*, GLbitfield))                             \
    X(void, NamedBufferSubData, (GLuint, GLintptr, GLsizeiptr, const void*))                               \
    X(void, GetNamedBufferSubData, (GLuint, GLintptr, GLsizeiptr, void*))                                  \
    X(void*, MapNamedBufferRange, (GLuint, GLintptr, GLsizeiptr, GLbitfield))                              \
    X(GLboolean, UnmapNamedBuffer, (GLuint))                                                               \
    X(void, BindBuffer, (GLenum, GLuint))                                                                  \
    X(void, BindBufferBase, (GLenum, GLuint, GLuint))                                                      \
    X(void, CreateFramebuffers, (GLsizei, GLuint*))                                                        \
    X(void, DeleteFramebuffers, (GLsizei, const GLuint*))                                                  \
    X(void, NamedFramebufferTexture, (GLuint, GLenum, GLuint, GLint))                                      \
    X(GLenum, CheckNamedFramebufferStatus, (GLuint, GLenum))                                               \
    X(void, BindFramebuffer, (GLenum, GLuint))                                                             \
    X(void, ClearNamedFramebufferfv, (GLuint, GLenum, GLint, const GLfloat*))                              \
    X(void, ReadPixels, (GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void*))                           \
    X(void, CreateVertexArrays, (GLsizei, GLuint*))                                                        \
    X(void, DeleteVertexArrays, (GLsizei, const GLuint*))                                                  \
    X(void, BindVertexArray, (GLuint))                                                                     \
    X(GLuint, CreateShader, (GLenum))                                                                      \
    X(void, ShaderSource, (GLuint, GLsizei, const char* const*, const GLint*))                             \
    X(void, CompileShader, (GLuint))                                                                       \
    X(void, GetShaderiv, (GLuint, GLenum, GLint*))                                                         \
    X(void, GetShaderInfoLog, (GLuint, GLsizei, GLsizei*, char*))                                          \
    X(void, DeleteShader, (GLuint))                                                                        \
    X(GLuint, CreateProgram, (void))                                                                       \
    X(void, AttachShader, (GLuint, GLuint))                                                                \
    X(void, LinkProgram, (GLuint))                                                                         \
    X(void, GetProgramiv, (GLuint, GLenum, GLint*))                                                        \
    X(void, DeleteProgram, (GLuint))                                                                       \
    X(void, UseProgram, (GLuint))                                                                          \
    X(void, DispatchCompute, (GLuint, GLuint, GLuint))                                                     \
    X(void, MemoryBarrier, (GLbitfield))                                                                   \
    X(void, BindImageTexture, (GLuint, GLuint, GLint, GLboolean, GLint, GLenum, GLenum))                   \
    X(void, ProgramUniform1i, (GLuint, GLint, GLint))                                                      \
    X(GLsync, FenceSync, (GLenum, GLbitfield))                                                             \
    X(void, DeleteSync, (GLsync))                                                                          \
    X(GLenum, ClientWaitSync, (GLsync, GLbitfield, uint64_t))                                              \
    X(void, CreateMemoryObjectsEXT, (GLsizei, GLuint*))                                                    \
    X(void, DeleteMemoryObjectsEXT, (GLsizei, const GLuint*))                                              \
    X(void, MemoryObjectParameterivEXT, (GLuint, GLenum, const GLint*))                                    \
    X(void, ImportMemoryFdEXT, (GLuint, uint64_t, GLenum, GLint))                                          \
    X(void, NamedBufferStorageMemEXT, (GLuint, GLsizeiptr, GLuint, uint64_t))                              \
    X(void, TextureStorageMem2DEXT, (GLuint, GLsizei, GLenum, GLsizei, GLsizei, GLuint, uint64_t))

#define GL_DECLARE(result, name, parameters) static result(*gl##name) parameters;
GL_FUNCTIONS(GL_DECLARE)
#undef GL_DECLARE

// What one row could not do; the row is reported as unavailable and the run goes on.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void gl_check(const char* what) {
    const GLenum first = glGetError();
    if (first == 0) return;
    while (glGetError() != 0) {
    }
    char text[160];
    snprintf(text, sizeof text, "%s: GL error 0x%04X", what, first);
    throw Failure(text);
}

// A headless OpenGL 4.6 core context on the EGL device that drives a given CUDA ordinal.
class Context {
  public:
    explicit Context(int cuda_ordinal) {
        egl_ = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (!egl_) throw Failure(std::string("libEGL.so.1 cannot be loaded: ") + dlerror());
        get_ = reinterpret_cast<Proc (*)(const char*)>(dlsym(egl_, "eglGetProcAddress"));
        if (!get_) throw Failure("libEGL.so.1 has no eglGetProcAddress");

        auto query_devices = egl<int(int, void**, int*)>("eglQueryDevicesEXT");
        auto device_attribute = egl<unsigned(void*, int, intptr_t*)>("eglQueryDeviceAttribEXT");
        auto platform_display = egl<void*(unsigned, void*, const int*)>("eglGetPlatformDisplayEXT");
        auto initialize = egl<unsigned(void*, int*, int*)>("eglInitialize");
        auto choose = egl<unsigned(void*, const int*, void**, int, int*)>("eglChooseConfig");
        auto bind_api = egl<unsigned(unsigned)>("eglBindAPI");
        auto create = egl<void*(void*, void*, void*, const int*)>("eglCreateContext");
        make_current_ = egl<unsigned(void*, void*, void*, void*)>("eglMakeCurrent");
        destroy_ = egl<unsigned(void*, void*)>("eglDestroyContext");

        const int platform_device = 0x313F, cuda_attribute = 0x323A, opengl_api = 0x30A2;
        void* devices[16];
        int count = 0;
        if (!query_devices(16, devices, &count) || count == 0) throw Failure("EGL lists no device");
        void* device = nullptr;
        for (int i = 0; i < count && !device; ++i) {
            intptr_t ordinal = -1;
            if (device_attribute(devices[i], cuda_attribute, &ordinal) && ordinal == cuda_ordinal) device = devices[i];
        }
        if (!device) throw Failure("no EGL device drives this CUDA device (EGL_NV_device_cuda)");
        display_ = platform_display(platform_device, device, nullptr);
        int major = 0, minor = 0;
        if (!display_ || !initialize(display_, &major, &minor)) throw Failure("eglInitialize failed");
        bind_api(opengl_api);
        // Surface type 0: no window, no pbuffer; renderable type: desktop OpenGL.
        const int config_wanted[] = {0x3033, 0, 0x3040, 0x0008, 0x3038};
        void* config = nullptr;
        if (!choose(display_, config_wanted, &config, 1, &count) || count == 0) throw Failure("no EGL configuration");
        const int wanted[] = {0x3098, 4, 0x30FB, 6, 0x30FD, 0x0001, 0x3038};
        context_ = create(display_, config, nullptr, wanted);
        if (!context_) throw Failure("no OpenGL 4.6 core context");
        if (!make_current_(display_, nullptr, nullptr, context_)) throw Failure("eglMakeCurrent failed");
#define GL_LOAD(result, name, parameters) \
    gl##name = reinterpret_cast<result(*) parameters>(get_("gl" #name)); \
    if (!gl##name) throw Failure("the driver has no gl" #name);
        GL_FUNCTIONS(GL_LOAD)
#undef GL_LOAD
    }

    ~Context() {
        if (!context_) return;
        make_current_(display_, nullptr, nullptr, nullptr);
        destroy_(display_, context_);
    }

    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;


  private:
    typedef void (*Proc)(void);

    template <typename Signature>
    Signature* egl(const char* name) {
        Proc found = get_(name);
        if (!found) found = reinterpret_cast<Proc>(dlsym(egl_, name));
        if (!found) throw Failure(std::string("EGL has no ") + name);
        return reinterpret_cast<Signature*>(found);
    }

    void* egl_ = nullptr;
    Proc (*get_)(const char*) = nullptr;
    unsigned (*make_current_)(void*, void*, void*, void*) = nullptr;
    unsigned (*destroy_)(void*, void*) = nullptr;
    void* display_ = nullptr;
    void* context_ = nullptr;
};
