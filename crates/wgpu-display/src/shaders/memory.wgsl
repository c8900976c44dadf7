@group(0) @binding(1) var<storage, read> words: array<u32>;

// Which of the pixel formats, in the order of `PixelFormat::ALL`.
override kind: u32 = 2;

fn byte_at(at: u32) -> f32 {
  return f32((words[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu) / 255.0;
}

fn texel(p: vec2<u32>) -> vec4<f32> {
  let row = look.base + p.y * look.pitch;
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
    default: {
      return unpack4x8unorm(words[(row >> 2u) + p.x]);
    }
  }
}
