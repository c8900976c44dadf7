/* An array as a picture. Pixel (x, y), channel c of the array is at from + first + y * row + x * column + c * channel, in
   bytes; its channels are of one kind: 0 unsigned 8-bit, 1 unsigned 16-bit, 2 binary16, 3 binary32. Integers stand for
   [0, 1]. It has 1 (grey), 3 or 4 channels for a picture of four, and else as many as the picture. One entry for each
   format of the picture. */

#ifdef PF_SURFACE
#define PF_ENTRY(name) name##_surface
#else
#define PF_ENTRY(name) name
#endif

static float pf_value(const char *at, int kind) {
  if (kind == 0) return (float)*(const unsigned char *)at / 255.0f;
  if (kind == 1) return (float)*(const unsigned short *)at / 65535.0f;
  if (kind == 3) return *(const float *)at;
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(*(const unsigned short *)at));
  return value;
}

static float4 pf_colour(const char *at, long long channel, int channels, int kind) {
  if (kind == 3 && channels == 4 && channel == 4 && ((unsigned long long)at & 15) == 0) return *(const float4 *)at;
  float4 c;
  c.x = pf_value(at, kind);
  if (channels == 1) {
    c.y = c.z = c.x;
  } else {
    c.y = pf_value(at + channel, kind);
    c.z = pf_value(at + 2 * channel, kind);
  }
  c.w = channels == 4 ? pf_value(at + 3 * channel, kind) : 1.0f;
  return c;
}

static uchar4 pf_bytes(const char *at, long long channel, int channels, int kind) {
  if (kind != 0) {
    const float4 c = pf_colour(at, channel, channels, kind);
    return make_uchar4(pf_unorm8(c.x), pf_unorm8(c.y), pf_unorm8(c.z), pf_unorm8(c.w));
  }
  const unsigned char *p = (const unsigned char *)at;
  if (channels == 4 && channel == 1 && ((unsigned long long)p & 3) == 0) return *(const uchar4 *)p;
  if (channels == 1) return make_uchar4(p[0], p[0], p[0], 255);
  return make_uchar4(p[0], p[channel], p[2 * channel], channels == 4 ? p[3 * channel] : 255);
}

static unsigned int pf_unorm(float v, float most) { return (unsigned int)(fmin(fmax(v, 0.0f), 1.0f) * most + 0.5f); }

static unsigned char pf_byte(const char *at, int kind) {
  return kind == 0 ? *(const unsigned char *)at : pf_unorm8(pf_value(at, kind));
}

static unsigned short pf_short(const char *at, int kind) {
  if (kind == 1) return *(const unsigned short *)at;
  return (unsigned short)pf_unorm(pf_value(at, kind), 65535.0f);
}

static uchar4 pf_swapped(uchar4 c) { return make_uchar4(c.z, c.y, c.x, c.w); }

static unsigned int pf_packed(float4 c) {
  return pf_unorm(c.x, 1023.0f) | pf_unorm(c.y, 1023.0f) << 10 | pf_unorm(c.z, 1023.0f) << 20 | pf_unorm(c.w, 3.0f) << 30;
}

static ushort4 pf_halves(float4 c) { return make_ushort4(pf_half(c.x), pf_half(c.y), pf_half(c.z), pf_half(c.w)); }

#define PF_SHOW(NAME, T, PIXEL)                                                                                        \
  extern "C" __global__ void PF_ENTRY(NAME)(PF_IMAGE(T, out), const char *from, long long first, long long row,        \
                                            long long column, long long channel, int channels, int kind) {             \
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;                    \
    if (x >= out_width || y >= out_height) return;                                                                     \
    const char *at = from + first + y * row + x * column;                                                              \
    PF_STORE(out, x, y, PIXEL);                                                                                        \
  }

PF_SHOW(pf_show_r8, unsigned char, pf_byte(at, kind))
PF_SHOW(pf_show_rg8, uchar2, make_uchar2(pf_byte(at, kind), pf_byte(at + channel, kind)))
PF_SHOW(pf_show_r16, unsigned short, pf_short(at, kind))
PF_SHOW(pf_show_r16f, unsigned short, pf_half(pf_value(at, kind)))
PF_SHOW(pf_show_rgba8, uchar4, pf_bytes(at, channel, channels, kind))
PF_SHOW(pf_show_bgra8, uchar4, pf_swapped(pf_bytes(at, channel, channels, kind)))
PF_SHOW(pf_show_rgb10a2, unsigned int, pf_packed(pf_colour(at, channel, channels, kind)))
PF_SHOW(pf_show_rg16f, ushort2, make_ushort2(pf_half(pf_value(at, kind)), pf_half(pf_value(at + channel, kind))))
PF_SHOW(pf_show_r32f, float, pf_value(at, kind))
PF_SHOW(pf_show_rgba16f, ushort4, pf_halves(pf_colour(at, channel, channels, kind)))
PF_SHOW(pf_show_rg32f, float2, make_float2(pf_value(at, kind), pf_value(at + channel, kind)))
PF_SHOW(pf_show_rgba32f, float4, pf_colour(at, channel, channels, kind))
