// Quarter circles in square tiles, each turned by chance: they join to endless paths.
#define TILES 9.0
float chance(vec2 tile) { return fract(sin(dot(tile, vec2(41.7, 289.3))) * 1937.31); }

void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 p = TILES * fragCoord / iResolution.y + vec2(0.3 * iTime, 0.0);
    vec2 tile = floor(p), f = fract(p);
    if (chance(tile) < 0.5) f.x = 1.0 - f.x;
    float d = min(abs(length(f) - 0.5), abs(length(f - 1.0) - 0.5));
    float edge = 1.5 * TILES / iResolution.y;
    vec3 colour = mix(vec3(0.93, 0.87, 0.75), vec3(0.12, 0.3, 0.35), smoothstep(0.14 + edge, 0.14, d));
    colour = mix(colour, vec3(0.9, 0.55, 0.3), smoothstep(0.06 + edge, 0.06, d));
    fragColor = vec4(colour, 1.0);
}
