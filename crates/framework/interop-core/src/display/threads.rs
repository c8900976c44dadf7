//! On which threads a display and what belongs to it may be used.

use super::Display;
use std::marker::PhantomData;
use std::sync::Arc;

/// Marks a [`crate::Link`], [`crate::Outlet`] or [`crate::Intake`] that stays on the thread that opened it. It is not
/// `Send`.
#[derive(Debug)]
pub struct OneThread(PhantomData<*const ()>);

/// Marks a [`crate::Link`], [`crate::Outlet`] or [`crate::Intake`] that may move to another thread.
#[derive(Debug)]
pub struct AnyThread(());

/// A display without a current context: any thread may use it and all that it makes, one at a time for what takes
/// `&mut self`. wgpu, Vulkan, compute devices and plain memory are such displays. OpenGL is not: its calls work on the
/// thread on which the context is current, and fail with [`crate::Error::WrongContext`] on others.
pub trait AnyThreadDisplay: Display {}

/// True where both are the same display.
pub(crate) fn is_same<D: Display>(one: &Arc<dyn Display>, other: &Arc<D>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}
