//! `pixelferry-net web`: a scene's pictures in browsers.

use crate::failure::Failure;
use crate::output::say;
use crate::{Through, join};
use clap::{Args, ValueEnum};
use pixelferry_media::web::{Hop, WebOptions};
use std::net::SocketAddr;

#[derive(Clone, Copy, ValueEnum)]
enum Codec {
    /// As the scene is served.
    Served,
    /// Video, by GStreamer; JPEG where it or the browser cannot.
    H264,
}

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    through: Through,
    /// Address and port that browsers open. Beyond this machine everybody who reaches it may look and send input.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Name under which browsers open it, besides localhost and numbers; may be given many times.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Most browsers at a time.
    #[arg(long, default_value_t = WebOptions::default().viewers)]
    viewers: usize,
    /// Form in which pictures go to browsers.
    #[arg(long, value_enum, default_value = "served")]
    codec: Codec,
    /// Name of the scene.
    #[arg(long, default_value = crate::SCENE)]
    scene: String,
}

/// Serves the page until it is ended.
pub fn run(options: &Options) -> Result<(), Failure> {
    let mut web = WebOptions::at(options.listen);
    web.names.clone_from(&options.names);
    web.viewers = options.viewers;
    web.hop = match options.codec {
        Codec::Served => Hop::Served,
        Codec::H264 => Hop::H264,
    };
    let gateway = join(&options.through)?.gateway(&options.scene, web)?;
    say(format_args!("open http://{}", gateway.address()))?;
    loop {
        std::thread::park();
    }
}
