// Copies pixels from linear memory into a texture. Both are seen as unsigned integers, so no bit changes.
layout(local_size_x = 32, local_size_y = 8) in;

uniform usamplerBuffer pixels;
// What the integers are stored as is a property of the image unit.
writeonly uniform uimage2D image;
// First texel, and texels from row to row.
uniform ivec2 layout_;
// Region of the image: left, bottom, width, height in texels.
uniform ivec4 region;

void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(p, region.zw))) return;
  imageStore(image, region.xy + p, texelFetch(pixels, layout_.x + p.y * layout_.y + p.x));
}
