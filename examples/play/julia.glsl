// The Julia set of a number that goes round.
// @slider steps 16..256 = 96 int
vec3 palette(float t) {
    return 0.5 + 0.5 * cos(6.2831853 * (t + vec3(0.0, 0.1, 0.2)));
}

void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 z = 2.4 * (fragCoord - 0.5 * iResolution.xy) / iResolution.y;
    vec2 c = 0.7885 * vec2(cos(2.2 + 0.3 * iTime), sin(2.2 + 0.3 * iTime));
    int n = 0;
    for (; n < steps && dot(z, z) < 16.0; n++)
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    float smooth_n = float(n) - log2(max(1.0, log2(dot(z, z))));
    fragColor = vec4(n == steps ? vec3(0.0) : palette(0.03 * smooth_n), 1.0);
}
