// The Julia set of a number that goes round.
// @slider steps 16..256 = 96 int
extern "C" __global__ void julia(PF_IMAGE(uchar4, out), float iTime, int steps) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_width || y >= out_height) return;
    float zx = 2.4f * (x + 0.5f - 0.5f * out_width) / out_height;
    float zy = 2.4f * (0.5f * out_height - y - 0.5f) / out_height;
    float cx = 0.7885f * cos(2.2f + 0.3f * iTime), cy = 0.7885f * sin(2.2f + 0.3f * iTime);
    int n = 0;
    for (; n < steps && zx * zx + zy * zy < 16.0f; n++) {
        float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
    }
    float t = 0.03f * (n - log2(fmax(1.0f, log2(zx * zx + zy * zy))));
    float3 c;
    c.x = n == steps ? 0.0f : 0.5f + 0.5f * cos(6.2831853f * t);
    c.y = n == steps ? 0.0f : 0.5f + 0.5f * cos(6.2831853f * (t + 0.1f));
    c.z = n == steps ? 0.0f : 0.5f + 0.5f * cos(6.2831853f * (t + 0.2f));
    PF_STORE(out, x, y, pf_rgba8(c, 1.0f));
}
