//! A frame cannot be drawn while another is being computed.

fn main() {}

fn misuse(link: &mut interop_core::Link) -> interop_core::Result<()> {
    let frame = link.acquire()?;
    let shown = link.shown()?; //~ E0502
    println!("{}", shown.desc());
    frame.finish()
}
