// x: alive or not; y: what is left of the last life. Cells are 4 pixels wide, and the edges meet.
// @channel 0 bufA nearest repeat
const int CELL = 4;

float alive(ivec2 cell) {
    ivec2 cells = ivec2(iResolution.xy) / CELL;
    return texelFetch(iChannel0, ((cell + cells) % cells) * CELL, 0).x;
}

void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    ivec2 cell = ivec2(fragCoord) / CELL;
    if (iFrame == 0) {
        float seed = fract(sin(dot(vec2(cell), vec2(12.9898, 78.233))) * 437.5453);
        fragColor = vec4(step(0.6, seed), 0.0, 0.0, 1.0);
        return;
    }
    float near = 0.0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            if (x != 0 || y != 0) near += alive(cell + ivec2(x, y));
    float now = alive(cell);
    float next = near == 3.0 || (near == 2.0 && now == 1.0) ? 1.0 : 0.0;
    vec4 before = texelFetch(iChannel0, ivec2(fragCoord), 0);
    fragColor = vec4(next, max(now, 0.95 * before.y), 0.0, 1.0);
}
