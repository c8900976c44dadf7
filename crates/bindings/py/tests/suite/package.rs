//! The package as Python sees it: runs the tests in `python`, with pytest and NumPy, on the extension that cargo built.

// The file names of extensions, and the X server, are Linux's.
use pixelferry::{DisplayChoice, PixelFormat, command::ApiChoice as _};
use pixelferry_testing::{Need, need, needs_in_words, sharing_layer};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Python with what the tests import; `PIXELFERRY_PYTHON` names one.
fn python() -> Option<OsString> {
    let named = env::var_os("PIXELFERRY_PYTHON");
    let candidates = named.map_or_else(|| vec!["python3".into(), "/usr/bin/python3".into()], |python| vec![python]);
    candidates.into_iter().find(|python| {
        let import = "import sys, numpy, pytest; assert sys.version_info >= (3, 11)";
        let status = Command::new(python).args(["-c", import]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// A folder of a test's own with the package as a wheel has it.
fn package(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let package = folder.join("pixelferry");
    fs::create_dir_all(&package).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/pixelferry");
    for file in fs::read_dir(source).unwrap().map(|entry| entry.unwrap()).filter(|e| e.file_type().unwrap().is_file()) {
        fs::copy(file.path(), package.join(file.file_name())).unwrap();
    }
    let built = env::current_exe().unwrap().with_file_name("libpixelferry_py.so");
    let module = package.join("_pixelferry.abi3.so");
    let _ = fs::remove_file(&module);
    fs::hard_link(&built, &module).or_else(|_| fs::copy(&built, &module).map(|_| ())).unwrap();
    folder
}

#[test]
fn the_package_works_in_python() {
    let found = python().ok_or("no Python 3.11 has numpy and pytest (Debian: python3-numpy python3-pytest)");
    let Some(python) = need(Need::Python, found) else { return };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let status = Command::new(python)
        .args(["-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider", "--durations=5"])
        .arg(&tests)
        .env("PYTHONPATH", package("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PIXELFERRY_PROFILES", "off")
        .env("PIXELFERRY_NEEDS", needs_in_words())
        .status()
        .unwrap();
    assert!(status.success(), "pytest: {status}");
}

#[test]
fn the_stubs_name_every_display_and_format() {
    let stubs = include_str!("../../python/pixelferry/__init__.pyi");
    let line = |start: &str| stubs.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
    let formats = PixelFormat::ALL.map(|format| format!("\"{}\"", format.name().to_lowercase()));
    assert_eq!(line("_Format = "), format!("_Format = Literal[{}]", formats.join(", ")));
    let taken =
        [stubs, include_str!("../../python/pixelferry/gl.pyi")].map(|text| text.matches("format: _Format").count());
    assert_eq!(taken, [2, 3], "Viewer and Publisher; Texture, Target and Source");
    // The package is built without the feature `wgpu`, which other crates of the workspace switch on.
    let packed = DisplayChoice::all().filter(|row| row.choice != DisplayChoice::Wgpu);
    let displays: Vec<_> = packed.map(|row| format!("\"{}\"", row.name)).collect();
    assert!(line("display: Literal").contains(&format!("[{}]", displays.join(", "))));
}

#[test]
fn the_package_names_the_workspaces_repository_and_hides_no_command() {
    let project = include_str!("../../pyproject.toml");
    let (_, urls) = project.split_once("[project.urls]\n").unwrap();
    let urls: Vec<_> = urls.lines().take_while(|line| !line.is_empty()).collect();
    let own = format!(" = \"{}", env!("CARGO_PKG_REPOSITORY"));
    assert!(urls.len() > 2 && urls.iter().all(|url| url.contains(&own)), "{urls:?} and{own}");
    assert!(project.contains("\npixelferry-py = ") && !project.contains("\npixelferry = "));
}

/// With the layer `clgl-layer`: the viewer's OpenCL is opened inside its display.
#[test]
fn opencl_shares_with_the_viewer() {
    const SCRIPT: &str = "
import pixelferry
rows = bytes((x * 3 + y * 5) % 251 if channel < 3 else 255 for y in range(48) for x in range(64) for channel in range(4))
try:
    viewer = pixelferry.Viewer(64, 48, headless=True, display='gl', backend='opencl', path='direct')
except pixelferry.DeviceError as why:
    print('NO DRIVER:', why)
else:
    with viewer:
        viewer.show(memoryview(rows).cast('B', (48, 64, 4)))
        assert viewer.path == 'direct', viewer.explain()
        assert viewer.screenshot().tobytes() == rows, 'another picture'
    print('ALL DONE')
";
    let python = env::var_os("PIXELFERRY_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .env("PYTHONPATH", package("python_shares"))
        .env("OCL_ICD_VENDORS", "pocl.icd")
        .envs(sharing_layer(false))
        .env("PIXELFERRY_PROFILES", "off")
        .output();
    let Some(output) = need(Need::Python, output) else { return };
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if text.contains("NO DRIVER") {
        need::<()>(Need::Pocl, Err(text));
        return;
    }
    assert!(output.status.success() && text.contains("ALL DONE"), "{text}");
}
