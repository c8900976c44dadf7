//! Windows under real display servers, once and thousands of times, and machines without one or without OpenGL. An event
//! loop can be made once in a process and EGL is loaded once, so each case runs in a process of its own.

mod canvas;
mod churn;
mod drawings_wgpu;
mod once;
mod rounds;
mod show;
mod visit;
