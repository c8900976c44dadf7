//! A text is no kernel before somebody vouches for it.

fn main() {
    let source = interop_core::KernelSource::new("k");
    println!("{:?}", source.with_text(interop_core::Language::Ptx, ".version 8.0")); //~ E0133
}
