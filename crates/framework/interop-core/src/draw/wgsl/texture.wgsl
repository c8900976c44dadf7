fn texel(p: vec2<u32>) -> vec4<f32> {
  return textureLoad(image, p, 0);
}
