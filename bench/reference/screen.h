// The drawing half: a full-screen triangle that copies one frame, texel by texel, into an RGBA8 framebuffer.
#pragma once

#include "gl.h"

// How the fragment shader reads a frame.
enum class Read { Texture, TextureBuffer, StorageBuffer };

// One frame as GL sees it: a texture name for the first two kinds, a buffer name for the last. With `copy_from`, a
// compute shader first copies that buffer into the texture: compute shaders run on every multiprocessor, while the
// driver's own upload from a pixel buffer takes about as long as the draw.
struct View {
    Read read;
    GLuint name;
    GLuint copy_from = 0;
};

class Screen {
  public:
    const int width, height;

    Screen(int w, int h) : width(w), height(h) {
        glCreateVertexArrays(1, &vertices_);
        glBindVertexArray(vertices_);
        glCreateTextures(GL_TEXTURE_2D, 1, &target_);
        glTextureStorage2D(target_, 1, GL_RGBA8, w, h);
        glCreateFramebuffers(1, &framebuffer_);
        glNamedFramebufferTexture(framebuffer_, GL_COLOR_ATTACHMENT0, target_, 0);
        if (glCheckNamedFramebufferStatus(framebuffer_, GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
            throw Failure("framebuffer incomplete");
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
        glViewport(0, 0, w, h);
        glCreateBuffers(1, &wrong_);
        const unsigned none = 0;
        glNamedBufferStorage(wrong_, sizeof none, &none, GL_DYNAMIC_STORAGE_BIT);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, wrong_);
        for (int read = 0; read < 3; ++read)
            for (int checking = 0; checking < 2; ++checking) programs_[read][checking] = drawing(read, checking != 0);
        copying_ = copying();
        gl_check("screen");
    }

    ~Screen() {
        for (auto& pair : programs_)
            for (GLuint program : pair) glDeleteProgram(program);
        glDeleteProgram(copying_);
        glDeleteBuffers(1, &wrong_);
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        glDeleteFramebuffers(1, &framebuffer_);
        glDeleteTextures(1, &target_);
        glBindVertexArray(0);
        glDeleteVertexArrays(1, &vertices_);
    }

    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // While on, every fragment of every draw is compared with what frame `n` must hold.
    void check(bool on) {
        checking_ = on;
        const unsigned none = 0;
        if (on) glNamedBufferSubData(wrong_, 0, sizeof none, &none);
    }

    // Fragments that differed since `check(true)`. Waits for the GPU.
    unsigned wrong() const {
        unsigned count = 0;
        glFinish();
        glGetNamedBufferSubData(wrong_, 0, sizeof count, &count);
        return count;
    }

    void draw(View view, int n) {
        if (view.copy_from) copy(view);
        const GLuint program = programs_[static_cast<int>(view.read)][checking_];
        glUseProgram(program);
        if (view.read == Read::StorageBuffer)
            glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, view.name);
        else
            glBindTextureUnit(0, view.name);
        if (checking_) glProgramUniform1i(program, 0, n);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }

    void clear() {
        const GLfloat grey[4] = {0.5f, 0.5f, 0.5f, 0.5f};
        glClearNamedFramebufferfv(framebuffer_, GL_COLOR, 0, grey);
    }

    // Pixels of the framebuffer that are not those of frame `n`, counted on the host.
    unsigned wrong_in_framebuffer(int n) const {
        std::vector<unsigned char> pixels(static_cast<size_t>(width) * height * 4);
        glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
        unsigned count = 0;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const unsigned char* p = &pixels[(static_cast<size_t>(y) * width + x) * 4];
                count += p[0] != ((x + n) & 255) || p[1] != (y & 255) || p[2] != (n & 255) || p[3] != 255;
            }
        return count;
    }

  private:
    void copy(View view) {
        glUseProgram(copying_);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, view.copy_from);
        glBindImageTexture(0, view.name, 0, 0, 0, GL_WRITE_ONLY, GL_RGBA8);
        glDispatchCompute((width + 31) / 32, (height + 7) / 8, 1);
        glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
    }

    std::string head() const {
        return "#version 460 core\n#define WIDTH " + std::to_string(width) + "\n#define HEIGHT " +
               std::to_string(height) + "\n";
    }

    GLuint drawing(int read, bool checking) const {
        const char* inputs[] = {
            "layout(binding = 0) uniform sampler2D frame;\n"
            "vec4 texel(ivec2 p) { return texelFetch(frame, p, 0); }\n",
            "layout(binding = 0) uniform samplerBuffer frame;\n"
            "vec4 texel(ivec2 p) { return texelFetch(frame, p.y * WIDTH + p.x); }\n",
            "layout(std430, binding = 0) readonly buffer Frame { uint pixels[]; };\n"
            "vec4 texel(ivec2 p) { return unpackUnorm4x8(pixels[p.y * WIDTH + p.x]); }\n"};
        std::string fragment = head() + inputs[read] + "layout(location = 0) out vec4 colour;\n";
        if (checking)
            fragment +=
                "layout(std430, binding = 1) buffer Wrong { uint wrong; };\n"
                "layout(location = 0) uniform int n;\n";
        fragment += "void main() {\n    ivec2 p = ivec2(gl_FragCoord.xy);\n    colour = texel(p);\n";
        if (checking)
            fragment +=
                "    ivec4 seen = ivec4(colour * 255.0 + 0.5);\n"
                "    if (seen != ivec4((p.x + n) & 255, p.y & 255, n & 255, 255)) atomicAdd(wrong, 1u);\n";
        fragment += "}\n";
        const std::string vertex = head() +
            "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }\n";
        return program({{GL_VERTEX_SHADER, vertex}, {GL_FRAGMENT_SHADER, fragment}});
    }

    GLuint copying() const {
        return program({{GL_COMPUTE_SHADER, head() +
            "layout(local_size_x = 32, local_size_y = 8) in;\n"
            "layout(std430, binding = 0) readonly buffer Frame { uint pixels[]; };\n"
            "layout(binding = 0, rgba8) writeonly uniform image2D copy;\n"
            "void main() {\n    ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n"
            "    if (p.x < WIDTH && p.y < HEIGHT)\n"
            "        imageStore(copy, p, unpackUnorm4x8(pixels[p.y * WIDTH + p.x]));\n}\n"}});
    }

    static GLuint program(const std::vector<std::pair<GLenum, std::string>>& stages) {
        const GLuint program = glCreateProgram();
        for (const auto& [kind, text] : stages) {
            const GLuint shader = glCreateShader(kind);
            const char* source = text.c_str();
            glShaderSource(shader, 1, &source, nullptr);
            glCompileShader(shader);
            GLint ok = 0;
            glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
            if (!ok) {
                char log[1024] = "";
                glGetShaderInfoLog(shader, sizeof log, nullptr, log);
                throw Failure(std::string("shader: ") + log);
            }
            glAttachShader(program, shader);
            glDeleteShader(shader);
        }
        glLinkProgram(program);
        GLint ok = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
        if (!ok) throw Failure("program does not link");
        return program;
    }

    GLuint vertices_ = 0, target_ = 0, framebuffer_ = 0, wrong_ = 0;
    GLuint programs_[3][2] = {}, copying_ = 0;
    bool checking_ = false;
};

// Waits for a fence by polling, the quickest way to notice it, and deletes it.
inline void wait_fence(GLsync& fence) {
    if (!fence) return;
    while (glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 0) == GL_TIMEOUT_EXPIRED) {
    }
    glDeleteSync(fence);
    fence = nullptr;
}

// Whether a fence has been passed; deletes it then.
inline bool passed_fence(GLsync& fence) {
    if (!fence) return true;
    if (glClientWaitSync(fence, 0, 0) == GL_TIMEOUT_EXPIRED) return false;
    glDeleteSync(fence);
    fence = nullptr;
    return true;
}
