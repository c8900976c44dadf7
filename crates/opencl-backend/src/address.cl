/* Macros of pixelferry for kernels that are given addresses. Pitches and lengths are in bytes; pitches may be negative. */
#define PF_IMAGE(T, name) \
  __global T *name, long name##_pitch, int name##_width, int name##_height
#define PF_AT(name, x, y) (((__typeof__(&name[0]))((__global uchar *)name + (long)(y) * name##_pitch))[x])
#define PF_STORE(name, x, y, value) (PF_AT(name, x, y) = (value))
#define PF_BUFFER(T, name) __global T *name, ulong name##_bytes
#define PF_PTR(name) (name)
#define PF_LEN(name) (name##_bytes / sizeof(name[0]))
#define PF_ITEM(name, i) (PF_PTR(name)[i])
