// Shows an image, pixel (0, 0) at the bottom left of the picture: what is drawn at a place of the framebuffer, whoever
// writes it there.

#ifdef LINEAR_MEMORY
#if defined(RGB10A2) || defined(R16)
uniform usamplerBuffer image;
#else
uniform samplerBuffer image;
#endif
// First texel, and texels from row to row.
uniform ivec2 layout_;
vec4 texel(ivec2 p) {
  int at = layout_.x + p.y * layout_.y + p.x;
#if defined(RGB10A2)
  uint word = texelFetch(image, at).r;
  return vec4(uvec4(word, word >> 10, word >> 20, word >> 30) & uvec4(1023u, 1023u, 1023u, 3u)) / vec4(1023, 1023, 1023, 3);
#elif defined(R16)
  return vec4(float(texelFetch(image, at).r) / 65535.0, 0.0, 0.0, 1.0);
#elif defined(BGRA)
  return texelFetch(image, at).bgra;
#else
  return texelFetch(image, at);
#endif
}
#else
uniform sampler2D image;
vec4 texel(ivec2 p) { return texelFetch(image, p, 0); }
#endif

// Picture: left, bottom, width, height in pixels of the framebuffer.
uniform vec4 window;
// Region of the image: left, bottom, width, height in texels.
uniform ivec4 region;
// 1: weigh the four nearest texels. 0: take the nearest.
uniform int smooth_;
// Above 0: show the first channel as grey. Each of both has two numbers, by turns.
uniform int grey;
// What is beside the picture (BARS) and below it (OVER), before it is encoded.
uniform vec3 background;

#ifdef SHADED
vec4 tap(ivec2 p) {
  vec4 own = texel(p);
  return light(grey > 0 ? vec4(own.rrr, 1.0) : own);
}
vec4 finished(vec4 own) { return shown(own, background); }
#else
vec4 tap(ivec2 p) { return texel(p); }
vec4 finished(vec4 own) { return grey > 0 ? vec4(own.rrr, 1.0) : own; }
vec3 encode(vec3 v) { return v; }
#endif

vec4 clamped(ivec2 p) { return tap(region.xy + clamp(p, ivec2(0), region.zw - 1)); }

// At the centre of a pixel of the framebuffer.
vec4 drawn(vec2 at) {
#ifdef BARS
  vec2 inside = at - window.xy;
  if (any(lessThan(inside, vec2(0.0))) || any(greaterThanEqual(inside, window.zw))) {
    return vec4(encode(background), 1.0);
  }
#endif
#ifdef ONE_TO_ONE
  // A texel for each pixel: nothing to weigh or clamp.
  return finished(tap(region.xy + ivec2(at) - ivec2(window.xy)));
#else
  vec2 p = (at - window.xy) / window.zw * vec2(region.zw);
  if (smooth_ == 0) return finished(clamped(ivec2(floor(p))));
  p -= 0.5;
  ivec2 i = ivec2(floor(p));
  vec2 f = p - floor(p);
  return finished(mix(mix(clamped(i), clamped(i + ivec2(1, 0)), f.x),
                      mix(clamped(i + ivec2(0, 1)), clamped(i + ivec2(1, 1)), f.x), f.y));
#endif
}
