//! The examples in C and C++, and programs that misuse the library: built, run, their pictures compared.

// Programs find the library as Linux's loader does.
use crate::common::{Language, build, compiler, done, libraries, package, root, run, scratch};
use pixelferry_testing::{Level, Need, asked, from, need};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

#[test]
fn a_c_program_saves_what_threads_compute_in_plain_memory() {
    let Some(program) = build(Language::C, &root().join("examples/picture.c"), &[]) else { return };
    let file = scratch("rings.png");
    let _ = fs::remove_file(&file);
    let said = done(run(program).arg(&file));
    assert!(said.contains("every pixel as computed"), "{said}");
    assert!(fs::read(file).unwrap().starts_with(b"\x89PNG"));
}

/// With a driver that is not there the program says so; then the row of the table decides.
fn said_by(command: &mut Command, driver: Option<Need>) -> Option<String> {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if let Some(driver) = driver
        && said.contains("PIXELFERRY_ERROR_UNAVAILABLE")
    {
        return need::<String>(driver, Err(said));
    }
    assert!(output.status.success(), "{command:?}: {said}");
    Some(said)
}

/// Builds a program with GLFW, where there is a screen for it.
fn windowed(language: Language, file: &str) -> Option<PathBuf> {
    let mut libraries = need(Need::Glfw, package("glfw3"))?;
    libraries.extend(need(Need::Glfw, package("gl"))?);
    libraries.push("-pthread".into());
    need(Need::Xvfb, Command::new("xvfb-run").arg("--help").output())?;
    build(language, &root().join(file), &libraries)
}

#[test]
fn a_cpp_program_shows_its_kernel_in_its_own_window() {
    let Some(program) = windowed(Language::Cpp, "examples/window.cpp") else { return };
    for (backend, driver) in [("cpu", None), ("auto", None), ("opencl", Some(Need::Pocl))] {
        let Some(said) = said_by(run("xvfb-run").arg("-a").arg(&program).args(["5", backend]), driver) else {
            continue;
        };
        assert!(said.contains("every pixel as computed"), "{backend}: {said}");
    }
}

#[test]
fn a_c_program_draws_in_its_own_window() {
    let Some(program) = windowed(Language::C, "examples/window.c") else { return };
    let both: [(&[&str], _); 4] =
        [(&["cpu"], None), (&["cpu", "loader"], None), (&["gl"], None), (&["opencl"], Some(Need::Pocl))];
    for (arguments, driver) in both {
        let Some(said) = said_by(run("xvfb-run").arg("-a").arg(&program).args(arguments), driver) else { continue };
        assert!(said.contains("every pixel as computed"), "{arguments:?}: {said}");
    }
}

#[test]
fn outlets_intakes_shared_links_and_draw_options_do_as_in_rust() {
    let Some(program) = windowed(Language::Cpp, "tests/programs/objects.cpp") else { return };
    for (backend, driver) in [("cpu", None), ("opencl", Some(Need::Pocl))] {
        let Some(said) = said_by(run("xvfb-run").arg("-a").arg(&program).arg(backend), driver) else { continue };
        assert!(said.contains("every pixel as computed"), "{backend}: {said}");
    }
}

#[test]
fn a_c_program_writes_the_devices_memory_by_calls_of_its_own() {
    let Some(program) = build(Language::C, &root().join("examples/device.c"), &["-ldl".into()]) else { return };
    let mut tried = vec![("opencl", Need::Pocl)];
    if asked(Need::Nvidia) {
        tried.push(("cuda", Need::Nvidia));
    }
    for (backend, driver) in tried {
        let Some(said) = said_by(run(&program).arg(backend), Some(driver)) else { continue };
        assert!(said.contains("every pixel as computed"), "{backend}: {said}");
    }
}

#[test]
fn a_c_program_copies_from_its_own_vulkan_device() {
    let Some(mut libraries) = need(Need::VulkanDev, package("vulkan")) else { return };
    libraries.push("-pthread".into());
    let Some(program) = build(Language::C, &root().join("examples/vulkan.c"), &libraries) else { return };
    for (backend, driver) in [("cpu", None), ("opencl", Some(Need::Pocl))] {
        // Without a budget stores that work are taken, however long they take.
        let untimed = || {
            let mut command = run(&program);
            command.arg(backend).env("PIXELFERRY_CALIBRATE_MS", "0");
            command
        };
        if untimed().output().unwrap().status.code() == Some(2) {
            need::<()>(Need::Lavapipe, Err("no Vulkan device"));
            return;
        }
        let Some(said) = said_by(&mut untimed(), driver) else { continue };
        assert!(said.contains("every pixel as computed"), "{backend}: {said}");
        assert!(said.contains("a copy, drawn (") && said.contains("no copy, straight into"), "{backend}: {said}");
    }
}

#[test]
fn a_program_in_cpp_goes_through_every_backend_and_display() {
    let Some(program) = build(Language::Cpp, &root().join("examples/picture.cpp"), &[]) else { return };
    for (backend, display, driver) in [
        ("cpu", "memory", None),
        ("cpu", "gl", Some(Need::Egl)),
        ("gl", "gl", Some(Need::Egl)),
        ("opencl", "memory", Some(Need::Pocl)),
        ("opencl", "compute", Some(Need::Pocl)),
        ("cuda", "memory", Some(Need::Nvidia)),
        ("cuda", "gl", Some(Need::Nvidia)),
    ] {
        if driver == Some(Need::Nvidia) && !asked(Need::Nvidia) {
            continue;
        }
        let Some(said) = said_by(run(&program).args([backend, display]), driver) else { continue };
        assert!(said.contains("every pixel as computed"), "{backend}, {display}: {said}");
    }
}

#[test]
fn what_functions_of_cpp_throw_goes_on_from_the_call() {
    let Some(program) = build(Language::Cpp, &root().join("tests/programs/throws.cpp"), &["-pthread".into()]) else {
        return;
    };
    assert!(done(&mut run(program)).contains("all as expected"));
}

#[test]
fn a_host_may_unload_the_library_again_and_again() {
    // Not linked with the library, which would stay for that.
    let program = scratch("unload");
    let Some(mut compiler) = compiler(Language::C) else { return };
    compiler.arg(root().join("tests/programs/unload.c")).args(["-pthread", "-ldl", "-o"]).arg(&program);
    done(&mut compiler);
    let library = libraries().join("libpixelferry_capi.so");
    for (backend, driver) in
        [("cpu", None), ("vulkan", Some(Need::Lavapipe)), ("gl", Some(Need::Egl)), ("opencl", Some(Need::Pocl))]
    {
        let Some(said) = said_by(run(&program).arg(&library).arg(backend), driver) else { continue };
        assert!(said.contains("nothing grows"), "{backend}: {said}");
    }
}

#[test]
fn what_a_caller_does_wrong_is_a_status() {
    let Some(program) = misuse() else { return };
    assert!(done(&mut run(program)).contains("all as expected"));
}

/// Built once, as a program that runs cannot be written.
fn misuse() -> Option<&'static PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || build(Language::C, &root().join("tests/programs/misuse.c"), &["-pthread".into()]);
    BUILT.get_or_init(make).as_ref()
}

#[test]
fn valgrind_sees_neither_errors_nor_leaks() {
    if !from(Level::All) {
        return;
    }
    let Some(program) = misuse() else { return };
    if need(Need::Valgrind, Command::new("valgrind").arg("--version").output()).is_none() {
        return;
    }
    let suppressions = format!("--suppressions={}", root().join("tests/valgrind.supp").display());
    let options =
        ["-q", "--leak-check=full", "--error-exitcode=9", "--errors-for-leak-kinds=definite,indirect,possible"];
    let said = done(run("valgrind").args(options).arg(suppressions).arg(program).arg("own"));
    // Valgrind begins with `--` where it speaks of itself: it may not know a system call that the library can do without.
    let found: Vec<&str> = said.lines().filter(|line| !line.starts_with("--")).collect();
    assert_eq!(found, ["all as expected"], "{said}");
}

/// Libraries that a program links beside the static one.
pub const STATIC: &str = "-lpthread -ldl -lm -lgcc_s -lrt -lutil";

#[test]
fn the_static_library_links() {
    let program = scratch("static");
    let Some(mut compiler) = compiler(Language::C) else { return };
    compiler.arg(root().join("examples/picture.c")).arg(libraries().join("libpixelferry_capi.a"));
    done(compiler.args(STATIC.split(' ')).arg("-o").arg(&program));
    assert!(done(&mut run(program)).contains("every pixel as computed"));
}
