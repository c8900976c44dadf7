// @channel 0 bufA
void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 p = (fragCoord - 0.5 * iResolution.xy) / iResolution.y;
    vec2 flow = vec2(-p.y, p.x) * 3.0 + 0.4 * vec2(sin(9.0 * p.y + iTime), cos(9.0 * p.x));
    vec2 from = fragCoord - flow * 0.016 * iResolution.y * 0.5;
    vec3 old = iFrame == 0 ? vec3(0.0) : texture(iChannel0, from / iResolution.xy).rgb;
    vec3 colour = 0.5 + 0.5 * cos(iTime + vec3(0.0, 2.0, 4.0));
    vec2 source = 0.3 * vec2(cos(0.9 * iTime), sin(1.3 * iTime));
    fragColor = vec4(0.995 * old + colour * 0.25 * exp(-500.0 * dot(p - source, p - source)), 1.0);
}
