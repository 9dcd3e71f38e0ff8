//! Limits of this crate, each with its reason.

/// Characters of an argument in which the beginning that a model asks for (`exec=`, `alias.NAME=!`) is looked for. Real ones
/// end within tens; the look is quadratic in it.
pub(crate) const DETAIL_CHARS_MAX: usize = 200;

/// Places of `{}` in a template into which the values after `:::` are put; in more, input that is not known. Real templates
/// have one or two; the text grows with places times values.
pub(crate) const INPUT_PLACES_MAX: usize = 8;
