/*{
  "DESCRIPTION": "A picture in two colours, by its brightness",
  "INPUTS": [
    { "NAME": "inputImage", "TYPE": "image" },
    { "NAME": "dark", "TYPE": "color", "DEFAULT": [0.1, 0.05, 0.3, 1.0] },
    { "NAME": "light", "TYPE": "color", "DEFAULT": [1.0, 0.85, 0.5, 1.0] },
    { "NAME": "amount", "TYPE": "float", "DEFAULT": 0.8 }
  ]
}*/
// @channel 0 ../../crates/apps/demo/assets/lake.jpg
void main() {
    vec4 c = IMG_THIS_PIXEL(inputImage);
    float level = dot(c.rgb, vec3(0.299, 0.587, 0.114));
    gl_FragColor = mix(c, mix(dark, light, level), amount);
}
