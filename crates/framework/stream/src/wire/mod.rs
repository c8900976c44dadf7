//! What publisher and subscribers share: the socket, its messages, and the pages that both map.

pub(crate) mod frame;
pub(crate) mod message;
pub(crate) mod pages;
pub(crate) mod socket;
pub(crate) mod table;
