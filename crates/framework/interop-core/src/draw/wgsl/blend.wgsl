
// What is blended is cut off before where the target holds no number outside 0 and 1, as hardware does.
override cut_off: bool = true;

fn over(color: vec4<f32>, p: vec2<i32>) -> vec4<f32> {
  let own = select(color, clamp(color, vec4<f32>(0.0), vec4<f32>(1.0)), cut_off);
  return own + loaded(turned(textureLoad(canvas, p))) * (1.0 - own.a);
}
