//! A frame cannot be drawn while another is being computed.

fn main() {}

fn misuse(link: &mut pixelferry::Link) -> pixelferry::Result<()> {
    let frame = link.acquire()?;
    let shown = link.shown()?;
    println!("{}", shown.desc());
    frame.finish()
}
