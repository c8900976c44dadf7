// Which of the pixel formats: its `shader_id`.
override kind: u32 = 2;

// Two bytes, in the lower half of the word.
fn half_at(at: u32) -> u32 {
  return (words[at >> 2u] >> ((at & 2u) * 8u)) & 0xffffu;
}

fn byte_at(at: u32) -> f32 {
  return f32((words[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu) / 255.0;
}

fn texel(p: vec2<u32>) -> vec4<f32> {
  let row = draw_params.base + p.y * draw_params.pitch;
  switch kind {
    case 0u: {
      return vec4<f32>(byte_at(row + p.x), 0.0, 0.0, 1.0);
    }
    case 1u: {
      let at = row + p.x * 2u;
      return vec4<f32>(byte_at(at), byte_at(at + 1u), 0.0, 1.0);
    }
    case 3u: {
      return vec4<f32>(bitcast<f32>(words[(row >> 2u) + p.x]), 0.0, 0.0, 1.0);
    }
    case 4u: {
      let at = (row >> 2u) + p.x * 2u;
      return vec4<f32>(unpack2x16float(words[at]), unpack2x16float(words[at + 1u]));
    }
    case 5u: {
      let at = (row >> 2u) + p.x * 4u;
      return bitcast<vec4<f32>>(vec4<u32>(words[at], words[at + 1u], words[at + 2u], words[at + 3u]));
    }
    case 6u: {
      return vec4<f32>(f32(half_at(row + p.x * 2u)) / 65535.0, 0.0, 0.0, 1.0);
    }
    case 7u: {
      return vec4<f32>(unpack2x16float(half_at(row + p.x * 2u)).x, 0.0, 0.0, 1.0);
    }
    case 8u: {
      return unpack4x8unorm(words[(row >> 2u) + p.x]).bgra;
    }
    case 9u: {
      let word = words[(row >> 2u) + p.x];
      let channels = vec4<u32>(word, word >> 10u, word >> 20u, word >> 30u) & vec4<u32>(1023u, 1023u, 1023u, 3u);
      return vec4<f32>(channels) / vec4<f32>(1023.0, 1023.0, 1023.0, 3.0);
    }
    case 10u: {
      return vec4<f32>(unpack2x16float(words[(row >> 2u) + p.x]), 0.0, 1.0);
    }
    case 11u: {
      let at = (row >> 2u) + p.x * 2u;
      return vec4<f32>(bitcast<f32>(words[at]), bitcast<f32>(words[at + 1u]), 0.0, 1.0);
    }
    default: {
      return unpack4x8unorm(words[(row >> 2u) + p.x]);
    }
  }
}
