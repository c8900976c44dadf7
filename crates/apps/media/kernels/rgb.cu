/* Tight rows of RGBA8 as tight rows of RGB, with `flip` in the other order. Item n writes 4 bytes. */

extern "C" __global__ void pf_rgb(PF_BUFFER(unsigned char, out), const unsigned char *from, unsigned int width,
                                  unsigned int height, unsigned int flip) {
  const unsigned int length = (unsigned int)PF_LEN(out);
  const unsigned int begin = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (begin >= length) return;
  for (unsigned int at = begin; at < begin + 4 && at < length; at++) {
    const unsigned int pixel = at / 3, row = pixel / width;
    const unsigned int there = flip ? height - 1 - row : row;
    PF_PTR(out)[at] = from[4ull * ((unsigned long long)there * width + pixel % width) + at % 3];
  }
}
