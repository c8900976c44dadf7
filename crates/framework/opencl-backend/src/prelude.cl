/* Macros of pixelferry. Offsets and pitches of images are in pixels, those of buffers in bytes. */
#define PF_IMAGE(T, name) \
  __global T *name, long name##_offset, int name##_pitch, int name##_width, int name##_height
#define PF_AT(name, x, y) (name[name##_offset + (long)(y) * name##_pitch + (x)])
#define PF_STORE(name, x, y, value) (PF_AT(name, x, y) = (value))
#define PF_BUFFER(T, name) __global T *name, ulong name##_offset, ulong name##_bytes
#define PF_PTR(name) ((__typeof__(&name[0]))((__global uchar *)name + name##_offset))
#define PF_LEN(name) (name##_bytes / sizeof(name[0]))
#define PF_ITEM(name, i) (PF_PTR(name)[i])
