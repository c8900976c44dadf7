//! One browser: sends it pictures, and handles the messages of its page.

use super::gateway_state::GatewayState;
use super::pace::Pace;
use super::video::Seat;
use super::web_options::BrowserCodec;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tokio::task::block_in_place;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How often a browser is pinged.
const BEAT: Duration = Duration::from_secs(10);
/// A browser that sends or accepts nothing for this long counts as gone.
const SILENCE: Duration = Duration::from_secs(30);

/// Status that the page gets besides pictures.
#[derive(Serialize)]
struct Status<'a> {
    scene: &'a str,
    served: bool,
    /// False if its input is refused.
    #[serde(skip_serializing_if = "Clone::clone")]
    steering: bool,
    /// Codec that the page should ask for.
    #[serde(skip_serializing_if = "is_served")]
    codec: BrowserCodec,
    /// Reason why it does not get what it asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
}

fn is_served(hop: &BrowserCodec) -> bool {
    *hop == BrowserCodec::Served
}

/// A message of the page.
#[derive(Deserialize)]
#[serde(untagged)]
enum PageMessage {
    /// Number of further pictures that were shown or skipped.
    Taken { taken: u32 },
    /// Codec that the page wants, starting with a keyframe.
    Codec { codec: BrowserCodec },
}

#[derive(Debug, thiserror::Error)]
pub enum ViewerEnd {
    #[error(transparent)]
    Socket(#[from] axum::Error),
    #[error("it accepted nothing for {SILENCE:?}")]
    Stalled,
    #[error("it sent nothing for {SILENCE:?}")]
    Silent,
    #[error("its message is not part of the protocol")]
    Foreign,
}

/// Sends pictures until the browser leaves.
pub async fn serve(mut socket: WebSocket, shared: &GatewayState, may_steer: bool) -> Result<(), ViewerEnd> {
    let (mut pictures, mut served) = (shared.pictures.subscribe(), shared.served.subscribe());
    let (mut problem, mut seat) = (shared.video.problem(), None);
    // A new viewer first gets its rights, then the current picture.
    pictures.mark_changed();
    let text = status(shared, *served.borrow_and_update(), false, may_steer);
    send(&mut socket, text).await?;
    let (mut pace, mut heard, mut beat) = (Pace::new(), Instant::now(), interval(BEAT));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // This fails if the gateway has ended, and the socket with it.
            Ok(()) = served.changed() => {
                let text = status(shared, *served.borrow_and_update(), seat.is_some(), may_steer);
                send(&mut socket, text).await?;
            }
            Ok(()) = problem.changed(), if seat.is_some() => {
                problem.mark_unchanged();
                let text = status(shared, *served.borrow(), true, may_steer);
                send(&mut socket, text).await?;
            }
            Ok(()) = pictures.changed(), if pace.is_open() && !seat.as_ref().is_some_and(Seat::is_synced) => {
                let picture = pictures.borrow_and_update().clone();
                if let Some(picture) = picture {
                    let packed = || block_in_place(|| picture.small());
                    let message = if seat.is_some() { packed() } else { picture.message() };
                    pace.sent(Instant::now());
                    send(&mut socket, Message::Binary(message)).await?;
                }
            }
            unit = next(&mut seat), if pace.is_open() => {
                // If a unit was skipped, other pictures may be due now.
                if let Some(unit) = unit {
                    pace.sent(Instant::now());
                    send(&mut socket, Message::Binary(unit)).await?;
                }
            }
            message = socket.recv() => {
                let Some(message) = message else { return Ok(()) };
                heard = Instant::now();
                let had_asked = seat.is_some();
                if !take(message?, shared, may_steer, &mut pace, &mut seat) {
                    let frame = CloseFrame { code: close_code::POLICY, reason: "invalid message".into() };
                    send(&mut socket, Message::Close(Some(frame))).await?;
                    return Err(ViewerEnd::Foreign);
                }
                if seat.is_some() && !had_asked && problem.borrow().is_some() {
                    problem.mark_changed();
                }
            }
            _ = beat.tick() => {
                if heard.elapsed() > SILENCE {
                    return Err(ViewerEnd::Silent);
                }
                send(&mut socket, Message::Ping(Bytes::new())).await?;
            }
        }
    }
}

/// Waits for the next unit, if the browser has video.
async fn next(seat: &mut Option<Seat>) -> Option<Bytes> {
    match seat {
        Some(seat) => seat.next().await,
        None => std::future::pending().await,
    }
}

fn status(shared: &GatewayState, served: bool, has_asked: bool, steering: bool) -> Message {
    let problem = if has_asked { shared.video.problem().borrow().clone() } else { None };
    let status = Status { scene: &shared.scene, served, steering, codec: shared.hop, problem: problem.as_deref() };
    Message::Text(serde_json::to_string(&status).unwrap_or_default().into())
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), ViewerEnd> {
    Ok(timeout(SILENCE, socket.send(message)).await.map_err(|_| ViewerEnd::Stalled)??)
}

/// Returns `false` for a message that the page never sends.
fn take(message: Message, shared: &GatewayState, may_steer: bool, pace: &mut Pace, seat: &mut Option<Seat>) -> bool {
    match message {
        Message::Binary(input) => {
            if may_steer {
                shared.source.send(&input);
            } else {
                tracing::debug!("an input was refused: its browser has no token for it");
            }
            true
        }
        Message::Text(text) => {
            let now = Instant::now();
            match (serde_json::from_str(&text), seat.as_mut()) {
                (Ok(PageMessage::Taken { taken }), _) => return (0..taken).all(|_| pace.taken(now)),
                (Ok(PageMessage::Codec { codec: BrowserCodec::H264 }), Some(seat)) => seat.ask(),
                (Ok(PageMessage::Codec { codec: BrowserCodec::H264 }), None) => {
                    let newest = shared.pictures.borrow().as_ref().map(|picture| picture.message());
                    *seat = Some(shared.video.join(newest));
                }
                (Ok(PageMessage::Codec { codec: BrowserCodec::Served }), _) => *seat = None,
                (Err(_), _) => return false,
            }
            true
        }
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => true,
    }
}
