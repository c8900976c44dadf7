/* Draws one image in linear memory into another, in what OpenCL C and CUDA C++ have in common. The reference is
   interop_core::draw::paint; the numbers of formats are those of interop_core's table, those of steps are `Steps` in
   plan.rs. With PF_ONLY only the kernel of that number: compilers of OpenCL C take their time for each. */
#ifdef __OPENCL_VERSION__
#define PF_KERNEL __kernel
#define PF_GLOBAL __global
#define PF_X ((int)get_global_id(0))
#define PF_Y ((int)get_global_id(1))
#define PF_FLOAT_OF(bits) as_float(bits)
#define pf_byte uchar
#define pf_short ushort
#define pf_word uint
#define pf_two uint2
#define pf_four uint4
#define pf_i64 long
#else
#define PF_KERNEL extern "C" __global__
#define PF_GLOBAL
#define PF_X ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define PF_Y ((int)(blockIdx.y * blockDim.y + threadIdx.y))
#define PF_FLOAT_OF(bits) __uint_as_float(bits)
#define pf_byte unsigned char
#define pf_short unsigned short
#define pf_word unsigned int
#define pf_two uint2
#define pf_four uint4
#define pf_i64 long long
#endif

/* A pixel as its memory holds it. */
typedef struct {
  pf_word a, b, c, d;
} pf_bits;

typedef struct {
  float r, g, b, a;
} pf_color;

static pf_bits pf_unpack_1(pf_byte v) {
  pf_bits p = {v, 0, 0, 0};
  return p;
}
static pf_bits pf_unpack_2(pf_short v) {
  pf_bits p = {v, 0, 0, 0};
  return p;
}
static pf_bits pf_unpack_4(pf_word v) {
  pf_bits p = {v, 0, 0, 0};
  return p;
}
static pf_bits pf_unpack_8(pf_two v) {
  pf_bits p = {v.x, v.y, 0, 0};
  return p;
}
static pf_bits pf_unpack_16(pf_four v) {
  pf_bits p = {v.x, v.y, v.z, v.w};
  return p;
}
static pf_byte pf_pack_1(pf_bits p) { return (pf_byte)p.a; }
static pf_short pf_pack_2(pf_bits p) { return (pf_short)p.a; }
static pf_word pf_pack_4(pf_bits p) { return p.a; }
static pf_two pf_pack_8(pf_bits p) {
  pf_two v;
  v.x = p.a;
  v.y = p.b;
  return v;
}
static pf_four pf_pack_16(pf_bits p) {
  pf_four v;
  v.x = p.a;
  v.y = p.b;
  v.z = p.c;
  v.w = p.d;
  return v;
}

/* The numbers of formats: FormatInfo::shader_id. */
#define PF_R8 0
#define PF_RG8 1
#define PF_RGBA8 2
#define PF_R32F 3
#define PF_RGBA16F 4
#define PF_RGBA32F 5
#define PF_R16 6
#define PF_R16F 7
#define PF_BGRA8 8
#define PF_RGB10A2 9
#define PF_RG16F 10
#define PF_RG32F 11

static int pf_is_float(int format) {
  return format != PF_R8 && format != PF_RG8 && format != PF_RGBA8 && format != PF_R16 && format != PF_BGRA8 &&
         format != PF_RGB10A2;
}

/* The pixel of 2^shift bytes at `at`, a multiple of its size. */
static pf_bits pf_fetch(const PF_GLOBAL pf_byte *at, int shift) {
  switch (shift) {
    case 0: return pf_unpack_1(*at);
    case 1: return pf_unpack_2(*(const PF_GLOBAL pf_short *)at);
    case 3: return pf_unpack_8(*(const PF_GLOBAL pf_two *)at);
    case 4: return pf_unpack_16(*(const PF_GLOBAL pf_four *)at);
    default: return pf_unpack_4(*(const PF_GLOBAL pf_word *)at);
  }
}

static void pf_put(PF_GLOBAL pf_byte *at, pf_bits p, int shift) {
  switch (shift) {
    case 0: *at = pf_pack_1(p); break;
    case 1: *(PF_GLOBAL pf_short *)at = pf_pack_2(p); break;
    case 3: *(PF_GLOBAL pf_two *)at = pf_pack_8(p); break;
    case 4: *(PF_GLOBAL pf_four *)at = pf_pack_16(p); break;
    default: *(PF_GLOBAL pf_word *)at = pf_pack_4(p);
  }
}

static int pf_shift_of(int format) {
  switch (format) {
    case PF_R8: return 0;
    case PF_RG8:
    case PF_R16:
    case PF_R16F: return 1;
    case PF_RGBA16F:
    case PF_RG32F: return 3;
    case PF_RGBA32F: return 4;
    default: return 2;
  }
}

/* The binary16 in the lower half of a word. */
static float pf_from_half(pf_word word) {
  const pf_word sign = (word & 0x8000u) << 16, magnitude = word & 0x7fffu;
#ifdef __OPENCL_VERSION__
  if (magnitude < 0x400u) {
    /* Subnormal: so many times 2^-24. */
    const float v = (float)magnitude * 5.9604644775390625e-8f;
    return sign ? -v : v;
  }
  if (magnitude < 0x7c00u) return PF_FLOAT_OF(sign | ((magnitude << 13) + 0x38000000u));
#else
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"((pf_short)word));
  if (v == v) return v;
#endif
  return PF_FLOAT_OF(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
}

/* A whole number over the largest one of its bits. Where a GPU's division takes a dozen instructions, one step from the product
   with the inverse is rounded as it is. */
static float pf_over(pf_word number, float largest) {
#ifdef __OPENCL_VERSION__
  return (float)number / largest;
#else
  const float v = (float)number, inverse = 1.0f / largest, near = v * inverse;
  return fmaf(fmaf(-near, largest, v), inverse, near);
#endif
}

/* As a sampler gives it: missing channels are 0, a missing alpha is 1. */
static pf_color pf_load(pf_bits p, int format) {
  pf_color c = {0.0f, 0.0f, 0.0f, 1.0f};
  switch (format) {
    case PF_R8: c.r = pf_over(p.a, 255.0f); break;
    case PF_RG8:
      c.r = pf_over(p.a & 255u, 255.0f);
      c.g = pf_over(p.a >> 8, 255.0f);
      break;
    case PF_R16: c.r = pf_over(p.a, 65535.0f); break;
    case PF_R16F: c.r = pf_from_half(p.a); break;
    case PF_RGB10A2:
      c.r = pf_over(p.a & 1023u, 1023.0f);
      c.g = pf_over(p.a >> 10 & 1023u, 1023.0f);
      c.b = pf_over(p.a >> 20 & 1023u, 1023.0f);
      c.a = pf_over(p.a >> 30, 3.0f);
      break;
    case PF_RG16F:
      c.r = pf_from_half(p.a & 0xffffu);
      c.g = pf_from_half(p.a >> 16);
      break;
    case PF_R32F: c.r = PF_FLOAT_OF(p.a); break;
    case PF_RGBA16F:
      c.r = pf_from_half(p.a & 0xffffu);
      c.g = pf_from_half(p.a >> 16);
      c.b = pf_from_half(p.b & 0xffffu);
      c.a = pf_from_half(p.b >> 16);
      break;
    case PF_RG32F:
      c.r = PF_FLOAT_OF(p.a);
      c.g = PF_FLOAT_OF(p.b);
      break;
    case PF_RGBA32F:
      c.r = PF_FLOAT_OF(p.a);
      c.g = PF_FLOAT_OF(p.b);
      c.b = PF_FLOAT_OF(p.c);
      c.a = PF_FLOAT_OF(p.d);
      break;
    default: {
      const float first = pf_over(p.a & 255u, 255.0f), third = pf_over(p.a >> 16 & 255u, 255.0f);
      c.r = format == PF_BGRA8 ? third : first;
      c.g = pf_over(p.a >> 8 & 255u, 255.0f);
      c.b = format == PF_BGRA8 ? first : third;
      c.a = pf_over(p.a >> 24, 255.0f);
    }
  }
  return c;
}

/* NaN is 0. */
static float pf_clamp(float v, float low, float high) { return fmin(fmax(v != v ? 0.0f : v, low), high); }

static pf_word pf_unorm(float v, float largest) { return (pf_word)(pf_clamp(v, 0.0f, 1.0f) * largest + 0.5f); }

static pf_bits pf_stored(pf_color c, int format) {
  pf_bits p = {0, 0, 0, 0};
  switch (format) {
    case PF_R8: p.a = pf_unorm(c.r, 255.0f); break;
    case PF_RG8: p.a = pf_unorm(c.r, 255.0f) | pf_unorm(c.g, 255.0f) << 8; break;
    case PF_R16: p.a = pf_unorm(c.r, 65535.0f); break;
    case PF_R16F: p.a = pf_half(c.r); break;
    case PF_RGB10A2:
      p.a = pf_unorm(c.r, 1023.0f) | pf_unorm(c.g, 1023.0f) << 10 | pf_unorm(c.b, 1023.0f) << 20 |
            pf_unorm(c.a, 3.0f) << 30;
      break;
    case PF_RG16F: p.a = pf_half(c.r) | (pf_word)pf_half(c.g) << 16; break;
    case PF_R32F: p.a = PF_FLOAT_BITS(c.r); break;
    case PF_RGBA16F:
      p.a = pf_half(c.r) | (pf_word)pf_half(c.g) << 16;
      p.b = pf_half(c.b) | (pf_word)pf_half(c.a) << 16;
      break;
    case PF_RG32F:
      p.a = PF_FLOAT_BITS(c.r);
      p.b = PF_FLOAT_BITS(c.g);
      break;
    case PF_RGBA32F:
      p.a = PF_FLOAT_BITS(c.r);
      p.b = PF_FLOAT_BITS(c.g);
      p.c = PF_FLOAT_BITS(c.b);
      p.d = PF_FLOAT_BITS(c.a);
      break;
    default: {
      const float first = format == PF_BGRA8 ? c.b : c.r, third = format == PF_BGRA8 ? c.r : c.b;
      p.a = pf_unorm(first, 255.0f) | pf_unorm(c.g, 255.0f) << 8 | pf_unorm(third, 255.0f) << 16 |
            pf_unorm(c.a, 255.0f) << 24;
    }
  }
  return p;
}

/* What a draw does, by bits and fields of `steps`. */
#define PF_WEIGHS(steps) ((steps) & 1u)
#define PF_ONE_TO_ONE(steps) ((steps) & 2u)
#define PF_GREY(steps) ((steps) & 4u)
#define PF_BARS(steps) ((steps) & 8u)
#define PF_BLENDS(steps) ((steps) & 16u)
#define PF_FORMAT_ENCODES(steps) ((steps) & 32u)
#define PF_SHADES(steps) ((steps) & 64u)
#define PF_OVER(steps) ((steps) & 128u)
/* 0 linear, 1 sRGB, 2 power 2.2. */
#define PF_DECODE(steps) ((steps) >> 8 & 3u)
#define PF_ENCODE(steps) ((steps) >> 10 & 3u)
/* 0 stored, 1 opaque, 2 premultiplied, 3 straight. */
#define PF_ALPHA(steps) ((steps) >> 12 & 3u)
/* 0 none, 1 clamp, 2 Reinhard, 3 ACES by Narkowicz, 4 ACES by Hill. */
#define PF_TONE(steps) ((steps) >> 14 & 7u)

#define PF_LIMIT 274877906944.0f
#define PF_BRIGHTEST 65504.0f

/* NaN is 0, and nothing is infinite. */
static float pf_clean(float v) { return pf_clamp(v, -PF_LIMIT, PF_LIMIT); }

/* Of a number that is not negative: within a hundred-thousandth, by arithmetic that compilers for CPUs make vectors of. */
static float pf_power(float m, float p) {
  const pf_word bits = PF_FLOAT_BITS(fmax(m, 1e-30f));
  const float whole = PF_FLOAT_OF((bits & 0x7fffffu) | 0x3f800000u), exponent = (float)((int)(bits >> 23) - 127);
  const int is_upper = whole > 1.41421356f;
  /* log2 by the series of artanh, between the roots of 1/2 and 2. */
  const float v = is_upper ? 0.5f * whole : whole, t = (v - 1.0f) / (v + 1.0f), s = t * t;
  const float log = 2.88539008f * t * (1.0f + s * (0.33333333f + s * (0.2f + s * 0.14285714f)));
  const float y = fmin(fmax(p * ((is_upper ? exponent + 1.0f : exponent) + log), -126.0f), 126.0f);
  /* exp2 of the nearest integer, and by Taylor's series of what is left. */
  const float n = floor(y + 0.5f), f = 0.69314718f * (y - n);
  const float series = 0.16666667f + f * (0.041666667f + f * (0.0083333333f + f * 0.0013888889f));
  return PF_FLOAT_OF((pf_word)((int)n + 127) << 23) * (1.0f + f * (1.0f + f * (0.5f + f * series)));
}

/* One power for each channel, whichever curve: less code, and steps are the same for all pixels. */
static float pf_decoded(float v, pf_word curve) {
  const float m = fabs(v), power = pf_power(curve == 1u ? (m + 0.055f) / 1.055f : m, curve == 1u ? 2.4f : 2.2f);
  const float light = curve == 1u && m <= 0.04045f ? m / 12.92f : power;
  return v < 0.0f ? -light : light;
}

static float pf_encoded(float v, pf_word curve) {
  const float m = fabs(v), power = pf_power(m, curve == 1u ? 1.0f / 2.4f : 1.0f / 2.2f);
  const float above = curve == 1u ? 1.055f * power - 0.055f : power;
  const float number = curve == 1u && m <= 0.0031308f ? m * 12.92f : above;
  return v < 0.0f ? -number : number;
}

static pf_color pf_curved_down(pf_color c, pf_word curve) {
  if (curve != 0u) {
    c.r = pf_decoded(c.r, curve);
    c.g = pf_decoded(c.g, curve);
    c.b = pf_decoded(c.b, curve);
  }
  return c;
}

static pf_color pf_curved_up(pf_color c, pf_word curve) {
  if (curve != 0u) {
    c.r = pf_encoded(c.r, curve);
    c.g = pf_encoded(c.g, curve);
    c.b = pf_encoded(c.b, curve);
  }
  return c;
}

static float pf_narkowicz(float v) { return v * (2.51f * v + 0.03f) / (v * (2.43f * v + 0.59f) + 0.14f); }

static float pf_hill(float v) {
  return (v * (v + 0.0245786f) - 0.000090537f) / (v * (0.983729f * v + 0.4329510f) + 0.238081f);
}

static pf_color pf_toned(pf_color c, pf_word tone, float white) {
  if (tone == 0u) return c;
  c.r = pf_clamp(c.r, 0.0f, PF_BRIGHTEST);
  c.g = pf_clamp(c.g, 0.0f, PF_BRIGHTEST);
  c.b = pf_clamp(c.b, 0.0f, PF_BRIGHTEST);
  if (tone == 2u) {
    const float l = 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b, scale = (1.0f + l * white) / (1.0f + l);
    c.r *= scale;
    c.g *= scale;
    c.b *= scale;
  }
  if (tone == 3u) {
    c.r = pf_narkowicz(c.r);
    c.g = pf_narkowicz(c.g);
    c.b = pf_narkowicz(c.b);
  }
  if (tone == 4u) {
    const float r = pf_hill(0.59719f * c.r + 0.35458f * c.g + 0.04823f * c.b);
    const float g = pf_hill(0.07600f * c.r + 0.90834f * c.g + 0.01566f * c.b);
    const float b = pf_hill(0.02840f * c.r + 0.13383f * c.g + 0.83777f * c.b);
    c.r = 1.60475f * r - 0.53108f * g - 0.07367f * b;
    c.g = -0.10208f * r + 1.10813f * g - 0.00605f * b;
    c.b = -0.00327f * r - 0.07276f * g + 1.07602f * b;
  }
  c.r = pf_clamp(c.r, 0.0f, 1.0f);
  c.g = pf_clamp(c.g, 0.0f, 1.0f);
  c.b = pf_clamp(c.b, 0.0f, 1.0f);
  return c;
}

/* Where alpha is 0 there is no colour. */
static pf_color pf_divided(pf_color c) {
  const int is_there = c.a > 0.0f;
  const float by = is_there ? c.a : 1.0f;
  c.r = is_there ? c.r / by : 0.0f;
  c.g = is_there ? c.g / by : 0.0f;
  c.b = is_there ? c.b / by : 0.0f;
  return c;
}

static pf_color pf_scaled(pf_color c, float by) {
  c.r *= by;
  c.g *= by;
  c.b *= by;
  return c;
}

static pf_color pf_mixed(pf_color a, pf_color b, float by) {
  a.r = a.r * (1.0f - by) + b.r * by;
  a.g = a.g * (1.0f - by) + b.g * by;
  a.b = a.b * (1.0f - by) + b.b * by;
  a.a = a.a * (1.0f - by) + b.a * by;
  return a;
}

/* A texel as what is weighed: light, multiplied by its coverage. */
static pf_color pf_light(pf_color c, pf_word steps) {
  const pf_word alpha = PF_ALPHA(steps);
  const float stored = c.a;
  c.r = pf_clean(c.r);
  c.g = pf_clean(c.g);
  c.b = pf_clean(c.b);
  c.a = pf_clamp(c.a, 0.0f, 1.0f);
  if (alpha == 2u) {
    c = pf_divided(c);
    c.r = pf_clean(c.r);
    c.g = pf_clean(c.g);
    c.b = pf_clean(c.b);
  }
  c = pf_curved_down(c, PF_DECODE(steps));
  if (alpha >= 2u) c = pf_scaled(c, c.a);
  if (alpha == 1u) c.a = 1.0f;
  if (alpha == 0u) c.a = stored;
  return c;
}

/* Weighed light as the light that is encoded. */
static pf_color pf_shown(pf_color c, pf_color background, float gain, float white, pf_word steps) {
  if (PF_ALPHA(steps) >= 2u) c = pf_divided(c);
  c = pf_toned(pf_scaled(c, gain), PF_TONE(steps), white);
  if (PF_OVER(steps)) {
    const float coverage = c.a;
    c.a = 1.0f;
    c = pf_mixed(background, c, coverage);
  }
  return c;
}

/* The image that is read: where its pixel (0, 0) lies, bytes from row to row, and its size. */
typedef struct {
  const PF_GLOBAL pf_byte *first;
  pf_i64 pitch;
  int format, shift, width, height;
} pf_image;

static pf_color pf_tap(const pf_image *image, int x, int y, pf_word steps) {
  const int column = min(max(x, 0), image->width - 1), row = min(max(y, 0), image->height - 1);
  const PF_GLOBAL pf_byte *at = image->first + row * image->pitch + ((pf_i64)column << image->shift);
  pf_color c = pf_load(pf_fetch(at, image->shift), image->format);
  if (PF_GREY(steps)) {
    c.g = c.b = c.r;
    c.a = 1.0f;
  }
  return PF_SHADES(steps) ? pf_light(c, steps) : c;
}

/* At pixel (x, y) of the picture, which is `width` x `height`. */
static pf_color pf_sampled(const pf_image *image, int x, int y, int width, int height, pf_word steps) {
  float fx = 0.0f, fy = 0.0f;
  int taps = 1, i;
  pf_color sum = {0.0f, 0.0f, 0.0f, 0.0f};
  if (!PF_ONE_TO_ONE(steps)) {
    const float by = PF_WEIGHS(steps) ? 0.5f : 0.0f;
    const float u = ((float)x + 0.5f) / (float)width * (float)image->width - by;
    const float v = ((float)y + 0.5f) / (float)height * (float)image->height - by;
    x = (int)floor(u);
    y = (int)floor(v);
    if (PF_WEIGHS(steps)) {
      fx = u - floor(u);
      fy = v - floor(v);
      taps = 4;
    }
  }
#pragma unroll 1
  for (i = 0; i < taps; i++) {
    const float weight = (i & 1 ? fx : 1.0f - fx) * (i & 2 ? fy : 1.0f - fy);
    const pf_color c = pf_tap(image, x + (i & 1), y + (i >> 1), steps);
    /* As it is, were it no number. */
    if (taps == 1) return c;
    sum.r += c.r * weight;
    sum.g += c.g * weight;
    sum.b += c.b * weight;
    sum.a += c.a * weight;
  }
  return sum;
}

/* What is written there: before blending, where it blends. */
static pf_color pf_drawn(const pf_image *image, int x, int y, int width, int height, pf_color background, float gain,
                         float white, pf_word steps) {
  pf_color c = background;
  if (!PF_BARS(steps) || (x >= 0 && y >= 0 && x < width && y < height)) {
    c = pf_sampled(image, x, y, width, height, steps);
    if (PF_SHADES(steps)) c = pf_shown(c, background, gain, white, steps);
  }
  /* What is beside the picture is opaque. */
  c = pf_curved_up(c, PF_ENCODE(steps));
  return PF_BLENDS(steps) && PF_SHADES(steps) ? pf_scaled(c, c.a) : c;
}

/* What a target holds after `c` was written over `old`, as hardware does it. */
static pf_color pf_written(pf_color c, pf_bits old, int format, pf_word steps) {
  const pf_word curve = PF_FORMAT_ENCODES(steps) ? 1u : 0u;
  if (curve == 0u && !PF_BLENDS(steps)) return c;
  if (!pf_is_float(format)) {
    c.r = pf_clamp(c.r, 0.0f, 1.0f);
    c.g = pf_clamp(c.g, 0.0f, 1.0f);
    c.b = pf_clamp(c.b, 0.0f, 1.0f);
    c.a = pf_clamp(c.a, 0.0f, 1.0f);
  }
  if (PF_BLENDS(steps)) {
    const pf_color below = pf_curved_down(pf_load(old, format), curve);
    const float through = 1.0f - c.a;
    c.r += below.r * through;
    c.g += below.g * through;
    c.b += below.b * through;
    c.a += below.a * through;
  }
  return pf_curved_up(c, curve);
}

#if !defined(PF_ONLY) || PF_ONLY == 0
/* `left` and `top`: the target's pixel (0, 0) in the picture. */
PF_KERNEL void pf_draw(PF_IMAGE(pf_byte, out), const PF_GLOBAL pf_byte *from, pf_i64 from_offset, pf_i64 from_pitch,
                       int from_format, int from_width, int from_height, int format, int left, int top, int width,
                       int height, pf_word steps, float gain, float white, float red, float green, float blue) {
  const int x = PF_X, y = PF_Y;
  if (x >= out_width || y >= out_height) return;
  const pf_image image = {from + from_offset, from_pitch, from_format, pf_shift_of(from_format), from_width, from_height};
  const pf_color background = {red, green, blue, 1.0f};
  const pf_color c = pf_drawn(&image, x + left, y + top, width, height, background, gain, white, steps);
  const int shift = pf_shift_of(format);
  PF_GLOBAL pf_byte *at = &PF_AT(out, 0, y) + ((pf_i64)x << shift);
  pf_bits old = {0, 0, 0, 0};
  if (PF_BLENDS(steps)) old = pf_fetch(at, shift);
  pf_put(at, pf_stored(pf_written(c, old, format, steps), format), shift);
}
#endif

#if !defined(PF_ONLY) || PF_ONLY == 1
/* Pixels as they are. */
PF_KERNEL void pf_copy(PF_IMAGE(pf_byte, out), const PF_GLOBAL pf_byte *from, pf_i64 from_offset, pf_i64 from_pitch,
                       int shift) {
  const int x = PF_X, y = PF_Y;
  if (x >= out_width || y >= out_height) return;
  const pf_i64 column = (pf_i64)x << shift;
  pf_put(&PF_AT(out, 0, y) + column, pf_fetch(from + from_offset + y * from_pitch + column, shift), shift);
}
#endif

#if !defined(PF_ONLY) || PF_ONLY == 2
/* One pixel everywhere. */
PF_KERNEL void pf_clear(PF_IMAGE(pf_byte, out), pf_word a, pf_word b, pf_word c, pf_word d, int shift) {
  const int x = PF_X, y = PF_Y;
  const pf_bits p = {a, b, c, d};
  if (x < out_width && y < out_height) pf_put(&PF_AT(out, 0, y) + ((pf_i64)x << shift), p, shift);
}
#endif
