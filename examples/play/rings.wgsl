// Rings that run outwards from the pointer, or from the middle.
// @slider speed 0..8 = 2
// @slider width 4..40 = 12
@compute @workgroup_size(8, 8)
fn rings(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = iResolution().xy;
    let centre = select(0.5 * size, iMouse().xy, iMouse().x > 0.0);
    let away = distance(vec2<f32>(id.xy) + 0.5, centre);
    let wave = 0.5 + 0.5 * cos(away * 6.2831853 / width() - speed() * iTime());
    let colour = mix(vec3(0.05, 0.08, 0.2), vec3(1.0, 0.75, 0.35), wave);
    pf_store(id.xy, vec4(colour * exp(-away / size.y), 1.0));
}
