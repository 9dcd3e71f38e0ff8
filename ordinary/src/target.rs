//! The figures that the ordinary set must reach, and the sampling error of a seed.

use castellan_ordinary::Measured;

/// The figures of a profile, in calls among a thousand.
struct Target {
    profile: &'static str,
    /// The most interrupted calls.
    interrupted: u32,
    /// The least allowed calls. Only reported.
    allowed: Option<u32>,
}

/// Rivals ask in 0.1 to 1.6 % of ordinary calls, and people switch off what asks in 4 %. `strict` asks by its purpose
/// before what it does not know, and nobody waits for `autonomous`.
const TARGETS: &[Target] = &[
    Target { profile: "standard", interrupted: 10, allowed: None },
    Target { profile: "quiet", interrupted: 10, allowed: Some(750) },
    Target { profile: "strict", interrupted: 80, allowed: None },
    Target { profile: "autonomous", interrupted: 50, allowed: Some(750) },
];

/// Standard errors above the target that are still chance: at three, one of some hundred runs fails without a cause.
const ERRORS: f64 = 3.0;

/// Returns the message for a profile whose share is above its target by more than chance.
pub(crate) fn missed(measured: &Measured) -> Option<String> {
    let target = TARGETS.iter().find(|target| target.profile == measured.profile)?;
    let most = f64::from(target.interrupted) / 1000.0;
    let limit = most + ERRORS * error(&measured.projects, most);
    let share = share(&measured.projects);
    (share > limit).then(|| {
        let (share, limit) = (share * 100.0, limit * 100.0);
        format!("{}: {share:.2} % interrupted, more than {limit:.2} %", measured.profile)
    })
}

/// Returns in words the most interrupted and the least allowed calls of a profile.
pub(crate) fn wanted(profile: &str) -> (String, String) {
    let percent = |thousandths: u32| format!("{:.1} %", f64::from(thousandths) / 10.0);
    let Some(target) = TARGETS.iter().find(|target| target.profile == profile) else {
        return Default::default();
    };
    let allowed = target.allowed.map(|allowed| format!(" of {}", percent(allowed)));
    (percent(target.interrupted), allowed.unwrap_or_default())
}

/// Returns the share of interrupted calls.
#[expect(clippy::cast_precision_loss, reason = "counts of calls in memory")]
pub(crate) fn share(projects: &[(usize, usize)]) -> f64 {
    let sum = |of: fn(&(usize, usize)) -> usize| projects.iter().map(of).sum::<usize>() as f64;
    sum(|(_, interrupted)| *interrupted) / sum(|(calls, _)| *calls).max(1.0)
}

/// Returns the standard error of the share: the larger one of independent calls with the share `expected`, and of the
/// projects. Calls of one project have common causes, so they are not independent.
#[expect(clippy::cast_precision_loss, reason = "counts of calls in memory")]
pub(crate) fn error(projects: &[(usize, usize)], expected: f64) -> f64 {
    let all = projects.iter().map(|(calls, _)| *calls).sum::<usize>().max(1) as f64;
    let share = share(projects);
    let square = |(calls, interrupted): &(usize, usize)| {
        let difference = *interrupted as f64 - share * *calls as f64;
        difference * difference
    };
    let of_projects = projects.iter().map(square).sum::<f64>().sqrt() / all;
    (expected * (1.0 - expected) / all).sqrt().max(of_projects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_larger_where_interruptions_are_in_few_projects() {
        let even = vec![(100, 1); 40];
        let mut uneven = vec![(100, 0); 38];
        uneven.extend([(100, 20); 2]);
        assert!((share(&even) - share(&uneven)).abs() < 1e-9);
        assert!((error(&even, 0.01) - 0.001_573).abs() < 1e-5, "{}", error(&even, 0.01));
        assert!(error(&uneven, 0.01) > 0.006, "{}", error(&uneven, 0.01));
    }
}
