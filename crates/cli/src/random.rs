//! Random numbers of a run, and ids from them.

use anyhow::Context;

/// Returns a random number.
pub(crate) fn random() -> anyhow::Result<u128> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).context("no random numbers")?;
    Ok(u128::from_be_bytes(bytes))
}

/// Returns a random UUID of version 4.
pub(crate) fn random_id() -> anyhow::Result<String> {
    let number = random()? & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let text = format!("{number:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| text.get(part).unwrap_or_default());
    Ok(parts.join("-"))
}
