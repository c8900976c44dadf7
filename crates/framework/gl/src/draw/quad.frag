// By the rasteriser. Positions come from gl_FragCoord, so no clip origin or depth convention of the engine's matters.
out vec4 color;

void main() { color = drawn(gl_FragCoord.xy); }
