#version 330 core
layout(std140) uniform View { mat4 camera; vec4 eye; vec4 panel; };
uniform int part;
uniform sampler2D picture;
in vec3 place, normal;
in vec2 at;
out vec4 colour;
const vec3 SUN = vec3(-0.48, 0.36, 0.80), CENTRE = vec3(0.0, 1.75, 0.0);

vec3 sky(vec3 to) {
    vec3 shade = mix(vec3(0.95, 0.52, 0.34), vec3(0.10, 0.12, 0.33), pow(clamp(to.y + 0.05, 0.0, 1.0), 0.45));
    return shade + vec3(1.0, 0.7, 0.4) * (0.35 * pow(max(dot(to, SUN), 0.0), 12.0) + 2.0 * pow(max(dot(to, SUN), 0.0), 900.0));
}

vec3 planet(vec3 n, vec3 to, vec2 uv) {
    float day = clamp(dot(n, SUN) + 0.25, 0.03, 1.0), rim = pow(1.0 - max(dot(n, -to), 0.0), 3.0);
    return textureLod(picture, uv, 0.0).rgb * day * 1.15 + vec3(0.9, 0.55, 0.45) * rim * day;
}

void main() {
    vec3 to = normalize(place - eye.xyz);
    if (part == 0) {
        colour = vec4(sky(to), 1.0);
    } else if (part == 1) {
        vec3 n = normalize(normal), back = reflect(to, n);
        back.y = abs(back.y);
        float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(n, -to), 0.0), 5.0);
        vec3 mirrored = sky(back), from = place - CENTRE;  // where the mirrored ray meets the planet
        float b = dot(from, back), depth = b * b - dot(from, from) + 1.44;
        if (depth > 0.0 && b < 0.0) {
            vec3 hit = (from - (b + sqrt(depth)) * back) / 1.2;
            vec2 uv = vec2((atan(hit.x, hit.z) - 0.35 * eye.w) / 6.2831853, asin(clamp(hit.y, -1.0, 1.0)) / 3.1415927 + 0.5);
            mirrored = planet(hit, back, uv);
        }
        vec3 water = vec3(0.02, 0.07, 0.13) + 0.10 * vec3(0.1, 0.5, 0.5) * max(dot(n, SUN), 0.0);
        float fog = smoothstep(5.0, 13.0, distance(place, eye.xyz));
        colour = vec4(mix(mix(water, mirrored, fresnel), sky(normalize(vec3(to.x, -0.05, to.z))), fog), 1.0);
    } else if (part == 2) {
        colour = vec4(planet(normalize(normal), to, at), 1.0);
    } else {
        colour = texture(picture, at);
    }
}
