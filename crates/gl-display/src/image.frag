// Shows an image, pixel (0, 0) at the bottom left of the viewport. Positions come from gl_FragCoord, so no clip
// origin or depth convention of the engine's matters.

#ifdef LINEAR_MEMORY
uniform samplerBuffer image;
// First texel, and texels from row to row.
uniform ivec2 layout_;
vec4 texel(ivec2 p) { return texelFetch(image, layout_.x + p.y * layout_.y + p.x); }
#else
uniform sampler2D image;
vec4 texel(ivec2 p) { return texelFetch(image, p, 0); }
#endif

// Viewport: left, bottom, width, height in pixels of the framebuffer.
uniform vec4 window;
// Region of the image: left, bottom, width, height in texels.
uniform ivec4 region;
// 1: weigh the four nearest texels. 0: take the nearest.
uniform int smooth_;
// 1: show the first channel as grey.
uniform int grey;

out vec4 color;

vec4 clamped(ivec2 p) { return texel(region.xy + clamp(p, ivec2(0), region.zw - 1)); }

#ifdef ONE_TO_ONE
// A texel for each pixel: nothing to weigh or clamp.
void main() {
  color = texel(region.xy + ivec2(gl_FragCoord.xy) - ivec2(window.xy));
  if (grey != 0) color = vec4(color.rrr, 1.0);
}
#else
void main() {
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
  if (grey != 0) color = vec4(color.rrr, 1.0);
}
#endif
