// Curves are odd about 0; the power of 0 would be undefined.
vec3 power(vec3 m, float p) { return pow(max(m, 1e-30), vec3(p)); }

vec3 srgb_to_light(vec3 v) {
  vec3 m = abs(v);
  return sign(v) * mix(power((m + 0.055) / 1.055, 2.4), m / 12.92, lessThanEqual(m, vec3(0.04045)));
}

vec3 light_to_srgb(vec3 v) {
  vec3 m = abs(v);
  return sign(v) * mix(1.055 * power(m, 1.0 / 2.4) - 0.055, m * 12.92, lessThanEqual(m, vec3(0.0031308)));
}
