//! Compares the access level that a call needs by its effects with the level of its session. Does not depend on rules.

use castellan_event::{AccessLevel, Code, Finding, Layer};

use crate::case::{Case, Need, OwnCode, Reading, is_safe, need};
use crate::settings::Settings;
use crate::stages::Found;

/// Finds a call that needs more than the session's level or the organisation's level. No allow list exempts a call
/// above the organisation's level. That level uses the organisation's own choice of `allow_understood`, so other code
/// may be the project's own.
pub(super) fn level(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let settings = case.settings();
    if let Some(given) = settings.organisation_level {
        let rows = reading.rows();
        let allows = settings.organisation_allows_understood;
        let own_code = OwnCode::of(rows, &case.facts.scripts, is_safe, allows);
        let need = need(case.call, rows, &own_code, reading.is_prompted.then_some(&reading.own_parts));
        if given < need.level {
            return Some(short_of(&need, given, Some(Layer::Organisation), settings)).into();
        }
    }
    let active = reading.level.filter(|active| *active < reading.need.level);
    active.map(|active| short_of(&reading.need, active, None, settings)).into()
}

fn short_of(need: &Need, active: AccessLevel, layer: Option<Layer>, settings: &Settings) -> Finding {
    let Need { level, row, because } = need;
    let text = format!("this needs {level}, more than the access level {active} of the session: ");
    let rows = row.iter().copied().collect();
    let finding = Finding::new(settings.on_insufficient.verdict(), Code::Access, text).with_value(because);
    Finding { layer, rows, ..finding }
}
