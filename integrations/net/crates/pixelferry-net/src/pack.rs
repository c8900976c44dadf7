//! A sender's codec: fixed, or chosen for the connection.

use crate::error::{CLOSED, Error, Result};
use crate::lock::lock;
use crate::net::{DeliveryOptions, Net};
use crate::status::Entry;
use pixelferry::PixelFormat;
use pixelferry_media::wire::{Codec, Header, MessageKind};
use pixelferry_rules::choose::Chooser;
use pixelferry_rules::key;
use pixelferry_rules::link::{Link, Links};
use pixelferry_rules::packing::Packing;
use pixelferry_rules::report::Report;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};

/// Packs one sender's pixels.
pub(crate) struct Packer {
    net: Net,
    entry: Arc<Entry>,
    /// The key of the pixels, and delivery options. Marks must not overtake pixels.
    key: String,
    way: DeliveryOptions,
    packing: Packing,
    quality: u8,
    /// Made at the first use of the connection's properties.
    auto: Mutex<Option<Auto>>,
}

struct Auto {
    chooser: Chooser,
    links: Arc<Mutex<Links>>,
    /// Codec and connection that `probe` was told last.
    told: Option<(Codec, Option<Link>)>,
    marks: Publisher<'static>,
    _reports: Subscriber<()>,
}

impl Packer {
    pub fn new(net: &Net, entry: &Arc<Entry>, (key, way): (String, DeliveryOptions), quality: u8) -> Self {
        let (net, entry) = (net.clone(), entry.clone());
        Self { net, entry, key, way, packing: Packing::default(), quality, auto: Mutex::new(None) }.told()
    }

    /// Sets another codec; forgets the measured properties of the connection.
    pub fn with(&self, packing: Packing, quality: u8) -> Self {
        let (net, entry, key) = (self.net.clone(), self.entry.clone(), self.key.clone());
        Self { net, entry, key, way: self.way, packing, quality, auto: Mutex::new(None) }.told()
    }

    /// False if a picture of this format would be an error.
    pub fn takes(&self, format: PixelFormat) -> bool {
        !matches!(self.packing, Packing::Fixed(codec) if !codec.takes(format))
    }

    fn told(self) -> Self {
        self.entry.pack(self.packing.name());
        self
    }

    /// Encodes tight rows of the header's region. Returns the message's header, and its payload unless that is the
    /// rows.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a fixed codec does not support the format; [`Error::Zenoh`].
    pub fn pack(&self, header: &Header, pixels: &[u8]) -> Result<(Header, Option<Vec<u8>>)> {
        let codec = match self.packing {
            Packing::Fixed(codec) => codec,
            Packing::Auto { lossy } => self.choose(lossy, header, pixels)?,
            // None at present.
            _ => Codec::None,
        };
        let header = Header { codec, ..*header };
        let begun = Instant::now();
        let packed = header.pack_rows(pixels, self.quality).map_err(Error::from_packing)?;
        if let (Some(packed), Some(auto)) = (&packed, lock(&self.auto).as_mut()) {
            auto.chooser.note(codec, pixels.len(), packed.len(), begun.elapsed().as_secs_f64());
        }
        let payload = packed.as_ref().map_or(pixels.len(), Vec::len) as u64;
        Ok((Header { payload, ..header }, packed))
    }

    fn choose(&self, lossy: bool, header: &Header, pixels: &[u8]) -> Result<Codec> {
        let mut auto = lock(&self.auto);
        if auto.is_none() {
            *auto = Some(self.listen(lossy)?);
        }
        let Some(auto) = auto.as_mut() else { return Ok(Codec::None) };
        let link = lock(&auto.links).median(Instant::now());
        let codec = auto.chooser.choose(header, pixels, self.quality, link);
        if auto.told != Some((codec, link)) {
            auto.told = Some((codec, link));
            let link = link.map_or("no viewer or display has reported yet".into(), |link| link.to_string());
            self.entry.pack(&format!("{codec} ({}: {link})", self.packing));
        }
        Ok(codec)
    }

    fn listen(&self, lossy: bool) -> Result<Auto> {
        const OP: &str = "Packing::Auto";
        let marks = self.net.publisher(OP, key::mark(&self.key), DeliveryOptions { express: true, ..self.way })?;
        let links = Arc::new(Mutex::new(Links::default()));
        let (told, entry, limits) = (links.clone(), self.entry.clone(), self.net.limits());
        let report = move |message: &ZBytes| match Report::read(&message.to_bytes(), &limits) {
            Ok(report) => lock(&told).note(&report, Instant::now()),
            Err(refused) => entry.refuse(&refused),
        };
        let reports = self.net.subscribe(OP, key::report(&self.key), report)?;
        Ok(Auto { chooser: Chooser::new(lossy), links, told: None, marks, _reports: reports })
    }

    /// Call this directly before sending the message with this header: receivers measure from here on, if the codec
    /// depends on the connection.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn mark(&self, header: &Header) -> Result<()> {
        let auto = lock(&self.auto);
        let Some(auto) = auto.as_ref() else { return Ok(()) };
        let sent = auto.marks.put(mark(header)).attachment(self.net.place_bytes()).wait();
        sent.map_err(Error::zenoh("Packing::Auto", CLOSED))
    }

    /// Returns whether receivers measure.
    pub fn is_auto(&self) -> bool {
        matches!(self.packing, Packing::Auto { .. })
    }
}

/// The mark that precedes the message with this header, with the sender's place.
pub(crate) fn mark(header: &Header) -> Vec<u8> {
    Header { kind: MessageKind::Mark, codec: Codec::None, payload: 0, ..*header }.to_bytes().to_vec()
}
