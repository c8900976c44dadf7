/*{
  "DESCRIPTION": "Dots that leave trails, kept by a pass from frame to frame",
  "INPUTS": [
    { "NAME": "fade", "TYPE": "float", "MIN": 0.5, "MAX": 0.999, "DEFAULT": 0.96 },
    { "NAME": "middle", "TYPE": "point2D", "DEFAULT": [0.5, 0.5] }
  ],
  "PASSES": [ { "TARGET": "trail", "PERSISTENT": true, "FLOAT": true }, {} ]
}*/
void main() {
    if (PASSINDEX == 0) {
        float sum = fade * IMG_THIS_PIXEL(trail).r;
        for (int i = 0; i < 5; i++) {
            float t = TIME * (1.0 + 0.2 * float(i)) + float(i);
            vec2 at = middle + vec2(0.4 * cos(t), 0.35 * sin(1.3 * t));
            sum += 0.8 * exp(-2000.0 * dot(isf_FragNormCoord - at, isf_FragNormCoord - at));
        }
        gl_FragColor = vec4(sum);
    } else {
        float v = IMG_THIS_PIXEL(trail).r;
        gl_FragColor = vec4(1.0 - exp(-v * vec3(2.5, 1.2, 0.5)), 1.0);
    }
}
