//! CUDA C++ is no kernel before somebody vouches for it.

fn main() {
    let source = interop_core::KernelSource::new("k");
    println!("{:?}", source.cuda_cpp("__global__ void k() {}")); //~ E0133
}
