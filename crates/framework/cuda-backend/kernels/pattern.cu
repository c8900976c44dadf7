/* The verification pattern: byte 4*i and on of row y is pf_pattern_word(i, y). One entry for each size of pixel. */

#ifdef PF_SURFACE
#define PF_ENTRY(name) name##_surface
#else
#define PF_ENTRY(name) name
#endif

#define PF_PATTERN_IMAGE(NAME, T, PIXEL)                                                                       \
  extern "C" __global__ void PF_ENTRY(NAME)(PF_IMAGE(T, out), unsigned int and_mask, unsigned int or_mask,               \
                                  unsigned int nonce) {                                                        \
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;            \
    if (x >= out_width || y >= out_height) return;                                                             \
    PF_STORE(out, x, y, PIXEL);                                                                                \
  }
#define PF_WORD(i) pf_pattern_word((unsigned int)(i), (unsigned int)y, and_mask, or_mask, nonce)

PF_PATTERN_IMAGE(pf_pattern_1, unsigned char, (unsigned char)(PF_WORD(x >> 2) >> 8 * (x & 3)))
PF_PATTERN_IMAGE(pf_pattern_2, unsigned short, (unsigned short)(PF_WORD(x >> 1) >> 16 * (x & 1)))
PF_PATTERN_IMAGE(pf_pattern_4, unsigned int, PF_WORD(x))
PF_PATTERN_IMAGE(pf_pattern_8, uint2, make_uint2(PF_WORD(2 * x), PF_WORD(2 * x + 1)))
PF_PATTERN_IMAGE(pf_pattern_16, uint4,
                 make_uint4(PF_WORD(4 * x), PF_WORD(4 * x + 1), PF_WORD(4 * x + 2), PF_WORD(4 * x + 3)))

#ifndef PF_SURFACE
/* One thread for each word; the buffer may start at any byte and end inside a word. Rows of 1024 words. */
extern "C" __global__ void pf_pattern_buffer(PF_BUFFER(unsigned char, out), unsigned int and_mask,
                                             unsigned int or_mask, unsigned int nonce) {
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long first = 4 * i, len = out_len;
  if (first >= len) return;
  const unsigned int y = (unsigned int)(i >> 10), word = PF_WORD(i & 1023);
  if (first + 4 <= len && ((unsigned long long)out & 3) == 0) {
    ((unsigned int *)out)[i] = word;
    return;
  }
  for (int byte = 0; byte < 4; ++byte)
    if (first + byte < len) out[first + byte] = (unsigned char)(word >> 8 * byte);
}
#endif
