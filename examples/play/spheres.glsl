// Spheres that melt into each other, found by steps along each ray, with a light and a shadow.
// @slider melt 0.05..1 = 0.4
float smin(float a, float b, float k) {
    float h = clamp(0.5 + 0.5 * (b - a) / k, 0.0, 1.0);
    return mix(b, a, h) - k * h * (1.0 - h);
}

float scene(vec3 p) {
    float d = p.y + 1.0;
    for (int i = 0; i < 3; i++) {
        float t = iTime + 2.1 * float(i);
        vec3 at = vec3(1.2 * sin(t), 0.3 * cos(1.7 * t), 0.8 * cos(0.6 * t));
        d = smin(d, length(p - at) - 0.6, melt);
    }
    return d;
}

float march(vec3 from, vec3 to, float most) {
    float t = 0.02;
    for (int i = 0; i < 64; i++) {
        float d = scene(from + t * to);
        if (d < 0.001 || t > most) break;
        t += d;
    }
    return t;
}

void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 uv = (2.0 * fragCoord - iResolution.xy) / iResolution.y;
    vec3 eye = vec3(0.0, 0.6, 4.0), ray = normalize(vec3(uv, -2.0));
    float t = march(eye, ray, 20.0);
    vec3 colour = mix(vec3(0.6, 0.75, 0.9), vec3(0.25, 0.4, 0.7), uv.y * 0.5 + 0.5);
    if (t < 20.0) {
        vec3 p = eye + t * ray;
        vec2 e = vec2(0.001, 0.0);
        float d = scene(p);
        vec3 n = normalize(vec3(scene(p + e.xyy), scene(p + e.yxy), scene(p + e.yyx)) - d);
        vec3 light = normalize(vec3(0.6, 0.8, 0.4));
        float lit = max(dot(n, light), 0.0) * step(8.0, march(p + 0.01 * n, light, 8.0));
        vec3 own = p.y < -0.95 ? vec3(0.5 + 0.2 * mod(floor(p.x) + floor(p.z), 2.0)) : vec3(0.9, 0.45, 0.25);
        colour = mix(own * (0.2 + 0.8 * lit), colour, 1.0 - exp(-0.004 * t * t));
    }
    fragColor = vec4(sqrt(colour), 1.0);
}
