// Rings that run outwards from the pointer, or from the middle.
// @slider speed 0..8 = 2
// @slider width 4..40 = 12
layout(local_size_x = 8, local_size_y = 8) in;

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    vec2 centre = iMouse.x > 0.0 ? iMouse.xy : 0.5 * iResolution.xy;
    float away = distance(vec2(at) + 0.5, centre);
    float wave = 0.5 + 0.5 * cos(away * 6.2831853 / width - speed * iTime);
    vec3 colour = mix(vec3(0.05, 0.08, 0.2), vec3(1.0, 0.75, 0.35), wave);
    pf_store(at, vec4(colour * exp(-away / iResolution.y), 1.0));
}
