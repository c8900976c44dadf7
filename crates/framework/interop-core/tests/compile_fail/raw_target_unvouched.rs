//! A name of memory counts for nothing before somebody vouches for what it names.

use interop_core::{BufferView, RawMemory, RawTarget, View};

fn main() {
    let memory = RawMemory::Host { address: std::ptr::null_mut() };
    let view = View::Buffer(BufferView { offset: 0, len: 64 });
    println!("{:?}", RawTarget::new(memory, view)); //~ E0133
}
