/* An array as a picture. Pixel (x, y), channel c of the array is at from + first + y * row + x * column + c * channel, in
   bytes; several pictures are `apart` bytes from each other, and tiles of `width` times `height` in `columns` columns. `kind` is
   the storage of numbers as the table of element.rs has it; with `pair`, two make one: 1 the magnitude, 2 the angle. There are 1
   (grey), 2 (red and green), 3 or 4 channels for a picture of four, and else as many as the picture. One entry for each format
   of the picture.

   PF_PLAIN: integers of 8 and 16 bits stand for [0, 1], floats for themselves. Else low to high become 0 to 1, times gain, to
   the power of exponent; PF_MAPPED: one of 256 colours; PF_ODD: NaN and infinity have colours, PF_MARKS: so has what is out of
   range; PF_WIDE: floats of 32 bits are too coarse for the range; PF_WHOLE: integers of 64 bits are compared with the whole numbers from
   `origin` on. paint.rs does the same. */

/* What CUDA C++ and OpenCL C call differently. OpenCL's quotients may be rounded otherwise: then a pixel is off by a level. */
#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define PF_SHARED static
#define PF_ROLLED
#define PF_KERNEL kernel
#define PF_GLOBAL global
#define PF_LONG long
#define PF_ULONG ulong
#define PF_ID(dimension) get_global_id(dimension)
#define make_float2 (float2)
#define make_float4 (float4)
#define make_uchar2 (uchar2)
#define make_uchar4 (uchar4)
#define make_ushort2 (ushort2)
#define make_ushort4 (ushort4)
#define __int_as_float as_float
#define exp2f exp2
#define log2f log2
#else
#define PF_SHARED extern "C" __noinline__
#define PF_ROLLED _Pragma("unroll 1")
#define PF_KERNEL extern "C" __global__
#define PF_GLOBAL
#define PF_LONG long long
#define PF_ULONG unsigned long long
#define PF_ID(dimension) PF_ID_##dimension
#define PF_ID_0 (blockIdx.x * blockDim.x + threadIdx.x)
#define PF_ID_1 (blockIdx.y * blockDim.y + threadIdx.y)
#endif

#ifdef PF_SURFACE
#define PF_ENTRY(name) name##_surface
#else
#define PF_ENTRY(name) name
#endif

#define PF_PLAIN 1
#define PF_ODD 2
#define PF_MARKS 4
#define PF_MAPPED 8
#define PF_WIDE 16
#define PF_WHOLE 32

#define PF_ARRAY                                                                                                       \
  const PF_GLOBAL char *from, PF_LONG first, PF_LONG row, PF_LONG column, PF_LONG channel, int channels, int kind,     \
      int pair, int flags, double low, double high, float gain, float exponent, int count, int columns, int width,     \
      int height, PF_LONG apart, const PF_GLOBAL unsigned int *colours, PF_LONG origin

struct pf_look {
  PF_LONG channel, origin;
  int channels, kind, pair, flags;
  double factor, low, extent; /* the latter two times the factor */
  float gain, exponent;
  const PF_GLOBAL unsigned int *colours;
};

static float pf_half_of(const PF_GLOBAL char *at) {
#ifdef __OPENCL_VERSION__
  return vload_half(0, (const global half *)at);
#else
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(*(const unsigned short *)at));
  return value;
#endif
}

/* A float of 8 bits: mantissa, bias, and which codes are special, by its kind. */
PF_SHARED float pf_float8(unsigned int code, int kind) {
  const int mantissa = kind == 13 ? 4 : kind <= 17 ? 3 : kind <= 19 ? 2 : 0;
  const int bias = kind == 13 ? 3 : kind == 14 || kind == 16 ? 7 : kind == 15 ? 11 : kind == 17 ? 8 : kind == 18 ? 15 : kind == 19 ? 16 : 127;
  const int ieee = kind == 13 || kind == 14 || kind == 18, fn = kind == 16, fnuz = kind == 15 || kind == 17 || kind == 19;
  const float nan = __int_as_float(0x7fc00000), inf = __int_as_float(0x7f800000);
  if (kind == 20) return code == 255 ? nan : __int_as_float(code == 0 ? 1 << 22 : (int)(code << 23));
  const unsigned int rest = code & 0x7f, exponent = rest >> mantissa, part = rest & ((1u << mantissa) - 1);
  const float sign = code >= 128 ? -1.0f : 1.0f;
  if ((ieee && exponent == 0x7fu >> mantissa && part != 0) || (fn && rest == 0x7f) || (fnuz && code == 128)) return nan;
  if (ieee && exponent == 0x7fu >> mantissa) return sign * inf;
  const float fraction = (float)part / (float)(1 << mantissa);
  const int power = (exponent == 0 ? 1 : (int)exponent) - bias;
  return sign * (exponent == 0 ? fraction : 1.0f + fraction) * __int_as_float((power + 127) << 23);
}

/* Numbers that one of 32 bits holds. */
static float pf_narrow(const PF_GLOBAL char *at, int kind) {
  if (kind == 3) return *(const PF_GLOBAL float *)at;
  if (kind == 0) return (float)*(const PF_GLOBAL unsigned char *)at;
  if (kind == 1) return (float)*(const PF_GLOBAL unsigned short *)at;
  if (kind == 2) return pf_half_of(at);
  if (kind == 12) return __int_as_float((int)*(const PF_GLOBAL unsigned short *)at << 16);
  if (kind == 4) return *(const PF_GLOBAL unsigned char *)at ? 1.0f : 0.0f;
  if (kind == 5) return (float)*(const PF_GLOBAL signed char *)at;
  if (kind == 6) return (float)*(const PF_GLOBAL short *)at;
  return pf_float8(*(const PF_GLOBAL unsigned char *)at, kind);
}

/* The same, where calls cost little beside the rest. */
PF_SHARED float pf_single(const PF_GLOBAL char *at, int kind, int pair) { return pf_narrow(at, kind); }

/* Numbers of any kind. */
PF_SHARED double pf_wide(const PF_GLOBAL char *at, int kind, int pair) {
  double part[2];
  for (int n = 0; n < (pair ? 2 : 1); n++) {
    switch (kind) {
    case 7: part[n] = (double)((const PF_GLOBAL int *)at)[n]; break;
    case 8: part[n] = (double)((const PF_GLOBAL unsigned int *)at)[n]; break;
    case 9: part[n] = (double)((const PF_GLOBAL PF_LONG *)at)[n]; break;
    case 10: part[n] = (double)((const PF_GLOBAL PF_ULONG *)at)[n]; break;
    case 11: part[n] = ((const PF_GLOBAL double *)at)[n]; break;
    case 2: part[n] = (double)pf_half_of(at + 2 * n); break;
    case 3: part[n] = (double)((const PF_GLOBAL float *)at)[n]; break;
    default: part[n] = (double)pf_single(at, kind, pair);
    }
  }
  return pair == 1 ? hypot(part[0], part[1]) : pair == 2 ? atan2(part[1], part[0]) : part[0];
}

/* A power of two: the extent of a range is no number of its own where the ends are far apart, and 1 over it none where they are close. */
static double pf_factor(double low, double high) {
  const double extent = high - low;
  if (extent - extent != 0.0) return 0.5;
  return extent < 1e-290 && extent > -1e-290 ? 4.149515568880993e180 : 1.0;
}

/* An integer of 64 bits as what it is more than another. */
static double pf_apart(const PF_GLOBAL char *at, int kind, PF_LONG origin) {
  const PF_LONG value = *(const PF_GLOBAL PF_LONG *)at;
  const PF_ULONG more = (PF_ULONG)value - (PF_ULONG)origin, less = (PF_ULONG)origin - (PF_ULONG)value;
  const int is_more = kind == 9 ? value >= origin : (PF_ULONG)value >= (PF_ULONG)origin;
  return is_more ? (double)more : -(double)less;
}

static int pf_is_wide(int kind, int pair) { return pair || (kind >= 7 && kind <= 11); }

/* Of a part above 0: within a millionth of `powf`, which is ten times as long. */
static float pf_power(float part, float exponent) { return exp2f(exponent * log2f(part)); }

/* Over the range, and with `mark` the colour of what has one of its own. */
static float pf_part(const PF_GLOBAL char *at, const struct pf_look *look, unsigned int *mark) {
  float part;
  int odd; /* 1 NaN, 2 infinity, 3 minus infinity */
  if (pf_is_wide(look->kind, look->pair) || (look->flags & PF_WIDE)) {
    const double value = look->flags & PF_WHOLE ? pf_apart(at, look->kind, look->origin)
                                                : pf_wide(at, look->kind, look->pair);
    odd = value != value ? 1 : value - value == 0.0 ? 0 : value > 0.0 ? 2 : 3;
    part = look->extent == 0.0 ? 0.0f : (float)((value * look->factor - look->low) / look->extent);
  } else {
    const float value = pf_narrow(at, look->kind);
    odd = value != value ? 1 : value - value == 0.0f ? 0 : value > 0.0f ? 2 : 3;
    part = look->extent == 0.0 ? 0.0f : (value - (float)look->low) / (float)look->extent;
  }
  part *= look->gain;
  if (*mark == 0 && odd && (look->flags & PF_ODD)) *mark = odd == 1 ? 0xffff00ffu : odd == 2 ? 0xff00ffffu : 0xffffff00u;
  if (*mark == 0 && !odd && (look->flags & PF_MARKS)) *mark = part > 1.0f ? 0xff0000ffu : part < 0.0f ? 0xffff0000u : 0;
  return look->exponent != 1.0f && part > 0.0f ? pf_power(part, look->exponent) : part;
}

static float4 pf_of_word(unsigned int word) {
  return make_float4((word & 255) / 255.0f, (word >> 8 & 255) / 255.0f, (word >> 16 & 255) / 255.0f, (word >> 24) / 255.0f);
}

/* Once in the module of PTX, also for surfaces: its arguments are in registers. */
PF_SHARED float4 pf_looked(const PF_GLOBAL char *at, PF_LONG channel, int channels, int kind, int pair,
                                     int flags, double low, double high, float gain, float exponent,
                                     const PF_GLOBAL unsigned int *colours, PF_LONG origin) {
  const double factor = pf_factor(low, high);
  const struct pf_look look = {channel, origin, channels, kind, pair, flags, factor, low * factor, high * factor - low * factor,
                               gain, exponent, colours};
  unsigned int mark = 0;
  float4 c;
  c.x = pf_part(at, &look, &mark);
  c.y = c.z = c.x;
  c.w = 1.0f;
  if (look.channels >= 2) {
    c.y = pf_part(at + look.channel, &look, &mark);
    c.z = look.channels == 2 ? 0.0f : pf_part(at + 2 * look.channel, &look, &mark);
  }
  if (look.channels == 4 && (look.kind <= 4 || look.kind >= 11) && !look.pair) {
    const PF_GLOBAL char *alpha = at + 3 * look.channel;
    const float value = look.kind == 11 ? (float)*(const PF_GLOBAL double *)alpha : pf_single(alpha, kind, pair);
    c.w = look.kind == 0 ? value / 255.0f : look.kind == 1 ? value / 65535.0f : value;
  }
  if (mark == 0 && (look.flags & PF_MAPPED)) mark = look.colours[(int)fmin(fmax(c.x * 256.0f, 0.0f), 255.0f)];
  return mark ? pf_of_word(mark) : c;
}

static float pf_value(const PF_GLOBAL char *at, int kind) {
  if (kind == 0) return (float)*(const PF_GLOBAL unsigned char *)at / 255.0f;
  if (kind == 1) return (float)*(const PF_GLOBAL unsigned short *)at / 65535.0f;
  return kind == 3 ? *(const PF_GLOBAL float *)at : pf_half_of(at);
}

static float4 pf_colour(const PF_GLOBAL char *at, PF_LONG channel, int channels, int kind) {
  if (kind == 3 && channels == 4 && channel == 4 && ((PF_ULONG)at & 15) == 0) return *(const PF_GLOBAL float4 *)at;
  float4 c;
  c.x = pf_value(at, kind);
  if (channels == 1) {
    c.y = c.z = c.x;
  } else {
    c.y = pf_value(at + channel, kind);
    c.z = channels == 2 ? 0.0f : pf_value(at + 2 * channel, kind);
  }
  c.w = channels == 4 ? pf_value(at + 3 * channel, kind) : 1.0f;
  return c;
}

static uchar4 pf_bytes(const PF_GLOBAL char *at, PF_LONG channel, int channels, int kind) {
  if (kind != 0) {
    const float4 c = pf_colour(at, channel, channels, kind);
    return make_uchar4(pf_unorm8(c.x), pf_unorm8(c.y), pf_unorm8(c.z), pf_unorm8(c.w));
  }
  const PF_GLOBAL unsigned char *p = (const PF_GLOBAL unsigned char *)at;
  if (channels == 4 && channel == 1 && ((PF_ULONG)p & 3) == 0) return *(const PF_GLOBAL uchar4 *)p;
  if (channels == 1) return make_uchar4(p[0], p[0], p[0], 255);
  return make_uchar4(p[0], p[channel], channels == 2 ? 0 : p[2 * channel], channels == 4 ? p[3 * channel] : 255);
}

static unsigned int pf_unorm(float v, float most) { return (unsigned int)(fmin(fmax(v, 0.0f), 1.0f) * most + 0.5f); }

static unsigned char pf_byte(const PF_GLOBAL char *at, int kind) {
  return kind == 0 ? *(const PF_GLOBAL unsigned char *)at : pf_unorm8(pf_value(at, kind));
}

static unsigned short pf_short(const PF_GLOBAL char *at, int kind) {
  if (kind == 1) return *(const PF_GLOBAL unsigned short *)at;
  return (unsigned short)pf_unorm(pf_value(at, kind), 65535.0f);
}

static uchar4 pf_swapped(uchar4 c) { return make_uchar4(c.z, c.y, c.x, c.w); }

static unsigned int pf_packed(float4 c) {
  return pf_unorm(c.x, 1023.0f) | pf_unorm(c.y, 1023.0f) << 10 | pf_unorm(c.z, 1023.0f) << 20 | pf_unorm(c.w, 3.0f) << 30;
}

static ushort4 pf_halves(float4 c) { return make_ushort4(pf_half(c.x), pf_half(c.y), pf_half(c.z), pf_half(c.w)); }

/* PIXEL makes one of `at` as it is, COLOUR of `c`. */
#define PF_SHOW(NAME, T, PIXEL, COLOUR)                                                                                \
  PF_KERNEL void PF_ENTRY(NAME)(PF_IMAGE(T, out), PF_ARRAY) {                                                          \
    const int x = PF_ID(0), y = PF_ID(1);                                                                              \
    if (x >= out_width || y >= out_height) return;                                                                     \
    int picture = 0, left = x, top = y;                                                                                \
    if (count != 1) {                                                                                                  \
      picture = y / height * columns + x / width;                                                                      \
      left = x % width;                                                                                                \
      top = y % height;                                                                                                \
    }                                                                                                                  \
    const PF_GLOBAL char *at = from + first + picture * apart + top * row + left * column;                             \
    if (picture < count && (flags & PF_PLAIN)) {                                                                       \
      PF_STORE(out, x, y, PIXEL);                                                                                      \
      return;                                                                                                          \
    }                                                                                                                  \
    float4 c = make_float4(0.0f, 0.0f, 0.0f, 1.0f);                                                                    \
    if (picture < count)                                                                                               \
      c = pf_looked(at, channel, channels, kind, pair, flags, low, high, gain, exponent, colours, origin);   \
    PF_STORE(out, x, y, COLOUR);                                                                                       \
  }

#define PF_BYTES(c) make_uchar4(pf_unorm8((c).x), pf_unorm8((c).y), pf_unorm8((c).z), pf_unorm8((c).w))

PF_SHOW(pf_show_r8, unsigned char, pf_byte(at, kind), pf_unorm8(c.x))
PF_SHOW(pf_show_rg8, uchar2, make_uchar2(pf_byte(at, kind), pf_byte(at + channel, kind)), make_uchar2(pf_unorm8(c.x), pf_unorm8(c.y)))
PF_SHOW(pf_show_r16, unsigned short, pf_short(at, kind), (unsigned short)pf_unorm(c.x, 65535.0f))
PF_SHOW(pf_show_r16f, unsigned short, pf_half(pf_value(at, kind)), pf_half(c.x))
PF_SHOW(pf_show_rgba8, uchar4, pf_bytes(at, channel, channels, kind), PF_BYTES(c))
PF_SHOW(pf_show_bgra8, uchar4, pf_swapped(pf_bytes(at, channel, channels, kind)), pf_swapped(PF_BYTES(c)))
PF_SHOW(pf_show_rgb10a2, unsigned int, pf_packed(pf_colour(at, channel, channels, kind)), pf_packed(c))
PF_SHOW(pf_show_rg16f, ushort2, make_ushort2(pf_half(pf_value(at, kind)), pf_half(pf_value(at + channel, kind))), make_ushort2(pf_half(c.x), pf_half(c.y)))
PF_SHOW(pf_show_r32f, float, pf_value(at, kind), c.x)
PF_SHOW(pf_show_rgba16f, ushort4, pf_halves(pf_colour(at, channel, channels, kind)), pf_halves(c))
PF_SHOW(pf_show_rg32f, float2, make_float2(pf_value(at, kind), pf_value(at + channel, kind)), make_float2(c.x, c.y))
PF_SHOW(pf_show_rgba32f, float4, pf_colour(at, channel, channels, kind), c)

/* A compiler of OpenCL C gets one entry at a time. */
#if !defined(PF_SURFACE) && (!defined(__OPENCL_VERSION__) || defined(PF_GAUGE))

#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define PF_ITEMS get_global_size(0)
#define PF_ORDER(value) as_ulong(value)
#define PF_ENDLESS ((double)INFINITY)
#define PF_ADD(at, more) atomic_add(at, more)
#define PF_MIN(at, value) atom_min(at, value)
#define PF_MAX(at, value) atom_max(at, value)
#else
#define PF_ITEMS (gridDim.x * blockDim.x)
#define PF_ORDER(value) ((PF_ULONG)__double_as_longlong(value))
#define PF_ENDLESS __longlong_as_double(0x7ff0000000000000)
#define PF_ADD(at, more) atomicAdd(at, more)
#define PF_MIN(at, value) atomicMin(at, value)
#define PF_MAX(at, value) atomicMax(at, value)
#endif

/* Numbers that are colours, a row of one channel for each 256 work items in turn. */
#define PF_EACH(BODY)                                                                                                  \
  const unsigned int item = PF_ID(0), items = PF_ITEMS;                                                                \
  const int colour_channels = channels < 3 ? channels : 3;                                                             \
  const PF_LONG rows = (PF_LONG)count * colour_channels * height;                                                      \
  for (PF_LONG r = item / 256; r < rows; r += items / 256) {                                                           \
    const PF_LONG top = r % height, rest = r / height;                                                                 \
    const PF_GLOBAL char *start =                                                                                      \
        from + first + rest / colour_channels * apart + rest % colour_channels * channel + top * row;                  \
    PF_ROLLED                                                                                                          \
    for (int left = item % 256; left < width; left += 256) {                                                           \
      const PF_GLOBAL char *at = start + left * column;                                                                \
      const double value = pf_is_wide(kind, pair) ? pf_wide(at, kind, pair) : (double)pf_narrow(at, kind);   \
      BODY                                                                                                             \
    }                                                                                                                  \
  }

/* Bits in the order of the numbers. */
static PF_ULONG pf_ordered(double value) {
  const PF_ULONG bits = PF_ORDER(value);
  return bits >> 63 ? ~bits : bits | (PF_ULONG)1 << 63;
}

/* The least and the most of all finite numbers, in a buffer that begins as the highest and the lowest. */
PF_KERNEL void pf_extent(PF_BUFFER(PF_ULONG, out), PF_ARRAY) {
  double least = PF_ENDLESS, most = -least;
  PF_EACH(if (value - value == 0.0) {
    least = fmin(least, value);
    most = fmax(most, value);
  })
#ifndef __OPENCL_VERSION__
  for (int apart_lanes = 16; apart_lanes > 0; apart_lanes /= 2) {
    least = fmin(least, __shfl_down_sync(0xffffffffu, least, apart_lanes));
    most = fmax(most, __shfl_down_sync(0xffffffffu, most, apart_lanes));
  }
  if (threadIdx.x % 32 != 0) return;
#endif
  if (least <= most) {
    PF_MIN(&PF_ITEM(out, 0), pf_ordered(least));
    PF_MAX(&PF_ITEM(out, 1), pf_ordered(most));
  }
}

/* How many numbers from low to high are in each of 65536 equal parts; then how many finite ones are below and above, how many are
   minus infinity, infinity, and no number. */
PF_KERNEL void pf_count(PF_BUFFER(unsigned int, out), PF_ARRAY) {
  const double factor = pf_factor(low, high), scale = 65536.0 / (high * factor - low * factor);
  unsigned int outside[5] = {0, 0, 0, 0, 0};
  PF_EACH(if (value >= low && value <= high) {
    /* Of a range of one number it is NaN. */
    const double part = (value * factor - low * factor) * scale;
    PF_ADD(&PF_ITEM(out, !(part > 0.0) ? 0 : part < 65535.0 ? (int)part : 65535), 1u);
  } else {
    outside[value != value ? 4 : value - value != 0.0 ? (value > 0.0 ? 3 : 2) : value < low ? 0 : 1] += 1;
  })
  for (int n = 0; n < 5; n++)
    if (outside[n]) PF_ADD(&PF_ITEM(out, 65536 + n), outside[n]);
}

/* The numbers that are colours minus those of another array of the same size, channels fastest; as `OF` reads them. */
#define PF_MINUS(NAME, T, OF)                                                                                          \
  PF_KERNEL void NAME(PF_BUFFER(T, out), PF_ARRAY, const PF_GLOBAL char *other, PF_LONG other_first, PF_LONG other_row, \
                      PF_LONG other_column, PF_LONG other_channel, int other_kind, int other_pair, PF_LONG other_apart) { \
    const PF_LONG of = channels < 3 ? channels : 3, all = of * width * height * count, items = PF_ITEMS;               \
    for (PF_LONG n = PF_ID(0); n < all; n += items) {                                                                  \
      const PF_LONG c = n % of, x = n / of % width, y = n / of / width % height, z = n / of / width / height;          \
      const PF_GLOBAL char *at = from + first + z * apart + y * row + x * column + c * channel;                        \
      const PF_GLOBAL char *to =                                                                                       \
          other + other_first + z * other_apart + y * other_row + x * other_column + c * other_channel;                \
      PF_ITEM(out, n) = OF(at, kind, pair) - OF(to, other_kind, other_pair);                                           \
    }                                                                                                                  \
  }

PF_MINUS(pf_minus32, float, pf_single)
PF_MINUS(pf_minus64, double, pf_wide)

#endif
