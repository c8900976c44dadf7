// The Julia set of a number that goes round.
// @slider steps 16..256 = 96 int
@compute @workgroup_size(8, 8)
fn julia(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = iResolution().xy;
    var z = 2.4 * (vec2(f32(id.x) + 0.5, size.y - f32(id.y) - 0.5) - 0.5 * size) / size.y;
    let c = 0.7885 * vec2(cos(2.2 + 0.3 * iTime()), sin(2.2 + 0.3 * iTime()));
    var n = 0;
    for (; n < steps() && dot(z, z) < 16.0; n++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    }
    let smooth_n = f32(n) - log2(max(1.0, log2(dot(z, z))));
    let colour = 0.5 + 0.5 * cos(6.2831853 * (0.03 * smooth_n + vec3(0.0, 0.1, 0.2)));
    pf_store(id.xy, vec4(select(colour, vec3(0.0), n == steps()), 1.0));
}
