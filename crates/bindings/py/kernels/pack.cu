/* The bytes of an array in the order of its indices, without gaps. They lie together in pieces. Piece i is at
   from + first + i0 * stride0 + i1 * stride1 + i2 * stride2, where i = (i0 * side1 + i1) * side2 + i2. Item n writes 4 bytes. */

extern "C" __global__ void pf_pack(PF_BUFFER(unsigned char, out), const char *from, long long first, long long piece,
                                   long long stride0, long long side1, long long stride1, long long side2,
                                   long long stride2) {
  const long long begin = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
  const long long length = (long long)PF_LEN(out);
  if (begin >= length) return;
  const long long end = begin + 4 < length ? begin + 4 : length;
  unsigned char *to = PF_PTR(out) + begin;
  long long at = begin;
  while (at < end) {
    const long long number = at / piece, inside = at - number * piece;
    const long long row = number / side2;
    const char *start = from + first + row / side1 * stride0 + row % side1 * stride1 + number % side2 * stride2 + inside;
    if (at == begin && end - begin == 4 && piece - inside >= 4 && (((unsigned long long)start | (unsigned long long)to) & 3) == 0) {
      *(unsigned int *)to = *(const unsigned int *)start;
      return;
    }
    long long now = piece - inside;
    if (now > end - at) now = end - at;
    for (long long i = 0; i < now; i++) PF_ITEM(out, at + i) = (unsigned char)start[i];
    at += now;
  }
}
