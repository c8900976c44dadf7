// By stores, a pixel for each work item. `canvas` is declared for the target's format; `over` comes from replace.wgsl or
// blend.wgsl, `stored` and `loaded` from as_is.wgsl or encoded.wgsl.

// The target has blue first, and is stored to as if it were red.
override blue_first: bool = false;

fn turned(color: vec4<f32>) -> vec4<f32> {
  return select(color, color.bgra, blue_first);
}

@compute @workgroup_size(32, 8)
fn store(@builtin(global_invocation_id) id: vec3<u32>) {
  let within = vec2<i32>(id.xy);
  let p = draw_params.area.xy + within;
  if any(within >= draw_params.area.zw) || any(p < vec2<i32>(0)) || any(vec2<u32>(p) >= textureDimensions(canvas)) {
    return;
  }
  textureStore(canvas, p, turned(stored(over(shown(vec2<f32>(p) + 0.5), p))));
}
