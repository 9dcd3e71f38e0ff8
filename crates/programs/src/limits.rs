//! Limits of this crate, each with its reason. Over a limit, the rest becomes unknown; it is never silently ignored.

/// Letters of one cluster (`-rf`) that are all used; of later letters, only new ones. Real clusters have up to ten.
pub(crate) const CLUSTER_LETTERS_MAX: usize = 64;

/// Characters of an argument that are searched for the prefix of a model (`exec=`, `alias.NAME=!`). Real prefixes end
/// within tens; the search is quadratic. If a prefix may end later, the text becomes unknown.
pub(crate) const DETAIL_CHARS_MAX: usize = 200;

/// Places of `{}` in a template that get the values after `:::`; further places get unknown input. Real templates have
/// one or two. The text grows with places times values.
pub(crate) const INPUT_PLACES_MAX: usize = 8;
/// Starts of one search that are followed; one unknown start replaces all further ones. Real searches name a few. Each
/// start is an argument of the command that is run.
pub(crate) const SEARCH_STARTS_MAX: usize = 64;

/// Bytes of code in an argument that are scanned. Real programs of awk and sed on a command line have hundreds.
pub(crate) const CODE_BYTES_MAX: usize = 65_536;

/// Terms of a search's expression that are read; the results of a longer expression are unknown. Real expressions have
/// tens. Each action reads all of them.
pub(crate) const SEARCH_TERMS_MAX: usize = 200;

/// Commands of ex in one argument. Real texts have a few; each command searches for its end in all of the rest.
pub(crate) const COMMANDS_MAX: usize = 200;
