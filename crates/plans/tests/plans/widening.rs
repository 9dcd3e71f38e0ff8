//! Comparisons of two plans.

use castellan_plans::widens;

use crate::support::read;

#[test]
fn more_than_the_old_plan_widens() {
    let plan = |lists: &str| {
        read(&format!("castellan_plan: 1\n{lists}")).unwrap_or_else(|error| panic!("{lists}: {error}"))
    };
    let check = |old: &str, new: &str, expected: bool| {
        assert_eq!(widens(&plan(old), &plan(new)), expected, "{old:?} to {new:?}");
    };
    for key in ["commands", "writes", "hosts", "branches"] {
        check("", &format!("{key}: [a]"), false);
        check(&format!("{key}: [a]"), "", true);
        check(&format!("{key}: []"), &format!("{key}: [a]"), true);
        check(&format!("{key}: [a, b]"), &format!("{key}: [b]"), false);
        check(&format!("{key}: [a]"), &format!("{key}: []"), false);
        check(&format!("{key}: [a]"), &format!("{key}: [a]\nsteps: [{{{key}: [b]}}]"), true);
        check(&format!("{key}: [a, b]"), &format!("steps: [{{{key}: [b]}}, {{text: x, {key}: [a]}}]"), false);
    }
    check("name: a", "name: b", false);
    check("commands: [git *]", "commands: [git push]", false);
    check("commands: [git *]", "commands: [git push * --tags]", false);
    check("commands: [git *]", "commands: ['git push *']", false);
    check("commands: [git push *]", "commands: [git *]", true);
    check("commands: [git push]", "commands: [git push *]", true);
    check("commands: [cargo t*]", "commands: [cargo test]", false);
    check("commands: [cargo t*]", "commands: [cargo tes*]", true);
    check("commands: [cargo * x]", "commands: [cargo a* x]", false);
    check("commands: [\"echo '*'\"]", "commands: [echo x]", true);
    check("commands: [echo ** x]", "commands: [\"echo '*' x\"]", false);
    check("commands: [blis]", "commands: [./blis]", true);
    check("writes: [src]", "writes: [src/a/*.rs]", false);
    check("writes: [src]", "writes: [src/**/x]", false);
    check("writes: [src/*/x]", "writes: [src/**/x]", true);
    check("writes: [src/**/x]", "writes: [src/a/x]", true);
    check("writes: [src/a*]", "writes: [src/ab/c]", false);
    check("writes: [.]", "writes: [src]", false);
    check("writes: [src]", "writes: [.]", true);
    check("writes: [.]", "writes: [//src]", true);
    check("writes: [//src]", "writes: [src]", true);
    check("writes: [src/**]", "writes: [src/]", false);
    check("hosts: ['*.a.org']", "hosts: [a.org, b.a.org, '*.b.a.org']", false);
    check("hosts: ['*.a.org']", "hosts: [xa.org]", true);
    check("hosts: [a.org]", "hosts: ['*.a.org']", true);
    check("branches: [a/*]", "branches: [a/b]", false);
    check("branches: [a/*]", "branches: [a/b*]", true);
    check("branches: ['*']", "branches: [a/b*]", false);
    check("budget: {calls: 2}", "budget: {calls: 2}", false);
    check("budget: {calls: 2}", "budget: {calls: 1}", false);
    check("budget: {calls: 2}", "budget: {calls: 3}", true);
    check("budget: {calls: 2}", "", true);
    check("", "budget: {calls: 3}", false);
    check("budget: {minutes: 2}", "budget: {minutes: 3}", true);
    check("expires: 2026-01-01T00:00:00Z", "expires: 2026-01-01T01:00:00+01:00", false);
    check("expires: 2026-01-01T00:00:00Z", "expires: 2026-01-01T00:00:01Z", true);
    check("expires: 2026-01-01T00:00:00Z", "", true);
}
