/* Macros of pixelferry for CUDA C++. Pitches are in bytes and may be negative. */
template <class T> struct pf_length {
  unsigned long long bytes;
  operator unsigned long long() const { return bytes / sizeof(T); }
};
/* The instruction rounds as the conversion of other languages does, and gives every NaN one code. */
#define PF_HALF
inline unsigned short pf_half(float v) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return v == v ? bits : (unsigned short)(__float_as_uint(v) >> 16 & 0x8000u | 0x7e00u);
}

#define PF_BUFFER(T, name) T *name, pf_length<T> name##_len
#define PF_PTR(name) (name)
#define PF_LEN(name) ((unsigned long long)name##_len)
#define PF_ITEM(name, i) (name[i])

#ifndef PF_SURFACE /* linear memory */

template <class T> inline T *pf_row(T *first, long long pitch, long long y) {
  return (T *)((char *)first + y * pitch);
}
#define PF_IMAGE(T, name) T *name, long long name##_pitch, int name##_width, int name##_height
#define PF_AT(name, x, y) (pf_row(name, name##_pitch, (y))[x])
#define PF_STORE(name, x, y, ...) ((void)(PF_AT(name, x, y) = (__VA_ARGS__)))

#else /* a texture's own memory, written through a surface object; x and y are pixel (0, 0) of the target there */

template <class T> struct pf_surface {
  unsigned long long object;
  int x, y, step, reserved;
};
template <class T> struct pf_same { typedef T type; };
template <class T> inline void pf_surface_store(const pf_surface<T> &s, int x, int y, typename pf_same<T>::type value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "a pixel has 1, 2, 4, 8 or 16 bytes");
  const int at = (s.x + x) * (int)sizeof(T), row = s.y + y * s.step;
  unsigned int w[4] = {0, 0, 0, 0};
  memcpy(w, &value, sizeof(T));
  if (sizeof(T) == 1)
    asm volatile("sust.b.2d.b8.zero [%0, {%1, %2}], {%3};" ::"l"(s.object), "r"(at), "r"(row),
                 "h"((unsigned short)w[0])
                 : "memory");
  else if (sizeof(T) == 2)
    asm volatile("sust.b.2d.b16.zero [%0, {%1, %2}], {%3};" ::"l"(s.object), "r"(at), "r"(row),
                 "h"((unsigned short)w[0])
                 : "memory");
  else if (sizeof(T) == 4)
    asm volatile("sust.b.2d.b32.zero [%0, {%1, %2}], {%3};" ::"l"(s.object), "r"(at), "r"(row), "r"(w[0])
                 : "memory");
  else if (sizeof(T) == 8)
    asm volatile("sust.b.2d.v2.b32.zero [%0, {%1, %2}], {%3, %4};" ::"l"(s.object), "r"(at), "r"(row), "r"(w[0]),
                 "r"(w[1])
                 : "memory");
  else
    asm volatile("sust.b.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s.object), "r"(at), "r"(row),
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
}
#define PF_IMAGE(T, name) pf_surface<T> name, int name##_width, int name##_height
#define PF_STORE(name, x, y, ...) pf_surface_store(name, (x), (y), (__VA_ARGS__))

#endif
