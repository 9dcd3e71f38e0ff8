//! The cases of the shipped rule files, compiled in like the rule files.

use castellan_daemon::{organisation_rules, pack_of_file, shipped_rules};
use castellan_rules::Source;

const CASES: &[(&str, &str)] = &[
    ("agents", include_str!("../../../rules/agents_cases.yaml")),
    ("audit", include_str!("../../../rules/audit_cases.yaml")),
    ("cloud", include_str!("../../../rules/cloud_cases.yaml")),
    ("containers", include_str!("../../../rules/containers_cases.yaml")),
    ("databases", include_str!("../../../rules/databases_cases.yaml")),
    ("execution", include_str!("../../../rules/execution_cases.yaml")),
    ("exfiltration", include_str!("../../../rules/exfiltration_cases.yaml")),
    ("filesystem", include_str!("../../../rules/filesystem_cases.yaml")),
    ("git", include_str!("../../../rules/git_cases.yaml")),
    ("infrastructure", include_str!("../../../rules/infrastructure_cases.yaml")),
    ("kubernetes", include_str!("../../../rules/kubernetes_cases.yaml")),
    ("mcp", include_str!("../../../rules/mcp_cases.yaml")),
    ("network", include_str!("../../../rules/network_cases.yaml")),
    ("persistence", include_str!("../../../rules/persistence_cases.yaml")),
    ("privilege", include_str!("../../../rules/privilege_cases.yaml")),
    ("secrets", include_str!("../../../rules/secrets_cases.yaml")),
    ("self", include_str!("../../../rules/self_cases.yaml")),
    ("supply-chain", include_str!("../../../rules/supply-chain_cases.yaml")),
    ("web", include_str!("../../../rules/web_cases.yaml")),
];

/// Returns the shipped rule files, including the organisation's, each with the cases beside it.
pub fn shipped_cases() -> Vec<(Source, Option<Source>)> {
    let shipped = shipped_rules().iter();
    let shipped = shipped.map(|(name, text)| Source { name: (*name).to_owned(), text: (*text).to_owned() });
    let with_cases = |rules: Source| {
        let cases = cases_of(&rules.name);
        (rules, cases)
    };
    shipped.chain(organisation_rules()).map(with_cases).collect()
}

fn cases_of(file: &str) -> Option<Source> {
    let pack = pack_of_file(file);
    let (name, text) = CASES.iter().find(|(name, _)| *name == pack)?;
    Some(Source { name: format!("{name}_cases.yaml"), text: (*text).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_file_has_its_cases() {
        for (rules, cases) in shipped_cases() {
            assert!(cases.is_some(), "{}: no cases in crates/trial/src/shipped.rs", rules.name);
        }
        assert_eq!(shipped_cases().len(), CASES.len(), "cases of a file that is not shipped");
    }
}
