//! Kernels: builds driver functions from PTX or CUDA C++.

use crate::compiler::{Ptx, Variant, compile_ptx};
use crate::ffi::Failure;
use crate::ffi::module::{Function, Module};
use crate::session::Session;
use crate::signature::{self, Param};
use interop_core::describe::words::c_text;
use interop_core::devices::maker_object::Maker;
use interop_core::{Error, Kernel, KernelSource, Language, Result};
use std::sync::Arc;

/// A function, with the parameters that its text declares.
pub struct Entry {
    pub function: Function,
    pub params: Vec<Param>,
}

/// A kernel of one backend.
pub struct CudaKernel {
    pub name: String,
    /// The variant that writes linear memory.
    pub linear: Entry,
    /// The variant that writes a texture's own memory. Without it such targets use a linear copy.
    pub surface: Option<Entry>,
    /// Work items for a buffer target, where the source sets them.
    pub items: Option<usize>,
    pub session: Arc<Session>,
}

impl Kernel for CudaKernel {
    fn name(&self) -> &str {
        &self.name
    }
}

interop_core::owned!(CudaKernel: Session, "kernel", |kernel| &kernel.session);

impl CudaKernel {
    pub fn build(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        let name = source.name();
        let (linear, surface) = match (source.text(Language::Ptx)?, source.text(Language::CudaCpp)?) {
            (Some(text), _) => from_ptx(session, name, text)?,
            (_, Some(text)) => from_cpp(session, name, text)?,
            _ => {
                return Err(session.unsupported(format!(
                    "kernel '{name}' has no text in PTX or CUDA C++ (its languages: {}); add one",
                    source.languages()
                )));
            }
        };
        Ok(Self { name: name.to_owned(), linear, surface, items: source.items(), session: session.clone() })
    }
}

fn from_ptx(session: &Arc<Session>, name: &str, text: &str) -> Result<(Entry, Option<Entry>)> {
    let module = load(session, name, text)?;
    let linear = entry(session, &module, name, name, text)?;
    let surface_name = format!("{name}_surface");
    let has_surface = signature::of_entry(text, &surface_name).is_some();
    let surface = has_surface.then(|| entry(session, &module, name, &surface_name, text)).transpose()?;
    Ok((linear, surface))
}

fn from_cpp(session: &Arc<Session>, name: &str, text: &str) -> Result<(Entry, Option<Entry>)> {
    let build = |variant| {
        let Ptx { text, entry: mangled } = compile_ptx(name, text, session.architecture, variant)?;
        let module = load(session, name, &text)?;
        entry(session, &module, name, &mangled, &text)
    };
    let linear = build(Variant::Linear)?;
    // `PF_AT` needs an address; without another API there are no textures to write.
    let wanted = text.contains("PF_STORE") && !text.contains("PF_AT") && session.has_textures();
    let surface = if wanted {
        // A kernel may use the target in other ways; it still works with a copy.
        build(Variant::Surface)
            .inspect_err(|error| tracing::debug!(kernel = name, %error, "the variant for textures does not build"))
            .ok()
    } else {
        None
    };
    Ok((linear, surface))
}

fn load(session: &Arc<Session>, kernel: &str, ptx: &str) -> Result<Arc<Module>> {
    let text = c_text(ptx)?;
    let module = Module::new(&session.queue, &text).map_err(|(failure, log)| refused(session, kernel, failure, log))?;
    Ok(Arc::new(module))
}

/// Attributes errors of the text to the kernel; other errors (for example missing memory) are the driver's.
fn refused(session: &Session, kernel: &str, failure: Failure, log: String) -> Error {
    let error = failure.on(&session.name());
    if log.trim().is_empty() && !matches!(failure.code, 200 | 209 | 218 | 222 | 300) {
        return error;
    }
    let log = if log.trim().is_empty() { error.to_string() } else { format!("{}\n{error}", log.trim_end()) };
    Error::KernelBuild { kernel: kernel.to_owned(), device: session.name(), log }
}

fn entry(session: &Arc<Session>, module: &Arc<Module>, kernel: &str, entry: &str, ptx: &str) -> Result<Entry> {
    let params = signature::of_entry(ptx, entry).ok_or_else(|| Error::KernelBuild {
        kernel: kernel.to_owned(),
        device: session.name(),
        log: format!("the PTX has no entry '{entry}' with readable parameters"),
    })?;
    let function = module.function(&c_text(entry)?).map_err(session.failed())?;
    Ok(Entry { function, params })
}
