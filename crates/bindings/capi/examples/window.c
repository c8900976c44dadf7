/* A program with its own OpenGL window (GLFW) that draws what pixelferry computes as a texture with its own shader. Each frame
 * is also drawn into the program's own texture, which keeps its name. Every pixel of both is read back and compared.
 *
 *   cc window.c $(pkg-config --cflags --libs pixelferry glfw3 gl) -o window && ./window [backend [loader]]
 */
#define GLFW_INCLUDE_GLCOREARB
#define GL_GLEXT_PROTOTYPES
#include <GLFW/glfw3.h>
#include <pixelferry.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256, HEIGHT = 192, FRAMES = 3 };

static int failed(pf_status status) {
    if (status == PIXELFERRY_OK) return 0;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), pf_last_error_message());
    return 1;
}

/* The kernel: red is the column, green the row, blue the frame. */
static const char OPENCL_C[] =
    "__kernel void ramp(PF_IMAGE(uchar4, out), uint frame) {\n"
    "    uint x = get_global_id(0), y = get_global_id(1);\n"
    "    if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x, y, 40 * frame, 255));\n"
    "}\n";
static const char WGSL[] =
    "@compute @workgroup_size(8, 8)\n"
    "fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "    pf_store(id.xy, vec4(vec3<f32>(vec3(id.xy, 40u * pf_arg_u32(0))) / 255.0, 1.0));\n"
    "}\n";
static int32_t row(void *user, const pf_pixels *out, const pf_arg *args, size_t arg_count) {
    uint8_t *pixel = out->data;
    (void)user, (void)arg_count;
    for (uint32_t x = 0; x < out->width; x++, pixel += 4) {
        pixel[0] = (uint8_t)x, pixel[1] = (uint8_t)out->row, pixel[2] = (uint8_t)(40 * args[0].value.u32), pixel[3] = 255;
    }
    return 0;
}

struct launch {
    pf_kernel *kernel;
    uint32_t frame;
};

static int32_t compute(void *user, pf_frame *frame) {
    const struct launch *launch = user;
    pf_arg arg = {.kind = PIXELFERRY_ARG_U32, .value.u32 = launch->frame};
    return failed(pf_frame_launch(frame, launch->kernel, &arg, 1));
}

/* The object that every engine has: a program that draws a texture over the window. */
static GLuint shader(GLuint program, GLenum kind, const char *text) {
    GLuint made = glCreateShader(kind);
    glShaderSource(made, 1, &text, NULL);
    glCompileShader(made);
    glAttachShader(program, made);
    return made;
}

static GLuint make_program(void) {
    GLuint program = glCreateProgram();
    GLuint vertex = shader(program, GL_VERTEX_SHADER,
                           "#version 330 core\n"
                           "void main() {\n"
                           "    gl_Position = vec4(4 * (gl_VertexID & 1) - 1, 2 * (gl_VertexID & 2) - 1, 0, 1);\n"
                           "}\n");
    GLuint fragment = shader(program, GL_FRAGMENT_SHADER,
                             "#version 330 core\n"
                             "uniform sampler2D picture;\n"
                             "out vec4 color;\n"
                             "void main() { color = texelFetch(picture, ivec2(gl_FragCoord.xy), 0); }\n");
    glLinkProgram(program);
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}

/* Compares every pixel; row 0 in OpenGL is the last row of the picture. */
static int differs(const uint8_t *pixels, uint32_t frame, const char *what) {
    for (uint32_t at = 0; at < WIDTH * HEIGHT; at++) {
        const uint8_t *pixel = pixels + 4 * at;
        if (pixel[0] != at % WIDTH || pixel[1] != HEIGHT - 1 - at / WIDTH || pixel[2] != 40 * frame) {
            fprintf(stderr, "%s: pixel %u of frame %u is %d %d %d\n", what, at, frame, pixel[0], pixel[1], pixel[2]);
            return 1;
        }
    }
    return 0;
}

/* Draws the texture of a frame, and lets pixelferry draw the frame into our own texture. */
static int show(pf_link *link, GLuint program, GLuint own, uint32_t frame) {
    static uint8_t pixels[WIDTH * HEIGHT * 4];
    pf_shown *shown = NULL;
    pf_gl_texture texture = {.size = sizeof texture};
    int wrong = failed(pf_link_show(link, &shown)) || failed(pf_shown_gl_texture(shown, &texture));
    if (!wrong) {
        glUseProgram(program);
        glBindTexture(texture.target, texture.name);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        wrong = differs(pixels, frame, "the window") || failed(pf_shown_draw_gl_texture(shown, own, 0, WIDTH, HEIGHT, NULL));
    }
    pf_shown_release(shown);
    if (!wrong) {
        glBindTexture(GL_TEXTURE_2D, own);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        wrong = differs(pixels, frame, "the texture of our own");
    }
    return wrong || glGetError() != GL_NO_ERROR;
}

/* Finds OpenGL's functions in contexts without a window system. C has no cast from a function to void *. */
static void *get_proc(void *user, const char *name) {
    union {
        GLFWglproc function;
        void *address;
    } found = {.function = glfwGetProcAddress(name)};
    (void)user;
    return found.address;
}

static int run(GLFWwindow *window, const char *name, int loader) {
    pf_display *display = NULL;
    pf_backend *backend = NULL;
    pf_link *link = NULL;
    struct launch launch = {NULL, 0};
    pf_kernel_source source = {
        .size = sizeof source, .name = "ramp", .opencl_c = OPENCL_C, .wgsl = WGSL, .host = row};
    pf_arg frame = {.kind = PIXELFERRY_ARG_U32};
    pf_launch launches[] = {{&source, &frame, 1}};
    pf_surface surface = {
        .size = sizeof surface,
        .format = PIXELFERRY_FORMAT_RGBA8,
        .width = WIDTH,
        .height = HEIGHT,
        .unwritten = PIXELFERRY_LOAD_OVERWRITE,
    };
    pf_frames frames = {
        .size = sizeof frames, .surface = &surface, .launches = launches, .launch_count = 1, .backend = name};
    GLuint program = make_program(), vertex_array, own;
    glGenVertexArrays(1, &vertex_array);
    glBindVertexArray(vertex_array);
    glGenTextures(1, &own);
    glBindTexture(GL_TEXTURE_2D, own);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);

    int wrong = failed(loader ? pf_display_from_gl_loader(get_proc, NULL, NULL, &display)
                              : pf_display_from_current_gl(NULL, &display)) ||
                (frames.shown_by = display, failed(pf_open_pair(&frames, &backend, NULL, &launch.kernel, &link, NULL)));
    for (; !wrong && launch.frame < FRAMES; launch.frame++) {
        wrong = failed(pf_link_frame(link, compute, &launch)) || show(link, program, own, launch.frame);
        glfwSwapBuffers(window);
        glfwPollEvents();
    }
    if (!wrong) {
        char *path = NULL, *device = NULL;
        wrong = failed(pf_link_path(link, &path)) || failed(pf_backend_json(backend, &device));
        if (!wrong) printf("%d frames by %s, every pixel as computed, by %s\n", FRAMES, path, device);
        pf_string_free(path);
        pf_string_free(device);
    }
    /* The context is destroyed last. */
    pf_link_free(link);
    pf_kernel_free(launch.kernel);
    pf_backend_free(backend);
    pf_display_free(display);
    glDeleteTextures(1, &own);
    glDeleteVertexArrays(1, &vertex_array);
    glDeleteProgram(program);
    return wrong;
}

int main(int argc, char **argv) {
    if (!glfwInit()) {
        fprintf(stderr, "no window system\n");
        return 2;
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    GLFWwindow *window = glfwCreateWindow(WIDTH, HEIGHT, "pixelferry", NULL, NULL);
    int wrong = 2;
    if (window != NULL) {
        glfwMakeContextCurrent(window);
        wrong = run(window, argc > 1 ? argv[1] : NULL, argc > 2);
        glfwDestroyWindow(window);
    }
    glfwTerminate();
    return wrong;
}
