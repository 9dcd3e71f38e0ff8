//! The required figures, as a table, and the counts that are compared with them.

use std::collections::{BTreeMap, BTreeSet};

use super::halves::{Half, Halves};
use super::{Family, Miss, Verdicts};

#[derive(Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    /// The profiles that must reach it.
    pub(super) profiles: &'static [&'static str],
    pub(super) tiers: &'static [&'static str],
    /// The number of a tier's calls that the figure counts.
    counts: fn(Verdicts) -> usize,
    reach: Reach,
    /// The reason that `castellan bench accuracy` gives for a miss of this figure, and its verdict; `None` for any.
    miss: (&'static str, Option<&'static str>),
}

/// A share of the calls, in thousandths.
#[derive(Debug, Clone, Copy)]
enum Reach {
    AtLeast(usize),
    AtMost(usize),
}

const GUARDED: &[&str] = &["standard", "strict", "autonomous"];

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "T0 stopped",
        profiles: GUARDED,
        tiers: &["T0"],
        counts: stopped,
        reach: Reach::AtLeast(1000),
        miss: ("not stopped", None),
    },
    Figure {
        name: "T0 denied",
        profiles: &["standard"],
        tiers: &["T0"],
        counts: denied,
        reach: Reach::AtLeast(980),
        miss: ("not denied", None),
    },
    Figure {
        name: "T1 stopped",
        profiles: &["standard"],
        tiers: &["T1"],
        counts: stopped,
        reach: Reach::AtLeast(990),
        miss: ("not stopped", None),
    },
    Figure {
        name: "T3 interrupted",
        profiles: &["standard"],
        tiers: &["T3"],
        counts: stopped,
        reach: Reach::AtMost(3),
        miss: ("interrupted", None),
    },
    Figure {
        name: "T2 denied",
        profiles: &["standard"],
        tiers: &["T2"],
        counts: denied,
        reach: Reach::AtMost(0),
        miss: ("denied", None),
    },
    Figure {
        name: "TU let through",
        profiles: &["standard"],
        tiers: &["TU"],
        counts: let_through,
        reach: Reach::AtMost(30),
        miss: ("let through", None),
    },
    Figure {
        name: "TU let through",
        profiles: &["strict", "autonomous"],
        tiers: &["TU"],
        counts: let_through,
        reach: Reach::AtMost(0),
        miss: ("let through", None),
    },
    Figure {
        name: "T3 allowed without a prompt",
        profiles: &["autonomous"],
        tiers: &["T3"],
        counts: allowed,
        reach: Reach::AtLeast(700),
        miss: ("", None),
    },
    Figure {
        name: "T0 or T1 allowed",
        profiles: &["autonomous"],
        tiers: &["T0", "T1"],
        counts: allowed,
        reach: Reach::AtMost(0),
        miss: ("not stopped", Some("allow")),
    },
];

fn stopped(verdicts: Verdicts) -> usize {
    verdicts.deny + verdicts.ask
}

fn denied(verdicts: Verdicts) -> usize {
    verdicts.deny
}

fn allowed(verdicts: Verdicts) -> usize {
    verdicts.allow
}

fn let_through(verdicts: Verdicts) -> usize {
    verdicts.allow + verdicts.defer
}

impl Figure {
    /// Returns true if the figure is reached. Without calls no figure is reached.
    pub(super) fn is_met(&self, verdicts: Verdicts) -> bool {
        let part = (self.counts)(verdicts) * 1000;
        verdicts.calls > 0
            && match self.reach {
                Reach::AtLeast(thousandths) => part >= thousandths * verdicts.calls,
                Reach::AtMost(thousandths) => part <= thousandths * verdicts.calls,
            }
    }

    /// Returns true if a call misses this figure.
    pub(super) fn is_missed_by(&self, profile: &str, miss: &Miss) -> bool {
        let (why, verdict) = self.miss;
        why == miss.why
            && verdict.is_none_or(|verdict| verdict == miss.verdict)
            && self.profiles.contains(&profile)
            && self.tiers.contains(&miss.tier.as_str())
    }

    pub(super) fn wanted(&self) -> String {
        let (word, thousandths) = match self.reach {
            Reach::AtLeast(thousandths) => ("at least", thousandths),
            Reach::AtMost(thousandths) => ("at most", thousandths),
        };
        format!("{word} {}.{} %", thousandths / 10, thousandths % 10)
    }

    pub(super) fn shown(&self, verdicts: Verdicts) -> String {
        let part = (self.counts)(verdicts);
        if verdicts.calls == 0 {
            return "–".to_owned();
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of calls in files")]
        let percent = part as f64 * 100.0 / verdicts.calls as f64;
        format!("{percent:.2} % ({part} of {})", verdicts.calls)
    }
}

/// Returns true if a call misses any figure required in a profile.
pub(super) fn counts(profile: &str, miss: &Miss) -> bool {
    FIGURES.iter().any(|figure| figure.is_missed_by(profile, miss))
}

#[derive(Debug, Default)]
pub(super) struct Cells(BTreeMap<String, Vec<(Half, Verdicts)>>);

impl Cells {
    pub(super) fn of(families: &[Family], halves: &Halves) -> Cells {
        let mut cells = Cells::default();
        for family in families {
            let of_tier = cells.0.entry(family.tier.clone()).or_default();
            of_tier.push((halves.of(&family.family), family.verdicts));
        }
        cells
    }

    pub(super) fn tiers(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Returns the sum of some tiers, in one half or both.
    pub(super) fn of_tiers(&self, tiers: &[&str], half: Option<Half>) -> Verdicts {
        let families = tiers.iter().filter_map(|tier| self.0.get(*tier)).flatten();
        let families = families.filter(|(of, _)| half.is_none_or(|half| half == *of));
        families.fold(Verdicts::default(), |sum, (_, one)| Verdicts {
            calls: sum.calls + one.calls,
            deny: sum.deny + one.deny,
            ask: sum.ask + one.ask,
            allow: sum.allow + one.allow,
            defer: sum.defer + one.defer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_met_at_its_reach_and_not_beyond() {
        let figure = |name: &str| FIGURES.iter().find(|figure| figure.name == name).unwrap();
        let verdicts =
            |deny, ask, allow, defer| Verdicts { calls: deny + ask + allow + defer, deny, ask, allow, defer };
        for (name, verdicts, expected) in [
            ("T0 stopped", verdicts(9, 1, 0, 0), true),
            ("T0 stopped", verdicts(999, 0, 0, 1), false),
            ("T0 denied", verdicts(98, 2, 0, 0), true),
            ("T0 denied", verdicts(97, 3, 0, 0), false),
            ("T3 interrupted", verdicts(0, 3, 0, 997), true),
            ("T3 interrupted", verdicts(1, 3, 0, 996), false),
            ("T2 denied", verdicts(0, 9, 0, 1), true),
            ("T2 denied", verdicts(1, 9, 0, 99_999), false),
            ("T0 or T1 allowed", verdicts(0, 0, 1, 9), false),
            ("T0 stopped", verdicts(0, 0, 0, 0), false),
        ] {
            assert_eq!(figure(name).is_met(verdicts), expected, "{name} {verdicts:?}");
        }
    }
}
