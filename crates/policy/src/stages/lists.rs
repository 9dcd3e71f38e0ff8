//! The operator's own lists: deny, ask and allow patterns of each layer. Does not depend on the meaning of a pattern.

use castellan_event::{Code, Finding, Layer, Verdict};

use crate::case::{Case, Reading};
use crate::operator::ShortMatch;
use crate::stages::{Found, allow};

/// Deny patterns that fired.
pub(super) fn deny(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let lists = case.settings().operators.denies(case.call, reading.rows(), case.answers);
    lists.flat_map(|(layer, list)| findings(layer, list, Verdict::Deny, Code::OperatorDeny)).collect()
}

/// Ask patterns that fired.
pub(super) fn ask(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let lists = case.settings().operators.asks(case.call, reading.rows(), case.answers);
    lists.flat_map(|(layer, list)| findings(layer, list, Verdict::Ask, Code::OperatorAsk)).collect()
}

/// Layers whose allow patterns cover every leaf of the call. An Opaque part is never covered.
pub(super) fn allow(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let operators = &case.settings().operators;
    let covers = |layer: &Layer| {
        allow::leaves(reading.rows()).all(|leaf| {
            !allow::is_opaque(leaf.row) && operators.cover(*layer, case.call, leaf.row, case.answers)
        })
    };
    let message = |layer| format!("the {layer}'s allow list covers the whole call");
    let finding = |layer| Finding {
        layer: Some(layer),
        ..Finding::new(Verdict::Allow, Code::OperatorAllow, message(layer))
    };
    operators.allowing().filter(covers).map(finding).collect()
}

fn findings(
    layer: Layer,
    list: Vec<ShortMatch<'_>>,
    verdict: Verdict,
    code: Code,
) -> impl Iterator<Item = Finding> {
    list.into_iter().map(move |ShortMatch { rule, rows }| Finding {
        rule: rule.to_owned(),
        layer: Some(layer),
        is_firm: layer == Layer::Organisation,
        rows,
        ..Finding::new(verdict, code, format!("the {layer}'s {verdict} list contains `{rule}`"))
    })
}
