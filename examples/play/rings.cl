// Rings that run outwards from the pointer, or from the middle.
// @slider speed 0..8 = 2
// @slider width 4..40 = 12
kernel void rings(PF_IMAGE(uchar4, out), float iTime, float iMouse_x, float iMouse_y, float speed, float width) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= out_width || y >= out_height) return;
    float2 centre;
    centre.x = iMouse_x > 0.0f ? iMouse_x : 0.5f * out_width;
    centre.y = iMouse_x > 0.0f ? iMouse_y : 0.5f * out_height;
    float away = hypot(x + 0.5f - centre.x, y + 0.5f - centre.y);
    float wave = 0.5f + 0.5f * cos(away * 6.2831853f / width - speed * iTime);
    float fade = exp(-away / out_height);
    float3 c;
    c.x = fade * (0.05f + 0.95f * wave);
    c.y = fade * (0.08f + 0.67f * wave);
    c.z = fade * (0.20f + 0.15f * wave);
    PF_STORE(out, x, y, pf_rgba8(c, 1.0f));
}
