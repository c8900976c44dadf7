/* Digests of bands of rows, in OpenCL C and in CUDA C++. `digest.wgsl` and `DigestPlan::host` compute the same numbers. */

#ifdef __OPENCL_VERSION__
#define PF_ENTRY __kernel
#define PF_WORDS __global const unsigned int
#define PF_INDEX get_global_id(0)
#else
#define PF_ENTRY extern "C" __global__
#define PF_WORDS const unsigned int
#define PF_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#endif

/* One work item adds up the words `lane`, `lane + lanes` and so on of each row of one band. */
PF_ENTRY void pf_digest(PF_BUFFER(unsigned int, out), PF_WORDS *from, unsigned int first, unsigned int pitch,
                        unsigned int row, unsigned int rows, unsigned int payload, unsigned int per_band,
                        unsigned int lanes) {
  const unsigned int item = (unsigned int)PF_INDEX;
  if (item >= PF_LEN(out)) return;
  const unsigned int band = item / lanes, lane = item - band * lanes;
  const unsigned int top = band * per_band, bottom = top + per_band < rows ? top + per_band : rows;
  unsigned int sum = 0;
  for (unsigned int y = top; y < bottom; ++y) {
    const unsigned int start = y * row;
    const unsigned int behind = start < payload ? payload - start : 0, len = behind < row ? behind : row;
    for (unsigned int x = lane; 4 * x < len; x += lanes) {
      const unsigned int byte = first + y * pitch + 4 * x, shift = byte % 4 * 8, left = len - 4 * x;
      unsigned int h = from[byte / 4] >> shift;
      if (shift != 0 && left * 8 > 32 - shift) h |= from[byte / 4 + 1] << (32 - shift);
      if (left < 4) h &= (1u << left * 8) - 1;
      h = (h + x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
      h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12; h *= 0x297A2D39u; h ^= h >> 15;
      sum += h;
    }
  }
  PF_ITEM(out, item) = sum;
}

/* One work item adds up the lanes of one band. */
PF_ENTRY void pf_digest_fold(PF_BUFFER(unsigned int, out), PF_WORDS *from, unsigned int lanes) {
  const unsigned int band = (unsigned int)PF_INDEX;
  if (band >= PF_LEN(out)) return;
  unsigned int sum = 0;
  for (unsigned int lane = 0; lane < lanes; ++lane) sum += from[band * lanes + lane];
  PF_ITEM(out, band) = sum;
}
