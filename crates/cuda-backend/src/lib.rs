//! CUDA compute of pixelferry.
