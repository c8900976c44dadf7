// Colours: decode to light, shown by a tone map, encode for the target. What each step does is fixed when the pipeline
// is made. The reference is interop_core::draw::paint.

// 0 linear, 1 sRGB, 2 power 2.2.
override DECODE: u32 = 0;
override ENCODE: u32 = 0;
// 0 stored, 1 opaque, 2 premultiplied, 3 straight.
override ALPHA: u32 = 0;
// 0 none, 1 clamp, 2 Reinhard, 3 ACES by Narkowicz, 4 ACES by Hill.
override TONE: u32 = 0;
// 1: on the background.
override OVER: u32 = 0;
// 1: multiplied by alpha at the end.
override BLENDS: u32 = 0;

const LIMIT: f32 = 274877906944.0;
const BRIGHTEST: f32 = 65504.0;

// NaN is 0, and nothing is infinite.
fn clean(v: vec3<f32>) -> vec3<f32> {
  let nan = (bitcast<vec3<u32>>(v) & vec3<u32>(0x7fffffffu)) > vec3<u32>(0x7f800000u);
  return select(clamp(v, vec3<f32>(-LIMIT), vec3<f32>(LIMIT)), vec3<f32>(0.0), nan);
}

fn decode(v: vec3<f32>) -> vec3<f32> {
  if DECODE == 1u {
    return srgb_to_light(v);
  }
  if DECODE == 2u {
    return sign(v) * power(abs(v), 2.2);
  }
  return v;
}

fn encode(v: vec3<f32>) -> vec3<f32> {
  if ENCODE == 1u {
    return light_to_srgb(v);
  }
  if ENCODE == 2u {
    return sign(v) * power(abs(v), 1.0 / 2.2);
  }
  return v;
}

fn tone_mapped(scene: vec3<f32>) -> vec3<f32> {
  if TONE == 0u {
    return scene;
  }
  var v = clamp(scene, vec3<f32>(0.0), vec3<f32>(BRIGHTEST));
  if TONE == 2u {
    let l = dot(v, vec3<f32>(0.2126, 0.7152, 0.0722));
    v *= (1.0 + l * draw_params.exposure.y) / (1.0 + l);
  }
  if TONE == 3u {
    v = v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14);
  }
  if TONE == 4u {
    // Columns, not rows.
    v = mat3x3<f32>(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777) * v;
    v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
    v = mat3x3<f32>(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602) * v;
  }
  return clamp(v, vec3<f32>(0.0), vec3<f32>(1.0));
}

// Where alpha is 0 there is no colour.
fn divided(c: vec4<f32>) -> vec4<f32> {
  if c.a > 0.0 {
    return vec4<f32>(c.rgb / c.a, c.a);
  }
  return vec4<f32>(0.0, 0.0, 0.0, c.a);
}

// A texel as what is weighed: light, multiplied by its coverage.
fn tap(p: vec2<u32>) -> vec4<f32> {
  var own = texel(p);
  if draw_params.grey != 0u {
    own = vec4<f32>(own.rrr, 1.0);
  }
  var v = clean(own.rgb);
  if ALPHA == 0u {
    return vec4<f32>(decode(v), own.a);
  }
  if ALPHA == 1u {
    return vec4<f32>(decode(v), 1.0);
  }
  let a = clamp(clean(vec3<f32>(own.a)).x, 0.0, 1.0);
  if ALPHA == 2u {
    v = clean(divided(vec4<f32>(v, a)).rgb);
  }
  return vec4<f32>(decode(v) * a, a);
}

// What is written for weighed light.
fn finished(weighed: vec4<f32>) -> vec4<f32> {
  var own = weighed;
  if ALPHA >= 2u {
    own = divided(own);
  }
  var v = tone_mapped(own.rgb * draw_params.exposure.x);
  if OVER == 1u {
    v = mix(draw_params.background.rgb, v, own.a);
    own.a = 1.0;
  }
  v = encode(v);
  if BLENDS == 1u {
    v *= own.a;
  }
  return vec4<f32>(v, own.a);
}
