//! Every call of every path fails once, forever, and with all that follow: what is shown is always the frame finished
//! last, the link goes on by another path, nothing leaks, and the reason is kept.

mod conform;
mod engine;
mod fallback;
mod matrix;
mod pieces;
mod rig;
mod run;
mod table;
