//! Bytes that are whole and of the right device, or are not taken: some drivers end the process on a damaged binary.

use super::Device;
use interop_core::Result;

/// The first bytes of a binary for the user.
const MAGIC: &[u8] = b"pixelferry OpenCL binary 1\n";

/// FNV-1a, which is the same on every machine.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

pub fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

pub fn take<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest) = from.split_first_chunk::<8>()?;
    let (bytes, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    *from = rest;
    Some(bytes)
}

pub fn take_number(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(from)?.try_into().ok()?))
}

pub fn take_text(from: &mut &[u8]) -> Option<String> {
    String::from_utf8(take(from)?.to_vec()).ok()
}

/// Bytes with a sum to know them by again.
pub fn seal(magic: &[u8], bytes: &[u8]) -> Vec<u8> {
    [magic, &hash(bytes).to_le_bytes(), bytes].concat()
}

/// `None` where the bytes are not what [`seal`] made.
pub fn unseal<'a>(magic: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, rest) = bytes.strip_prefix(magic)?.split_first_chunk::<8>()?;
    (hash(rest) == u64::from_le_bytes(*sum)).then_some(rest)
}

/// All of a device that a binary depends on.
pub fn device_key(device: &Device) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    put(&mut key, device.name().as_bytes());
    put(&mut key, device.driver_version().as_bytes());
    put(&mut key, device.platform().version()?.as_bytes());
    put(&mut key, device.version()?.as_bytes());
    Ok(key)
}

/// A driver's binary for the user to keep.
pub fn seal_binary(device: &Device, binary: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    put(&mut out, &device_key(device)?);
    put(&mut out, binary);
    Ok(seal(MAGIC, &out))
}

/// What a user's binary is.
pub enum Opened<'a> {
    /// Whole, and of this device and driver.
    Own(&'a [u8]),
    /// Made by [`seal_binary`], but damaged, or of another device or driver.
    Wrong,
    /// From elsewhere.
    Foreign(&'a [u8]),
}

pub fn open_binary<'a>(device: &Device, bytes: &'a [u8]) -> Result<Opened<'a>> {
    // Cut or damaged in its first bytes, it must not pass for one from elsewhere.
    let begins = bytes.iter().zip(MAGIC).filter(|(a, b)| a == b).count();
    if begins < MAGIC.len().min(bytes.len()) / 2 {
        return Ok(Opened::Foreign(bytes));
    }
    let Some(mut rest) = unseal(MAGIC, bytes) else { return Ok(Opened::Wrong) };
    let key = device_key(device)?;
    let own = take(&mut rest).filter(|k| *k == key).and_then(|_| take(&mut rest));
    Ok(own.map_or(Opened::Wrong, Opened::Own))
}
