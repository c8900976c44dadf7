//! PTX is no kernel before somebody vouches for it.

fn main() {
    let source = interop_core::KernelSource::new("k");
    println!("{:?}", source.ptx(".version 8.0")); //~ E0133
}
