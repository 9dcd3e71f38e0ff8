//! Limits of this crate, each with its reason. A limit that is reached makes something unknown, never silent.

/// Letters of one cluster (`-rf`) that each count; of those after them only what is new. Real ones have up to ten.
pub(crate) const CLUSTER_LETTERS_MAX: usize = 64;

/// Characters of an argument in which the beginning that a model asks for (`exec=`, `alias.NAME=!`) is looked for. Real ones
/// end within tens; the look is quadratic in it. A beginning that may end later makes the text unknown.
pub(crate) const DETAIL_CHARS_MAX: usize = 200;

/// Places of `{}` in a template into which the values after `:::` are put; in more, input that is not known. Real templates
/// have one or two; the text grows with places times values.
pub(crate) const INPUT_PLACES_MAX: usize = 8;
/// Starts of one search that are followed. One start that is not known replaces all further ones. Real searches name a few; each is
/// an argument of the command that is run.
pub(crate) const SEARCH_STARTS_MAX: usize = 64;

/// Bytes of code in an argument that are looked at. Real programs of awk and sed on a command line have hundreds.
pub(crate) const CODE_BYTES_MAX: usize = 65_536;

/// Terms of a search's expression that are looked at; what a longer one finds is not known. Real ones have tens; each action
/// in it looks at all of them.
pub(crate) const SEARCH_TERMS_MAX: usize = 200;

/// Commands of ex in one argument. Real ones have a few; each looks for its end in all of the rest.
pub(crate) const COMMANDS_MAX: usize = 200;
