//! OpenCL compute of pixelferry.
