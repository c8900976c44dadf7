//! Memory and semaphores shared with another API, or with a display that draws with this backend.
//!
//! | module | content |
//! |---|---|
//! | `external` | memory behind handles of the operating system (`cl_khr_external_memory`) |
//! | `gl` | OpenGL objects (`cl_khr_gl_sharing`) |
//! | `gl_sync` | synchronisation of the two sides |
//! | `image`, `image_format` | images, which kernels write with `PF_STORE` |
//! | `own` | the backend's own memory, for a display that draws with it |
//! | `semaphore` | semaphores behind such handles (`cl_khr_external_semaphore`) |
//! | `handle_memory`, `handle_semaphore` | the driver's calls for both |
//! | `turns` | OpenCL's turns with shared memory |
//! | `caps` | the capabilities of a device |

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
