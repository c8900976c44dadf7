/*{
  "DESCRIPTION": "Tiles that turn, in two colours",
  "INPUTS": [
    { "NAME": "count", "TYPE": "float", "MIN": 2.0, "MAX": 30.0, "DEFAULT": 9.0 },
    { "NAME": "turns", "TYPE": "bool", "DEFAULT": true },
    { "NAME": "shape", "TYPE": "long", "VALUES": [0, 1], "LABELS": ["square", "circle"], "DEFAULT": 1 },
    { "NAME": "front", "TYPE": "color", "DEFAULT": [0.95, 0.75, 0.3, 1.0] },
    { "NAME": "back", "TYPE": "color", "DEFAULT": [0.1, 0.2, 0.3, 1.0] }
  ]
}*/
void main() {
    vec2 p = count * gl_FragCoord.xy / RENDERSIZE.y;
    vec2 f = fract(p) - 0.5;
    float angle = turns ? TIME + 0.5 * (floor(p.x) + floor(p.y)) : 0.0;
    f = mat2(cos(angle), sin(angle), -sin(angle), cos(angle)) * f;
    float d = shape == 0 ? max(abs(f.x), abs(f.y)) - 0.28 : length(f - vec2(0.12, 0.0)) - 0.25;
    gl_FragColor = mix(front, back, smoothstep(-0.01, 0.01, d));
}
