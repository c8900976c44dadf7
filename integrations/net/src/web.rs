//! `pixelferry-net web`: a scene's pictures in browsers.

use crate::failure::Failure;
use crate::join::{Through, join, secret};
use crate::output::say;
use crate::{metrics, stop};
use clap::{Args, ValueEnum};
use pixelferry_media::web::{Hop, WebOptions};
use std::net::SocketAddr;
use std::path::PathBuf;

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
    /// File with a token: only who opens the page with ?token= and it may look.
    #[arg(long, value_name = "FILE")]
    watch_token: Option<PathBuf>,
    /// File with a token: only who opens the page with ?token= and it may send input; others watch only.
    #[arg(long, value_name = "FILE")]
    steer_token: Option<PathBuf>,
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
    web.tokens.watch = options.watch_token.as_deref().map(secret).transpose()?;
    web.tokens.steer = options.steer_token.as_deref().map(secret).transpose()?;
    let gateway = join(&options.through)?.gateway(&options.scene, web)?;
    say(format_args!("open http://{}", gateway.address()))?;
    while stop::wait(stop::LOOK) {
        metrics::beat();
        metrics::set("pixelferry_browsers", gateway.viewers() as f64);
    }
    Ok(())
}
