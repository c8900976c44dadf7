//! Links the library so that it stays in a process that unloads it.
//!
//! Much of it is made once for a process and cannot go while that runs:
//!
//! | what stays | why |
//! |---|---|
//! | the Vulkan instance and its driver's threads | NVIDIA's driver takes down everybody's EGL displays with the last instance |
//! | the drivers of OpenCL, CUDA and Vulkan | they have threads and exit handlers of their own, and many crash when they are unloaded |
//! | the handlers of Xlib's errors, callbacks of OpenCL and Vulkan | whoever has their addresses calls them later |
//! | threads of the CPU backend and of queues | they may still end when the last handle was freed |
//! | destructors of thread-local values | threads of the host's run them when they end |
//!
//! Unloaded and loaded again, the library would find none of it and make all of it once more: 5 threads and 1.9 MiB in each round on
//! Mesa's lavapipe. So `dlclose` leaves it mapped, and the next `dlopen` gets it back as it was.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name| std::env::var(name).unwrap_or_default();
    // Programs for ELF systems; elsewhere linkers know no such flag.
    if of("CARGO_CFG_TARGET_FAMILY").split(',').any(|family| family == "unix")
        && of("CARGO_CFG_TARGET_VENDOR") != "apple"
    {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
