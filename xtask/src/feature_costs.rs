//! What a program pays for features of the facade: crates, seconds to build, bytes of the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::error::Error;
use crate::repository::{cargo, printed};

/// A set of features, and a limit.
struct FeatureGroup {
    features: &'static str,
    /// What the set is for, in the table.
    purpose: &'static str,
    /// Most crates that a build may compile, with those of this workspace. It may only fall.
    most_crates: usize,
    /// A call that keeps the display's code in the program, where no backend or display of the tables does.
    call: &'static str,
}

const fn set(features: &'static str, purpose: &'static str, most_crates: usize) -> FeatureGroup {
    FeatureGroup { features, purpose, most_crates, call: "" }
}

const SETS: [FeatureGroup; 10] = [
    set("", "threads and plain memory", 35),
    FeatureGroup {
        call: "// SAFETY: the program has no context.\n    \
               drop(unsafe { pixelferry::api::gl::GlDisplay::from_current(Default::default()) });",
        ..set("gl", "frames in an engine's OpenGL context", 37)
    },
    set("headless", "OpenGL in a context of pixelferry's own", 46),
    set("window", "windows with OpenGL, on X11 and Wayland", 93),
    set("vulkan", "frames in an engine's Vulkan device", 38),
    set("wgpu", "frames in an engine's wgpu device, WGSL kernels", 87),
    set("cuda", "the CUDA backend", 38),
    set("opencl", "the OpenCL backend", 51),
    set("default", "the default: CUDA, OpenCL, an engine's OpenGL", 58),
    set("program", "windows, WGSL kernels, pictures, remembered measurements", 146),
];

/// A program that computes a frame and saves its bytes.
const PROGRAM: &str = r#"use pixelferry::*;

fn main() -> Result<()> {
    let source = KernelSource::new("ramp").cpu_image(|out, _| out.par_pixels(|x, y| [x as u8, y as u8, 0, 255]));
    let surface = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    let OpenedLink { kernels, mut link, .. } = LinkBuilder::new(surface).launch(&source, []).open()?;
    link.frame(|next| next.launch(kernels[0].as_ref(), &[]))?;
    println!("{} bytes", link.read_back()?.len());
    CALL
    Ok(())
}
"#;

/// The page with the table.
const PAGE: &str = "crates/framework/pixelferry/README.md";

/// Counts the crates of each set, and compares them with the limits and with the page; without `count_only`, also builds
/// a program with each set.
pub fn run(root: &Path, count_only: bool) -> Result<(), Error> {
    let page = fs::read_to_string(root.join(PAGE)).map_err(Error::file("read", PAGE))?;
    println!("| features | for | crates | build, s | program, MiB |");
    println!("|---|---|---|---|---|");
    for row in &SETS {
        let crates = crates(root, row)?;
        let built = if count_only { None } else { Some(build(root, row)?) };
        let cells = built.map_or_else(
            || "- | -".into(),
            |(seconds, bytes)| format!("{seconds:.0} | {:.1}", bytes as f64 / f64::from(1 << 20)),
        );
        let name = if row.features.is_empty() { "(none)".into() } else { format!("`{}`", row.features) };
        let start = format!("| {name} | {} | {crates} |", row.purpose);
        println!("{start} {cells} |");
        if crates > row.most_crates {
            return Err(Error::TooManyCrates { features: row.features, crates, most: row.most_crates });
        }
        if count_only && !page.contains(&start) {
            return Err(Error::OldCosts { page: PAGE, row: start });
        }
    }
    Ok(())
}

/// Returns the number of crates that a build with these features compiles on this system.
fn crates(root: &Path, row: &FeatureGroup) -> Result<usize, Error> {
    let mut tree = cargo();
    tree.args(["tree", "--locked", "--package", "pixelferry", "--edges", "normal,build", "--prefix", "none"]);
    tree.args(["--no-default-features", "--features", row.features]).current_dir(root);
    let listed = printed("cargo tree", &mut tree)?;
    let listed = String::from_utf8_lossy(&listed);
    Ok(listed.lines().map(|line| line.trim_end_matches(" (*)")).collect::<BTreeSet<_>>().len())
}

/// Builds the program from nothing, and returns the seconds of a debug build and the bytes of the stripped release
/// program.
fn build(root: &Path, row: &FeatureGroup) -> Result<(f64, u64), Error> {
    let folder = root.join("target/feature-costs");
    let remove = |folder: &Path| match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("remove", folder)(error)),
        _ => Ok(()),
    };
    remove(&folder)?;
    fs::create_dir_all(folder.join("src")).map_err(Error::file("make", &folder))?;
    let facade = root.join("crates/framework/pixelferry");
    let manifest = format!(
        "[package]\nname = \"costs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         pixelferry = {{ path = {facade:?}, default-features = false, features = {:?} }}\n\n\
         [profile.release]\nstrip = true\n\n[workspace]\n",
        row.features.split_whitespace().collect::<Vec<_>>()
    );
    let write = |name: &str, text: &[u8]| {
        let file = folder.join(name);
        fs::write(&file, text).map_err(Error::file("write", &file))
    };
    write("Cargo.toml", manifest.as_bytes())?;
    write("src/main.rs", PROGRAM.replace("CALL", row.call).as_bytes())?;
    let lock = root.join("Cargo.lock");
    write("Cargo.lock", &fs::read(&lock).map_err(Error::file("read", &lock))?)?;
    let build = |profile: &str| {
        let begun = Instant::now();
        let mut build = cargo();
        build.args(["build", "--quiet", "--offline", "--profile", profile, "--target-dir", "target"]);
        printed("cargo build", build.current_dir(&folder).env_remove("CARGO_TARGET_DIR"))?;
        Ok::<_, Error>(begun.elapsed().as_secs_f64())
    };
    let seconds = build("dev")?;
    build("release")?;
    let program = folder.join("target/release").join(format!("costs{}", std::env::consts::EXE_SUFFIX));
    let bytes = fs::metadata(&program).map_err(Error::file("find", &program))?.len();
    remove(&folder)?;
    Ok((seconds, bytes))
}
