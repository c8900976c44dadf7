// Pixels of a texture to or from rows in memory, bit by bit: LOADS tells the direction, PIXEL the bytes of one.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Memory { uint memory[]; };
// 0: column and row of the first pixel, width, height. 1: the first byte, and bytes from one row to the next.
uniform uvec4 numbers[2];
#ifdef LOADS
layout(LAYOUT, binding = 0) readonly uniform image2D image;
#else
layout(binding = 0) writeonly uniform image2D image;
#endif

// Bits of a word of which other work items have the rest.
uint part(uint byte, uint mask) { return memory[byte / 4u] >> (byte % 4u * 8u) & mask; }

void set_part(uint byte, uint mask, uint bits) {
  uint shift = byte % 4u * 8u;
  atomicAnd(memory[byte / 4u], ~(mask << shift));
  atomicOr(memory[byte / 4u], (bits & mask) << shift);
}

void main() {
  uvec2 p = gl_GlobalInvocationID.xy;
  if (any(greaterThanEqual(p, numbers[0].zw))) return;
  uint b = numbers[1].x + p.y * numbers[1].y + p.x * PIXEL;
  uint w = b / 4u;
  ivec2 at = ivec2(numbers[0].xy + p);
#ifdef LOADS
  vec4 c = imageLoad(image, at);
  PACK
#else
  imageStore(image, at, UNPACK);
#endif
}
