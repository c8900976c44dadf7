// Colour that is carried round by a whirl and fades; smoke.bufA.glsl keeps it from frame to frame.
// @channel 0 bufA
void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec3 c = texture(iChannel0, fragCoord / iResolution.xy).rgb;
    fragColor = vec4(1.0 - exp(-2.0 * c), 1.0);
}
