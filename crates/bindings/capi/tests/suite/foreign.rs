//! A program that somebody else wrote, with a picture of OpenCL in its scene: the source of GLFW's example `gears`, as Debian's
//! package has it, with a few lines put in. Screenshots with and without them are compared.

use crate::common::{Language, compiler, done, libraries, package, root, run, scratch};
use pixelferry_testing::{Level, Need, from, need};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Columns and rows of the example's window, and of the screen.
const SIDE: usize = 300;

/// The example's source.
fn gears() -> Result<String, String> {
    const FILE: &str = "/usr/share/doc/libglfw3-dev/examples/gears.c.gz";
    let output = Command::new("zcat").arg(FILE).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{FILE}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|e| e.to_string())
}

/// Puts a line behind one that occurs once.
fn put(source: &str, behind: &str, line: &str) -> String {
    assert_eq!(source.matches(behind).count(), 1, "{behind}");
    source.replace(behind, &format!("{behind}\n{line}"))
}

/// Builds a source and returns the pixels of the screen while it runs: blue, green, red and nothing of each.
fn screen(name: &str, source: &str) -> Option<Vec<[u8; 4]>> {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("glad")).unwrap();
    // The example finds OpenGL's functions with a loader that the package lacks; it calls those of OpenGL 1.1 alone.
    let loader = "#include <GL/gl.h>\n#define gladLoadGL(find) ((void)(find))\n";
    fs::write(folder.join("glad/gl.h"), loader).unwrap();
    let file = folder.join("gears.c");
    fs::write(&file, source).unwrap();
    let mut libraries_too = need(Need::Glfw, package("glfw3"))?;
    libraries_too.extend(need(Need::Glfw, package("gl"))?);
    let (program, rpath) = (folder.join("gears"), format!("-Wl,-rpath,{}", libraries().display()));
    let mut compiler = compiler(Language::C)?;
    compiler.args(["-std=gnu11", "-Wno-unused", "-Wno-unused-parameter", "-I"]).arg(&folder);
    compiler.arg("-I").arg(root().join("tests/programs")).arg(&file).arg("-o").arg(&program);
    compiler.arg("-L").arg(libraries()).args(["-lpixelferry_capi", &rpath]).args(libraries_too).arg("-lm");
    done(&mut compiler);
    let copy = folder.join("screen.xwd");
    let server = format!("-screen 0 {SIDE}x{SIDE}x24 -fbdir {}", folder.display());
    let mut shown = run("xvfb-run");
    shown.env("SCREEN_FILE", folder.join("Xvfb_screen0")).env("COPY_FILE", &copy);
    done(shown.args(["-a", "-s", &server]).arg(program));
    Some(pixels(&copy))
}

/// The pixels of a file of the X window dump format.
fn pixels(file: &Path) -> Vec<[u8; 4]> {
    let bytes = fs::read(file).unwrap();
    let header = |at: usize| u32::from_be_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap()) as usize;
    // Its length, columns, rows, the order of bytes, bits of a pixel, bytes of a row, and the number of colours of 12 bytes.
    let [len, width, height, order, bits, pitch, colors] = [0, 4, 5, 7, 11, 12, 19].map(header);
    assert_eq!([width, height, order, bits, pitch], [SIDE, SIDE, 0, 32, 4 * SIDE]);
    bytes[len + 12 * colors..].as_chunks().0[..SIDE * SIDE].to_vec()
}

#[test]
fn the_gears_of_glfw_turn_before_a_picture_of_opencl() {
    if !from(Level::All) {
        return;
    }
    let Some(gears) = need(Need::GlfwDoc, gears()) else { return };
    let Some(_) = need(Need::Pocl, fs::metadata("/etc/OpenCL/vendors/pocl.icd")) else { return };
    let Some(_) = need(Need::Xvfb, Command::new("xvfb-run").arg("--help").output()) else { return };
    // The wheels stand still, and the program ends.
    assert_eq!(gears.matches("glfwGetTime()").count(), 1);
    let plain = gears.replace("glfwGetTime()", "0.25");
    let plain = put(&plain, "#include <GLFW/glfw3.h>", "#include \"beside_gears.h\"");
    let plain = put(&plain, "glfwSwapBuffers(window);", "screen_saved(window);");
    let with = put(&plain, "glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);", "picture_draw();");
    let with = put(&with, "// Main loop", "picture_open();");
    let with = put(&with, "// Terminate GLFW", "picture_close();");
    let Some(plain) = screen("gears-plain", &plain) else { return };
    let Some(with) = screen("gears-with-picture", &with) else { return };
    let mut behind = 0;
    for (at, (plain, with)) in plain.iter().zip(&with).enumerate() {
        let is_behind = plain[..3] == [0; 3];
        behind += usize::from(is_behind);
        let wanted =
            if is_behind { [200, (at / SIDE) as u8, (at % SIDE) as u8] } else { [plain[0], plain[1], plain[2]] };
        assert_eq!(with[..3], wanted, "{at}");
    }
    // Both are seen.
    assert!((SIDE * SIDE / 10..SIDE * SIDE * 9 / 10).contains(&behind), "{behind}");
}
