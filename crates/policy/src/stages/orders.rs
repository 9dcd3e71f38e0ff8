//! Unknown text in files from which package managers and builds read instructions. Independent of the way of writing.

use castellan_event::{CallRow, Code, Effect, EffectKind, Finding, Role, Why};

use crate::case::{Case, Reading, says_what_is_installed};
use crate::stages::Found;

/// Finds an Opaque part of a command that changes such a file. Only in profiles that also check code in missing files.
pub(super) fn unknown_orders(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let (settings, rows) = (case.settings(), reading.rows());
    if !settings.minds_missing_code() {
        return Found::default();
    }
    let effects = || rows.iter().filter_map(CallRow::effect);
    let takes_orders = |command: Option<usize>| {
        let mut own =
            effects().filter(|effect| effect.command == command && effect.kind() == EffectKind::Write);
        own.find_map(|effect| effect.path().filter(|path| is_of_orders(path)))
    };
    let found = rows.iter().enumerate().find_map(|(position, row)| {
        let effect = row.effect().filter(|effect| is_unknown(effect))?;
        Some((position, effect, takes_orders(effect.command)?))
    });
    let Some((position, effect, path)) = found else { return Found::default() };
    let written = effect.target().unwrap_or_default();
    let verdict = settings.opaque_verdict(case.state.headless).verdict();
    let finding = Finding::new(verdict, Code::Opaque, "unknown text (")
        .with_value(written)
        .with_text(") goes into ")
        .with_value(path)
        .with_text(", which programs run")
        .with_remedy("write the text literally");
    Some(Finding { rows: vec![position], ..finding }).into()
}

fn is_unknown(effect: &Effect) -> bool {
    let of_words =
        [Why::Variable, Why::Parameter, Why::Substitution, Why::Expansion, Why::Dynamic, Why::Input];
    effect.kind() == EffectKind::Opaque
        && effect.role() == Some(Role::Operand)
        && effect.why().is_some_and(|why| of_words.contains(&why))
}

fn is_of_orders(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    says_what_is_installed(path)
        || matches!(name, "Makefile" | "GNUmakefile" | "makefile" | "justfile" | "Taskfile.yml")
}
