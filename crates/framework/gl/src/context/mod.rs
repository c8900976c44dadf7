//! The context, whoever created it: whether it is current, its properties, and the objects that wait to be deleted in
//! it.

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
pub(crate) mod call_counters;
pub(crate) mod context_state;
#[cfg(feature = "headless")]
pub(crate) mod create;
pub(crate) mod current_check;
pub(crate) mod deferred_deletes;
pub(crate) mod deletion_list;
pub(crate) mod error;
pub(crate) mod external_objects;
pub(crate) mod glow_functions;
pub(crate) mod loader;
pub(crate) mod names;
pub(crate) mod native;
#[cfg(feature = "headless")]
pub(crate) mod own;
#[cfg(not(feature = "headless"))]
#[path = "no_own.rs"]
pub(crate) mod own;
pub(crate) mod owned_object;
pub(crate) mod shared_context;
#[cfg(any(feature = "window", all(feature = "headless", windows)))]
pub(crate) mod window_surface;
#[cfg(all(feature = "window", unix, not(target_vendor = "apple")))]
pub(crate) mod xlib_errors;

pub(crate) use glow_functions::GlFunctions;
pub(crate) use loader::{Loader, load_gl};
pub(crate) use native::NativeContext;
pub(crate) use own::OwnContext;
pub(crate) use shared_context::SharedContext;
