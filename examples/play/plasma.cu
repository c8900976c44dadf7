// Four waves, and a colour for their sum.
extern "C" __global__ void plasma(PF_IMAGE(uchar4, out), float iTime) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_width || y >= out_height) return;
    float px = 8.0f * (x + 0.5f) / out_height, py = 8.0f * (out_height - y - 0.5f) / out_height;
    float cx = px + 3.0f * sin(iTime / 3.0f), cy = py + 3.0f * cos(iTime / 2.0f);
    float v = sin(px + iTime) + sin(0.5f * (py + iTime)) + sin(0.5f * (px + py + iTime));
    v += sin(sqrt(cx * cx + cy * cy + 1.0f) + iTime);
    float3 c;
    c.x = 0.5f + 0.5f * cos(3.1415927f * (0.5f * v));
    c.y = 0.5f + 0.5f * cos(3.1415927f * (0.5f * v + 0.33f));
    c.z = 0.5f + 0.5f * cos(3.1415927f * (0.5f * v + 0.67f));
    PF_STORE(out, x, y, pf_rgba8(c, 1.0f));
}
