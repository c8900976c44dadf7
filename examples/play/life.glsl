// Conway's game of life; the rule is in life.bufA.glsl.
// @channel 0 bufA nearest
void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec4 cell = texture(iChannel0, fragCoord / iResolution.xy);
    fragColor = vec4(mix(vec3(0.04, 0.06, 0.1) + 0.3 * cell.y * vec3(0.2, 0.5, 0.9), vec3(0.95, 0.9, 0.7), cell.x), 1.0);
}
