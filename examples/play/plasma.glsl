// Four waves, and a colour for their sum.
void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 p = 8.0 * fragCoord / iResolution.y;
    float v = sin(p.x + iTime) + sin(0.5 * (p.y + iTime)) + sin(0.5 * (p.x + p.y + iTime));
    vec2 c = p + vec2(3.0 * sin(iTime / 3.0), 3.0 * cos(iTime / 2.0));
    v += sin(sqrt(dot(c, c) + 1.0) + iTime);
    fragColor = vec4(0.5 + 0.5 * cos(3.1415927 * (0.5 * v + vec3(0.0, 0.33, 0.67))), 1.0);
}
