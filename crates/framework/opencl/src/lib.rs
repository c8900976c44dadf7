//! The whole programming model of OpenCL in safe Rust, for users who know it from C or from PyOpenCL.
//!
//! `OpenClBackend` of `opencl-backend` is built on this crate, which can also be used alone. Both can be combined: the
//! backend returns its context, queue and memory.
//!
//! The crate loads libOpenCL at run time. Where it or a driver is missing, [`Platform::all`] returns an
//! [`interop_core::Error::Unavailable`] with the package to install. The calls are those of `opencl3`. Its object types
//! are not used, because their `Drop` ends the program when a driver reports an error.
//!
//! Each OpenCL object is one type. Two parts in `ffi` are shared by several of them: [`Buffer`] and [`Image`] share
//! `Mem`, and [`Program`], [`Object`] and [`Kernel`] wrap `ffi::Program` and `ffi::Kernel`, which do not hold a
//! context. This is necessary: `Kernel::apart(&self) -> LoneKernel` gives a context the kernels for copies between views,
//! which it keeps, while `Kernel::program(&self) -> &Program` leads back to the context. In one type, the context would
//! keep itself alive.
//!
//! ```no_run
//! use pixelferry_opencl::{Arg, Buffer, Context, Device, MemFlags, NdRange, Program, Queue};
//!
//! # fn main() -> interop_core::Result<()> {
//! let context = Context::new(&Device::all()?[..1])?;
//! let queue = Queue::new(&context)?;
//! let source = "__kernel void scale(__global float *a, float by) { a[get_global_id(0)] *= by; }";
//! // SAFETY: each work item changes its own number, and there are as many as numbers.
//! let kernel = unsafe { Program::build(&context, source, "") }?.kernel("scale")?;
//! let a = Buffer::with_data(&context, MemFlags::READ_WRITE, &[1.0f32; 1024])?;
//! let scaled = queue.launch(&kernel, &[Arg::from(&a), Arg::from(2.0f32)], NdRange::new([1024]), &[])?;
//! let values: Vec<f32> = queue.read(&a, 0, 1024, &[scaled])?.wait()?;
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | platforms and devices | [`Platform`], [`Device`] and its properties, [`Device::partition`] |
//! | the owner of all objects | [`Context`] |
//! | code | [`Program`], [`Object`], [`BinaryCache`], [`Kernel`], [`BoundKernel`], [`Param`], [`Arg`] |
//! | memory | [`Buffer`], [`HostBuffer`], [`Image`], [`Sampler`], [`NdView`] |
//! | memory shared with OpenGL | [`ContextOptions::share_gl`], [`Buffer::from_gl`], [`Image::from_gl`],
//! [`Queue::acquire_gl`] |
//! | commands | the methods of [`Queue`] |
//! | order and time | [`Event`], [`UserEvent`], [`Profile`] |
//! | calls that this crate lacks | `raw()` and `from_raw` of each type, [`Device::extension_function`] |
//!
//! Safety rests on the following rules. The exception is the creation of a [`Program`], whose kernels the caller
//! vouches for:
//!
//! - Commands own the host memory that they read or write until they have completed ([`PendingRead`], [`OwnedValues`]), or
//!   block.
//! - Slices of device memory exist only in map guards and host closures. A map waits for all commands that use the
//!   memory. Commands that would access mapped bytes return an error. A host closure and other commands wait for each
//!   other. Leaking a guard only leaves the memory mapped.
//! - Arguments are checked against the parameters that the compiler reports.
//! - Objects of another context are rejected before the driver receives them, and functions that a device does not list
//!   are not called.
//!
//! Commands on different queues, or in an out-of-order queue, run in the order of their wait lists. If kernels write
//! the same memory at the same time, its values are undefined, as in OpenCL.
//!
//! A command fails if an event of its wait list fails; if one has already failed, the call returns an error.
//!
//! Errors are those of [`interop_core::Error`]. `InvalidInput` and `Foreign` are errors of the caller. `Unsupported`
//! names the query that shows the missing capability. `Driver` has the call and the code of all other errors.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc = include_str!("pyopencl.md")]
pub mod pyopencl {}

mod answers;
mod arg;
mod bound_kernel;
mod buffer;
mod cache;
mod collect;
mod command_memory;
mod context;
mod context_options;
mod copy_kernels;
mod device;
mod device_info;
mod discover;
mod element;
mod enqueue;
mod error;
mod event;
mod extension;
#[allow(missing_docs)] // private, except for what is named below
mod ffi;
mod fission;
mod flags;
mod gl;
mod gl_support;
mod image;
mod image_format;
mod image_transfer;
mod kernel;
mod kernel_facts;
mod map;
mod map_view;
mod native;
mod param;
mod pixel;
mod plain;
mod platform;
mod private;
mod program;
mod program_binaries;
mod queue;
mod raw;
mod sealed_binary;
mod sorts;
mod strided_copy;
mod transfer;
mod user_event;
mod view;

pub use crate::ffi::{GlObject, ImageBox, RectLayout, Status};
pub use arg::{Arg, KeptArg, Value};
pub use bound_kernel::{BoundKernel, ParamKey};
pub use buffer::{Buffer, HostBuffer, LentMemory};
pub use cache::BinaryCache;
pub use collect::EnqueuedCommand;
pub use command_memory::{OwnedValues, PendingRead};
pub use context::Context;
pub use context_options::{ContextOptions, ContextProperty};
pub use device::Device;
pub use element::Element;
pub use error::no_device;
pub use event::{CommandType, Event};
pub use fission::{Partition, PartitionKind};
pub use flags::{
    AffinityDomain, CacheType, DeviceType, ExecCapabilities, FpConfig, InfoValue, LocalMemType, MemFlags,
    QueueCapabilities, SvmCapabilities,
};
pub use gl::GlMemory;
pub use image::{Addressing, Filter, Image, ImageSize, Sampler};
pub use image_format::{ChannelOrder, ChannelType, ImageFormat, ImageType};
pub use image_transfer::{Colour, ImageMapRead, ImageMapWrite};
pub use interop_core::compute::Profile;
pub use kernel::{Kernel, NdRange, WorkGroupInfo};
pub use map::{MapRead, MapWrite};
pub use map_view::{ViewMapRead, ViewMapWrite};
pub use native::NativeKernel;
pub use param::{AddressSpace, ImageAccess, Param};
pub use pixel::Pixel;
pub use platform::Platform;
pub use program::{BinaryType, BuildStatus, Object, Program};
pub use queue::{Priority, Queue, QueueOptions, Throttle};
pub use sorts::{ParamSort, type_size};
pub use transfer::Migration;
pub use user_event::UserEvent;
pub use view::NdView;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_opencl;
