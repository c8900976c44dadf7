@group(0) @binding(1) var image: texture_2d<f32>;

fn texel(p: vec2<u32>) -> vec4<f32> {
  return textureLoad(image, p, 0);
}
