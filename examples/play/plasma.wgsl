// Four waves, and a colour for their sum.
@compute @workgroup_size(8, 8)
fn plasma(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = iResolution().xy;
    let t = iTime();
    let p = 8.0 * vec2(f32(id.x) + 0.5, size.y - f32(id.y) - 0.5) / size.y;
    let c = p + vec2(3.0 * sin(t / 3.0), 3.0 * cos(t / 2.0));
    let v = sin(p.x + t) + sin(0.5 * (p.y + t)) + sin(0.5 * (p.x + p.y + t)) + sin(sqrt(dot(c, c) + 1.0) + t);
    pf_store(id.xy, vec4(0.5 + 0.5 * cos(3.1415927 * (0.5 * v + vec3(0.0, 0.33, 0.67))), 1.0));
}
