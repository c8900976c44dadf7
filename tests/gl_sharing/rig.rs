//! What the tests share.

use pixelferry::gl::GlDisplay;
use pixelferry::opencl::{OpenClBackend, devices_sharing_gl};
use pixelferry::{ComputeBackend, Display, DisplayChoice, open_headless};
use pixelferry_tests::{Driver, need};
use std::rc::Rc;
use std::sync::Arc;

/// What the double lists.
#[derive(Debug, Clone, Copy)]
pub enum Announced {
    /// `cl_khr_gl_sharing`.
    Sharing,
    /// `cl_khr_gl_event`, too.
    Events,
}

impl Announced {
    pub fn text(self) -> &'static str {
        match self {
            Self::Sharing => "sharing",
            Self::Events => "sharing,events",
        }
    }
}

/// Where cargo has put the double: beside this binary.
pub fn double() -> String {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let name = format!("{}opencl_gl_double{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let found = [folder.join(&name), folder.parent().unwrap().join(&name)].into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is not beside {}", folder.display())).to_str().unwrap().to_owned()
}

/// An OpenGL display, and OpenCL opened for it; `None` after having said why.
pub fn open() -> Option<(Arc<OpenClBackend>, Rc<GlDisplay>)> {
    let display = need(Driver::Egl, open_headless(DisplayChoice::Gl))?;
    let display = Rc::clone(display.gl().unwrap());
    let devices = match devices_sharing_gl() {
        Ok(devices) => devices,
        Err(e) => {
            println!("NO DRIVER: {e}");
            return None;
        }
    };
    let backend = OpenClBackend::open_sharing_gl(devices.first().expect("the double lists the extension")).unwrap();
    println!("RUNS ON {} and {}, by a double of cl_khr_gl_sharing", backend.device(), display.device());
    Some((Arc::new(backend), display))
}
