// A picture through a lens that the pointer moves: sharp inside, softened around it.
// @channel 0 ../../crates/apps/demo/assets/lake.jpg
vec3 soft(sampler2D picture, vec2 at, float radius) {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 16; i++) {
        float r = radius * sqrt((float(i) + 0.5) / 16.0), turn = 2.3999632 * float(i);
        sum += texture(picture, at + r * vec2(cos(turn), sin(turn))).rgb;
    }
    return sum / 16.0;
}

void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 uv = fragCoord / iResolution.xy;
    vec2 centre = iMouse.x > 0.0 ? iMouse.xy : iResolution.xy * (0.5 + 0.25 * vec2(cos(iTime), sin(iTime)));
    float inside = smoothstep(0.25, 0.2, distance(fragCoord, centre) / iResolution.y);
    fragColor = vec4(mix(soft(iChannel0, uv, 0.02), texture(iChannel0, uv).rgb * 1.1, inside), 1.0);
}
