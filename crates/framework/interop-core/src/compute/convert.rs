//! Conversions from what a kernel computes to what a display shows, for fusing into the write.

/// Device functions in C that is valid as OpenCL C 1.2 and as CUDA C++. The backends of those languages prepend them to
/// every kernel's text:
///
/// - `uchar pf_unorm8(float v)`: `[0, 1]` to 0..=255, rounded to nearest; numbers outside are clamped, NaN gives 0.
/// - `float pf_srgb(float v)`: linear light in `[0, 1]` encoded by the sRGB curve (IEC 61966-2-1); clamped.
/// - `float3 pf_tonemap_reinhard(float3 c)`: `c / (1 + c)` by channel (Reinhard et al. 2002).
/// - `float3 pf_tonemap_aces(float3 c)`: Narkowicz's fit of the ACES film curve (2015), in `[0, 1]`.
/// - `ushort pf_half(float v)`: the bits of the nearest binary16, ties to even, as IEEE 754 converts; infinities and
///   NaN stay what they are. For `Rgba16F`, whose pixel is `ushort4`.
/// - `uchar4 pf_rgba8(float3 c, float alpha)`: colour and alpha converted with `pf_unorm8`.
///
/// Types are spelled out (`unsigned char` for `uchar`).
pub const CONVERT_SOURCE: &str = "
#ifdef __OPENCL_VERSION__
#define PF_FLOAT_BITS(v) as_uint(v)
#else
#define PF_FLOAT_BITS(v) __float_as_uint(v)
#endif

static unsigned char pf_unorm8(float v) {
  return (unsigned char)(fmin(fmax(v, 0.0f), 1.0f) * 255.0f + 0.5f);
}

static float pf_srgb(float v) {
  v = fmin(fmax(v, 0.0f), 1.0f);
  return v <= 0.0031308f ? 12.92f * v : 1.055f * pow(v, 1.0f / 2.4f) - 0.055f;
}

static float3 pf_tonemap_reinhard(float3 c) {
  c.x = c.x / (1.0f + c.x);
  c.y = c.y / (1.0f + c.y);
  c.z = c.z / (1.0f + c.z);
  return c;
}

static float pf_aces_curve(float v) {
  v = fmax(v, 0.0f);
  return fmin(v * (2.51f * v + 0.03f) / (v * (2.43f * v + 0.59f) + 0.14f), 1.0f);
}

static float3 pf_tonemap_aces(float3 c) {
  c.x = pf_aces_curve(c.x);
  c.y = pf_aces_curve(c.y);
  c.z = pf_aces_curve(c.z);
  return c;
}

#ifndef PF_HALF
static unsigned short pf_half(float v) {
  unsigned int bits = PF_FLOAT_BITS(v);
  unsigned int sign = bits >> 16 & 0x8000u;
  unsigned int mag = bits & 0x7fffffffu;
  unsigned int shift, kept, rest, tie;
  if (mag > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);
  /* From halfway between the largest binary16 and the next power of two on: infinity. */
  if (mag >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (mag >= 0x38800000u) {
    shift = 13u;
    kept = mag - 0x38000000u;
  } else {
    /* Subnormal: the significand moves right until the exponent is that of 2^-24. */
    if (mag < 0x33000000u) return (unsigned short)sign;
    shift = 126u - (mag >> 23);
    kept = (mag & 0x007fffffu) | 0x00800000u;
  }
  rest = kept & ((1u << shift) - 1u);
  tie = 1u << (shift - 1u);
  kept >>= shift;
  if (rest > tie || (rest == tie && (kept & 1u))) kept += 1u;
  return (unsigned short)(sign | kept);
}
#endif

static uchar4 pf_rgba8(float3 c, float alpha) {
  uchar4 p;
  p.x = pf_unorm8(c.x);
  p.y = pf_unorm8(c.y);
  p.z = pf_unorm8(c.z);
  p.w = pf_unorm8(alpha);
  return p;
}
";
