// Shows an image, pixel (0, 0) at the bottom left of the picture. Positions come from gl_FragCoord, so no clip
// origin or depth convention of the engine's matters.

#ifdef LINEAR_MEMORY
#ifdef RGB10A2
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
// 1: show the first channel as grey.
uniform int grey;
// What is beside the picture (BARS) and below it (OVER), before it is encoded.
uniform vec3 background;

out vec4 color;

#ifdef SHADED
vec4 tap(ivec2 p) {
  vec4 own = texel(p);
  return light(grey != 0 ? vec4(own.rrr, 1.0) : own);
}
vec4 finished(vec4 own) { return shown(own, background); }
#else
vec4 tap(ivec2 p) { return texel(p); }
vec4 finished(vec4 own) { return grey != 0 ? vec4(own.rrr, 1.0) : own; }
vec3 encode(vec3 v) { return v; }
#endif

vec4 clamped(ivec2 p) { return tap(region.xy + clamp(p, ivec2(0), region.zw - 1)); }

void main() {
#ifdef BARS
  vec2 inside = gl_FragCoord.xy - window.xy;
  if (any(lessThan(inside, vec2(0.0))) || any(greaterThanEqual(inside, window.zw))) {
    color = vec4(encode(background), 1.0);
    return;
  }
#endif
#ifdef ONE_TO_ONE
  // A texel for each pixel: nothing to weigh or clamp.
  color = tap(region.xy + ivec2(gl_FragCoord.xy) - ivec2(window.xy));
#else
  vec2 p = (gl_FragCoord.xy - window.xy) / window.zw * vec2(region.zw);
  if (smooth_ != 0) {
    p -= 0.5;
    ivec2 i = ivec2(floor(p));
    vec2 f = p - floor(p);
    color = mix(mix(clamped(i), clamped(i + ivec2(1, 0)), f.x),
                mix(clamped(i + ivec2(0, 1)), clamped(i + ivec2(1, 1)), f.x), f.y);
  } else {
    color = clamped(ivec2(floor(p)));
  }
#endif
  color = finished(color);
}
