//! An invisible window. A thread of its own answers its messages: programs that send a message to every window wait for
//! each, and the program that needs the window may be computing.

use interop_core::describe::panics::ended;
use interop_core::describe::threads;
use interop_core::{Error, Result};
use raw_window_handle::{RawWindowHandle, Win32WindowHandle};
use std::num::NonZeroIsize;
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use windows_sys::Win32::System::LibraryLoader::GetModuleHandleW;
use windows_sys::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DestroyWindow, DispatchMessageW, GetMessageW, MSG, PostMessageW, WM_QUIT, WS_EX_NOACTIVATE,
    WS_POPUP,
};
use windows_sys::w;

/// The window; it is destroyed when this is dropped.
pub(super) struct HiddenWindow {
    handle: NonZeroIsize,
    /// The program's module handle, which glutin needs.
    module: NonZeroIsize,
    thread: Option<JoinHandle<()>>,
}

fn unavailable(reason: impl std::fmt::Display) -> Error {
    Error::Unavailable {
        what: "a hidden window for OpenGL".into(),
        reason: reason.to_string(),
        hint: "Close other programs' windows, or draw with wgpu or in plain memory.".into(),
    }
}

impl HiddenWindow {
    pub(super) fn open() -> Result<Self> {
        // SAFETY: null asks for the program's own file, which stays loaded.
        let module = NonZeroIsize::new(unsafe { GetModuleHandleW(null()) } as isize);
        let module = module.ok_or_else(|| unavailable(std::io::Error::last_os_error()))?;
        let (tell, told) = channel();
        let thread = threads::spawn("pixelferry hidden window", move || live(&tell)).map_err(unavailable)?;
        let handle = told.recv().map_err(unavailable)?.map_err(unavailable)?;
        Ok(Self { handle, module, thread: Some(thread) })
    }

    pub(super) fn handle(&self) -> RawWindowHandle {
        let mut handle = Win32WindowHandle::new(self.handle);
        handle.hinstance = Some(self.module);
        RawWindowHandle::Win32(handle)
    }
}

impl Drop for HiddenWindow {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // SAFETY: the window's thread is there until this message comes.
        if unsafe { PostMessageW(self.handle.get() as _, WM_QUIT, 0, 0) } == 0 {
            // Leaving it is better than waiting for it.
            tracing::warn!(error = %std::io::Error::last_os_error(), "a hidden window could not be closed");
        } else if let Err(panic) = ended(thread.join()) {
            tracing::warn!("the thread of a hidden window failed: {panic}");
        }
    }
}

/// The thread's body: creates the window, answers its messages, and destroys it. Only its own thread may do this.
fn live(tell: &Sender<std::io::Result<NonZeroIsize>>) {
    // SAFETY: a class of the system's, no parent, menu, module or data; never shown.
    let window = unsafe {
        let (class, title) = (w!("STATIC"), w!("pixelferry"));
        CreateWindowExW(
            WS_EX_NOACTIVATE,
            class,
            title,
            WS_POPUP,
            0,
            0,
            1,
            1,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        )
    };
    let handle = NonZeroIsize::new(window as isize).ok_or_else(std::io::Error::last_os_error);
    let made = handle.is_ok();
    if tell.send(handle).is_err() || !made {
        return;
    }
    let mut message = MSG::default();
    // SAFETY: one message is written. 0 is the message that ends it, less an error.
    while unsafe { GetMessageW(&raw mut message, null_mut(), 0, 0) } > 0 {
        // SAFETY: the message was just taken.
        unsafe { DispatchMessageW(&raw const message) };
    }
    // SAFETY: made above, on this thread.
    if unsafe { DestroyWindow(window) } == 0 {
        tracing::warn!(error = %std::io::Error::last_os_error(), "a hidden window could not be closed");
    }
}
