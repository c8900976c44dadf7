//! Memory and semaphores that another API has, too.
//!
//! | where | what |
//! |---|---|
//! | `external` | memory behind file descriptors (`cl_khr_external_memory`) |
//! | `gl` | objects of OpenGL's (`cl_khr_gl_sharing`) |
//! | `image` | images, which kernels write by `PF_STORE` |
//! | `semaphore` | semaphores behind file descriptors (`cl_khr_external_semaphore`) |
//! | `caps` | what of it a device has |

pub mod caps;
#[cfg(unix)]
pub mod external;
pub mod gl;
pub mod image;
#[cfg(unix)]
pub mod semaphore;
