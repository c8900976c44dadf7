//! Memory and semaphores that another API, or a display that draws by this one, has, too.
//!
//! | where | what |
//! |---|---|
//! | `external` | memory behind handles of the operating system (`cl_khr_external_memory`) |
//! | `gl` | objects of OpenGL's (`cl_khr_gl_sharing`) |
//! | `gl_listed` | whether a device shares with OpenGL |
//! | `gl_sync` | how the two sides are kept apart |
//! | `image` | images, which kernels write by `PF_STORE` |
//! | `own` | the backend's own memory, for a display that draws by it |
//! | `semaphore` | semaphores behind such handles (`cl_khr_external_semaphore`) |
//! | `caps` | what of it a device has |

pub mod caps;
pub mod external;
pub mod gl;
pub mod gl_listed;
pub mod gl_sync;
pub mod image;
pub mod own;
pub mod semaphore;
