//! Compiles the CUDA C++ in `kernels`, here, in `compute-display`, `pixelferry-look`, `pixelferry-media` and the Python package, to the PTX in `src/ptx`; `--check` only compares. Run by `cargo xtask ptx`, which
//! sees to the compiler: NVRTC 12.0, so that the PTX's version loads on every driver that is taken. Needs no GPU.

#[path = "../src/ptx/stamp.rs"]
mod stamp;

use cuda_backend::{Variant, compile_ptx};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Old enough for every device that a driver of CUDA 12.0 drives.
const ARCHITECTURE: i32 = 50;
/// PTX version that NVRTC 12.0 writes.
const VERSION: &str = ".version 8.0";
const HINT: &str = "Get NVRTC 12.0 with `pip install --target nvrtc nvidia-cuda-nvrtc-cu12==12.0.140` and name its \
                    folder: `cargo xtask ptx --nvrtc nvrtc/nvidia/cuda_nvrtc/lib`.";

fn main() -> ExitCode {
    match run(std::env::args().any(|arg| arg == "--check")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(check: bool) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    each(root, "pattern", Entries::BothOf("pf_pattern_4"), stamp::pattern_text, check)?;
    each(&root.join("../interop-core"), "digest", Entries::LinearOf("pf_digest"), str::to_owned, check)?;
    each(&root.join("../compute-display"), "draw", Entries::LinearOf("pf_draw"), str::to_owned, check)?;
    each(&root.join("../../apps/media"), "rgb", Entries::LinearOf("pf_rgb"), str::to_owned, check)?;
    each(&root.join("../../bindings/py"), "pack", Entries::LinearOf("pf_pack"), str::to_owned, check)?;
    each(&root.join("../../apps/look"), "show", Entries::BothOf("pf_show_rgba8"), str::to_owned, check)
}

/// Kernels that a text has, by the name of one of them.
enum Entries {
    /// For linear memory.
    LinearOf(&'static str),
    /// For textures, too.
    BothOf(&'static str),
}

/// `kernels/<name>.cu` in `root`, made into a whole text by `text`.
fn each(
    root: &Path,
    name: &str,
    entries: Entries,
    text: impl FnOnce(&str) -> String,
    check: bool,
) -> Result<(), Box<dyn Error>> {
    let file = format!("kernels/{name}.cu");
    let ptx = generate(&file, &text(&std::fs::read_to_string(root.join(&file))?), &entries)?;
    let path = root.join(format!("src/ptx/{name}.ptx"));
    if !check {
        std::fs::write(&path, &ptx).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!("{}: {} bytes", path.display(), ptx.len());
        return Ok(());
    }
    // Missing is different, too.
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(line) = first_difference(&found, &ptx) {
        return Err(
            format!("{}:{line} is not what the source compiles to; run `cargo xtask ptx`", path.display()).into()
        );
    }
    println!("{} is what the source compiles to", path.display());
    Ok(())
}

fn generate(file: &str, text: &str, entries: &Entries) -> Result<String, Box<dyn Error>> {
    let compile = |name: &str, variant| match compile_ptx(name, text, ARCHITECTURE, variant) {
        Ok(ptx) if !ptx.text.contains(VERSION) => {
            let found = ptx.text.lines().find(|line| line.starts_with(".version")).unwrap_or("no version");
            Err(format!("another NVRTC was found: it writes {found}, not {VERSION}. {HINT}"))
        }
        Ok(ptx) => Ok(ptx.text),
        Err(e @ interop_core::Error::Unavailable { .. }) => Err(format!("{e}\n{HINT}")),
        Err(e) => Err(e.to_string()),
    };
    let line = stamp::line(file, &cuda_backend::translation_unit(text));
    let (Entries::LinearOf(entry) | Entries::BothOf(entry)) = entries;
    let linear = strip(&compile(entry, Variant::Linear)?);
    if let Entries::LinearOf(_) = entries {
        return Ok(format!("{line}\n{linear}\n"));
    }
    let surface = compile(&format!("{entry}_surface"), Variant::Surface)?;
    // One module: the second text goes on with its entries, after the header and the functions that both have.
    let at = surface.find(".visible .entry").ok_or("PTX without an entry")?;
    Ok(within_registers(&format!("{line}\n{linear}\n{}\n", strip(&surface[at..]))))
}

/// Limits the registers of the entries that show arrays: of five blocks that a multiprocessor has at once with 48 registers, one
/// would go with two more, and a frame takes a sixth longer.
fn within_registers(ptx: &str) -> String {
    let (mut is_show, mut all) = (false, String::with_capacity(ptx.len()));
    for line in ptx.lines() {
        is_show = line.starts_with(".visible .entry pf_show") || is_show && line != "{";
        let limit = if is_show && line == ")" { " .maxnreg 48" } else { "" };
        all += &format!("{line}{limit}\n");
    }
    all
}

/// Number of the first line that is not the same, from 1.
fn first_difference(found: &str, wanted: &str) -> Option<usize> {
    let (mut found, mut wanted) = (found.lines(), wanted.lines());
    (1..).find_map(|line| match (found.next(), wanted.next()) {
        (None, None) => Some(None),
        (a, b) => (a != b).then_some(Some(line)),
    })?
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
