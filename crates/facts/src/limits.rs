//! Limits of the analysis. Over a limit is Opaque with its reason, never a part left out.

/// Components of one path. Real ones have tens; a path of [`castellan_event::PATH_BYTES_MAX`] bytes could have two thousand,
/// each of which is looked up.
pub(crate) const COMPONENTS_MAX: usize = 128;

/// Components of one path that are not wholly known. Real ones have up to four; each is compared with every name that
/// castellan knows.
pub(crate) const UNSURE_COMPONENTS_MAX: usize = 16;

/// Bytes of one URL. Browsers and servers stop between 2 and 8 KiB; longer ones carry data, not addresses.
pub(crate) const URL_BYTES_MAX: usize = 8 * 1024;

/// Bytes of a host: DNS names have at most 253. The rest is room for percent signs and wide characters.
pub(crate) const HOST_BYTES_MAX: usize = 1024;

/// Texts of an MCP call's input that are looked at for paths, URLs and commands. Real calls have tens; each path costs a
/// look at the file system.
pub(crate) const MCP_VALUES_MAX: usize = 256;
