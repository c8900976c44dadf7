#version 330 core
layout(std140) uniform View { mat4 camera; vec4 eye; vec4 panel; };
uniform int part;
layout(location = 0) in vec4 wave;
out vec3 place, normal;
out vec2 at;

void main() {
    int i = gl_VertexID;
    if (part == 0) {  // the sky behind everything
        vec2 corner = 2.0 * vec2(i % 2, i / 2) - 1.0;
        mat4 axes = transpose(camera);
        place = eye.xyz + axes[3].xyz + axes[0].xyz * corner.x / dot(axes[0].xyz, axes[0].xyz)
              + axes[1].xyz * corner.y / dot(axes[1].xyz, axes[1].xyz);
        gl_Position = vec4(corner, 1.0, 1.0);
    } else if (part == 1) {  // the sea, computed
        place = vec3(24.0 * (i % SIDE) / (SIDE - 1.0) - 12.0, wave.x, 24.0 * (i / SIDE) / (SIDE - 1.0) - 12.0);
        normal = normalize(vec3(wave.y, 1.0, wave.z));
        gl_Position = camera * vec4(place, 1.0);
    } else if (part == 2) {  // the planet: a sphere of 64 by 32 squares
        ivec2 corner = ivec2[](ivec2(0, 0), ivec2(1, 0), ivec2(0, 1), ivec2(0, 1), ivec2(1, 0), ivec2(1, 1))[i % 6];
        at = (vec2(i / 6 % 64, i / 384) + vec2(corner)) / vec2(64.0, 32.0);
        float longitude = 6.2831853 * at.x + 0.35 * eye.w, latitude = 3.1415927 * (at.y - 0.5);
        normal = vec3(cos(latitude) * sin(longitude), sin(latitude), cos(latitude) * cos(longitude));
        place = vec3(0.0, 1.75, 0.0) + 1.2 * normal;
        gl_Position = camera * vec4(place, 1.0);
    } else {  // the radar, in front of everything
        at = vec2(i % 2, i / 2);
        gl_Position = vec4(panel.xy + panel.zw * at, -1.0, 1.0);
    }
}
