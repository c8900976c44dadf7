//! The CUDA C++ compiler, loaded at first use.
//!
//! cudarc only looks for versions up to its own. This module also finds newer ones, and toolkits that are installed
//! outside the loader's path.

use super::Failure;
use super::api::call;
use interop_core::devices::library;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;

type Program = *mut c_void;

macro_rules! nvrtc {
    ($($name:ident($($arg:ty),*);)*) => {
        /// Entry points of nvrtc.h; results are numbers.
        #[allow(non_snake_case)] // the library's names
        pub struct Nvrtc {
            $($name: unsafe extern "C" fn($($arg),*) -> u32,)*
            // Keeps the code loaded.
            _library: Library,
        }

        impl Nvrtc {
            fn load(library: Library) -> Result<Self, &'static str> {
                $(
                    #[allow(non_snake_case)]
                    let $name = {
                        // SAFETY: the symbol is the compiler's function of that name, whose signature in nvrtc.h is
                        // the one given below.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) -> u32>(
                                stringify!($name),
                            )
                        };
                        *symbol.map_err(|_| stringify!($name))?
                    };
                )*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}

nvrtc! {
    nvrtcVersion(*mut c_int, *mut c_int);
    nvrtcGetNumSupportedArchs(*mut c_int);
    nvrtcGetSupportedArchs(*mut c_int);
    nvrtcCreateProgram(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    );
    nvrtcDestroyProgram(*mut Program);
    nvrtcCompileProgram(Program, c_int, *const *const c_char);
    nvrtcAddNameExpression(Program, *const c_char);
    nvrtcGetLoweredName(Program, *const c_char, *mut *const c_char);
    nvrtcGetPTXSize(Program, *mut usize);
    nvrtcGetPTX(Program, *mut c_char);
    nvrtcGetProgramLogSize(Program, *mut usize);
    nvrtcGetProgramLog(Program, *mut c_char);
}

/// Library names to try, best first. Newer major versions than the known ones are tried as well.
fn candidates() -> Vec<PathBuf> {
    let (names, folders): (Vec<String>, &[&str]) = if cfg!(windows) {
        ((12..=15).rev().map(|major| format!("nvrtc64_{major}0_0.dll")).collect(), &["bin", "bin/x64"])
    } else {
        let versions = (12..=15).rev().map(|major| format!("libnvrtc.so.{major}"));
        (std::iter::once("libnvrtc.so".to_owned()).chain(versions).collect(), &["lib64", "lib"])
    };
    let roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let roots: Vec<PathBuf> =
        if cfg!(windows) { roots.collect() } else { roots.chain([PathBuf::from("/usr/local/cuda")]).collect() };
    let in_folders = roots
        .iter()
        .flat_map(|root| folders.iter().map(move |folder| root.join(folder)))
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    names.iter().map(PathBuf::from).chain(in_folders).collect()
}

/// Result of compiling a program's text.
pub enum Outcome {
    /// The PTX text, and the name of the entry in it.
    Ptx { text: String, entry: String },
    /// The compiler's log.
    Refused(String),
}

impl Nvrtc {
    /// Returns the compiler, or the missing part.
    pub fn get() -> Result<&'static Self, &'static str> {
        static NVRTC: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
        NVRTC
            .get_or_init(|| {
                // SAFETY: opening the compiler's library runs its initialisers, as in every program that uses it; it is
                // never closed.
                let library = unsafe { library::open(candidates()) };
                let library = library.map_err(|said| format!("the library libnvrtc could not be loaded: {said}"))?;
                Self::load(library).map_err(str::to_owned)
            })
            .as_ref()
            .map_err(String::as_str)
    }

    /// Returns the version (major, minor).
    pub fn version(&self) -> Result<(i32, i32), Failure> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: writes two numbers.
        unsafe { call!(self, nvrtcVersion(&raw mut major, &raw mut minor)) }?;
        Ok((major, minor))
    }

    /// Returns the architectures that it compiles for, e.g. 50, 52, ..., in ascending order.
    pub fn architectures(&self) -> Result<Vec<i32>, Failure> {
        let mut count = 0;
        // SAFETY: writes one number.
        unsafe { call!(self, nvrtcGetNumSupportedArchs(&raw mut count)) }?;
        let mut list = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: writes as many numbers as it said.
        unsafe { call!(self, nvrtcGetSupportedArchs(list.as_mut_ptr())) }?;
        list.sort_unstable();
        Ok(list)
    }

    /// Compiles `text`; `entry` is the kernel's name in C++.
    pub fn compile(&self, text: &CStr, entry: &CStr, options: &[CString]) -> Result<Outcome, Failure> {
        let mut raw = ptr::null_mut();
        // SAFETY: the strings end with a zero byte; no headers.
        unsafe {
            let name = c"kernel.cu".as_ptr();
            call!(self, nvrtcCreateProgram(&raw mut raw, text.as_ptr(), name, 0, ptr::null(), ptr::null()))
        }?;
        let program = OwnedProgram { nvrtc: self, raw };
        // SAFETY: the program is live; the name is copied.
        unsafe { call!(self, nvrtcAddNameExpression(program.raw, entry.as_ptr())) }?;
        let options: Vec<_> = options.iter().map(|o| o.as_ptr()).collect();
        // SAFETY: the program is live; as many options as said, each ending with a zero byte.
        let compiled =
            unsafe { call!(self, nvrtcCompileProgram(program.raw, options.len() as c_int, options.as_ptr())) };
        if let Err(failure) = compiled {
            let log = program.string(self.nvrtcGetProgramLogSize, self.nvrtcGetProgramLog, "nvrtcGetProgramLog")?;
            // Other codes than those for compilation and name expressions mean that nothing was compiled.
            return if log.is_empty() { Err(failure) } else { Ok(Outcome::Refused(log)) };
        }
        let mut lowered = ptr::null();
        // SAFETY: the program is compiled; writes a pointer to a string that lives as long as the program.
        unsafe { call!(self, nvrtcGetLoweredName(program.raw, entry.as_ptr(), &raw mut lowered)) }?;
        // SAFETY: the call succeeded, so this is a string ending with a zero byte; copied before the program goes.
        let entry = unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned();
        let text = program.string(self.nvrtcGetPTXSize, self.nvrtcGetPTX, "nvrtcGetPTX")?;
        Ok(Outcome::Ptx { text, entry })
    }
}

struct OwnedProgram<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl OwnedProgram<'_> {
    fn string(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> u32,
        get: unsafe extern "C" fn(Program, *mut c_char) -> u32,
        operation: &'static str,
    ) -> Result<String, Failure> {
        let mut len = 0;
        // SAFETY: the program is live; writes one number.
        Failure::check(operation, unsafe { size(self.raw, &raw mut len) })?;
        let mut bytes = vec![0u8; len];
        // SAFETY: the buffer is as long as the library said it needs.
        Failure::check(operation, unsafe { get(self.raw, bytes.as_mut_ptr().cast()) })?;
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(len);
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once.
        Failure::log(unsafe { call!(self.nvrtc, nvrtcDestroyProgram(&raw mut self.raw)) });
    }
}
