//! OpenCL C is no kernel before somebody vouches for it.

fn main() {
    let source = interop_core::KernelSource::new("k");
    println!("{:?}", source.opencl_c("kernel void k() {}")); //~ E0133
}
