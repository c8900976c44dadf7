/* pixelferry for C: OpenCL, CUDA, OpenGL or CPU threads compute results, and the fastest path that pixels prove shows
 * them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A backend computes, a display shows, and a link joins them for one surface (an image or a buffer). Opening a link
 * tries the paths between the two, proves each by pixels and takes the fastest. Then, repeatedly: write a frame, finish
 * it, show it.
 *
 *   pf_open_pair -> { pf_link_frame -> pf_link_show -> draw -> pf_shown_release }
 *
 * STATUS. Calls that can fail return PIXELFERRY_OK (0) or a PIXELFERRY_ERROR_ code. pf_last_error_message then says
 * what failed, on which device, and what to try. After an error nothing has changed, unless the call's comment says
 * otherwise; results (`pf_link **link`) are NULL then. No C++ exception and no Rust panic leaves the library. Functions
 * that you pass in must return to their caller: no exception, no longjmp.
 *
 * HANDLES (pf_backend *, pf_link *, ...) are numbers, not addresses of memory. NULL, a freed handle, a handle of
 * another type and any other pointer give PIXELFERRY_ERROR_HANDLE. Freeing NULL does nothing. Handles may be freed in
 * any order: a link keeps what it needs. The only exception is the rule for your own OpenGL contexts
 * (pf_display_from_current_gl).
 *
 * THREADS. Backends, kernels, and shared links with their frames may be used and freed on every thread, also at the
 * same time. Displays, links, frames (pf_frame, pf_shown), outlets, intakes, subscribers and memories stay on the
 * thread that made them; on another thread a call gives PIXELFERRY_ERROR_THREAD and does nothing. What a thread does
 * not free before it ends is never freed. Each thread has its own error message.
 *
 * PROCESSES. A forked process can free the handles of its parent; every other call with them gives
 * PIXELFERRY_ERROR_UNAVAILABLE. If the parent had opened drivers, so does every call that opens something. The message
 * then mentions "spawn". docs/guest.md lists what the library does to its process: signals, threads, descriptors and
 * more.
 *
 * STRUCTS that begin with `size_t size` may grow in later versions. Set size to sizeof and all unused fields to zero:
 * zero is the default of every field. The smaller size of an older header is accepted, and nothing beyond it is read or
 * written. Every other size gives PIXELFERRY_ERROR_ARGUMENT, including the size of a newer header: use the library that
 * came with the header, or a later one. Pointers in structs must stay valid until the call returns, unless the field's
 * comment says otherwise.
 *
 * TEXTS that you pass in are UTF-8 and end with zero. Free the texts that you get with pf_string_free, unless they are
 * const.
 *
 * POINTERS may be NULL only where the comment says so; otherwise they must point to what their types say. The library
 * cannot check more than that.
 */
#ifndef PIXELFERRY_H
#define PIXELFERRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For a shared library on Windows, define PIXELFERRY_SHARED. */
#if defined(_WIN32) && defined(PIXELFERRY_SHARED)
#define PIXELFERRY_EXPORT __declspec(dllimport)
#else
#define PIXELFERRY_EXPORT
#endif

/* ------------------------------------------------------------------------------------------------------------ status */

typedef int32_t pf_status;

enum {
    PIXELFERRY_OK = 0,
    PIXELFERRY_ERROR_ARGUMENT = 1,       /* a value is invalid; the message names it and the valid values */
    PIXELFERRY_ERROR_HANDLE = 2,         /* NULL, freed, of another type, or not a handle */
    PIXELFERRY_ERROR_THREAD = 3,         /* the handle belongs to another thread */
    PIXELFERRY_ERROR_BUSY = 4,           /* a frame of this link is open or shown, memory of this intake or subscriber is held, or
                                            the call came from inside another one */
    PIXELFERRY_ERROR_CALLBACK = 5,       /* a function that you passed in did not return 0 */
    PIXELFERRY_ERROR_UNAVAILABLE = 6,    /* a library, driver, device or feature is missing; the message says what to
                                          * install */
    PIXELFERRY_ERROR_UNSUPPORTED = 7,    /* the device cannot do this */
    PIXELFERRY_ERROR_DRIVER = 8,         /* a driver call failed */
    PIXELFERRY_ERROR_KERNEL_BUILD = 9,   /* a kernel did not compile; the message is the compiler's log */
    PIXELFERRY_ERROR_KERNEL_FAILED = 10, /* a kernel failed while it ran */
    PIXELFERRY_ERROR_FOREIGN = 11,       /* the object belongs to another backend or display */
    PIXELFERRY_ERROR_CONTEXT = 12,       /* the display's OpenGL context is not current on this thread; nothing was called */
    PIXELFERRY_ERROR_REJECTED = 13,      /* a path showed wrong pixels */
    PIXELFERRY_ERROR_NOTHING_SHOWN = 14, /* the link has not finished a frame yet */
    PIXELFERRY_ERROR_PAUSED = 15,        /* the link was resized to 0x0 */
    PIXELFERRY_ERROR_NO_PATH = 16,       /* no path works between the two sides, or the requested one does not */
    PIXELFERRY_ERROR_FILE = 17,          /* a file could not be written */
    PIXELFERRY_ERROR_PANIC = 18,         /* a defect of the library (please report it); free the objects of this call */
    PIXELFERRY_ERROR_OTHER = 19,         /* anything else */
    PIXELFERRY_ERROR_IN_TARGET = 20      /* the newest frame exists only where it was shown */
};

/* The version of this header, for #if: PIXELFERRY_VERSION_NUMBER >= PIXELFERRY_MAKE_VERSION(0, 2, 0). */
#define PIXELFERRY_VERSION_MAJOR 0
#define PIXELFERRY_VERSION_MINOR 1
#define PIXELFERRY_VERSION_PATCH 0
#define PIXELFERRY_MAKE_VERSION(major, minor, patch) (1000000 * (major) + 1000 * (minor) + (patch))
#define PIXELFERRY_VERSION_NUMBER \
    PIXELFERRY_MAKE_VERSION(PIXELFERRY_VERSION_MAJOR, PIXELFERRY_VERSION_MINOR, PIXELFERRY_VERSION_PATCH)

/* The library's version, as a number and as text ("0.1.0"). Below 1.0, the first two numbers of library and header must
 * match. Any thread; the text is valid forever. */
PIXELFERRY_EXPORT uint32_t pf_version_number(void);
PIXELFERRY_EXPORT const char *pf_version(void);

/* The name of a status, for example "PIXELFERRY_ERROR_DRIVER". Any thread; valid forever. */
PIXELFERRY_EXPORT const char *pf_status_name(pf_status status);

/* The message of the last call that failed on this thread: the call, what failed, on which device, what to try. "" if
 * none has failed. Valid until the next call that fails on this thread. */
PIXELFERRY_EXPORT const char *pf_last_error_message(void);

/* Severity of a log line. */
enum { PIXELFERRY_LOG_ERROR = 1, PIXELFERRY_LOG_WARNING = 2, PIXELFERRY_LOG_INFO = 3, PIXELFERRY_LOG_DEBUG = 4 };
typedef void (*pf_log_function)(void *user, uint32_t level, const char *text);

/* Passes the lines of the library's log up to the level `most` to `log`: failures that the library recovered from
 * (an abandoned path, a wrong driver result), choices, and why paths are not offered. The library calls `log` on
 * any thread, also concurrently, until another call replaces it. NULL, the default, discards the lines. The text is
 * valid during the call. Any thread. Errors: PIXELFERRY_ERROR_ARGUMENT if the process already has a log of Rust's
 * `tracing`. */
PIXELFERRY_EXPORT pf_status pf_set_log(pf_log_function log, void *user, uint32_t most);

/* Frees a text of this library; NULL does nothing. Any thread. Errors: PIXELFERRY_ERROR_HANDLE for any other text. */
PIXELFERRY_EXPORT pf_status pf_string_free(char *text);

/* ----------------------------------------------------------------------------------------------------------- handles */

typedef struct pf_backend pf_backend; /* a device that computes */
typedef struct pf_kernel pf_kernel;   /* a kernel built for one backend */
typedef struct pf_memory pf_memory;   /* memory of a backend's device */
typedef struct pf_display pf_display; /* a device that shows */
typedef struct pf_link pf_link;       /* a proved path from a backend to a display, for one surface */
typedef struct pf_frame pf_frame;     /* a frame being written */
typedef struct pf_shown pf_shown;     /* a shown frame */

typedef struct pf_outlet pf_outlet;             /* a path from a backend into a texture or buffer of yours */
typedef struct pf_intake pf_intake;             /* a path from a texture or buffer of yours to kernels */
typedef struct pf_target pf_target;             /* an image of yours that shows frames */
typedef struct pf_subscriber pf_subscriber;     /* frames of another process */
typedef struct pf_shared_link pf_shared_link;   /* a link on a thread of its own, for all threads */
typedef struct pf_started pf_started;           /* a frame of a shared link that is being computed */
typedef struct pf_shared_frame pf_shared_frame; /* a shown frame of a shared link */

/* ----------------------------------------------------------------------------------------------------------- kernels */

/* An argument of a launch. Numbers keep their type: a kernel's `float` takes no PIXELFERRY_ARG_U32. Never grows. */
enum {
    PIXELFERRY_ARG_I32 = 1,
    PIXELFERRY_ARG_U32 = 2,
    PIXELFERRY_ARG_F32 = 3,
    PIXELFERRY_ARG_I64 = 4,
    PIXELFERRY_ARG_U64 = 5,
    PIXELFERRY_ARG_F64 = 6,
    PIXELFERRY_ARG_MEMORY = 7 /* in a launch: value.memory; in a pf_host_function: value.host, of `bytes` bytes */
};

typedef union pf_value {
    int32_t i32;
    uint32_t u32;
    float f32;
    int64_t i64;
    uint64_t u64;
    double f64;
    pf_memory *memory;
    const void *host;
} pf_value;

typedef struct pf_arg {
    uint32_t kind; /* PIXELFERRY_ARG_ */
    uint32_t reserved;
    pf_value value;
    uint64_t bytes; /* of value.host; else not read */
} pf_arg;

/* Formats of a pixel: channels in the order of the name, native byte order, no padding. 8, 10 and 16 bits are normalised. */
enum {
    PIXELFERRY_FORMAT_R8 = 1,
    PIXELFERRY_FORMAT_RG8 = 2,
    PIXELFERRY_FORMAT_RGBA8 = 3,
    PIXELFERRY_FORMAT_R32F = 4,
    PIXELFERRY_FORMAT_RGBA16F = 5,
    PIXELFERRY_FORMAT_RGBA32F = 6,
    PIXELFERRY_FORMAT_R16 = 7,
    PIXELFERRY_FORMAT_R16F = 8,
    PIXELFERRY_FORMAT_BGRA8 = 9,
    PIXELFERRY_FORMAT_RGB10A2 = 10,
    PIXELFERRY_FORMAT_RG16F = 11,
    PIXELFERRY_FORMAT_RG32F = 12
};

/* Pixels in memory of the host. Pixel (x, row + y) begins at data + y * row_pitch + x * (bytes of a pixel).
 * Of a buffer: row_bytes bytes from data on; width, height and format are 0. */
typedef struct pf_pixels {
    size_t size;
    void *data;          /* row `row`; rows count from the top, or as pf_surface.row_order says */
    ptrdiff_t row_pitch; /* bytes from one row to the next; negative where memory has them in reverse; 0 for one row */
    size_t row_bytes;    /* bytes of a row without what lies between rows */
    uint32_t row;        /* the first row here */
    uint32_t rows;       /* rows here */
    uint32_t width;      /* pixels of what is written, whole */
    uint32_t height;
    uint32_t format; /* PIXELFERRY_FORMAT_ */
    uint32_t reserved;
} pf_pixels;

/* A kernel as a C function, which threads of the CPU run: called once for each row of an image, by several threads at the same
 * time and in any order, or once for a whole buffer. It writes only these pixels and reads only its arguments. Return 0; else
 * the launch gives PIXELFERRY_ERROR_KERNEL_FAILED. It may not throw, except in kernels that pixelferry.hpp builds. */
typedef int32_t (*pf_host_function)(void *user, const pf_pixels *pixels, const pf_arg *args, size_t arg_count);

/* A kernel, with a text for each language that you care to give. docs/kernels.md says how kernels are written; in short:
 *
 *   OpenCL C, CUDA C++   the first parameter is PF_IMAGE(uchar4, out) or PF_BUFFER(float, out), then your arguments. Check
 *                        x < out_width and y < out_height, and write by PF_STORE(out, x, y, value).
 *   WGSL, GLSL           pf_store(position, colour) and pf_arg_f32(0).
 *
 * YOU VOUCH for texts of OpenCL C, CUDA C++, PTX and GLSL: they read and write only their target and their arguments, have no
 * undefined behaviour and come to an end, whatever arguments you launch them with. Nothing checks it. WGSL is checked. */
typedef struct pf_kernel_source {
    size_t size;
    const char *name; /* the function's name in the texts */
    const char *opencl_c;
    const char *cuda_cpp;
    const char *ptx;
    const char *wgsl;
    const char *glsl;
    pf_host_function host; /* for the backend "cpu"; it and host_user must last until the kernel was freed and no launch runs */
    void *host_user;
    size_t items; /* work items for a buffer, where it is not one for each 4 bytes */
} pf_kernel_source;

/* ---------------------------------------------------------------------------------------------------------- surfaces */

/* pf_surface.unwritten: what the pixels are that a frame does not write. */
enum {
    PIXELFERRY_LOAD_KEEP = 0,     /* those of the frame before */
    PIXELFERRY_LOAD_CLEAR = 1,    /* zero */
    PIXELFERRY_LOAD_OVERWRITE = 2 /* you write every pixel; costs nothing. One left out is that of some older frame */
};
/* pf_surface.access: what the display does with an image. */
enum {
    PIXELFERRY_ACCESS_TEXTURE = 0, /* a texture to sample (OpenGL: GL_TEXTURE_2D) */
    PIXELFERRY_ACCESS_ANY = 1      /* it is only drawn; may be memory that is read in place (OpenGL: GL_TEXTURE_BUFFER) */
};
/* pf_surface.row_order: where row 0 is. */
enum { PIXELFERRY_ROWS_TOP_DOWN = 0, PIXELFERRY_ROWS_BOTTOM_UP = 1 };
/* pf_surface.encoding: what colours stand for; draws heed it (pf_draw_options). */
enum {
    PIXELFERRY_ENCODING_UNMANAGED = 0,
    PIXELFERRY_ENCODING_SRGB = 1,
    PIXELFERRY_ENCODING_LINEAR = 2,
    PIXELFERRY_ENCODING_GAMMA22 = 3
};
/* pf_surface.alpha: what alpha stands for. */
enum {
    PIXELFERRY_ALPHA_STORED = 0,
    PIXELFERRY_ALPHA_OPAQUE = 1,
    PIXELFERRY_ALPHA_PREMULTIPLIED = 2,
    PIXELFERRY_ALPHA_STRAIGHT = 3
};

/* What a link carries: an image (format, width, height) or a buffer (bytes). */
typedef struct pf_surface {
    size_t size;
    uint64_t bytes;  /* of a buffer; 0 for an image */
    uint32_t format; /* PIXELFERRY_FORMAT_ */
    uint32_t width;  /* pixels */
    uint32_t height;
    uint32_t unwritten; /* PIXELFERRY_LOAD_ */
    uint32_t access;    /* PIXELFERRY_ACCESS_ */
    uint32_t row_order; /* PIXELFERRY_ROWS_ */
    uint32_t encoding;  /* PIXELFERRY_ENCODING_ */
    uint32_t alpha;     /* PIXELFERRY_ALPHA_ */
} pf_surface;

#define PIXELFERRY_BUDGET_NONE UINT32_MAX
#define PIXELFERRY_AUDIT_OFF UINT32_MAX

/* Which frame is shown. Unless it is the last one, computing, showing and the switch between them overlap. */
enum {
    PIXELFERRY_MODE_FRAMES_BEHIND = 0, /* the one finished frames_behind before the last */
    PIXELFERRY_MODE_THROUGHPUT = 1   /* as late as measuring finds worthwhile, at most frames_behind */
};

/* How a path is chosen. */
typedef struct pf_link_options {
    size_t size;
    const char *path;       /* use this path or fail; NULL: any. docs/paths.md lists the names */
    const char *prefer;     /* try this path first; NULL: none */
    const char *profiles;   /* folder for measurements; NULL: the user's cache folder; "": do not store them */
    uint32_t budget_ms;     /* milliseconds for measuring; 0: 300; PIXELFERRY_BUDGET_NONE: take the first path that
                             * works */
    uint32_t frames_behind;   /* at most 16; 0: the most recently finished frame is shown */
    uint32_t mode;          /* PIXELFERRY_MODE_ */
    uint32_t audit;         /* compare each frame of this multiple, as the kernels wrote it and as the display reads it;
                             * 0: each 60th frame and one a second; PIXELFERRY_AUDIT_OFF: none. A path that showed a
                             * wrong frame is left. "audits" in pf_link_report_json counts them */
} pf_link_options;

/* ------------------------------------------------------------------------------------------------------------- draws */

/* How texels are read if sizes differ: the nearest one, or a weighted mean of the nearest four. */
enum { PIXELFERRY_FILTER_NEAREST = 0, PIXELFERRY_FILTER_LINEAR = 1 };
/* Where the picture goes. All but the first keep its aspect ratio, and all but the last centre it. */
enum {
    PIXELFERRY_FIT_STRETCH = 0, /* stretched to fill the area */
    PIXELFERRY_FIT_CONTAIN = 1, /* the largest size that fits */
    PIXELFERRY_FIT_COVER = 2,   /* the smallest size that covers the area */
    PIXELFERRY_FIT_INTEGER = 3, /* the largest whole multiple of its size that fits */
    PIXELFERRY_FIT_NONE = 4,    /* its own size */
    PIXELFERRY_FIT_AT = 5       /* the rectangle placed_x, placed_y, placed_width, placed_height, with any aspect
                                 * ratio */
};
/* How light brighter than 1 is brought into range: not at all, clamped, Reinhard's curve by luminance, ACES as fitted
 * by Narkowicz or Hill. */
enum {
    PIXELFERRY_TONE_MAP_NONE = 0,
    PIXELFERRY_TONE_MAP_CLAMP = 1,
    PIXELFERRY_TONE_MAP_REINHARD = 2, /* `white` becomes 1 */
    PIXELFERRY_TONE_MAP_ACES_NARKOWICZ = 3,
    PIXELFERRY_TONE_MAP_ACES_HILL = 4
};
/* How the target interprets its numbers. */
enum {
    PIXELFERRY_TARGET_SRGB = 0,        /* sRGB numbers: the draw encodes */
    PIXELFERRY_TARGET_SRGB_FORMAT = 1, /* a format that encodes (GL_SRGB8_ALPHA8): the draw writes light */
    PIXELFERRY_TARGET_LINEAR = 2       /* light: targets of floats */
};
/* An image of one channel. */
enum { PIXELFERRY_ONE_CHANNEL_GREY = 0, PIXELFERRY_ONE_CHANNEL_RED = 1 };
/* What is beside the picture and behind translucent pixels: the target's content, or red, green and blue. */
enum { PIXELFERRY_BACKGROUND_KEEP = 0, PIXELFERRY_BACKGROUND_COLOR = 1 };

/* How an image is drawn. With all fields zero, numbers are written unchanged, and the image fills the area. Exposure
 * and tone maps need a surface whose encoding is not PIXELFERRY_ENCODING_UNMANAGED. */
typedef struct pf_draw_options {
    size_t size;
    uint32_t filter;      /* PIXELFERRY_FILTER_ */
    uint32_t fit;         /* PIXELFERRY_FIT_ */
    uint32_t one_channel; /* PIXELFERRY_ONE_CHANNEL_ */
    uint32_t tone_map;    /* PIXELFERRY_TONE_MAP_ */
    float white;          /* of PIXELFERRY_TONE_MAP_REINHARD: 0.001 or more; 0: infinite */
    float exposure;       /* stops: light times 2 to the power of it; -32 to 32 */
    uint32_t target;      /* PIXELFERRY_TARGET_ */
    uint32_t background;  /* PIXELFERRY_BACKGROUND_ */
    float red;            /* of PIXELFERRY_BACKGROUND_COLOR: sRGB numbers in 0 to 1 */
    float green;
    float blue;
    int32_t placed_x; /* of PIXELFERRY_FIT_AT: pixels from the left and top of the area; may be outside */
    int32_t placed_y;
    uint32_t placed_width;
    uint32_t placed_height;
    uint32_t reserved;
} pf_draw_options;

/* ----------------------------------------------------------------------------------------------------------- machine */

/* Every compute API and its devices as JSON: [{"api", "status", "reason", "hint", "devices"}]. Opens each device, which
 * takes seconds with some drivers. Any thread. */
PIXELFERRY_EXPORT pf_status pf_backends_json(char **json);

/* Everything about this machine as JSON, as printed by the command `pixelferry probe --json`: every path between every
 * device and every display that needs no window, proved with this surface, and what was chosen and why. Takes seconds.
 * Any thread; makes other OpenGL contexts current on it. `options` may be NULL. */
PIXELFERRY_EXPORT pf_status pf_probe_json(const pf_surface *surface, const pf_link_options *options, char **json);

/* ---------------------------------------------------------------------------------------------------------- backends */

/* Opens a device that computes. `name` is a name as in the command ("cuda", "cpu"); NULL or "auto" opens the first that
 * has a language of every one of `kernels` (docs/kernels.md lists the languages). Any thread; "vulkan" computes on this
 * thread only. Errors: PIXELFERRY_ERROR_UNAVAILABLE, PIXELFERRY_ERROR_UNSUPPORTED, PIXELFERRY_ERROR_ARGUMENT (the
 * message lists the names). */
PIXELFERRY_EXPORT pf_status pf_backend_open(const char *name, const pf_kernel_source *const *kernels,
                                            size_t kernel_count, pf_backend **backend);

/* The backend's device as JSON: {"api", "name", "vendor", "driver", "uuid", "software", ...}. */
PIXELFERRY_EXPORT pf_status pf_backend_json(pf_backend *backend, char **json);

/* Waits until the device has finished all its work. */
PIXELFERRY_EXPORT pf_status pf_backend_finish(pf_backend *backend);

/* Frees the handle; links, kernels and memories keep what they need. */
PIXELFERRY_EXPORT pf_status pf_backend_free(pf_backend *backend);

/* Builds a kernel for a backend. Errors: PIXELFERRY_ERROR_KERNEL_BUILD with the compiler's log;
 * PIXELFERRY_ERROR_UNSUPPORTED if no source is in the backend's language. */
PIXELFERRY_EXPORT pf_status pf_kernel_build(pf_backend *backend, const pf_kernel_source *source, pf_kernel **kernel);

/* Frees the handle, even while launches of the kernel run. */
PIXELFERRY_EXPORT pf_status pf_kernel_free(pf_kernel *kernel);

/* ------------------------------------------------------------------------------------------------------------ memory */

/* Allocates `bytes` in memory of the backend's device, for kernels to read; the content is undefined. */
PIXELFERRY_EXPORT pf_status pf_memory_new(pf_backend *backend, size_t bytes, pf_memory **memory);

/* Copies `bytes` to the device, to offset `offset` in bytes. Waits until `data` may be reused. */
PIXELFERRY_EXPORT pf_status pf_memory_write(pf_memory *memory, size_t offset, const void *data, size_t bytes);

/* Copies `bytes` from the device after all earlier launches. Waits. */
PIXELFERRY_EXPORT pf_status pf_memory_read(pf_memory *memory, size_t offset, void *data, size_t bytes);

/* Launches a kernel for buffers that writes this memory: a pass whose result is not shown. */
PIXELFERRY_EXPORT pf_status pf_memory_launch(pf_memory *memory, pf_kernel *kernel, const pf_arg *args,
                                             size_t arg_count);

/* Frees the memory after its launches have finished. */
PIXELFERRY_EXPORT pf_status pf_memory_free(pf_memory *memory);

/* ---------------------------------------------------------------------------------------------------------- displays */

/* Opens a display without a window: "gl" (OpenGL with EGL or a hidden window), "compute" (memory of the compute
 * device), "memory" (plain memory, on every machine), or another by its name; NULL or "auto" opens the first that
 * works. "gl" makes its context current on this thread. */
PIXELFERRY_EXPORT pf_status pf_display_open(const char *name, pf_display **display);

/* Returns whether the context is current on this thread (not 0). Called at the start of every operation. */
typedef int32_t (*pf_is_current_function)(void *user);
/* Returns a function of OpenGL by its name, or NULL; a wrapper of glfwGetProcAddress, for example. */
typedef void *(*pf_get_proc_function)(void *user, const char *name);

typedef struct pf_gl_options {
    size_t size;
    pf_is_current_function is_current; /* NULL: EGL, GLX, WGL and CGL are asked. It must stay valid as long as the
                                        * display */
    void *is_current_user;
    uint32_t version_major; /* use nothing above this OpenGL version; 0: no limit */
    uint32_t version_minor;
} pf_gl_options;

/* Uses the OpenGL context (3.3 or OpenGL ES 3.0, or later) that is current on this thread, whoever made it. EGL, GLX,
 * WGL and CGL are searched for it. Every call leaves the context's state as it found it. `options` may be NULL.
 *
 * YOU VOUCH that the context is used from this thread only, and is not destroyed before the display, its links, frames,
 * and the backends that were opened for it are freed, or pf_display_gl_context_lost is called. Calls while another
 * context is current give PIXELFERRY_ERROR_CONTEXT; objects that are freed then are deleted by a later call. Errors:
 * PIXELFERRY_ERROR_UNAVAILABLE if no context is current, PIXELFERRY_ERROR_UNSUPPORTED below OpenGL 3.3 and OpenGL ES
 * 3.0. */
PIXELFERRY_EXPORT pf_status pf_display_from_current_gl(const pf_gl_options *options, pf_display **display);

/* Like pf_display_from_current_gl, with functions found by `get_proc`, which is called during this call only: for
 * contexts of another system (OSMesa). YOU VOUCH that it returns the context's functions. */
PIXELFERRY_EXPORT pf_status pf_display_from_gl_loader(pf_get_proc_function get_proc, void *user,
                                                      const pf_gl_options *options, pf_display **display);

typedef void (*pf_void_function)(void);
typedef void (*pf_queue_function)(void *user);

/* A Vulkan device of your own; fields are Vulkan's handles, cast. */
typedef struct pf_vulkan_device {
    size_t size;
    pf_void_function get_instance_proc_addr; /* vkGetInstanceProcAddr */
    void *instance;                          /* VkInstance, made for Vulkan 1.1 or later */
    void *physical_device;                   /* VkPhysicalDevice */
    void *device;                            /* VkDevice */
    void *queue;                             /* VkQueue of queue_family, to which the display submits */
    uint32_t queue_family;
    uint32_t timeline_semaphores;   /* not 0: the device was made with the feature timelineSemaphore */
    const char *const *extensions;  /* enabled device extensions */
    size_t extension_count;
    const uint32_t *reader_families; /* families whose queues read frames, if others than queue_family do */
    size_t reader_family_count;
    pf_queue_function lock;   /* called before each submission; NULL if no other thread uses the queue */
    pf_queue_function unlock; /* called after it. Both must return, and stay valid as long as the display and its links */
    void *lock_user;
    uint32_t extended_storage_formats; /* not 0: the device has the feature shaderStorageImageExtendedFormats, with
                                          which kernels of the backend "vulkan" store to images of every format */
    uint32_t reserved;
} pf_vulkan_device;

/* What to enable when you make your device, so that every path works: names of extensions separated by spaces, and
 * whether (1 or 0) to enable the feature timelineSemaphore. Of `device` only get_instance_proc_addr, instance and
 * physical_device are used. A device without them uses the other paths. Errors: PIXELFERRY_ERROR_UNSUPPORTED below
 * Vulkan 1.1. */
PIXELFERRY_EXPORT pf_status pf_vulkan_needs(const pf_vulkan_device *device, char **extensions,
                                            uint32_t *timeline_semaphores);

/* Shows on a Vulkan device of yours; the display submits to its queue, on this thread.
 *
 * YOU VOUCH that the handles are valid and belong together, that extensions and features are those of the device, that
 * the lock keeps all other users from the queue, and that everything lives until the display, its links, and backends
 * that use them are freed. Your work only reads frames, and leaves images in their layout. Errors:
 * PIXELFERRY_ERROR_ARGUMENT for null handles; PIXELFERRY_ERROR_UNSUPPORTED below Vulkan 1.1. */
PIXELFERRY_EXPORT pf_status pf_display_from_vulkan(const pf_vulkan_device *device, pf_display **display);

/* Makes the context of a display of ours (pf_display_open, pf_open_pair) current on this thread; does nothing for
 * displays without a context. Errors: PIXELFERRY_ERROR_UNSUPPORTED for a context of yours. */
PIXELFERRY_EXPORT pf_status pf_display_make_current(pf_display *display);

/* Call this after a context of yours was destroyed while displays or links in it still exist. The library calls nothing
 * in it from then on. YOU VOUCH that it is destroyed, that pf_backend_finish was called before, and that no frame is
 * open. */
PIXELFERRY_EXPORT pf_status pf_display_gl_context_lost(pf_display *display);

/* Waits until the display has finished all its work. */
PIXELFERRY_EXPORT pf_status pf_display_finish(pf_display *display);

/* The display's device as JSON, as in pf_backend_json. */
PIXELFERRY_EXPORT pf_status pf_display_json(pf_display *display, char **json);

/* Frees the handle; links keep what they need. */
PIXELFERRY_EXPORT pf_status pf_display_free(pf_display *display);

/* ------------------------------------------------------------------------------------------------------------- links */

/* A kernel of each frame, with the arguments that the choice depends on: of PIXELFERRY_ARG_MEMORY only the number of
 * bytes, and whether value.host is NULL. Never grows. */
typedef struct pf_launch {
    const pf_kernel_source *source;
    const pf_arg *args;
    size_t arg_count;
} pf_launch;

/* Describes how you compute frames, and your choices. */
typedef struct pf_frames {
    size_t size;
    const pf_surface *surface;
    const pf_launch *launches; /* in order; none: the host writes the frames */
    size_t launch_count;
    const char *backend;  /* as in pf_backend_open; NULL: any */
    const char *display;  /* as in pf_display_open; NULL: any */
    pf_display *shown_by; /* an open display, whose context is current on this thread; NULL: opens one */
    const pf_link_options *options; /* may be NULL */
} pf_frames;

/* Opens backend, display and link together: the pair that an earlier program found to be the fastest for these frames,
 * or else the first that works (docs/paths.md). For a given display, the backend is opened inside it if that enables
 * faster paths. `display` (set to NULL if you gave one), `kernels` (room for launch_count) and `report` (JSON: "basis"
 * is "remembered" or "cost-model", "rows" are the pairs) may be NULL. You own the handles that were returned before an
 * error. Errors: PIXELFERRY_ERROR_UNAVAILABLE; PIXELFERRY_ERROR_UNSUPPORTED with the reason of each pair; those of
 * pf_kernel_build, pf_link_open. */
PIXELFERRY_EXPORT pf_status pf_open_pair(const pf_frames *frames, pf_backend **backend, pf_display **display,
                                         pf_kernel **kernels, pf_link **link, char **report);

/* Finds and proves the paths, and measures which is the fastest. `options` may be NULL. Errors:
 * PIXELFERRY_ERROR_NO_PATH with the reason for each path; PIXELFERRY_ERROR_ARGUMENT for invalid sizes. */
PIXELFERRY_EXPORT pf_status pf_link_open(pf_backend *backend, pf_display *display, const pf_surface *surface,
                                         const pf_link_options *options, pf_link **link);

/* Writes a frame of a link, of an outlet or of a shared link: launch kernels, write, or map. Return 0; any other value
 * cancels the frame. The frame ends when the function returns. */
typedef int32_t (*pf_frame_function)(void *user, pf_frame *frame);

/* Computes and shows one frame of the whole surface. If the path fails, `compute` is called again for a frame on the
 * next path that works, so it should do the same each time. If a call on the frame fails, return a value other than 0,
 * and that call's error decides. Does nothing while the link is paused. Errors: PIXELFERRY_ERROR_CALLBACK if `compute`
 * returned an error and no call on the frame had failed; otherwise the failure, if no path is left or the arguments
 * caused it. The previous frame stays shown. */
PIXELFERRY_EXPORT pf_status pf_link_frame(pf_link *link, pf_frame_function compute, void *user);

/* Begins a frame that pf_frame_finish or pf_frame_cancel ends; until then the link gives PIXELFERRY_ERROR_BUSY. If the
 * path fails in pf_frame_finish, the next frame uses another one. */
PIXELFERRY_EXPORT pf_status pf_link_acquire(pf_link *link, pf_frame **frame);

/* Like pf_link_acquire, for a region of an image; all other pixels keep their content. */
PIXELFERRY_EXPORT pf_status pf_link_acquire_region(pf_link *link, uint32_t x, uint32_t y, uint32_t width,
                                                   uint32_t height, pf_frame **frame);

/* Like pf_link_acquire, for a range of a buffer; all other bytes keep their content. */
PIXELFERRY_EXPORT pf_status pf_link_acquire_bytes(pf_link *link, size_t offset, size_t bytes, pf_frame **frame);

/* Returns the newest finished frame for drawing. Until pf_shown_release the link begins no other frame
 * (PIXELFERRY_ERROR_BUSY). Errors: PIXELFERRY_ERROR_NOTHING_SHOWN before the first frame. */
PIXELFERRY_EXPORT pf_status pf_link_show(pf_link *link, pf_shown **shown);

/* How pf_link_show_gl and pf_link_show_in showed a frame. */
enum {
    PIXELFERRY_SHOWED_STRAIGHT = 1, /* kernels stored into the texture or image; nothing was drawn */
    PIXELFERRY_SHOWED_DRAWN = 2,    /* the frame was drawn */
    PIXELFERRY_SHOWED_PAUSED = 3    /* the link is paused: nothing was computed or drawn */
};

/* Combines pf_link_frame and pf_shown_draw_gl. If the draw would only place pixels, kernels of the display's own queue
 * store into the texture of the current draw framebuffer, which stays bound during the call; a frame then crosses
 * memory once. This needs a backend of the display's own, the texture's format, a whole and unscaled picture, and
 * PIXELFERRY_LOAD_CLEAR or PIXELFERRY_LOAD_OVERWRITE. The first frame in a texture is drawn, and stores are tried and
 * timed beside it. `showed` (PIXELFERRY_SHOWED_) and `way` (the same in words, with the reason for a draw) may be NULL.
 * After a frame that was stored directly, the link has no frame to show, read back, or update partly, until the next
 * frame that was not: PIXELFERRY_ERROR_IN_TARGET. If `compute` returns an error there, what it wrote stays in the
 * texture. Errors: those of pf_link_frame and pf_shown_draw_gl. */
PIXELFERRY_EXPORT pf_status pf_link_show_gl(pf_link *link, int32_t x, int32_t y, uint32_t width, uint32_t height,
                                            const pf_draw_options *options, pf_frame_function compute, void *user,
                                            uint32_t *showed, char **way);

/* Sets another size or format. The shown frame stays until the first one of the new size is finished. An image of 0x0
 * (width and height, with its format) pauses the link. */
PIXELFERRY_EXPORT pf_status pf_link_resize(pf_link *link, const pf_surface *surface);

/* Waits for the most recently finished frame and shows it; needed only if frames_behind is not 0. */
PIXELFERRY_EXPORT pf_status pf_link_flush(pf_link *link);

/* Reads the shown frame back through the display: tight rows in the surface's order. `bytes` is the size of `data` and
 * must match exactly. If `needed` is not NULL, it is set to the size; with `data` NULL and `bytes` 0 nothing else
 * happens. Slow. */
PIXELFERRY_EXPORT pf_status pf_link_read_back(pf_link *link, void *data, size_t bytes, size_t *needed);

/* Saves the shown frame as a picture of its own size: PNG or JPEG, selected by the extension of `file`. `options` may
 * be NULL; fit and target are ignored. Errors: PIXELFERRY_ERROR_FILE; PIXELFERRY_ERROR_ARGUMENT for a buffer. */
PIXELFERRY_EXPORT pf_status pf_link_save(pf_link *link, const char *file, const pf_draw_options *options);

/* The name of the current path, as in docs/paths.md. */
PIXELFERRY_EXPORT pf_status pf_link_path(pf_link *link, char **path);

/* Describes the link for a bug report: both devices, every path with its state and cost, what was chosen and why. */
PIXELFERRY_EXPORT pf_status pf_link_explain(pf_link *link, char **explanation);

/* The content of pf_link_explain as JSON. */
PIXELFERRY_EXPORT pf_status pf_link_report_json(pf_link *link, char **json);

/* Frees the link, with its open or shown frame. */
PIXELFERRY_EXPORT pf_status pf_link_free(pf_link *link);

/* ------------------------------------------------------------------------------------------------------------ frames */

/* Launches a kernel that writes the frame, with your arguments after the target. Returns before the device has
 * finished. Errors: PIXELFERRY_ERROR_FOREIGN for a kernel of another backend, PIXELFERRY_ERROR_ARGUMENT if the
 * arguments do not match. */
PIXELFERRY_EXPORT pf_status pf_frame_launch(pf_frame *frame, pf_kernel *kernel, const pf_arg *args, size_t arg_count);

/* Writes the whole frame from your memory, with rows in the surface's order. `row_pitch`: bytes from one row to the
 * next; 0 for tight rows. The copy is finished when the call returns. */
PIXELFERRY_EXPORT pf_status pf_frame_write(pf_frame *frame, const void *data, size_t bytes, size_t row_pitch);

/* Writes the pixels, all of them: their initial content is undefined. Return 0; any other value means that the frame
 * must be cancelled. */
typedef int32_t (*pf_map_function)(void *user, const pf_pixels *pixels);

/* Calls `write` with the frame's memory mapped into the host's address space, without a copy if the path's memory
 * can be mapped. The pixels are valid only during the call. Errors: PIXELFERRY_ERROR_CALLBACK if `write` returned
 * an error. */
PIXELFERRY_EXPORT pf_status pf_frame_map(pf_frame *frame, pf_map_function write, void *user);

enum {
    PIXELFERRY_API_CUDA = 1,  /* address (CUdeviceptr), queue (CUstream) */
    PIXELFERRY_API_OPENCL = 2 /* object (cl_mem), queue (cl_command_queue, in order), context (cl_context) */
};

/* The memory of a frame as an object of the compute API, for kernels of your own. */
typedef struct pf_device_memory {
    size_t size;
    uint64_t address;    /* CUDA */
    uint64_t offset;     /* bytes from the start of the memory to row 0 */
    void *object;        /* OpenCL */
    void *queue;         /* submit your work to it, or make it wait for your work */
    void *context;       /* OpenCL */
    ptrdiff_t row_pitch; /* bytes from one row to the next; may be negative */
    size_t row_bytes;    /* of a buffer: all */
    uint32_t api;        /* PIXELFERRY_API_ */
    uint32_t width;
    uint32_t height;
    uint32_t format;
} pf_device_memory;

/* Returns the frame's memory. The result is valid until the frame ends: retain and release nothing. Work that is
 * submitted to `queue` before pf_frame_finish is part of the frame. Errors: PIXELFERRY_ERROR_UNSUPPORTED for backends
 * without such objects, and for memory that is not the backend's own. */
PIXELFERRY_EXPORT pf_status pf_frame_device_memory(pf_frame *frame, pf_device_memory *memory);

/* Hands the frame to the display, which shows it from now on. This frees the handle, even on an error; the previous
 * frame then stays shown. */
PIXELFERRY_EXPORT pf_status pf_frame_finish(pf_frame *frame);

/* Cancels the frame: the previous one stays shown. This frees the handle. */
PIXELFERRY_EXPORT pf_status pf_frame_cancel(pf_frame *frame);

/* ------------------------------------------------------------------------------------------------------ shown frames */

/* The shown surface; after a resize it may still have the old size. */
PIXELFERRY_EXPORT pf_status pf_shown_surface(pf_shown *shown, pf_surface *surface);

typedef struct pf_gl_texture {
    size_t size;
    uint32_t name;        /* the texture; do not delete it */
    uint32_t target;      /* GL_TEXTURE_2D; with PIXELFERRY_ACCESS_ANY perhaps GL_TEXTURE_BUFFER */
    uint32_t first_texel; /* of GL_TEXTURE_BUFFER: the texel of pixel (0, 0) */
    uint32_t row_texels;  /* of GL_TEXTURE_BUFFER: texels from one row to the next */
} pf_gl_texture;

/* Returns the frame as a texture of the display's OpenGL context. Row 0 of the texture is the bottom row of the
 * picture. Use a sampler: the texture has no mipmaps. The name is valid until the release; ask for it in each frame.
 * Errors: PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_ARGUMENT for other displays and for a buffer. */
PIXELFERRY_EXPORT pf_status pf_shown_gl_texture(pf_shown *shown, pf_gl_texture *texture);

typedef struct pf_gl_buffer {
    size_t size;
    uint64_t offset; /* bytes; not always 0 */
    uint64_t bytes;
    uint32_t name; /* the buffer; do not delete it */
    uint32_t reserved;
} pf_gl_buffer;

/* Returns a buffer surface as a buffer of OpenGL, for vertices or storage. Rules and errors as for
 * pf_shown_gl_texture. */
PIXELFERRY_EXPORT pf_status pf_shown_gl_buffer(pf_shown *shown, pf_gl_buffer *buffer);

/* Draws an image into this part of the current draw framebuffer, in pixels; (x, y) is the lower left corner. `options`
 * may be NULL. Errors: PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_ARGUMENT for other displays, a buffer, and invalid
 * options. */
PIXELFERRY_EXPORT pf_status pf_shown_draw_gl(pf_shown *shown, int32_t x, int32_t y, uint32_t width, uint32_t height,
                                             const pf_draw_options *options);

/* Draws an image over a whole level of a texture that is yours: a GL_TEXTURE_2D of the display's OpenGL context, whose
 * level has this width and height. `options` may be NULL. The texture may change or be deleted between two calls. No
 * other API or context may use it during the call. Errors: PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_ARGUMENT for
 * other displays, a buffer, a number that is not such a texture, a missing level, another size, a format that the
 * driver cannot draw into or that contains integers, and the texture that is being shown. */
PIXELFERRY_EXPORT pf_status pf_shown_draw_gl_texture(pf_shown *shown, uint32_t texture, uint32_t level, uint32_t width,
                                                     uint32_t height, const pf_draw_options *options);

enum {
    PIXELFERRY_VULKAN_IMAGE = 1, /* object is a VkImage of one level and layer, VK_IMAGE_TILING_OPTIMAL, to sample or to copy from */
    PIXELFERRY_VULKAN_ROWS = 2,  /* object is a VkBuffer with the rows of an image; with PIXELFERRY_ACCESS_ANY only */
    PIXELFERRY_VULKAN_BYTES = 3  /* object is a VkBuffer */
};

typedef struct pf_vulkan_frame {
    size_t size;
    uint64_t object;          /* owned by the display: do not destroy it */
    uint64_t offset;          /* of a VkBuffer: the first byte */
    uint64_t bytes;           /* of PIXELFERRY_VULKAN_BYTES */
    uint64_t ready_semaphore; /* VkSemaphore, a timeline semaphore; 0 for a device without them */
    uint64_t ready_value;
    ptrdiff_t row_pitch; /* of PIXELFERRY_VULKAN_ROWS: bytes from one row to the next */
    uint32_t kind;       /* PIXELFERRY_VULKAN_ */
    int32_t vk_format;   /* VkFormat */
    int32_t vk_layout;   /* VkImageLayout that the image has and is left in */
    uint32_t width;
    uint32_t height;
    uint32_t format; /* PIXELFERRY_FORMAT_; 0 for PIXELFERRY_VULKAN_BYTES */
} pf_vulkan_frame;

/* Returns the frame as an object of the display's Vulkan device; row 0 is the top row. Submit the work that reads it
 * before the next frame of the link is finished, to the display's own queue, or to another one: then that submission
 * waits for ready_semaphore, and pf_shown_vulkan_read_until announces its end. Ask in each frame: the newest may be in
 * another object. Errors: PIXELFERRY_ERROR_ARGUMENT for other displays. */
PIXELFERRY_EXPORT pf_status pf_shown_vulkan(pf_shown *shown, pf_vulkan_frame *frame);

/* Makes the display's later work wait until your work on another queue has read the frame: until the counter of
 * `semaphore` (VkSemaphore, a timeline semaphore of yours) reaches `value`. YOU VOUCH that it does, and that the
 * semaphore lives until then. Errors: PIXELFERRY_ERROR_UNSUPPORTED for a device without timeline semaphores. */
PIXELFERRY_EXPORT pf_status pf_shown_vulkan_read_until(pf_shown *shown, uint64_t semaphore, uint64_t value);

/* Releases the frame, so that the link can begin another one. */
PIXELFERRY_EXPORT pf_status pf_shown_release(pf_shown *shown);

/* ------------------------------------------------------------------------------------------------ objects of your own */

enum {
    PIXELFERRY_OBJECT_GL_TEXTURE = 1,   /* level 0 of a GL_TEXTURE_2D: format, width, height */
    PIXELFERRY_OBJECT_GL_BUFFER = 2,    /* bytes */
    PIXELFERRY_OBJECT_VULKAN_IMAGE = 3, /* width, height, vk_format, vk_usage, vk_layout */
    PIXELFERRY_OBJECT_VULKAN_BUFFER = 4 /* bytes, vk_usage */
};

/* A texture or buffer of yours, on the display's context or device. Numbers of an image are used as they are stored.
 *
 * YOU VOUCH that the object is as described, that it lives and keeps its storage until what was opened for it is freed
 * (on Vulkan until pf_display_finish after that), that nothing else uses it while the display reads or writes it,
 * that no other context changes it, and that a buffer of OpenGL is not mapped, or persistently. On Vulkan the display's
 * queue family may use it. */
typedef struct pf_object {
    size_t size;
    uint64_t handle; /* name in OpenGL, VkImage or VkBuffer */
    uint64_t bytes;  /* of a buffer: how many bytes to use, from its start */
    uint32_t kind;   /* PIXELFERRY_OBJECT_ */
    uint32_t format; /* of a texture: PIXELFERRY_FORMAT_. GL_SRGB8_ALPHA8 counts as GL_RGBA8 */
    uint32_t width;
    uint32_t height;
    int32_t vk_format;
    uint32_t vk_usage; /* usage flags: TRANSFER_SRC for an intake, TRANSFER_DST for an outlet, both if pixels are
                        * kept */
    int32_t vk_layout; /* layout in which copies find and leave an image */
    uint32_t reserved;
} pf_object;

/* Opens an image of your own Vulkan device (PIXELFERRY_OBJECT_VULKAN_IMAGE) as a target for pf_link_show_in: pictures
 * are fitted into this part of it; row 0 is the first row. Keep the target as long as the image, because a new target
 * is measured again. The image needs the usage TRANSFER_DST, and for stores of kernels also STORAGE and TRANSFER_SRC.
 * An image of a swapchain must be acquired when frames are shown in it, and an earlier submission to the display's
 * queue must have waited for its semaphore. Errors: PIXELFERRY_ERROR_ARGUMENT for other displays and objects, a usage
 * without TRANSFER_DST, and a part that is empty or reaches outside. */
PIXELFERRY_EXPORT pf_status pf_target_open(pf_display *display, const pf_object *image, uint32_t x, uint32_t y,
                                           uint32_t width, uint32_t height, pf_target **target);

/* Like pf_link_show_gl, for a target. If kernels do not store, the frame is copied (vkCmdCopyImage, vkCmdBlitImage) or
 * drawn by a compute shader. Your later submissions to the display's queue see it; submit to another queue after
 * pf_display_finish. Errors: those of pf_link_frame; PIXELFERRY_ERROR_UNSUPPORTED if no copy suffices and no shader of
 * the queue stores to the format, and for blending in an image without STORAGE and TRANSFER_SRC. */
PIXELFERRY_EXPORT pf_status pf_link_show_in(pf_link *link, pf_target *target, const pf_draw_options *options,
                                            pf_frame_function compute, void *user, uint32_t *showed, char **way);

/* Frees the target; the image keeps its content. It must live until the next pf_display_finish. */
PIXELFERRY_EXPORT pf_status pf_target_free(pf_target *target);

/* pf_outlet_options.row_order: where row 0 of a frame is in the object. */
enum {
    PIXELFERRY_OUTLET_ROWS_STORED = 0,    /* it is the object's first row, as pf_intake_take returns rows: OpenGL draws
                                           * it at the bottom */
    PIXELFERRY_OUTLET_ROWS_BOTTOM_UP = 1, /* at the bottom of the picture */
    PIXELFERRY_OUTLET_ROWS_TOP_DOWN = 2   /* at its top */
};

typedef struct pf_outlet_options {
    size_t size;
    const char *path;   /* use this path or fail; NULL: the fastest */
    uint32_t unwritten; /* PIXELFERRY_LOAD_; kept pixels are the object's content, whoever wrote it */
    uint32_t row_order; /* PIXELFERRY_OUTLET_ROWS_ */
} pf_outlet_options;

/* Opens the path from a backend into an object, whose name never changes. Every path is proved and timed beside the
 * object, which keeps its content until the first frame. `options` may be NULL. On the display's thread, with its
 * context. Errors: PIXELFERRY_ERROR_ARGUMENT for another display's kind of object, and if it is not as described;
 * PIXELFERRY_ERROR_UNAVAILABLE if the path is not offered; the error of a path if none works. */
PIXELFERRY_EXPORT pf_status pf_outlet_open(pf_backend *backend, pf_display *display, const pf_object *object,
                                           const pf_outlet_options *options, pf_outlet **outlet);

/* Computes a frame into the object: later commands to the display see it. If the path fails, `compute` is called again
 * for a frame on the next path that works. If kernels write the object itself, a cancelled frame's writes stay. Errors:
 * those of pf_link_frame; PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_BUSY from inside `compute`. */
PIXELFERRY_EXPORT pf_status pf_outlet_frame(pf_outlet *outlet, pf_frame_function compute, void *user);

/* Like pf_outlet_frame, for a region of an image, with rows counted as in row_order; all other pixels keep their
 * content. */
PIXELFERRY_EXPORT pf_status pf_outlet_frame_region(pf_outlet *outlet, uint32_t x, uint32_t y, uint32_t width,
                                                   uint32_t height, pf_frame_function compute, void *user);

/* Like pf_outlet_frame, for a range of a buffer; all other bytes keep their content. */
PIXELFERRY_EXPORT pf_status pf_outlet_frame_bytes(pf_outlet *outlet, size_t offset, size_t bytes,
                                                  pf_frame_function compute, void *user);

/* Waits until every user sees the last frame in the object: other contexts, other APIs, the host. */
PIXELFERRY_EXPORT pf_status pf_outlet_finish(pf_outlet *outlet);

/* The current path, then a line for every path: its time, or why it is unavailable. For people. */
PIXELFERRY_EXPORT pf_status pf_outlet_explain(pf_outlet *outlet, char **explanation);

/* Frees the outlet; the object keeps its content. */
PIXELFERRY_EXPORT pf_status pf_outlet_free(pf_outlet *outlet);

/* Opens the path from an object to a backend's kernels. Every path is proved and timed. `path`: use this one or fail;
 * NULL: the fastest. On the display's thread, with its context. Errors: those of pf_outlet_open. */
PIXELFERRY_EXPORT pf_status pf_intake_open(pf_backend *backend, pf_display *display, const pf_object *object,
                                           const char *path, pf_intake **intake);

/* Takes what the display has rendered so far, as memory for kernels to read: an argument of launches
 * (PIXELFERRY_ARG_MEMORY), and for pf_memory_read. Tight rows from byte 0, in the order that pf_intake_surface returns.
 * Until pf_memory_free the intake takes nothing else (PIXELFERRY_ERROR_BUSY), and a buffer of OpenGL must not be
 * written. Launches made before then may still read it. Errors: PIXELFERRY_ERROR_CONTEXT; the error of a path if none
 * works. */
PIXELFERRY_EXPORT pf_status pf_intake_take(pf_intake *intake, pf_memory **memory);

/* The surface that is taken: format, width and height, or bytes. In OpenGL row_order is PIXELFERRY_ROWS_BOTTOM_UP. */
PIXELFERRY_EXPORT pf_status pf_intake_surface(pf_intake *intake, pf_surface *surface);

/* Like pf_outlet_explain; not while its memory is held. */
PIXELFERRY_EXPORT pf_status pf_intake_explain(pf_intake *intake, char **explanation);

/* Frees the handle; taken memory keeps what it needs. */
PIXELFERRY_EXPORT pf_status pf_intake_free(pf_intake *intake);

/* ------------------------------------------------------------------------------------------------------ shared links */

/* Opens a display (pf_display_open, pf_display_from_current_gl, pf_display_from_vulkan, ...) and writes it to
 * `display`. Called on the link's own thread. Return 0; otherwise the link is not opened. The link takes over the
 * handle. */
typedef int32_t (*pf_open_display_function)(void *user, pf_display **display);

/* Opens a link for all threads: it lives with its display on a thread of its own and computes frames there, while any
 * thread draws them. `open` is called on that thread before this call returns. For OpenGL it makes a context of yours
 * current that shares objects with those that draw; the context stays current there until pf_shared_link_free has
 * returned. `options` may be NULL. Any thread. Errors: those of pf_link_open and of opening the display;
 * PIXELFERRY_ERROR_CALLBACK if `open` returned an error. */
PIXELFERRY_EXPORT pf_status pf_shared_link_open(pf_backend *backend, pf_open_display_function open, void *user,
                                                const pf_surface *surface, const pf_link_options *options,
                                                pf_shared_link **link);

/* Computes a frame like pf_link_frame, with `compute` on the link's thread, and waits until it is shown: until every
 * pf_shared_frame is released. Any thread. Errors: those of pf_link_frame; PIXELFERRY_ERROR_BUSY if this thread would
 * wait for itself, because it holds a pf_shared_frame or is the link's own. */
PIXELFERRY_EXPORT pf_status pf_shared_link_frame(pf_shared_link *link, pf_frame_function compute, void *user);

/* Like pf_shared_link_frame, without waiting; frames are computed in the order in which they were started. `compute`
 * may be called until pf_started_wait or pf_shared_link_free has returned. Any thread. */
PIXELFERRY_EXPORT pf_status pf_shared_link_start_frame(pf_shared_link *link, pf_frame_function compute, void *user,
                                                       pf_started **started);

/* Waits until the frame is shown. This frees the handle, even on an error, except for PIXELFERRY_ERROR_BUSY. Any
 * thread. Errors: those of pf_shared_link_frame. */
PIXELFERRY_EXPORT pf_status pf_started_wait(pf_started *started);

/* Frees the handle; the frame is still computed, and its error is logged. */
PIXELFERRY_EXPORT pf_status pf_started_free(pf_started *started);

/* Returns the newest frame for drawing on this thread; the next frame is not handed over until it is released. Any
 * thread. Errors: PIXELFERRY_ERROR_NOTHING_SHOWN before the first frame. */
PIXELFERRY_EXPORT pf_status pf_shared_link_show(pf_shared_link *link, pf_shared_frame **shown);

/* Like pf_link_resize, pf_link_read_back and pf_link_explain, after the frames that were started before, while no frame
 * is held. Any thread. Errors: PIXELFERRY_ERROR_BUSY as in pf_shared_link_frame. */
PIXELFERRY_EXPORT pf_status pf_shared_link_resize(pf_shared_link *link, const pf_surface *surface);
PIXELFERRY_EXPORT pf_status pf_shared_link_read_back(pf_shared_link *link, void *data, size_t bytes, size_t *needed);
PIXELFERRY_EXPORT pf_status pf_shared_link_explain(pf_shared_link *link, char **explanation);

/* Ends the thread: started frames are cancelled or finished, then link and display are freed there. Waits for that,
 * except on the link's own thread. Any thread. */
PIXELFERRY_EXPORT pf_status pf_shared_link_free(pf_shared_link *link);

/* The frame's surface; after a resize it may still have the old size. Any thread, here and below. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_surface(pf_shared_frame *shown, pf_surface *surface);

/* How many frames the link had finished when this one was shown: a different number means a different frame. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_number(pf_shared_frame *shown, uint64_t *number);

/* Returns the frame as an object of its display, like pf_shown_gl_texture and similar; valid until the release. In
 * OpenGL its work has finished, and every sharing context may sample it. Release it when a fence after your draw has
 * passed. Errors: PIXELFERRY_ERROR_ARGUMENT for frames of another kind. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_gl_texture(pf_shared_frame *shown, pf_gl_texture *texture);
PIXELFERRY_EXPORT pf_status pf_shared_frame_gl_buffer(pf_shared_frame *shown, pf_gl_buffer *buffer);
PIXELFERRY_EXPORT pf_status pf_shared_frame_vulkan(pf_shared_frame *shown, pf_vulkan_frame *frame);

/* An image of the display "memory": 8-bit RGBA, top row first, sRGB encoded. Read only, until the release. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_pixels(pf_shared_frame *shown, pf_pixels *pixels);

/* Releases the frame, so that the link can hand over the next. Any thread. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_release(pf_shared_frame *shown);

/* ----------------------------------------------------------------------------------------------------------- streams
 *
 * Frames for other processes of this user on this machine, under a name; see docs/processes.md. On Linux: elsewhere,
 * and in a library built without the feature `stream`, each of these calls gives PIXELFERRY_ERROR_UNAVAILABLE. So do
 * calls with objects of a process from which this one was forked; freeing them here changes nothing there.
 *
 *   pf_stream_open -> pf_link_open -> { pf_link_frame -> pf_link_show -> pf_stream_publish -> pf_shown_release }
 *   pf_subscriber_open -> { pf_subscriber_next -> pf_subscriber_read } */

/* The published streams as JSON: [{"name", "process", "program"}]. Any thread. */
PIXELFERRY_EXPORT pf_status pf_streams_json(char **json);

typedef struct pf_stream_options {
    size_t size;
    uint32_t readers; /* maximum number of subscribers, up to 16; 0: 8. Each may keep a frame, and the ring then gets
                       * another piece */
    uint32_t reserved;
} pf_stream_options;

/* Opens a stream of this name (letters, digits, '-', '_', '.') as a display: link `backend` to it with pf_link_open, or
 * name it in pf_frames.shown_by. If Vulkan was built in and drives the backend's device, frames are in that device's
 * memory, otherwise in the host's. `options` may be NULL. The stream ends when the display and its links are freed.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for a name that is invalid or in use; PIXELFERRY_ERROR_UNAVAILABLE for errors of
 * the system. */
PIXELFERRY_EXPORT pf_status pf_stream_open(pf_backend *backend, const char *name, const pf_stream_options *options,
                                           pf_display **stream);

typedef struct pf_published {
    size_t size;
    uint64_t number;      /* number of the frame, from 1 */
    uint32_t subscribers; /* current number */
    uint32_t copied;      /* 1: the frame was copied to host memory; 0: it stays where kernels wrote it */
} pf_published;

/* Makes a frame of a link to a stream the newest of the stream. Does not wait for subscribers. `published` may be NULL.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for a link to another display. */
PIXELFERRY_EXPORT pf_status pf_stream_publish(pf_shown *shown, pf_published *published);

/* The number of subscribers. `is_awaited` (may be NULL) is 1 if one of them cannot read the newest frame where it is:
 * then publish it once more. This is for programs that publish rarely. Errors: PIXELFERRY_ERROR_ARGUMENT for other
 * displays. */
PIXELFERRY_EXPORT pf_status pf_stream_subscribers(pf_display *stream, uint32_t *subscribers, uint32_t *is_awaited);

/* Subscribes to the stream of this name: its frames become memory of `backend`. The access path is proved first by
 * comparing bytes. Errors: PIXELFERRY_ERROR_UNAVAILABLE if the stream has no publisher or no room;
 * PIXELFERRY_ERROR_ARGUMENT for an invalid name, and for a publisher that sends invalid messages. */
PIXELFERRY_EXPORT pf_status pf_subscriber_open(pf_backend *backend, const char *name, pf_subscriber **subscriber);

/* Result of pf_subscriber_next. */
enum {
    PIXELFERRY_NEXT_NOTHING = 0, /* no newer frame in that time; the last one stays */
    PIXELFERRY_NEXT_FRAME = 1,   /* the newest frame, which does not change until the next call */
    PIXELFERRY_NEXT_ENDED = 2    /* the publisher has ended or was killed; its last frame stays */
};

/* Waits at most `timeout_ms` milliseconds for a frame newer than the last, and takes the newest; older ones are
 * skipped. Errors: PIXELFERRY_ERROR_BUSY while the memory of the last frame is held; PIXELFERRY_ERROR_ARGUMENT for a
 * publisher that describes an invalid frame. The last frame stays. */
PIXELFERRY_EXPORT pf_status pf_subscriber_next(pf_subscriber *subscriber, uint32_t timeout_ms, uint32_t *next);

/* The surface of the last taken frame: format, width, height, encoding and alpha, or bytes. Its top row comes first.
 * Errors: PIXELFERRY_ERROR_NOTHING_SHOWN before the first frame, here and below. */
PIXELFERRY_EXPORT pf_status pf_subscriber_surface(pf_subscriber *subscriber, pf_surface *surface);

typedef struct pf_stream_frame {
    size_t size;
    uint64_t number;     /* missing numbers are skipped frames */
    uint64_t age_ns;     /* nanoseconds since it was published */
    uint64_t offset;     /* of the top row in pf_subscriber_memory */
    ptrdiff_t row_pitch; /* bytes from one row to the next there; may be negative; 0 for a buffer */
    size_t row_bytes;    /* bytes of a row without padding; of a buffer, all */
} pf_stream_frame;

/* Number of the frame, and where its rows are. */
PIXELFERRY_EXPORT pf_status pf_subscriber_frame(pf_subscriber *subscriber, pf_stream_frame *frame);

/* Copies its rows to `data`, which has `bytes` bytes, with `row_pitch` bytes from one row to the next; 0: tight rows.
 * Bytes between rows are not changed. Errors: PIXELFERRY_ERROR_ARGUMENT if the frame does not fit. */
PIXELFERRY_EXPORT pf_status pf_subscriber_read(pf_subscriber *subscriber, void *data, size_t bytes, size_t row_pitch);

/* Returns the frame's memory for kernels of the backend to read: an argument of launches (PIXELFERRY_ARG_MEMORY). Until
 * pf_memory_free the subscriber takes no other frame; launches made before then may still read it. Errors:
 * PIXELFERRY_ERROR_BUSY if it is already held. */
PIXELFERRY_EXPORT pf_status pf_subscriber_memory(pf_subscriber *subscriber, pf_memory **memory);

/* How the last frame was accessed, then a line for every access path that does not work, and why. For people. */
PIXELFERRY_EXPORT pf_status pf_subscriber_explain(pf_subscriber *subscriber, char **explanation);

/* Ends the subscription; held memory keeps what it needs. */
PIXELFERRY_EXPORT pf_status pf_subscriber_free(pf_subscriber *subscriber);

#ifdef __cplusplus
}
#endif

#endif
