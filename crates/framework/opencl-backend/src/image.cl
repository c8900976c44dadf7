/* PF_IMAGE of pixelferry for an image object. `name_zero` only carries the pixel's type; x, y and step (1 or -1) say where
   pixel (0, 0) of the target lies and where its next row is. */
#undef PF_IMAGE
#undef PF_AT
#undef PF_STORE
#define PF_IMAGE(T, name) \
  __write_only image2d_t name, T name##_zero, int name##_x, int name##_y, int name##_step, int name##_width, \
      int name##_height
#define PF_STORE(name, x, y, value) \
  pf_store(name, (int2)(name##_x + (x), name##_y + name##_step * (y)), name##_zero, (value))

__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, uchar type, uchar v) {
  write_imagef(image, at, (float4)(convert_float(v) / 255.0f, 0.0f, 0.0f, 1.0f));
}
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, uchar2 type, uchar2 v) {
  write_imagef(image, at, (float4)(convert_float2(v) / 255.0f, 0.0f, 1.0f));
}
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, uchar4 type, uchar4 v) {
  write_imagef(image, at, convert_float4(v) / 255.0f);
}
/* Integers of 16 bits are halves. */
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, ushort2 type, ushort2 v) {
  write_imagef(image, at, (float4)(vload_half2(0, (const half *)&v), 0.0f, 1.0f));
}
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, ushort4 type, ushort4 v) {
  write_imagef(image, at, vload_half4(0, (const half *)&v));
}
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, float type, float v) {
  write_imagef(image, at, (float4)(v, 0.0f, 0.0f, 1.0f));
}
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, float2 type, float2 v) {
  write_imagef(image, at, (float4)(v, 0.0f, 1.0f));
}
__attribute__((overloadable)) static void pf_store(__write_only image2d_t image, int2 at, float4 type, float4 v) {
  write_imagef(image, at, v);
}
