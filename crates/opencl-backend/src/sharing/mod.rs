//! Memory and semaphores that another API, or a display that draws by this one, has, too.
//!
//! | where | what |
//! |---|---|
//! | `external` | memory behind handles of the operating system (`cl_khr_external_memory`) |
//! | `gl` | objects of OpenGL's (`cl_khr_gl_sharing`) |
//! | `gl_sync` | how the two sides are kept apart |
//! | `image`, `image_format` | images, which kernels write by `PF_STORE` |
//! | `own` | the backend's own memory, for a display that draws by it |
//! | `semaphore` | semaphores behind such handles (`cl_khr_external_semaphore`) |
//! | `handle_memory`, `handle_semaphore` | the driver's calls for both |
//! | `turns` | OpenCL's turns with memory of others |
//! | `caps` | what of it a device has |

pub mod caps;
pub mod external;
pub mod gl;
pub mod gl_sync;
pub mod handle_memory;
pub mod handle_semaphore;
pub mod image;
pub mod image_format;
pub mod own;
pub mod semaphore;
pub mod turns;
