/* pixelferry for C: results computed by OpenCL, CUDA, OpenGL or threads, shown by the fastest path that pixels prove.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A backend computes, a display shows, a link joins them for one surface (an image or a buffer). Opening a link tries the
 * paths between the two, proves each by pixels and takes the fastest. Then, again and again: write a frame, finish it, show
 * it.
 *
 *   pf_open_pair -> { pf_link_frame -> pf_link_show -> draw -> pf_shown_release }
 *
 * STATUS. Calls that can fail return PIXELFERRY_OK (0) or a PIXELFERRY_ERROR_ code. pf_last_error_message then says what
 * failed, on which device, and what to try. After an error nothing was changed, unless the call says otherwise; results
 * (`pf_link **link`) are NULL then. No C++ exception and no Rust panic leaves the library. Functions that you give must
 * return to their caller: no exception, no longjmp.
 *
 * HANDLES (pf_backend *, pf_link *, ...) are numbers, and nothing lies at their address. NULL, a handle that was freed, one
 * of another type and any other pointer give PIXELFERRY_ERROR_HANDLE. Freeing NULL does nothing. Handles may be freed in any
 * order: what a link needs it holds. Only the rule for OpenGL contexts of your own stands above that
 * (pf_display_from_current_gl).
 *
 * THREADS. Backends, kernels and shared links with their frames may be used and freed on every thread, also at the same time.
 * Displays, links, frames (pf_frame, pf_shown), outlets, intakes, subscribers and memories stay on the thread that made them; on
 * another one a call gives PIXELFERRY_ERROR_THREAD and does nothing. What a thread does not free before it ends is never
 * freed. Messages are of each thread.
 *
 * PROCESSES. In a forked process the handles of its parent can be freed, and every other call with them gives
 * PIXELFERRY_ERROR_UNAVAILABLE; where the parent had opened drivers, so does every call that opens something. The message says
 * "spawn" then. docs/guest.md lists what the library does to its process: signals, threads, descriptors and more.
 *
 * STRUCTS that begin with `size_t size` may grow in later versions. Set size to sizeof and all that you do not use to zero:
 * zero is the default of every field. The smaller size of an older header is taken, and nothing behind it is read or written.
 * Every other size gives PIXELFERRY_ERROR_ARGUMENT: a newer header's too, so use the library that came with the header or a
 * later one. Pointers in structs need to last until the call returns, unless the field says otherwise.
 *
 * TEXTS that you give are UTF-8 and end with zero. Texts that you get are freed by pf_string_free, unless they are const.
 *
 * POINTERS are either NULL, where that is said, or point to what their types say. The library cannot check more than that.
 */
#ifndef PIXELFERRY_H
#define PIXELFERRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* With a shared library of Windows: define PIXELFERRY_SHARED. */
#if defined(_WIN32) && defined(PIXELFERRY_SHARED)
#define PIXELFERRY_EXPORT __declspec(dllimport)
#else
#define PIXELFERRY_EXPORT
#endif

/* ------------------------------------------------------------------------------------------------------------ status */

typedef int32_t pf_status;

enum {
    PIXELFERRY_OK = 0,
    PIXELFERRY_ERROR_ARGUMENT = 1,       /* a value cannot be used; the message says which, and what it should be */
    PIXELFERRY_ERROR_HANDLE = 2,         /* NULL, freed, of another type, or no handle at all */
    PIXELFERRY_ERROR_THREAD = 3,         /* the handle belongs to another thread */
    PIXELFERRY_ERROR_BUSY = 4,           /* a frame of this link is open or shown, memory of this intake or subscriber is held, or
                                            the call came from inside another one */
    PIXELFERRY_ERROR_CALLBACK = 5,       /* a function that you gave returned something else than 0 */
    PIXELFERRY_ERROR_UNAVAILABLE = 6,    /* a library, driver, device or feature is not there; the message says what to install */
    PIXELFERRY_ERROR_UNSUPPORTED = 7,    /* the device cannot do this */
    PIXELFERRY_ERROR_DRIVER = 8,         /* a driver call failed */
    PIXELFERRY_ERROR_KERNEL_BUILD = 9,   /* a kernel did not compile; the message is the compiler's log */
    PIXELFERRY_ERROR_KERNEL_FAILED = 10, /* a kernel failed while it ran */
    PIXELFERRY_ERROR_FOREIGN = 11,       /* the object belongs to another backend or display */
    PIXELFERRY_ERROR_CONTEXT = 12,       /* the display's OpenGL context is not current on this thread; nothing was called */
    PIXELFERRY_ERROR_REJECTED = 13,      /* a path showed other pixels than were written */
    PIXELFERRY_ERROR_NOTHING_SHOWN = 14, /* no frame of this link was finished yet */
    PIXELFERRY_ERROR_PAUSED = 15,        /* the link was resized to 0x0 */
    PIXELFERRY_ERROR_NO_PATH = 16,       /* no path works between the two sides, or not the one that you asked for */
    PIXELFERRY_ERROR_FILE = 17,          /* a file could not be written */
    PIXELFERRY_ERROR_PANIC = 18,         /* a defect of the library (please report it); free the objects of this call */
    PIXELFERRY_ERROR_OTHER = 19,         /* anything else */
    PIXELFERRY_ERROR_IN_TARGET = 20      /* the newest frame is where it was shown, and nowhere else */
};

/* The version of this header, for #if: PIXELFERRY_VERSION_NUMBER >= PIXELFERRY_MAKE_VERSION(0, 2, 0). */
#define PIXELFERRY_VERSION_MAJOR 0
#define PIXELFERRY_VERSION_MINOR 1
#define PIXELFERRY_VERSION_PATCH 0
#define PIXELFERRY_MAKE_VERSION(major, minor, patch) (1000000 * (major) + 1000 * (minor) + (patch))
#define PIXELFERRY_VERSION_NUMBER \
    PIXELFERRY_MAKE_VERSION(PIXELFERRY_VERSION_MAJOR, PIXELFERRY_VERSION_MINOR, PIXELFERRY_VERSION_PATCH)

/* The library's version, as the number and as text ("0.1.0"). Below 1.0 the library suits a header with the same two first
 * numbers. Any thread; the text lasts forever. */
PIXELFERRY_EXPORT uint32_t pf_version_number(void);
PIXELFERRY_EXPORT const char *pf_version(void);

/* The name of a status, "PIXELFERRY_ERROR_DRIVER". Any thread; lasts forever. */
PIXELFERRY_EXPORT const char *pf_status_name(pf_status status);

/* What the last call that failed on this thread reported: the call, what failed, on which device, what to try. "" where none
 * did. Lasts until the next call that fails on this thread. */
PIXELFERRY_EXPORT const char *pf_last_error_message(void);

/* How much a line of the log matters. */
enum { PIXELFERRY_LOG_ERROR = 1, PIXELFERRY_LOG_WARNING = 2, PIXELFERRY_LOG_INFO = 3, PIXELFERRY_LOG_DEBUG = 4 };
typedef void (*pf_log_function)(void *user, uint32_t level, const char *text);

/* Gives the lines of the library's log up to the level `most` to `log`: failures that were survived (a path that was left, a
 * driver that lies), choices, and what was not offered. `log` is called on any thread, several at a time, until another call
 * replaces it; NULL: nobody, as at first. The text lasts during the call. Any thread.
 * Errors: PIXELFERRY_ERROR_ARGUMENT where the process has a log of Rust's `tracing` already. */
PIXELFERRY_EXPORT pf_status pf_set_log(pf_log_function log, void *user, uint32_t most);

/* Frees a text of this library's; NULL is nothing to do. Any thread.
 * Errors: PIXELFERRY_ERROR_HANDLE for any other text. */
PIXELFERRY_EXPORT pf_status pf_string_free(char *text);

/* ----------------------------------------------------------------------------------------------------------- handles */

typedef struct pf_backend pf_backend; /* a device that computes */
typedef struct pf_kernel pf_kernel;   /* a kernel built for one backend */
typedef struct pf_memory pf_memory;   /* memory of a backend's device */
typedef struct pf_display pf_display; /* what shows */
typedef struct pf_link pf_link;       /* a proved way from a backend to a display, for one surface */
typedef struct pf_frame pf_frame;     /* a frame that is written */
typedef struct pf_shown pf_shown;     /* a frame that is shown */

typedef struct pf_outlet pf_outlet;             /* a way from a backend into a texture or buffer of yours */
typedef struct pf_intake pf_intake;             /* a way from a texture or buffer of yours to kernels */
typedef struct pf_target pf_target;             /* an image of yours that frames are shown in */
typedef struct pf_subscriber pf_subscriber;     /* frames that another process publishes */
typedef struct pf_shared_link pf_shared_link;   /* a link on a thread of its own, for all threads */
typedef struct pf_started pf_started;           /* a frame of a shared link that is computed */
typedef struct pf_shared_frame pf_shared_frame; /* a frame of a shared link that is shown */

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

/* Which frame is shown. Both sides and the switch between them overlap where it is not the last one. */
enum {
    PIXELFERRY_MODE_FRAMES_BEHIND = 0, /* the one finished frames_behind before the last */
    PIXELFERRY_MODE_THROUGHPUT = 1   /* the one as many before the last as measuring finds worth it, at most frames_behind */
};

/* How a path is chosen. */
typedef struct pf_link_options {
    size_t size;
    const char *path;       /* take this path or fail; NULL: any. docs/paths.md names them */
    const char *prefer;     /* try this path before all others; NULL: none */
    const char *profiles;   /* folder for what was measured; NULL: the user's cache folder; "": nowhere */
    uint32_t budget_ms;     /* milliseconds for measuring; 0: 300; PIXELFERRY_BUDGET_NONE: take the first path that works */
    uint32_t frames_behind;   /* at most 16; 0: the frame finished last is shown */
    uint32_t mode;          /* PIXELFERRY_MODE_ */
    uint32_t reserved;
} pf_link_options;

/* ------------------------------------------------------------------------------------------------------------- draws */

/* How texels are read where sizes differ: the nearest, or the four nearest weighed. */
enum { PIXELFERRY_FILTER_NEAREST = 0, PIXELFERRY_FILTER_LINEAR = 1 };
/* Where the picture goes. All but the first keep its shape, and all but the last centre it. */
enum {
    PIXELFERRY_FIT_STRETCH = 0, /* fills the area */
    PIXELFERRY_FIT_CONTAIN = 1, /* the largest size that fits */
    PIXELFERRY_FIT_COVER = 2,   /* the smallest size that covers the area */
    PIXELFERRY_FIT_INTEGER = 3, /* the largest whole multiple of its size that fits */
    PIXELFERRY_FIT_NONE = 4,    /* its own size */
    PIXELFERRY_FIT_AT = 5       /* the rectangle placed_x, placed_y, placed_width, placed_height, in whatever shape */
};
/* How light brighter than 1 comes into range: not at all, cut off, Reinhard's curve by luminance, ACES as Narkowicz or Hill fit it. */
enum {
    PIXELFERRY_TONE_MAP_NONE = 0,
    PIXELFERRY_TONE_MAP_CLAMP = 1,
    PIXELFERRY_TONE_MAP_REINHARD = 2, /* `white` becomes 1 */
    PIXELFERRY_TONE_MAP_ACES_NARKOWICZ = 3,
    PIXELFERRY_TONE_MAP_ACES_HILL = 4
};
/* What the target takes its numbers for. */
enum {
    PIXELFERRY_TARGET_SRGB = 0,        /* sRGB numbers: the draw encodes */
    PIXELFERRY_TARGET_SRGB_FORMAT = 1, /* a format that encodes (GL_SRGB8_ALPHA8): the draw writes light */
    PIXELFERRY_TARGET_LINEAR = 2       /* light: targets of floats */
};
/* An image of one channel. */
enum { PIXELFERRY_ONE_CHANNEL_GREY = 0, PIXELFERRY_ONE_CHANNEL_RED = 1 };
/* What is beside the picture and below translucent pixels: what the target holds, or red, green and blue. */
enum { PIXELFERRY_BACKGROUND_KEEP = 0, PIXELFERRY_BACKGROUND_COLOR = 1 };

/* How an image is drawn. With all zero, every number goes to the target as it is, and fills the area. Exposure and tone maps
 * need a surface whose encoding is not PIXELFERRY_ENCODING_UNMANAGED. */
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
    int32_t placed_x; /* of PIXELFERRY_FIT_AT: pixels from the left and from the top of the area; may lie outside */
    int32_t placed_y;
    uint32_t placed_width;
    uint32_t placed_height;
    uint32_t reserved;
} pf_draw_options;

/* ----------------------------------------------------------------------------------------------------------- machine */

/* Every compute API and its devices as JSON: [{"api", "status", "reason", "hint", "devices"}]. Opens each device, which takes
 * seconds with some drivers. Any thread. */
PIXELFERRY_EXPORT pf_status pf_backends_json(char **json);

/* Everything about this machine as JSON, as the command `pixelferry probe --json` prints it: every path between every device and
 * every display without a window, proved with this surface, and what was chosen and why. Takes seconds. Any thread; makes other
 * OpenGL contexts current on it. `options` may be NULL. */
PIXELFERRY_EXPORT pf_status pf_probe_json(const pf_surface *surface, const pf_link_options *options, char **json);

/* ---------------------------------------------------------------------------------------------------------- backends */

/* Opens a device that computes. `name`: as the command has it ("cuda", "cpu"), or NULL or "auto" for the first that has a
 * language of every one of `kernels` (docs/kernels.md lists the languages). Any thread; "vulkan" computes on this one alone.
 * Errors: PIXELFERRY_ERROR_UNAVAILABLE, PIXELFERRY_ERROR_UNSUPPORTED, PIXELFERRY_ERROR_ARGUMENT (the message lists the names). */
PIXELFERRY_EXPORT pf_status pf_backend_open(const char *name, const pf_kernel_source *const *kernels,
                                            size_t kernel_count, pf_backend **backend);

/* Its device as JSON: {"api", "name", "vendor", "driver", "uuid", "software", ...}. */
PIXELFERRY_EXPORT pf_status pf_backend_json(pf_backend *backend, char **json);

/* Waits until the device has done all that it was given. */
PIXELFERRY_EXPORT pf_status pf_backend_finish(pf_backend *backend);

/* Frees the handle; links, kernels and memories hold what they need. */
PIXELFERRY_EXPORT pf_status pf_backend_free(pf_backend *backend);

/* Builds a kernel for a backend.
 * Errors: PIXELFERRY_ERROR_KERNEL_BUILD with the compiler's log; PIXELFERRY_ERROR_UNSUPPORTED where no text is in the
 * backend's language. */
PIXELFERRY_EXPORT pf_status pf_kernel_build(pf_backend *backend, const pf_kernel_source *source, pf_kernel **kernel);

/* Frees the handle, also while launches of it run. */
PIXELFERRY_EXPORT pf_status pf_kernel_free(pf_kernel *kernel);

/* ------------------------------------------------------------------------------------------------------------ memory */

/* Allocates `bytes` of the backend's device, for kernels to read; the content is undefined. */
PIXELFERRY_EXPORT pf_status pf_memory_new(pf_backend *backend, size_t bytes, pf_memory **memory);

/* Copies `bytes` to the device, to byte `offset` on. Waits until `data` may be reused. */
PIXELFERRY_EXPORT pf_status pf_memory_write(pf_memory *memory, size_t offset, const void *data, size_t bytes);

/* Copies `bytes` from the device, after all that was launched before. Waits. */
PIXELFERRY_EXPORT pf_status pf_memory_read(pf_memory *memory, size_t offset, void *data, size_t bytes);

/* Launches a kernel for buffers that writes this memory: a pass whose result is not shown. */
PIXELFERRY_EXPORT pf_status pf_memory_launch(pf_memory *memory, pf_kernel *kernel, const pf_arg *args,
                                             size_t arg_count);

/* Frees it, after what was launched with it. */
PIXELFERRY_EXPORT pf_status pf_memory_free(pf_memory *memory);

/* ---------------------------------------------------------------------------------------------------------- displays */

/* Opens a display without a window: "gl" (OpenGL by EGL or a hidden window), "compute" (memory of the compute device), "memory"
 * (plain memory, on every machine), another by its name, or NULL or "auto" for the first that works. "gl" makes its context
 * current here. */
PIXELFERRY_EXPORT pf_status pf_display_open(const char *name, pf_display **display);

/* Whether the context is current on this thread: not 0 where it is. Called at the start of every operation. */
typedef int32_t (*pf_is_current_function)(void *user);
/* A function of OpenGL by its name, or NULL: glfwGetProcAddress and its like behind it. */
typedef void *(*pf_get_proc_function)(void *user, const char *name);

typedef struct pf_gl_options {
    size_t size;
    pf_is_current_function is_current; /* NULL: EGL, GLX, WGL and CGL are asked. It lasts as long as the display */
    void *is_current_user;
    uint32_t version_major; /* uses nothing above this OpenGL version; 0: no limit */
    uint32_t version_minor;
} pf_gl_options;

/* Works in the OpenGL context (3.3 or OpenGL ES 3.0, or later) that is current on this thread, whoever made it. EGL, GLX, WGL and
 * CGL are asked for it. Every call leaves the context's state as it found it. `options` may be NULL.
 *
 * YOU VOUCH that the context is used from this thread only, and stays alive until the display, its links, frames, and the
 * backends that were opened for it are freed, or pf_display_gl_context_lost is called. Calls while another context is current
 * give PIXELFERRY_ERROR_CONTEXT; what is freed then is deleted by a later call.
 * Errors: PIXELFERRY_ERROR_UNAVAILABLE where no context is current, PIXELFERRY_ERROR_UNSUPPORTED below OpenGL 3.3 and
 * OpenGL ES 3.0. */
PIXELFERRY_EXPORT pf_status pf_display_from_current_gl(const pf_gl_options *options, pf_display **display);

/* The same with functions found by `get_proc`, which is called during this call only: for contexts of another system (OSMesa).
 * YOU VOUCH that it gives the context's functions. */
PIXELFERRY_EXPORT pf_status pf_display_from_gl_loader(pf_get_proc_function get_proc, void *user,
                                                      const pf_gl_options *options, pf_display **display);

typedef void (*pf_void_function)(void);
typedef void (*pf_queue_function)(void *user);

/* A Vulkan device of your own; handles are what Vulkan calls them, cast. */
typedef struct pf_vulkan_device {
    size_t size;
    pf_void_function get_instance_proc_addr; /* vkGetInstanceProcAddr */
    void *instance;                          /* VkInstance, made for Vulkan 1.1 or later */
    void *physical_device;                   /* VkPhysicalDevice */
    void *device;                            /* VkDevice */
    void *queue;                             /* VkQueue of queue_family, to which the display submits */
    uint32_t queue_family;
    uint32_t timeline_semaphores;   /* not 0: the device was made with the feature timelineSemaphore */
    const char *const *extensions;  /* that the device was made with */
    size_t extension_count;
    const uint32_t *reader_families; /* families whose queues read frames, where it is not only queue_family */
    size_t reader_family_count;
    pf_queue_function lock; /* called around each submission; NULL where no other thread uses the queue. They last as long */
    pf_queue_function unlock; /* as the display and its links, and return */
    void *lock_user;
    uint32_t extended_storage_formats; /* not 0: made with the feature shaderStorageImageExtendedFormats, by which kernels of
                                          the backend "vulkan" store to images of every format */
    uint32_t reserved;
} pf_vulkan_device;

/* What to switch on when you make your device, so that every path works: names of extensions with spaces between them, and
 * whether (1 or 0) the feature timelineSemaphore. Of `device` only get_instance_proc_addr, instance and physical_device count.
 * A device without them works by the other paths. Errors: PIXELFERRY_ERROR_UNSUPPORTED below Vulkan 1.1. */
PIXELFERRY_EXPORT pf_status pf_vulkan_needs(const pf_vulkan_device *device, char **extensions,
                                            uint32_t *timeline_semaphores);

/* Shows on a Vulkan device of yours; the display submits to its queue, on this thread.
 *
 * YOU VOUCH that the handles are alive and belong together, that extensions and feature are those that the device was made with,
 * that the lock keeps all others from the queue, and that all of it lives until the display, its links and what backends have of
 * it are freed. Your work only reads frames, and leaves images in their layout.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for null handles; PIXELFERRY_ERROR_UNSUPPORTED below Vulkan 1.1. */
PIXELFERRY_EXPORT pf_status pf_display_from_vulkan(const pf_vulkan_device *device, pf_display **display);

/* Makes the context of a display of ours (pf_display_open, pf_open_pair) current on this thread; does nothing for displays
 * without one. Errors: PIXELFERRY_ERROR_UNSUPPORTED for a context of yours. */
PIXELFERRY_EXPORT pf_status pf_display_make_current(pf_display *display);

/* To be called after a context of yours was destroyed, where displays or links in it are still there. Nothing is called in it
 * from then on. YOU VOUCH that it is gone, that pf_backend_finish was called before, and that no frame is open. */
PIXELFERRY_EXPORT pf_status pf_display_gl_context_lost(pf_display *display);

/* Waits until the display has done all that it was given. */
PIXELFERRY_EXPORT pf_status pf_display_finish(pf_display *display);

/* Who draws, as JSON: as pf_backend_json. */
PIXELFERRY_EXPORT pf_status pf_display_json(pf_display *display, char **json);

/* Frees the handle; links hold what they need. */
PIXELFERRY_EXPORT pf_status pf_display_free(pf_display *display);

/* ------------------------------------------------------------------------------------------------------------- links */

/* A kernel of each frame, with its arguments as far as the choice depends on them: of PIXELFERRY_ARG_MEMORY the number of bytes, and
 * whether value.host is NULL. Never grows. */
typedef struct pf_launch {
    const pf_kernel_source *source;
    const pf_arg *args;
    size_t arg_count;
} pf_launch;

/* Frames as you compute them, and wishes. */
typedef struct pf_frames {
    size_t size;
    const pf_surface *surface;
    const pf_launch *launches; /* in their order; none: the host writes the frames */
    size_t launch_count;
    const char *backend;  /* as in pf_backend_open; NULL: any */
    const char *display;  /* as in pf_display_open; NULL: any */
    pf_display *shown_by; /* a display that is there, whose context is current on this thread; NULL: opens one */
    const pf_link_options *options; /* may be NULL */
} pf_frames;

/* Opens backend, display and link together: the pair that an earlier program found to be the quickest for these frames, or else the
 * first one that works (docs/paths.md). A given display gets a backend inside it where that opens faster paths. `display`
 * (NULL is written where you gave one), `kernels` (room for launch_count) and `report` (JSON: "basis" is "remembered" or
 * "cost-model", "rows" are the pairs) may be NULL. What was given out before an error is yours.
 * Errors: PIXELFERRY_ERROR_UNAVAILABLE; PIXELFERRY_ERROR_UNSUPPORTED with the reason of each pair; those of pf_kernel_build,
 * pf_link_open. */
PIXELFERRY_EXPORT pf_status pf_open_pair(const pf_frames *frames, pf_backend **backend, pf_display **display,
                                         pf_kernel **kernels, pf_link **link, char **report);

/* Finds and proves a path, and measures which is the fastest. `options` may be NULL.
 * Errors: PIXELFERRY_ERROR_NO_PATH with the reason for each path; PIXELFERRY_ERROR_ARGUMENT for sizes that cannot be. */
PIXELFERRY_EXPORT pf_status pf_link_open(pf_backend *backend, pf_display *display, const pf_surface *surface,
                                         const pf_link_options *options, pf_link **link);

/* Writes a frame of a link, of an outlet or of a shared link: launch kernels, write, or map. Return 0; else the frame is
 * given up. The frame ends when it returns. */
typedef int32_t (*pf_frame_function)(void *user, pf_frame *frame);

/* Computes and shows one frame of the whole surface. If the path fails, `compute` is called again for a frame on the next one
 * that works, so it should do the same each time; where a call on the frame fails, return what is not 0, and that call's
 * error decides. Does nothing while the link is paused.
 * Errors: PIXELFERRY_ERROR_CALLBACK where `compute` refused and no call on the frame had failed; else what failed, where no
 * path is left or the values are the reason. The frame before stays on show. */
PIXELFERRY_EXPORT pf_status pf_link_frame(pf_link *link, pf_frame_function compute, void *user);

/* Begins a frame that pf_frame_finish or pf_frame_cancel ends; until then the link gives PIXELFERRY_ERROR_BUSY. If the path
 * fails in pf_frame_finish, the next frame is by another one. */
PIXELFERRY_EXPORT pf_status pf_link_acquire(pf_link *link, pf_frame **frame);

/* The same for a part of an image; all other pixels stay. */
PIXELFERRY_EXPORT pf_status pf_link_acquire_region(pf_link *link, uint32_t x, uint32_t y, uint32_t width,
                                                   uint32_t height, pf_frame **frame);

/* The same for a part of a buffer; all other bytes stay. */
PIXELFERRY_EXPORT pf_status pf_link_acquire_bytes(pf_link *link, size_t offset, size_t bytes, pf_frame **frame);

/* The newest finished frame, for drawing. Until pf_shown_release the link begins no other frame (PIXELFERRY_ERROR_BUSY).
 * Errors: PIXELFERRY_ERROR_NOTHING_SHOWN before the first. */
PIXELFERRY_EXPORT pf_status pf_link_show(pf_link *link, pf_shown **shown);

/* The ways of pf_link_show_gl and pf_link_show_in. */
enum {
    PIXELFERRY_SHOWED_STRAIGHT = 1, /* kernels stored into the texture or image; nothing was drawn */
    PIXELFERRY_SHOWED_DRAWN = 2,    /* the frame was drawn */
    PIXELFERRY_SHOWED_PAUSED = 3    /* the link is paused: nothing was computed, and nothing drawn */
};

/* pf_link_frame and pf_shown_draw_gl as one call. Where the draw would only place pixels, kernels of the display's own queue store
 * into the texture behind the framebuffer that is bound for drawing, which stays bound during the call: a frame then crosses
 * memory once. That takes a backend of the display's own, the texture's format, an unscaled and whole picture, and
 * PIXELFERRY_LOAD_CLEAR or PIXELFERRY_LOAD_OVERWRITE. The first frame in a texture is drawn, and stores are tried and timed
 * beside it. `showed` (PIXELFERRY_SHOWED_) and `way` (the same in words, with the reason for a draw) may be NULL.
 * After a frame that went straight the link has none to show, to read back, or to write a part of, until the next other one:
 * PIXELFERRY_ERROR_IN_TARGET. If `compute` refuses there, what it wrote stays in the texture.
 * Errors: those of pf_link_frame and pf_shown_draw_gl. */
PIXELFERRY_EXPORT pf_status pf_link_show_gl(pf_link *link, int32_t x, int32_t y, uint32_t width, uint32_t height,
                                            const pf_draw_options *options, pf_frame_function compute, void *user,
                                            uint32_t *showed, char **way);

/* Another size or format. The frame shown stays until the first of the new size is finished. An image of 0x0 (width and height,
 * with its format) pauses the link. */
PIXELFERRY_EXPORT pf_status pf_link_resize(pf_link *link, const pf_surface *surface);

/* Shows the frame finished last, waiting for it; needed only where frames_behind is not 0. */
PIXELFERRY_EXPORT pf_status pf_link_flush(pf_link *link);

/* What is shown, read back through the display: tight rows in the surface's order. `data` has `bytes` bytes, which must be all.
 * Where `needed` is not NULL it gets that number; with `data` NULL and `bytes` 0 nothing else is done. Slow. */
PIXELFERRY_EXPORT pf_status pf_link_read_back(pf_link *link, void *data, size_t bytes, size_t *needed);

/* What is shown as a picture of its own size: PNG or JPEG, by the ending of `file`. `options` may be NULL; fit and target do
 * not count.
 * Errors: PIXELFERRY_ERROR_FILE; PIXELFERRY_ERROR_ARGUMENT for a buffer. */
PIXELFERRY_EXPORT pf_status pf_link_save(pf_link *link, const char *file, const pf_draw_options *options);

/* The name of the path in use, as docs/paths.md has it. */
PIXELFERRY_EXPORT pf_status pf_link_path(pf_link *link, char **path);

/* All that is known, as text for a bug report: both devices, every path with its state and cost, what was chosen and why. */
PIXELFERRY_EXPORT pf_status pf_link_explain(pf_link *link, char **explanation);

/* The same as JSON. */
PIXELFERRY_EXPORT pf_status pf_link_report_json(pf_link *link, char **json);

/* Frees it, with the frame that is open or shown. */
PIXELFERRY_EXPORT pf_status pf_link_free(pf_link *link);

/* ------------------------------------------------------------------------------------------------------------ frames */

/* Launches a kernel that writes the frame, with your arguments behind the target. Returns before the device has done it.
 * Errors: PIXELFERRY_ERROR_FOREIGN for a kernel of another backend, PIXELFERRY_ERROR_ARGUMENT where arguments do not fit. */
PIXELFERRY_EXPORT pf_status pf_frame_launch(pf_frame *frame, pf_kernel *kernel, const pf_arg *args, size_t arg_count);

/* Writes all of the frame from memory of yours, rows in the surface's order. `row_pitch`: bytes from one row to the next; 0 for
 * tight rows. The copy is done when it returns. */
PIXELFERRY_EXPORT pf_status pf_frame_write(pf_frame *frame, const void *data, size_t bytes, size_t row_pitch);

/* Writes the pixels; every one of them, as they may hold anything before. Return 0; else the frame must be given up. */
typedef int32_t (*pf_map_function)(void *user, const pf_pixels *pixels);

/* Calls `write` with the frame's memory, mapped into the host's: with no copy where the path's memory can be mapped. The pixels
 * are there during the call only. Errors: PIXELFERRY_ERROR_CALLBACK where `write` refused. */
PIXELFERRY_EXPORT pf_status pf_frame_map(pf_frame *frame, pf_map_function write, void *user);

enum {
    PIXELFERRY_API_CUDA = 1,  /* address (CUdeviceptr), queue (CUstream) */
    PIXELFERRY_API_OPENCL = 2 /* object (cl_mem), queue (cl_command_queue, in order), context (cl_context) */
};

/* The memory of a frame as an object of the compute API, for kernels of your own. */
typedef struct pf_device_memory {
    size_t size;
    uint64_t address;    /* CUDA */
    uint64_t offset;     /* bytes from the memory's begin to row 0 */
    void *object;        /* OpenCL */
    void *queue;         /* give your work to it, or let it wait for yours */
    void *context;       /* OpenCL */
    ptrdiff_t row_pitch; /* bytes from one row to the next; may be negative */
    size_t row_bytes;    /* of a buffer: all */
    uint32_t api;        /* PIXELFERRY_API_ */
    uint32_t width;
    uint32_t height;
    uint32_t format;
} pf_device_memory;

/* Names the frame's memory. What it names is good until the frame ends: retain nothing, release nothing. Work that is given to
 * `queue` before pf_frame_finish is part of the frame.
 * Errors: PIXELFERRY_ERROR_UNSUPPORTED for backends without such names, and for memory that is not the backend's own. */
PIXELFERRY_EXPORT pf_status pf_frame_device_memory(pf_frame *frame, pf_device_memory *memory);

/* Hands the frame to the display, which shows it from now on. The handle is gone, also after an error; the frame before stays on
 * show then. */
PIXELFERRY_EXPORT pf_status pf_frame_finish(pf_frame *frame);

/* Gives the frame up: the one before stays on show. The handle is gone. */
PIXELFERRY_EXPORT pf_status pf_frame_cancel(pf_frame *frame);

/* ------------------------------------------------------------------------------------------------------ shown frames */

/* What is shown; after a resize it may still be the old size. */
PIXELFERRY_EXPORT pf_status pf_shown_surface(pf_shown *shown, pf_surface *surface);

typedef struct pf_gl_texture {
    size_t size;
    uint32_t name;        /* the texture; do not delete it */
    uint32_t target;      /* GL_TEXTURE_2D; with PIXELFERRY_ACCESS_ANY perhaps GL_TEXTURE_BUFFER */
    uint32_t first_texel; /* of GL_TEXTURE_BUFFER: the texel of pixel (0, 0) */
    uint32_t row_texels;  /* of GL_TEXTURE_BUFFER: texels from one row to the next */
} pf_gl_texture;

/* The frame as a texture of the display's OpenGL context. Row 0 of the texture is the bottom row of the picture. Bring a sampler:
 * it has no mipmaps. The name is good until the release; ask for it in each frame.
 * Errors: PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_ARGUMENT for other displays and for a buffer. */
PIXELFERRY_EXPORT pf_status pf_shown_gl_texture(pf_shown *shown, pf_gl_texture *texture);

typedef struct pf_gl_buffer {
    size_t size;
    uint64_t offset; /* bytes; not always 0 */
    uint64_t bytes;
    uint32_t name; /* the buffer; do not delete it */
    uint32_t reserved;
} pf_gl_buffer;

/* A buffer surface as a buffer of OpenGL, for vertices or storage. As pf_shown_gl_texture. */
PIXELFERRY_EXPORT pf_status pf_shown_gl_buffer(pf_shown *shown, pf_gl_buffer *buffer);

/* Draws an image into the framebuffer that is bound for drawing, into this part of it: pixels, (x, y) is the lower left corner.
 * `options` may be NULL.
 * Errors: PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_ARGUMENT for other displays, a buffer, and options that mean nothing. */
PIXELFERRY_EXPORT pf_status pf_shown_draw_gl(pf_shown *shown, int32_t x, int32_t y, uint32_t width, uint32_t height,
                                             const pf_draw_options *options);

/* Draws an image into all of a level of a texture that is yours: a GL_TEXTURE_2D of the display's OpenGL context, whose level
 * has this width and height. `options` may be NULL. The texture may change or be deleted between two calls. Nobody else may
 * have it meanwhile: no compute API, no other context.
 * Errors: PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_ARGUMENT for other displays, a buffer, a number that is no such texture,
 * a level that it lacks, another size, a format that the driver cannot draw into or that holds integers, and the texture that
 * is shown. */
PIXELFERRY_EXPORT pf_status pf_shown_draw_gl_texture(pf_shown *shown, uint32_t texture, uint32_t level, uint32_t width,
                                                     uint32_t height, const pf_draw_options *options);

enum {
    PIXELFERRY_VULKAN_IMAGE = 1, /* object is a VkImage of one level and layer, VK_IMAGE_TILING_OPTIMAL, to sample or to copy from */
    PIXELFERRY_VULKAN_ROWS = 2,  /* object is a VkBuffer with the rows of an image; with PIXELFERRY_ACCESS_ANY only */
    PIXELFERRY_VULKAN_BYTES = 3  /* object is a VkBuffer */
};

typedef struct pf_vulkan_frame {
    size_t size;
    uint64_t object;          /* the display's: destroy nothing */
    uint64_t offset;          /* of a VkBuffer: the first byte */
    uint64_t bytes;           /* of PIXELFERRY_VULKAN_BYTES */
    uint64_t ready_semaphore; /* VkSemaphore, a timeline; 0 for a device without them */
    uint64_t ready_value;
    ptrdiff_t row_pitch; /* of PIXELFERRY_VULKAN_ROWS: bytes from one row to the next */
    uint32_t kind;       /* PIXELFERRY_VULKAN_ */
    int32_t vk_format;   /* VkFormat */
    int32_t vk_layout;   /* VkImageLayout that the image has and is left in */
    uint32_t width;
    uint32_t height;
    uint32_t format; /* PIXELFERRY_FORMAT_; 0 for PIXELFERRY_VULKAN_BYTES */
} pf_vulkan_frame;

/* The frame as an object of the display's Vulkan device; row 0 is the top row. Submit what reads it before the next frame of the
 * link is finished, to the display's own queue, or to another one: that submission waits for ready_semaphore, and
 * pf_shown_vulkan_read_until announces its end. Ask in each frame: the newest may be in another object.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for other displays. */
PIXELFERRY_EXPORT pf_status pf_shown_vulkan(pf_shown *shown, pf_vulkan_frame *frame);

/* What the display does from now on waits until your work on another queue has read the frame: until the counter of `semaphore`
 * (VkSemaphore, a timeline of yours) has `value`. YOU VOUCH that it gets there, and lives until then.
 * Errors: PIXELFERRY_ERROR_UNSUPPORTED for a device without timeline semaphores. */
PIXELFERRY_EXPORT pf_status pf_shown_vulkan_read_until(pf_shown *shown, uint64_t semaphore, uint64_t value);

/* The link may go on. */
PIXELFERRY_EXPORT pf_status pf_shown_release(pf_shown *shown);

/* ------------------------------------------------------------------------------------------------ objects of your own */

enum {
    PIXELFERRY_OBJECT_GL_TEXTURE = 1,   /* level 0 of a GL_TEXTURE_2D: format, width, height */
    PIXELFERRY_OBJECT_GL_BUFFER = 2,    /* bytes */
    PIXELFERRY_OBJECT_VULKAN_IMAGE = 3, /* width, height, vk_format, vk_usage, vk_layout */
    PIXELFERRY_OBJECT_VULKAN_BUFFER = 4 /* bytes, vk_usage */
};

/* A texture or buffer of yours, on the display's context or device. Where it holds an image, the numbers are those that are
 * stored.
 *
 * YOU VOUCH that it is what this says, that it lives and keeps its storage until what was opened over it is freed (on Vulkan
 * until pf_display_finish after that), that nobody uses it while the display is told to read or write it, that no other
 * context changes it, and that a buffer of OpenGL is not mapped, or for good. On Vulkan the display's queue family may use
 * it. */
typedef struct pf_object {
    size_t size;
    uint64_t handle; /* the name in OpenGL, VkImage or VkBuffer */
    uint64_t bytes;  /* of a buffer: its first bytes, so many */
    uint32_t kind;   /* PIXELFERRY_OBJECT_ */
    uint32_t format; /* of a texture: PIXELFERRY_FORMAT_. GL_SRGB8_ALPHA8 counts as GL_RGBA8 */
    uint32_t width;
    uint32_t height;
    int32_t vk_format;
    uint32_t vk_usage; /* that it was made with: TRANSFER_SRC for an intake, TRANSFER_DST for an outlet, both where pixels are kept */
    int32_t vk_layout; /* in which copies find an image and leave it */
    uint32_t reserved;
} pf_object;

/* An image of your own Vulkan device (PIXELFERRY_OBJECT_VULKAN_IMAGE) as a place for pf_link_show_in: pictures are fitted into this
 * part of it, row 0 is the first row. Keep the target as long as the image, as a new one is tried again. The image was made
 * with TRANSFER_DST, and for stores of kernels with STORAGE and TRANSFER_SRC, too. An image of a swapchain is acquired when frames are
 * shown in it, and an earlier submission to the display's queue has waited for its semaphore.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for other displays and objects, a usage without TRANSFER_DST, and a part that is empty or
 * reaches outside. */
PIXELFERRY_EXPORT pf_status pf_target_open(pf_display *display, const pf_object *image, uint32_t x, uint32_t y,
                                           uint32_t width, uint32_t height, pf_target **target);

/* pf_link_show_gl, in a target. Where kernels do not store, the frame is copied (vkCmdCopyImage, vkCmdBlitImage) or drawn by a
 * compute shader. Your later submissions to the display's queue see it; those to another queue come after pf_display_finish.
 * Errors: those of pf_link_frame; PIXELFERRY_ERROR_UNSUPPORTED where no copy does it and no shader of the queue stores to the
 * format, and for blending in an image without STORAGE and TRANSFER_SRC. */
PIXELFERRY_EXPORT pf_status pf_link_show_in(pf_link *link, pf_target *target, const pf_draw_options *options,
                                            pf_frame_function compute, void *user, uint32_t *showed, char **way);

/* Frees it; the image stays as it is, until pf_display_finish after that. */
PIXELFERRY_EXPORT pf_status pf_target_free(pf_target *target);

/* pf_outlet_options.row_order: where row 0 of a frame is in the object. */
enum {
    PIXELFERRY_OUTLET_ROWS_STORED = 0,    /* it is the object's first row, as pf_intake_take gives rows: OpenGL draws it at the bottom */
    PIXELFERRY_OUTLET_ROWS_BOTTOM_UP = 1, /* at the bottom of the picture */
    PIXELFERRY_OUTLET_ROWS_TOP_DOWN = 2   /* at its top */
};

typedef struct pf_outlet_options {
    size_t size;
    const char *path;   /* take this path or fail; NULL: the fastest */
    uint32_t unwritten; /* PIXELFERRY_LOAD_; kept pixels are those that the object holds, whoever wrote them */
    uint32_t row_order; /* PIXELFERRY_OUTLET_ROWS_ */
} pf_outlet_options;

/* Opens the way from a backend into an object, whose name never changes. Every path is proved and timed beside the object, which
 * stays as it is until the first frame. `options` may be NULL. On the display's thread, with its context.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for another display's kind of object, and where it is not what `object` says;
 * PIXELFERRY_ERROR_UNAVAILABLE where the path is not offered; what a path reported where none works. */
PIXELFERRY_EXPORT pf_status pf_outlet_open(pf_backend *backend, pf_display *display, const pf_object *object,
                                           const pf_outlet_options *options, pf_outlet **outlet);

/* Computes a frame into the object: what the display is told from now on sees it. If the path fails, `compute` is called
 * again for a frame on the next one that works. Where kernels write the object itself, what a frame wrote that was given up
 * stays.
 * Errors: those of pf_link_frame; PIXELFERRY_ERROR_CONTEXT; PIXELFERRY_ERROR_BUSY from inside `compute`. */
PIXELFERRY_EXPORT pf_status pf_outlet_frame(pf_outlet *outlet, pf_frame_function compute, void *user);

/* The same for a part of an image, rows counted as row_order says; all other pixels stay. */
PIXELFERRY_EXPORT pf_status pf_outlet_frame_region(pf_outlet *outlet, uint32_t x, uint32_t y, uint32_t width,
                                                   uint32_t height, pf_frame_function compute, void *user);

/* The same for a part of a buffer; all other bytes stay. */
PIXELFERRY_EXPORT pf_status pf_outlet_frame_bytes(pf_outlet *outlet, size_t offset, size_t bytes,
                                                  pf_frame_function compute, void *user);

/* Waits until the object holds the last frame for everybody: another context, another API, the host. */
PIXELFERRY_EXPORT pf_status pf_outlet_finish(pf_outlet *outlet);

/* The path in use, then a line for every path: its time, or why it is not there. For people. */
PIXELFERRY_EXPORT pf_status pf_outlet_explain(pf_outlet *outlet, char **explanation);

/* Frees it; the object stays as it is. */
PIXELFERRY_EXPORT pf_status pf_outlet_free(pf_outlet *outlet);

/* Opens the way from an object to a backend's kernels. Every path is proved and timed. `path`: take this one or fail; NULL: the
 * fastest. On the display's thread, with its context. Errors: those of pf_outlet_open. */
PIXELFERRY_EXPORT pf_status pf_intake_open(pf_backend *backend, pf_display *display, const pf_object *object,
                                           const char *path, pf_intake **intake);

/* Takes what the display has rendered by now, as memory for kernels to read: an argument of launches (PIXELFERRY_ARG_MEMORY), and
 * for pf_memory_read. Tight rows from byte 0, in the order that pf_intake_surface tells. Until pf_memory_free the intake takes
 * nothing else (PIXELFERRY_ERROR_BUSY), and a buffer of OpenGL must not be written. Launches made before then still read it.
 * Errors: PIXELFERRY_ERROR_CONTEXT; what a path reported where none works. */
PIXELFERRY_EXPORT pf_status pf_intake_take(pf_intake *intake, pf_memory **memory);

/* What is taken: format, width and height, or bytes. In OpenGL row_order is PIXELFERRY_ROWS_BOTTOM_UP. */
PIXELFERRY_EXPORT pf_status pf_intake_surface(pf_intake *intake, pf_surface *surface);

/* As pf_outlet_explain; not while its memory is held. */
PIXELFERRY_EXPORT pf_status pf_intake_explain(pf_intake *intake, char **explanation);

/* Frees the handle; memory that it took holds what it needs. */
PIXELFERRY_EXPORT pf_status pf_intake_free(pf_intake *intake);

/* ------------------------------------------------------------------------------------------------------ shared links */

/* Opens a display (pf_display_open, pf_display_from_current_gl, pf_display_from_vulkan, ...) and writes it to `display`.
 * Called on the link's own thread. Return 0; else the link is not opened. The link takes the handle. */
typedef int32_t (*pf_open_display_function)(void *user, pf_display **display);

/* Opens a link for all threads: it lives with its display on a thread of its own, computes frames there, and any thread draws
 * them. `open` is called there, before this returns. For OpenGL it makes a context of yours current that shares with those
 * that draw; the context stays current there until pf_shared_link_free returned. `options` may be NULL. Any thread.
 * Errors: those of pf_link_open and of opening the display; PIXELFERRY_ERROR_CALLBACK where `open` refused. */
PIXELFERRY_EXPORT pf_status pf_shared_link_open(pf_backend *backend, pf_open_display_function open, void *user,
                                                const pf_surface *surface, const pf_link_options *options,
                                                pf_shared_link **link);

/* Computes a frame as pf_link_frame, with `compute` on the link's thread, and waits until it is shown: until every
 * pf_shared_frame was released. Any thread.
 * Errors: those of pf_link_frame; PIXELFERRY_ERROR_BUSY where this thread would wait for itself, as it holds a
 * pf_shared_frame or is the link's own. */
PIXELFERRY_EXPORT pf_status pf_shared_link_frame(pf_shared_link *link, pf_frame_function compute, void *user);

/* The same without waiting; frames are computed in the order in which they were started. `compute` may be called until
 * pf_started_wait or pf_shared_link_free returned. Any thread. */
PIXELFERRY_EXPORT pf_status pf_shared_link_start_frame(pf_shared_link *link, pf_frame_function compute, void *user,
                                                       pf_started **started);

/* Waits until it is shown. The handle is gone, also after an error, but after PIXELFERRY_ERROR_BUSY. Any thread.
 * Errors: those of pf_shared_link_frame. */
PIXELFERRY_EXPORT pf_status pf_started_wait(pf_started *started);

/* Frees the handle; the frame goes on, and its error is logged. */
PIXELFERRY_EXPORT pf_status pf_started_free(pf_started *started);

/* The newest frame, for drawing on this thread; the next is not handed over until it is released. Any thread.
 * Errors: PIXELFERRY_ERROR_NOTHING_SHOWN before the first. */
PIXELFERRY_EXPORT pf_status pf_shared_link_show(pf_shared_link *link, pf_shared_frame **shown);

/* As pf_link_resize, pf_link_read_back and pf_link_explain, after the frames that were started before, while nobody holds a
 * frame. Any thread. Errors: PIXELFERRY_ERROR_BUSY as in pf_shared_link_frame. */
PIXELFERRY_EXPORT pf_status pf_shared_link_resize(pf_shared_link *link, const pf_surface *surface);
PIXELFERRY_EXPORT pf_status pf_shared_link_read_back(pf_shared_link *link, void *data, size_t bytes, size_t *needed);
PIXELFERRY_EXPORT pf_status pf_shared_link_explain(pf_shared_link *link, char **explanation);

/* Ends the thread: frames that were started are given up or finished, then link and display go, there. Waits for that, but on the
 * link's own thread. Any thread. */
PIXELFERRY_EXPORT pf_status pf_shared_link_free(pf_shared_link *link);

/* What it is; after a resize it may still be the old size. Any thread, here and below. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_surface(pf_shared_frame *shown, pf_surface *surface);

/* How many frames the link had finished by then: another number, another frame. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_number(pf_shared_frame *shown, uint64_t *number);

/* The frame by the names of its display, as pf_shown_gl_texture and its like; good until the release. In OpenGL its work is done,
 * and every context that shares may sample it. Release it when a fence of yours behind your draw has passed.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for frames of another kind. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_gl_texture(pf_shared_frame *shown, pf_gl_texture *texture);
PIXELFERRY_EXPORT pf_status pf_shared_frame_gl_buffer(pf_shared_frame *shown, pf_gl_buffer *buffer);
PIXELFERRY_EXPORT pf_status pf_shared_frame_vulkan(pf_shared_frame *shown, pf_vulkan_frame *frame);

/* An image of the display "memory": 8-bit RGBA, the top row first, encoded as sRGB. Only to be read, until the release. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_pixels(pf_shared_frame *shown, pf_pixels *pixels);

/* The link may hand the next frame over. Any thread. */
PIXELFERRY_EXPORT pf_status pf_shared_frame_release(pf_shared_frame *shown);

/* ----------------------------------------------------------------------------------------------------------- streams
 *
 * Frames for other processes of this user on this machine, by a name; docs/processes.md says what holds. On Linux: elsewhere,
 * and in a library built without the feature `stream`, each of these calls gives PIXELFERRY_ERROR_UNAVAILABLE. So do calls with
 * objects of a process from which this one was forked; freeing them here changes nothing there.
 *
 *   pf_stream_open -> pf_link_open -> { pf_link_frame -> pf_link_show -> pf_stream_publish -> pf_shown_release }
 *   pf_subscriber_open -> { pf_subscriber_next -> pf_subscriber_read } */

/* The streams there are as JSON: [{"name", "process", "program"}]. Any thread. */
PIXELFERRY_EXPORT pf_status pf_streams_json(char **json);

typedef struct pf_stream_options {
    size_t size;
    uint32_t readers; /* subscribers at most, up to 16; 0: 8. Each may keep a frame, for which the ring gets another piece */
    uint32_t reserved;
} pf_stream_options;

/* Opens a stream of this name (letters, digits, '-', '_', '.') as a display: link `backend` to it by pf_link_open, or name it in
 * pf_frames.shown_by. Where Vulkan was built in and drives the backend's device, frames lie in that device's memory, else in the
 * host's. `options` may be NULL. The stream ends when the display and its links are freed.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for an invalid name or one that is taken; PIXELFERRY_ERROR_UNAVAILABLE for what the system
 * refuses. */
PIXELFERRY_EXPORT pf_status pf_stream_open(pf_backend *backend, const char *name, const pf_stream_options *options,
                                           pf_display **stream);

typedef struct pf_published {
    size_t size;
    uint64_t number;      /* of the frame, from 1 */
    uint32_t subscribers; /* there are now */
    uint32_t copied;      /* 1: it was copied to memory of the host; 0: it stays where kernels wrote it */
} pf_published;

/* Makes a frame of a link to a stream the newest of the stream. Waits for no subscriber. `published` may be NULL.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for a link to another display. */
PIXELFERRY_EXPORT pf_status pf_stream_publish(pf_shown *shown, pf_published *published);

/* How many subscribers there are. `is_awaited` (NULL: not wanted) is 1 where one of them cannot read the newest frame where it
 * lies: publish it once more. Programs that publish rarely ask that.
 * Errors: PIXELFERRY_ERROR_ARGUMENT for other displays. */
PIXELFERRY_EXPORT pf_status pf_stream_subscribers(pf_display *stream, uint32_t *subscribers, uint32_t *is_awaited);

/* Joins the stream of this name: its frames come as memory of `backend`. How that is done is proved by bytes first.
 * Errors: PIXELFERRY_ERROR_UNAVAILABLE where nobody publishes it or it has no room; PIXELFERRY_ERROR_ARGUMENT for a name that is
 * none, and for a publisher that says what cannot be. */
PIXELFERRY_EXPORT pf_status pf_subscriber_open(pf_backend *backend, const char *name, pf_subscriber **subscriber);

/* What pf_subscriber_next found. */
enum {
    PIXELFERRY_NEXT_NOTHING = 0, /* no newer frame in that time; the one before stays */
    PIXELFERRY_NEXT_FRAME = 1,   /* the newest frame, which stays as it is until the next call */
    PIXELFERRY_NEXT_ENDED = 2    /* the publisher has ended or was killed; its last frame stays */
};

/* Waits at most so many milliseconds for a newer frame than the last, and takes the newest; older ones are passed over.
 * Errors: PIXELFERRY_ERROR_BUSY while the memory of the last is held; PIXELFERRY_ERROR_ARGUMENT for a publisher that describes
 * what cannot be. The frame before stays. */
PIXELFERRY_EXPORT pf_status pf_subscriber_next(pf_subscriber *subscriber, uint32_t timeout_ms, uint32_t *next);

/* What the frame is that was taken last: format, width, height, encoding and alpha, or bytes. Its top row comes first.
 * Errors: PIXELFERRY_ERROR_NOTHING_SHOWN before the first, here and below. */
PIXELFERRY_EXPORT pf_status pf_subscriber_surface(pf_subscriber *subscriber, pf_surface *surface);

typedef struct pf_stream_frame {
    size_t size;
    uint64_t number;     /* what is missing between two was passed over */
    uint64_t age_ns;     /* nanoseconds since it was published */
    uint64_t offset;     /* of the top row in pf_subscriber_memory */
    ptrdiff_t row_pitch; /* bytes from one row to the next there; may be negative; 0 for a buffer */
    size_t row_bytes;    /* bytes of a row without what lies between rows; of a buffer, all */
} pf_stream_frame;

/* Which frame it is, and where its rows lie. */
PIXELFERRY_EXPORT pf_status pf_subscriber_frame(pf_subscriber *subscriber, pf_stream_frame *frame);

/* Copies its rows to `data`, which has `bytes` bytes, `row_pitch` from one row to the next; 0: tight rows. Bytes between rows stay
 * as they are. Errors: PIXELFERRY_ERROR_ARGUMENT where the frame does not fit. */
PIXELFERRY_EXPORT pf_status pf_subscriber_read(pf_subscriber *subscriber, void *data, size_t bytes, size_t row_pitch);

/* The memory that it lies in, for kernels of the backend to read: an argument of launches (PIXELFERRY_ARG_MEMORY). Until
 * pf_memory_free the subscriber takes no other frame; launches made before then still read it.
 * Errors: PIXELFERRY_ERROR_BUSY where it is held already. */
PIXELFERRY_EXPORT pf_status pf_subscriber_memory(pf_subscriber *subscriber, pf_memory **memory);

/* How the last frame came here, then a line for every way that does not work, and why. For people. */
PIXELFERRY_EXPORT pf_status pf_subscriber_explain(pf_subscriber *subscriber, char **explanation);

/* Leaves the stream; memory that is held holds what it needs. */
PIXELFERRY_EXPORT pf_status pf_subscriber_free(pf_subscriber *subscriber);

#ifdef __cplusplus
}
#endif

#endif
