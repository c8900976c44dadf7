//! Time from saving a text to its picture: median and 99th percentile, for each backend that is there.
//!
//! `cargo run --release -p pixelferry-play --example reload [SAVES]`. Each save is another text, so that no
//! cache knows it. The time begins before the file is written and ends with the picture's pixels on the host; the file is looked
//! at without a pause, where a window does so with each frame.

mod trial;

use pixelferry::command::ApiChoice as _;
use pixelferry::{Argument, BackendChoice, Extent, ImageView, KernelSource, PixelFormat, Target, View, open_backend};
use pixelferry_play::{Player, PlayerOptions, TextVoucher, Wishes};
use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

const SIZE: Extent = Extent::new(800, 450);
/// A text for each backend, with a number instead of `N`.
const TEXTS: [(BackendChoice, &str, &str); 4] = [
    (BackendChoice::Gl, "glsl", SHADER),
    (BackendChoice::Gl, "wgsl", WGSL),
    (BackendChoice::OpenCl, "cl", OPENCL),
    (BackendChoice::Cuda, "cu", CUDA),
];
const SHADER: &str = "void mainImage(out vec4 c, in vec2 at) {
    vec2 p = 8.0 * at / iResolution.y;
    float v = sin(p.x + iTime) + sin(0.5 * (p.y + iTime)) + sin(0.5 * (p.x + p.y + iTime));
    c = vec4(0.5 + 0.5 * cos(3.1415927 * (0.5 * v + vec3(0.0, 0.33, N))), 1.0);
}";
const WGSL: &str = "@compute @workgroup_size(8, 8) fn plasma(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = 8.0 * vec2<f32>(id.xy) / iResolution().y;
    let v = sin(p.x + iTime()) + sin(0.5 * (p.y + iTime())) + sin(0.5 * (p.x + p.y + iTime()));
    pf_store(id.xy, vec4(0.5 + 0.5 * cos(3.1415927 * (0.5 * v + vec3(0.0, 0.33, N))), 1.0));
}";
const OPENCL: &str = "kernel void plasma(PF_IMAGE(uchar4, out), float iTime) {
    int x = get_global_id(0), y = get_global_id(1);
    BODY";
const CUDA: &str = "extern \"C\" __global__ void plasma(PF_IMAGE(uchar4, out), float iTime) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    BODY";
const BODY: &str = "if (x >= out_width || y >= out_height) return;
    float px = 8.0f * x / out_height, py = 8.0f * y / out_height;
    float v = sin(px + iTime) + sin(0.5f * (py + iTime)) + sin(0.5f * (px + py + iTime));
    float3 c;
    c.x = 0.5f + 0.5f * cos(1.57f * v);
    c.y = 0.5f + 0.5f * cos(1.57f * v + 1.0f);
    c.z = 0.5f + 0.5f * cos(1.57f * v + N);
    PF_STORE(out, x, y, pf_rgba8(c, 1.0f));
}";

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: the texts above store each pixel below the size, read nothing else, and end.
    let vouched = unsafe { TextVoucher::new() };
    let arguments: Vec<_> = env::args().skip(1).collect();
    if trial::runs(&arguments, vouched)? {
        return Ok(());
    }
    let saves: usize = arguments.first().map_or(Ok(100), |count| count.parse())?;
    let folder = env::temp_dir().join(format!("pixelferry-reload-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    for (backend, ending, text) in TEXTS {
        let file = folder.join(format!("text.{ending}"));
        match measure(&file, backend, text, saves, vouched) {
            Ok(ReloadTimes { device, saved, compiled }) => {
                let (saved, compiled) = (line(saved), line(compiled));
                let compiled = compiled.map_or_else(String::new, |line| format!(" (the compiler alone: {line})"));
                let saved = saved.unwrap_or_default();
                writeln!(io::stdout(), "{:7} {ending:5} {saved}{compiled}, {device}", backend.name())?;
            }
            Err(error) => writeln!(io::stdout(), "{:7} {ending:5} {error}", backend.name())?,
        }
    }
    Ok(fs::remove_dir_all(folder)?)
}

fn line(mut times: Vec<Duration>) -> Option<String> {
    times.sort();
    let last = times.len().checked_sub(1)?;
    let at = |part: usize| times[last.min(times.len() * part / 100)].as_secs_f64() * 1e3;
    Some(format!("median {:5.1} ms, 99 % {:5.1} ms", at(50), at(99)))
}

struct ReloadTimes {
    device: String,
    /// From saving to the picture.
    saved: Vec<Duration>,
    /// One build and first launch by the backend, for texts that it takes as they are.
    compiled: Vec<Duration>,
}

fn measure(
    file: &std::path::Path,
    backend: BackendChoice,
    text: &str,
    saves: usize,
    vouched: TextVoucher,
) -> Result<ReloadTimes, Box<dyn Error>> {
    // The process's number keeps a compiler's cache of an earlier run out.
    let id = std::process::id();
    let numbered = |n: usize| text.replace("BODY", BODY).replace('N', &format!("{}.{}{id}", n % 7, 1000 + n));
    fs::write(file, numbered(0))?;
    let command = trial::command(backend)?;
    let wishes = Wishes { backend, ..Wishes::default() };
    let options = PlayerOptions { wishes, size: SIZE, limit: Duration::from_secs(60), ..PlayerOptions::new(file) };
    let mut player = Player::open(options, None, command, vouched)?;
    player.settle()?;
    let mut saved = Vec::with_capacity(saves);
    for n in 1..=saves {
        // The clock of files is coarse.
        thread::sleep(Duration::from_millis(20));
        let begun = Instant::now();
        fs::write(file, numbered(n))?;
        while !player.look() {
            thread::sleep(Duration::from_micros(200));
        }
        if !player.faults().is_empty() {
            return Err(pixelferry_play::lines(player.faults()).into());
        }
        player.picture()?;
        saved.push(begun.elapsed());
    }
    let mut compiled = Vec::new();
    for text in (saves + 1..=2 * saves).map(numbered) {
        let kernel = KernelSource::new("plasma");
        // SAFETY: as for all texts here.
        let kernel = unsafe {
            match backend {
                BackendChoice::OpenCl => kernel.opencl_c(text),
                BackendChoice::Cuda => kernel.cuda_cpp(text),
                _ => break,
            }
        };
        let backend = open_backend(backend, &[])?;
        let view = ImageView::packed(SIZE, PixelFormat::Rgba8, 1, 0, false)?;
        let mut memory = backend.allocate(SIZE.pixels() as usize * 4)?;
        let begun = Instant::now();
        let kernel = backend.build(&kernel)?;
        // Some compile at the first launch.
        backend.launch(kernel.as_ref(), Target::new(memory.as_mut(), View::Image(view))?, &[Argument::F32(1.0)])?;
        backend.finish()?;
        compiled.push(begun.elapsed());
    }
    Ok(ReloadTimes { device: player.device().to_string(), saved, compiled })
}
