// Level lines of one width, whatever the slope: fwidth says how fast the level changes from pixel to pixel.
void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 p = 6.0 * (fragCoord - 0.5 * iResolution.xy) / iResolution.y;
    float level = 4.0 * (sin(p.x + 0.5 * iTime) * cos(p.y) + 0.25 * length(p));
    float line = abs(fract(level - 0.5) - 0.5) / fwidth(level);
    vec3 colour = mix(vec3(0.95, 0.6, 0.2), vec3(0.05, 0.1, 0.15), clamp(line - 0.5, 0.0, 1.0));
    fragColor = vec4(colour, 1.0);
}
