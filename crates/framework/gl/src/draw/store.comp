// By stores. What the rasteriser's hardware does behind a fragment shader is done here: BLENDS_AS is the layout by which
// the old pixel is read and blended with, FIXED says that it holds no number outside 0 and 1, and ENCODES that numbers are
// encoded as sRGB.
layout(local_size_x = 32, local_size_y = 8) in;

#ifdef BLENDS_AS
layout(BLENDS_AS) uniform image2D target;
#else
// What is stored is a property of the image unit.
writeonly uniform image2D target;
#endif
// Left, bottom, width, height in pixels of the target.
uniform ivec4 area;

void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(p, area.zw))) return;
  p += area.xy;
  vec4 color = drawn(vec2(p) + 0.5);
#ifdef BLENDS_AS
#ifdef FIXED
  color = clamp(color, 0.0, 1.0);
#endif
  vec4 old = imageLoad(target, p);
#ifdef ENCODES
  old.rgb = srgb_to_light(old.rgb);
#endif
  color += old * (1.0 - color.a);
#endif
#ifdef ENCODES
  color.rgb = light_to_srgb(clamp(color.rgb, 0.0, 1.0));
#endif
  imageStore(target, p, color);
}
