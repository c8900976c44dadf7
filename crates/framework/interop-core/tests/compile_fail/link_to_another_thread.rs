//! A link stays on the thread of its display.

fn main() {}

fn misuse(link: interop_core::Link) {
    std::thread::spawn(move || drop(link)); //~ E0277
}
