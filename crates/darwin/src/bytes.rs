//! Numbers and texts at offsets of a buffer from the kernel. macOS runs on little-endian processors only.

/// Returns the bytes at an offset; `None` if the buffer ends before.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    array(bytes, at).map(i32::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

pub(crate) fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    array(bytes, at).map(i64::from_le_bytes)
}

/// Returns the text in a field of `length` bytes up to its NUL. `None` without a NUL: such a text is cut.
pub(crate) fn text_at(bytes: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    let end = field.iter().position(|byte| *byte == 0)?;
    field.get(..end)
}
