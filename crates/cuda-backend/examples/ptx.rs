//! Compiles the CUDA C++ in `kernels` to the PTX in `src/ptx`. Needs NVRTC 12.0 on the loader's path, so that the PTX's
//! version loads on every driver that is taken, and no GPU:
//!
//! ```sh
//! pip install --target nvrtc nvidia-cuda-nvrtc-cu12==12.0.140
//! LD_LIBRARY_PATH=nvrtc/nvidia/cuda_nvrtc/lib cargo run -p cuda-backend --example ptx
//! ```

#[path = "../src/ptx/stamp.rs"]
mod stamp;

use cuda_backend::{Variant, compile_ptx};
use std::error::Error;
use std::path::Path;

/// Old enough for every device that a driver of CUDA 12.0 drives.
const ARCHITECTURE: i32 = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(root.join("kernels/pattern.cu"))?;
    let text = stamp::pattern_text(&source);
    let linear = compile_ptx("pf_pattern_4", &text, ARCHITECTURE, Variant::Linear)?.text;
    let surface = compile_ptx("pf_pattern_4_surface", &text, ARCHITECTURE, Variant::Surface)?.text;
    // One module: the second text goes on after the first one's header.
    let (_, entries) = surface.split_once(".address_size 64").ok_or("PTX without .address_size")?;
    let unit = cuda_backend::translation_unit(&text);
    let ptx = format!("{}\n{}\n{}\n", stamp::line(&unit), strip(&linear), strip(entries));
    let path = root.join("src/ptx/pattern.ptx");
    std::fs::write(&path, &ptx)?;
    println!("{}: {} bytes", path.display(), ptx.len());
    Ok(())
}

/// Without empty lines, comments (which name the compiler's build) and the constants of `nv::target`, which the compiler
/// puts into every module and nothing here reads.
fn strip(ptx: &str) -> String {
    let kept = |line: &&str| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with("//") || line.starts_with(".global") && line.contains("nv6target"))
    };
    ptx.lines().filter(kept).collect::<Vec<_>>().join("\n")
}
