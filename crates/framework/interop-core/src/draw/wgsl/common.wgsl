// Shows an image, pixel (0, 0) at the top left of the picture. `texel` comes from memory.wgsl or texture.wgsl; `tap`,
// `finished` and `encode` from color.wgsl or plain.wgsl. What is shown is written by store.wgsl, or by a display's own
// rasteriser. `draw_params` is declared by wgsl.rs, as all that is bound.

struct DrawParams {
  // Of the image, in texels: left, top, width, height.
  region: vec4<u32>,
  // Of the target, in pixels: left, top, width, height.
  picture: vec4<f32>,
  // Linear memory: byte of pixel (0, 0) and bytes from row to row.
  base: u32,
  pitch: u32,
  // 1: weigh the four nearest texels. 0: take the nearest.
  linear: u32,
  // 1: show the first channel as grey.
  grey: u32,
  // What is beside the picture and below it, before it is encoded.
  background: vec4<f32>,
  // What light is multiplied by, and 1 / white^2.
  exposure: vec4<f32>,
  // Of the target, in pixels: what is drawn. Left, top, width, height.
  area: vec4<i32>,
}

// A texel for each pixel: nothing to weigh or clamp.
override one_to_one: bool = false;
// More than the picture is drawn.
override bars: bool = false;

fn clamped(p: vec2<i32>) -> vec4<f32> {
  let inside = clamp(p, vec2<i32>(0), vec2<i32>(draw_params.region.zw) - 1);
  return tap(draw_params.region.xy + vec2<u32>(inside));
}

fn scaled(p: vec2<f32>) -> vec4<f32> {
  if draw_params.linear == 0u {
    return clamped(vec2<i32>(floor(p)));
  }
  let corner = floor(p - 0.5);
  let i = vec2<i32>(corner);
  let f = p - 0.5 - corner;
  let above = mix(clamped(i), clamped(i + vec2<i32>(1, 0)), f.x);
  let below = mix(clamped(i + vec2<i32>(0, 1)), clamped(i + vec2<i32>(1, 1)), f.x);
  return mix(above, below, f.y);
}

// At the centre of a pixel of the target.
fn shown(at: vec2<f32>) -> vec4<f32> {
  let p = at - draw_params.picture.xy;
  if bars {
    if any(p < vec2<f32>(0.0)) || any(p >= draw_params.picture.zw) {
      return vec4<f32>(encode(draw_params.background.rgb), 1.0);
    }
  }
  var color: vec4<f32>;
  if one_to_one {
    color = tap(draw_params.region.xy + vec2<u32>(p));
  } else {
    color = scaled(p / draw_params.picture.zw * vec2<f32>(draw_params.region.zw));
  }
  return finished(color);
}
