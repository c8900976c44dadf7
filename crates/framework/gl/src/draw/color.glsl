// Colours: decode to light, shown by a tone map, encode for the target. What each step does is fixed when the program
// is made: DECODE and ENCODE (0 linear, 1 sRGB, 2 power 2.2), ALPHA (0 stored, 1 opaque, 2 premultiplied, 3 straight),
// TONE (0 none, 1 clamp, 2 Reinhard, 3 ACES by Narkowicz, 4 ACES by Hill), OVER (on a background) and BLENDS
// (0 or 1). The reference is interop_core::draw::paint.

// What light is multiplied by, and 1 / white^2.
uniform vec2 exposure;

const float LIMIT = 274877906944.0;
const float BRIGHTEST = 65504.0;

// NaN is 0, and nothing is infinite.
vec3 clean(vec3 v) {
  bvec3 nan = greaterThan(floatBitsToUint(v) & 0x7fffffffu, uvec3(0x7f800000u));
  return mix(clamp(v, -LIMIT, LIMIT), vec3(0.0), nan);
}

vec3 decode(vec3 v) {
#if DECODE == 1
  return srgb_to_light(v);
#elif DECODE == 2
  return sign(v) * power(abs(v), 2.2);
#else
  return v;
#endif
}

vec3 encode(vec3 v) {
#if ENCODE == 1
  return light_to_srgb(v);
#elif ENCODE == 2
  return sign(v) * power(abs(v), 1.0 / 2.2);
#else
  return v;
#endif
}

vec3 tone_mapped(vec3 v) {
#if TONE == 0
  return v;
#else
  v = clamp(v, 0.0, BRIGHTEST);
#if TONE == 2
  float l = dot(v, vec3(0.2126, 0.7152, 0.0722));
  v *= (1.0 + l * exposure.y) / (1.0 + l);
#elif TONE == 3
  v = v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14);
#elif TONE == 4
  // Columns, not rows.
  v = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777) * v;
  v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
  v = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602) * v;
#endif
  return clamp(v, 0.0, 1.0);
#endif
}

// Where alpha is 0 there is no colour.
vec4 divided(vec4 c) { return vec4(c.a > 0.0 ? c.rgb / c.a : vec3(0.0), c.a); }

// A texel as what is weighed: light, multiplied by its coverage.
vec4 light(vec4 texel) {
  vec3 v = clean(texel.rgb);
#if ALPHA == 0
  return vec4(decode(v), texel.a);
#elif ALPHA == 1
  return vec4(decode(v), 1.0);
#else
  float a = clamp(clean(vec3(texel.a)).x, 0.0, 1.0);
#if ALPHA == 2
  v = clean(divided(vec4(v, a)).rgb);
#endif
  return vec4(decode(v) * a, a);
#endif
}

// What is written for weighed light.
vec4 shown(vec4 light, vec3 background) {
#if ALPHA >= 2
  light = divided(light);
#endif
  vec4 own = vec4(tone_mapped(light.rgb * exposure.x), light.a);
#if OVER == 1
  own = vec4(mix(background, own.rgb, own.a), 1.0);
#endif
  own.rgb = encode(own.rgb);
#if BLENDS == 1
  own.rgb *= own.a;
#endif
  return own;
}
