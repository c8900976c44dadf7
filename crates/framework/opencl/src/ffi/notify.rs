//! Error messages of drivers about a context, and their listeners.

use interop_core::describe::PlainMutex;
use interop_core::describe::panics::contain;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, MutexGuard};

/// Called with the driver's text, from any thread.
pub type OnError = Arc<dyn Fn(&str) + Send + Sync>;

/// By number: the driver gets the number as its user data, so that nothing has to outlive the driver's context, which may
/// outlive ours.
static LISTENERS: LazyLock<PlainMutex<HashMap<usize, OnError>>> = LazyLock::new(PlainMutex::default);

fn listeners() -> MutexGuard<'static, HashMap<usize, OnError>> {
    LISTENERS.lock()
}

/// A listener's slot, released on drop. 0 belongs to no listener.
pub struct ListenerSlot(usize);

impl ListenerSlot {
    pub fn new(f: Option<OnError>) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let Some(f) = f else { return Self(0) };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        listeners().insert(number, f);
        Self(number)
    }

    /// For [`report`].
    pub fn user_data(&self) -> *mut c_void {
        ptr::without_provenance_mut(self.0)
    }
}

impl Drop for ListenerSlot {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let gone = listeners().remove(&self.0);
        // Values of the closure are dropped without the lock.
        drop(gone);
    }
}

/// Receives the driver's error messages about the context, from any thread.
pub unsafe extern "C" fn report(text: *const c_char, _: *const c_void, _: usize, user_data: *mut c_void) {
    contain("callback of an OpenCL context", || {
        if text.is_null() {
            return;
        }
        // SAFETY: the driver gives a string with a NUL, valid during the call (OpenCL 3.0 API, 4.4).
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        tracing::warn!(target: "pixelferry_opencl::context", "the OpenCL driver reports: {text}");
        // The lock is free again when the listener runs.
        let listener = listeners().get(&user_data.addr()).cloned();
        if let Some(listener) = listener {
            listener(&text);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Reports as a driver does; none at hand reports anything on its own.
    fn driver_reports(text: &CStr, user_data: *mut c_void) {
        // SAFETY: a string with a NUL, and user data of a listener's.
        unsafe { report(text.as_ptr(), ptr::null(), 0, user_data) };
    }

    #[test]
    fn a_report_reaches_its_listener_and_no_other() {
        let (tell, told) = mpsc::channel();
        let listen = |name: &'static str| {
            let tell = tell.clone();
            ListenerSlot::new(Some(Arc::new(move |text: &str| tell.send(format!("{name}: {text}")).unwrap())))
        };
        let (first, second) = (listen("first"), listen("second"));
        driver_reports(c"one", first.user_data());
        driver_reports(c"two", second.user_data());
        assert_eq!((told.recv().unwrap(), told.recv().unwrap()), ("first: one".into(), "second: two".into()));
        // The driver's context may outlive ours.
        let late = first.user_data();
        drop(first);
        driver_reports(c"three", late);
        driver_reports(c"four", ListenerSlot::new(None).user_data());
        // SAFETY: null is no text.
        unsafe { report(ptr::null(), ptr::null(), 0, second.user_data()) };
        drop((second, tell));
        assert!(told.recv().is_err(), "nothing else was told, and the listeners are gone");
    }

    #[test]
    fn a_listener_may_panic_and_may_go_while_it_runs() {
        let panics = ListenerSlot::new(Some(Arc::new(|_| panic!("in a listener"))));
        driver_reports(c"text", panics.user_data());
        driver_reports(c"text", panics.user_data());
        let place: Arc<PlainMutex<Option<ListenerSlot>>> = Arc::default();
        let own = place.clone();
        let listening = ListenerSlot::new(Some(Arc::new(move |_| drop(own.lock().take()))));
        let user_data = listening.user_data();
        *place.lock() = Some(listening);
        driver_reports(c"text", user_data);
        assert!(place.lock().is_none());
    }
}
