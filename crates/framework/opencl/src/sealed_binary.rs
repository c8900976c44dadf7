//! Binaries with a check for damage and for the right device, because some drivers crash on damaged ones.

use super::{Device, Param};
use interop_core::Result;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The first bytes of a binary that the user keeps.
const MAGIC: &[u8] = b"pixelferry OpenCL binary 3\n";

/// SHA-256. It detects damage; it has no key, so it does not prove the origin of the bytes.
pub fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
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

pub fn put_number(out: &mut Vec<u8>, number: u64) {
    put(out, &number.to_le_bytes());
}

/// Parameters of the kernels, kept with the binaries, because drivers may not report them for binaries.
pub type KernelParams = HashMap<String, Vec<Param>>;

pub fn put_params(out: &mut Vec<u8>, all: &KernelParams) {
    put_number(out, all.len() as u64);
    for (kernel, params) in all {
        put(out, kernel.as_bytes());
        put_number(out, params.len() as u64);
        for param in params {
            put(out, param.name.as_bytes());
            put(out, param.type_name.as_bytes());
            put_number(out, param.address.into());
            put_number(out, param.access.into());
            put_number(out, param.qualifiers);
            // 0 for none: a type without bytes has no size.
            put_number(out, param.bytes.unwrap_or(0) as u64);
        }
    }
}

pub fn take_params(from: &mut &[u8]) -> Option<KernelParams> {
    let mut all = KernelParams::new();
    for _ in 0..take_number(from)? {
        let kernel = take_text(from)?;
        let params = (0..take_number(from)?).map(|_| take_param(from)).collect::<Option<_>>()?;
        all.insert(kernel, params);
    }
    Some(all)
}

fn take_param(from: &mut &[u8]) -> Option<Param> {
    Some(Param {
        name: take_text(from)?,
        type_name: take_text(from)?,
        address: take_number(from)?.try_into().ok()?,
        access: take_number(from)?.try_into().ok()?,
        qualifiers: take_number(from)?,
        bytes: Some(usize::try_from(take_number(from)?).ok()?).filter(|bytes| *bytes > 0),
    })
}

pub fn take_text(from: &mut &[u8]) -> Option<String> {
    String::from_utf8(take(from)?.to_vec()).ok()
}

/// Returns the bytes with a sum that identifies them.
pub fn seal(magic: &[u8], bytes: &[u8]) -> Vec<u8> {
    [magic, &hash(bytes), bytes].concat()
}

/// Returns `None` where the bytes are not a result of [`seal`].
pub fn unseal<'a>(magic: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, rest) = bytes.strip_prefix(magic)?.split_first_chunk()?;
    (hash(rest) == *sum).then_some(rest)
}

/// Returns everything of a device on which a binary depends.
pub fn device_key(device: &Device) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    put(&mut key, device.name().as_bytes());
    put(&mut key, device.driver_version().as_bytes());
    put(&mut key, device.platform().version()?.as_bytes());
    put(&mut key, device.version()?.as_bytes());
    Ok(key)
}

/// Wraps a driver's binary for the user to keep.
pub fn seal_binary(device: &Device, binary: &[u8], params: &KernelParams) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    put(&mut out, &device_key(device)?);
    put(&mut out, binary);
    put_params(&mut out, params);
    Ok(seal(MAGIC, &out))
}

/// Result of opening a user's binary.
pub enum OpenedBinary<'a> {
    /// Undamaged, and for this device and driver.
    Own(&'a [u8], KernelParams),
    /// Made by [`seal_binary`], but damaged, or for another device or driver.
    Wrong,
    /// Not made by this crate.
    Foreign(&'a [u8]),
}

pub fn open_binary<'a>(device: &Device, bytes: &'a [u8]) -> Result<OpenedBinary<'a>> {
    // If its first bytes are missing or damaged, it must not be treated as foreign.
    let begins = bytes.iter().zip(MAGIC).filter(|(a, b)| a == b).count();
    if begins < MAGIC.len().min(bytes.len()) / 2 {
        return Ok(OpenedBinary::Foreign(bytes));
    }
    let Some(mut rest) = unseal(MAGIC, bytes) else { return Ok(OpenedBinary::Wrong) };
    let key = device_key(device)?;
    let own = take(&mut rest).filter(|k| *k == key);
    let own = own.and_then(|_| Some(OpenedBinary::Own(take(&mut rest)?, take_params(&mut rest)?)));
    Ok(own.unwrap_or(OpenedBinary::Wrong))
}
