// Noise in octaves that drifts, as clouds.
float hash(vec2 p) {
    p = fract(p * vec2(0.3183099, 0.3678794));
    p += dot(p, p.yx + 19.19);
    return fract(p.x * p.y * 95.4307);
}

float noise(vec2 p) {
    vec2 i = floor(p), f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(hash(i), hash(i + vec2(1.0, 0.0)), f.x), mix(hash(i + vec2(0.0, 1.0)), hash(i + vec2(1.0)), f.x), f.y);
}

float fbm(vec2 p) {
    float v = 0.0, a = 0.5;
    const mat2 turn = mat2(0.8, 0.6, -0.6, 0.8);
    for (int i = 0; i < 5; i++, a *= 0.5) {
        v += a * noise(p);
        p = 2.0 * turn * p + 7.3;
    }
    return v;
}

void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 p = 4.0 * fragCoord / iResolution.y + vec2(0.2 * iTime, 0.0);
    float cover = smoothstep(0.35, 0.75, fbm(p + fbm(2.0 * p)));
    vec3 sky = mix(vec3(0.75, 0.85, 0.95), vec3(0.2, 0.45, 0.8), fragCoord.y / iResolution.y);
    fragColor = vec4(mix(sky, vec3(1.0), cover), 1.0);
}
