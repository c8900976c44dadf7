struct View { camera: mat4x4<f32>, eye: vec4<f32>, panel: vec4<f32> }
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var smooth_sampler: sampler;

struct Point {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) at: vec2<f32>,
}

const SUN = vec3<f32>(-0.48, 0.36, 0.80);
const CENTRE = vec3<f32>(0.0, 1.75, 0.0);

fn sky(to: vec3<f32>) -> vec3<f32> {
    let high = pow(clamp(to.y + 0.05, 0.0, 1.0), 0.45);
    let shade = mix(vec3<f32>(0.30, 0.62, 0.72), vec3<f32>(0.03, 0.09, 0.22), high);
    let near = max(dot(to, SUN), 0.0);
    return shade + vec3<f32>(0.8, 0.9, 1.0) * (0.35 * pow(near, 12.0) + 2.0 * pow(near, 900.0));
}

fn planet(n: vec3<f32>, to: vec3<f32>, uv: vec2<f32>) -> vec3<f32> {
    let day = clamp(dot(n, SUN) + 0.25, 0.03, 1.0);
    let rim = pow(1.0 - max(dot(n, -to), 0.0), 3.0);
    // Row 0 of a texture is the top here.
    let colour = textureSampleLevel(picture, smooth_sampler, vec2<f32>(uv.x, 1.0 - uv.y), 0.0).rgb;
    return colour * day * 1.15 + vec3<f32>(0.5, 0.75, 0.9) * rim * day;
}

@vertex
fn sky_vertex(@builtin(vertex_index) i: u32) -> Point {
    let corner = vec2<f32>(f32(i % 2u), f32(i / 2u)) * 2.0 - 1.0;
    let axes = transpose(view.camera);
    let across = axes[0].xyz * corner.x / dot(axes[0].xyz, axes[0].xyz);
    let up = axes[1].xyz * corner.y / dot(axes[1].xyz, axes[1].xyz);
    return Point(vec4<f32>(corner, 1.0, 1.0), view.eye.xyz + axes[3].xyz + across + up, vec3<f32>(), vec2<f32>());
}

@fragment
fn sky_fragment(point: Point) -> @location(0) vec4<f32> {
    return vec4<f32>(sky(normalize(point.place - view.eye.xyz)), 1.0);
}

// The vertices are computed; their places follow from their numbers.
@vertex
fn sea_vertex(@builtin(vertex_index) i: u32, @location(0) wave: vec4<f32>) -> Point {
    let at = vec2<f32>(f32(i % SIDEu), f32(i / SIDEu)) * 24.0 / f32(SIDE - 1) - 12.0;
    let place = vec3<f32>(at.x, wave.x, at.y);
    let normal = normalize(vec3<f32>(wave.y, 1.0, wave.z));
    return Point(view.camera * vec4<f32>(place, 1.0), place, normal, vec2<f32>());
}

@fragment
fn sea_fragment(point: Point) -> @location(0) vec4<f32> {
    let to = normalize(point.place - view.eye.xyz);
    let n = normalize(point.normal);
    var back = reflect(to, n);
    back.y = abs(back.y);
    var mirrored = sky(back);
    // Where the mirrored ray meets the planet.
    let start = point.place - CENTRE;
    let b = dot(start, back);
    let depth = b * b - dot(start, start) + 1.44;
    if depth > 0.0 && b < 0.0 {
        let hit = (start - (b + sqrt(depth)) * back) / 1.2;
        let longitude = (atan2(hit.x, hit.z) - 0.35 * view.eye.w) / 6.2831853;
        mirrored = planet(hit, back, vec2<f32>(longitude, asin(clamp(hit.y, -1.0, 1.0)) / 3.1415927 + 0.5));
    }
    let water = vec3<f32>(0.01, 0.08, 0.11) + 0.10 * vec3<f32>(0.1, 0.6, 0.5) * max(dot(n, SUN), 0.0);
    let fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(n, -to), 0.0), 5.0);
    let fog = smoothstep(5.0, 13.0, distance(point.place, view.eye.xyz));
    let far = sky(normalize(vec3<f32>(to.x, -0.05, to.z)));
    return vec4<f32>(mix(mix(water, mirrored, fresnel), far, fog), 1.0);
}

// A sphere of 64 by 32 squares.
@vertex
fn planet_vertex(@builtin(vertex_index) i: u32) -> Point {
    let corner = vec2<u32>(u32(i % 6u == 1u || i % 6u >= 4u), u32(i % 6u == 2u || i % 6u == 3u || i % 6u == 5u));
    let at = vec2<f32>(vec2<u32>(i / 6u % 64u, i / 384u) + corner) / vec2<f32>(64.0, 32.0);
    let longitude = 6.2831853 * at.x + 0.35 * view.eye.w;
    let latitude = 3.1415927 * (at.y - 0.5);
    let normal = vec3<f32>(cos(latitude) * sin(longitude), sin(latitude), cos(latitude) * cos(longitude));
    let place = CENTRE + 1.2 * normal;
    return Point(view.camera * vec4<f32>(place, 1.0), place, normal, at);
}

@fragment
fn planet_fragment(point: Point) -> @location(0) vec4<f32> {
    return vec4<f32>(planet(normalize(point.normal), normalize(point.place - view.eye.xyz), point.at), 1.0);
}

@vertex
fn radar_vertex(@builtin(vertex_index) i: u32) -> Point {
    let at = vec2<f32>(f32(i % 2u), f32(i / 2u));
    let clip = vec4<f32>(view.panel.xy + view.panel.zw * at, 0.0, 1.0);
    return Point(clip, vec3<f32>(), vec3<f32>(), vec2<f32>(at.x, 1.0 - at.y));
}

@fragment
fn radar_fragment(point: Point) -> @location(0) vec4<f32> {
    return textureSample(picture, smooth_sampler, point.at);
}
