//! Programs in languages that castellan does not read. Of such a program in a file of the project, only its words are
//! known. Must not know what the words mean.

use castellan_event::{Facts, Why};

use super::{file_of, held, opaque};
use crate::next::{From, Place, Program};
use crate::owner::is_plain;
use crate::scene::Scene;

/// Languages whose files command another program that runs elsewhere or outlives the call.
const ORDERS: &[&str] = &["hta", "keys", "redis-lua", "wsh"];

/// Adds an Opaque effect: of the program's file, if it exists, is not in [`ORDERS`], and has none of these words.
pub(super) fn add(
    program: &Program,
    word: &str,
    mut place: Place,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    if let From::File(file) = &program.from {
        let texts = held(file, &place, true, scene);
        let is_plain = |text: &Result<String, Why>| text.as_ref().is_ok_and(|text| is_plain(text));
        if !ORDERS.contains(&word) && texts.iter().all(is_plain) {
            place.file = file_of(file, &place);
        }
    }
    opaque(&place, (Why::Language, word), scene, facts);
}
