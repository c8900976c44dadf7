//! The fluid's kernels in WGSL. `super::kernels` describes each.

use crate::pixels::{Pixels, Tone};

/// Declares a kernel's memories, arrays of `(name, type)`, in order.
fn memories(all: &[(&str, &str)]) -> String {
    let line = |(at, (name, ty)): (usize, &(&str, &str))| {
        format!("@group(1) @binding({at}) var<storage, read> {name}: array<{ty}>;\n")
    };
    all.iter().enumerate().map(line).collect()
}

/// A kernel that writes the cell or pixel at `at` of a target of size `size`.
fn cells(name: &str, body: &str) -> String {
    format!(
        "fn inside(at: vec2<i32>, size: vec2<i32>) -> i32 {{
           let p = clamp(at, vec2<i32>(0), size - 1);
           return p.y * size.x + p.x;
         }}
         @compute @workgroup_size(8, 8)
         fn {name}(@builtin(global_invocation_id) id: vec3<u32>) {{
           if (!pf_inside(id.xy)) {{ return; }}
           let at = vec2<i32>(id.xy);
           let size = vec2<i32>(pf_size());
           {body}
         }}"
    )
}

/// `sample`: interpolates the field of this name at a position in cells from the centre of cell (0, 0).
fn sample(field: &str) -> String {
    format!(
        "fn sample(size: vec2<i32>, place: vec2<f32>) -> vec4<f32> {{
           let p = clamp(place, vec2<f32>(0.0), vec2<f32>(size - 1));
           let cell = vec2<i32>(p);
           let t = p - vec2<f32>(cell);
           let a = {field}[inside(cell, size)];
           let b = {field}[inside(cell + vec2<i32>(1, 0), size)];
           let c = {field}[inside(cell + vec2<i32>(0, 1), size)];
           let d = {field}[inside(cell + vec2<i32>(1, 1), size)];
           return vec4<f32>(mix(mix(a, b, t.x), mix(c, d, t.x), t.y).xyz, 0.0);
         }}\n"
    )
}

/// How much of a jet reaches a cell, 0 to 1.
const REACH: &str = "
    fn reach(jet: vec4<f32>, at: vec2<i32>, rows: f32) -> f32 {
      let to = (vec2<f32>(at) + 0.5) / rows - jet.xy;
      let d = dot(to, to);
      return select(0.0, exp(-1500.0 * d), d < 0.01);
    }
";

const VEC4: &str = "vec4<f32>";

pub fn jets() -> String {
    "@compute @workgroup_size(64)
     fn jets(@builtin(global_invocation_id) id: vec3<u32>) {
       let i = pf_index(id);
       if (i >= pf_items()) { return; }
       let t = pf_arg_f32(1);
       let place = 2.0943951 * f32(i) + 0.3 * t;
       let aim = place + 3.1415927 + 0.9 * sin(1.3 * t + 2.0 * f32(i));
       let jet = vec4<f32>(0.5 * pf_arg_f32(0) + 0.36 * cos(place), 0.5 + 0.36 * sin(place), cos(aim), sin(aim));
       for (var k = 0u; k < 4u; k++) { pf_put_f32(4u * i + k, jet[k]); }
     }"
    .to_owned()
}

pub fn push() -> String {
    let body = "
        let dt = pf_arg_f32(0);
        let rows = f32(size.y);
        var v = sample(size, vec2<f32>(at) - dt * rows * flow[inside(at, size)].xy);
        for (var i = 0; i < 3; i++) {
          let force = 36.0 * dt * reach(jet[i], at, rows);
          v += vec4<f32>(force * jet[i].zw, 0.0, 0.0);
        }
        pf_store(id.xy, v);";
    memories(&[("flow", VEC4), ("jet", VEC4)]) + REACH + &sample("flow") + &cells("push", body)
}

pub fn divergence() -> String {
    let body = "
        let step = vec2<i32>(1, 0);
        // Nothing goes through the walls.
        let left = select(0.0, flow[inside(at - step, size)].x, at.x > 0);
        let right = select(0.0, flow[inside(at + step, size)].x, at.x < size.x - 1);
        let above = select(0.0, flow[inside(at - step.yx, size)].y, at.y > 0);
        let below = select(0.0, flow[inside(at + step.yx, size)].y, at.y < size.y - 1);
        pf_store(id.xy, vec4<f32>(0.5 * f32(size.y) * (right - left + below - above)));";
    memories(&[("flow", VEC4)]) + &cells("divergence", body)
}

pub fn jacobi() -> String {
    let body = "
        let step = vec2<i32>(1, 0);
        let h = f32(size.y);
        let around = pressure[inside(at - step, size)] + pressure[inside(at + step, size)]
                   + pressure[inside(at - step.yx, size)] + pressure[inside(at + step.yx, size)];
        pf_store(id.xy, vec4<f32>(0.25 * (around - outflow[inside(at, size)] / (h * h))));";
    memories(&[("pressure", "f32"), ("outflow", "f32")]) + &cells("jacobi", body)
}

pub fn project() -> String {
    let body = "
        let step = vec2<i32>(1, 0);
        let rise = vec2<f32>(pressure[inside(at + step, size)] - pressure[inside(at - step, size)],
                             pressure[inside(at + step.yx, size)] - pressure[inside(at - step.yx, size)]);
        pf_store(id.xy, flow[inside(at, size)] - vec4<f32>(0.5 * f32(size.y) * rise, 0.0, 0.0));";
    memories(&[("flow", VEC4), ("pressure", "f32")]) + &cells("project", body)
}

pub fn carry() -> String {
    let body = "
        let dt = pf_arg_f32(0);
        let rows = f32(size.y);
        let kept = sample(size, vec2<f32>(at) - dt * rows * flow[inside(at, size)].xy) * (1.0 - 0.35 * dt);
        var c = vec4<f32>(kept.xyz, 0.0);
        var colours = array<vec3<f32>, 3>(vec3<f32>(1.9, 0.5, 0.03), vec3<f32>(0.04, 0.6, 1.9), vec3<f32>(1.0, 0.06, 1.5));
        for (var i = 0; i < 3; i++) {
          c += vec4<f32>(9.0 * dt * reach(jet[i], at, rows) * colours[i], 0.0);
        }
        pf_store(id.xy, c);";
    memories(&[("dye", VEC4), ("flow", VEC4), ("jet", VEC4)]) + REACH + &sample("dye") + &cells("carry", body)
}

pub fn dye(pixels: Pixels) -> String {
    let shown = if pixels.tone == Tone::None { "sqrt(reinhard(light))" } else { "light" };
    let body = format!(
        "let cells = vec2<i32>(pf_arg_i32(0), pf_arg_i32(1));
         let place = (vec2<f32>(at) + 0.5) * vec2<f32>(cells) / vec2<f32>(size) - 0.5;
         let d = sample(cells, place).xyz;
         let light = vec3<f32>(0.004, 0.0045, 0.008) + 2.2 * d;
         let thick = d.x + d.y + d.z;
         pf_store(id.xy, pixel({shown}, thick / (thick + 0.1)));"
    );
    memories(&[("field", VEC4)]) + &sample("field") + &pixels.wgsl() + &cells("dye", &body)
}
