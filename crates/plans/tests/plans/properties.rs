//! Laws: reading never panics, a plan survives writing and reading, and more in a plan never adds departures.

use castellan_event::{Effect, EffectKind, Facts, LocatedFile, Object, Operation, Remote, Scope};
use castellan_plans::{
    Allowed, BranchPattern, CallView, CommandPattern, DepartureKind, HostPattern, PathPattern, Plan,
    PlanParts, check, covers, render, snippets, widens,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::support::read;

/// Texts of patterns, out of few words so that patterns and calls meet.
fn patterns<T: std::fmt::Debug + Clone>(
    text: &'static str,
    parse: fn(&str) -> Option<T>,
) -> impl Strategy<Value = Option<Vec<T>>> {
    option::of(vec(text.prop_filter_map("no pattern", move |text| parse(&text)), 0..4))
}

fn allowed() -> impl Strategy<Value = Allowed> {
    (
        patterns("(a|b|./a|'a b'|\"a)( (\\*|x|x\\*|'\\*'|\u{1}|\\\\ |'x y'|é)){0,3}", |text| {
            CommandPattern::parse(text).ok()
        }),
        patterns("(|//|~/|\\./)(a|b|\\*|\\*\\*|a\\*|~)(/(a|b|\\*|\\*\\*|a\\*|\u{202e})){0,3}", |text| {
            PathPattern::parse(text).ok()
        }),
        patterns("(\\*\\.)?(h|a\\.h|H\\.|::1)", |text| HostPattern::parse(text).ok()),
        patterns("(refs/heads/)?(a|b|a/\\*|\\*)", |text| BranchPattern::parse(text).ok()),
    )
        .prop_map(|(commands, writes, hosts, branches)| Allowed { commands, writes, hosts, branches })
}

fn plan() -> impl Strategy<Value = PlanParts> {
    let budget = (option::of(any::<u64>()), option::of(any::<u64>()));
    let steps = vec((".{0,6}", allowed()), 0..3);
    let expires = option::of(-1_000_000_000_i64..4_000_000_000);
    ("\\PC{0,6}|.{0,6}", expires, budget, allowed(), steps).prop_map(
        |(name, expires_s, (calls, minutes), own, steps)| {
            let step = |(text, allowed)| castellan_plans::Step { text, allowed };
            PlanParts {
                name,
                expires_s,
                budget: castellan_plans::Budget { calls, minutes },
                own,
                steps: steps.into_iter().map(step).collect(),
            }
        },
    )
}

fn effect() -> impl Strategy<Value = Effect> {
    let path = "/(w|h|o)(/(a|b|aa|\\*|\\[a\\]|\\*\\*)){0,3}";
    prop_oneof![
        (path, any::<bool>()).prop_map(|(path, is_tool)| {
            let home_bytes = path.starts_with("/h").then_some(2);
            let scope = Some(Scope::Workspace);
            let file =
                LocatedFile { path: Some(path), home_bytes, scope, place: scope, ..LocatedFile::default() };
            Effect { command: (!is_tool).then_some(0), ..Effect::on_file(EffectKind::Write, file) }
        }),
        "(h|a\\.h|x|::1)".prop_map(|host| {
            let remote = Remote { host: Some(host), class: None, url: None };
            Effect { object: Object::Remote(Box::new(remote)), ..Effect::of(EffectKind::Connect) }
        }),
        "(a|b|a/c|HEAD)".prop_map(|branch| {
            let (system, verb) = (Some("git".to_owned()), Some("push".to_owned()));
            let op = Operation { system, verb, target: Some(branch), ..Operation::of(EffectKind::Mutate) };
            let object = Object::Repository { place: Some(Scope::Workspace), guard: None };
            Effect { op, object, ..Effect::default() }
        }),
    ]
}

fn facts() -> impl Strategy<Value = Facts> {
    let command = (option::of("[abc]"), vec("(x|xy|x y|\\*|a b)", 0..3)).prop_map(|(name, args)| {
        let line = args.join(" ");
        castellan_event::Command { name, args, line, wrappers_are_neutral: true, ..Default::default() }
    });
    (vec(command, 0..4), vec(effect(), 0..5)).prop_map(|(commands, effects)| Facts {
        commands,
        effects,
        ..Facts::default()
    })
}

fn view(facts: &Facts) -> CallView<'_> {
    CallView { facts, root: "/w", branch: Some("a"), calls_so_far: 1, started_s: 0, now_s: 100 }
}

/// Departures other than those of the whole plan.
fn parts(plan: &Plan, facts: &Facts) -> Vec<(DepartureKind, String)> {
    let whole = [DepartureKind::Expired, DepartureKind::Calls, DepartureKind::Minutes];
    let found = check(plan, &view(facts)).into_iter().filter(|one| !whole.contains(&one.kind));
    found.map(|one| (one.kind, one.subject)).collect()
}

/// Adds the entries of the lists that a plan has. A list that it has not would be a new limit.
fn extended(parts: &PlanParts, more: &Allowed) -> PlanParts {
    fn add<T: Clone>(list: &mut Option<Vec<T>>, more: &Option<Vec<T>>) {
        if let Some(list) = list {
            list.extend(more.iter().flatten().cloned());
        }
    }
    let mut parts = parts.clone();
    add(&mut parts.own.commands, &more.commands);
    add(&mut parts.own.writes, &more.writes);
    add(&mut parts.own.hosts, &more.hosts);
    add(&mut parts.own.branches, &more.branches);
    parts
}

proptest! {
    #[test]
    fn any_bytes_are_a_plan_or_an_error(bytes in vec(any::<u8>(), 0..300)) {
        _ = castellan_plans::read(&bytes, &|text| vec![text.to_owned()]);
    }

    #[test]
    fn any_lines_are_a_plan_or_an_error(lines in vec("(castellan_plan: 1|arms:| *- *|commands:|  x: \\[a, b|\\{|\\}|\\]|&a|\\*a|!t|'|\"|\\|\n|#|---|.{0,8})", 0..20)) {
        if let Err(error) = castellan_plans::read(lines.join("\n").as_bytes(), &|text| vec![text.to_owned()]) {
            prop_assert!(error.line > 0 && error.column > 0 && !error.fault.to_string().is_empty());
        }
    }

    #[test]
    fn any_markdown_has_snippets(markdown in "(`|```|sh|\n|\\$ |    |~~~|a/b| |.){0,60}") {
        for snippet in snippets(&markdown) {
            prop_assert!(snippet.line >= 1 && snippet.line <= markdown.matches('\n').count() + 1);
        }
    }

    #[test]
    fn a_written_plan_is_the_same_plan(parts in plan()) {
        let plan = Plan::from(parts);
        let text = render(&plan);
        let again = read(&text).map_err(|error| error.to_string());
        prop_assert_eq!(again, Ok(plan), "{}", text);
    }

    #[test]
    fn more_in_a_plan_adds_no_departure(parts_of in plan(), more in allowed(), facts in facts()) {
        let wide = Plan::from(extended(&parts_of, &more));
        let before = parts(&Plan::from(parts_of), &facts);
        for departure in parts(&wide, &facts) {
            // Arguments of a program that is now known.
            let is_the_same = |one: &&(DepartureKind, String)| one.1 == departure.1;
            prop_assert!(before.iter().any(|one| is_the_same(&one)), "{:?}", departure);
        }
    }

    #[test]
    fn a_list_without_entries_departs_most(parts_of in plan(), facts in facts()) {
        let none = Allowed { commands: Some(vec![]), writes: Some(vec![]), hosts: Some(vec![]), branches: Some(vec![]) };
        let narrow = Plan::from(PlanParts { own: none, steps: Vec::new(), ..parts_of.clone() });
        let wide = Plan::from(parts_of);
        prop_assert!(!parts(&narrow, &facts).is_empty() || parts(&wide, &facts).is_empty());
        prop_assert!(!widens(&wide, &narrow));
    }

    #[test]
    fn each_program_less_is_a_departure(facts in facts(), removed in any::<prop::sample::Index>()) {
        let of = |without: &str| {
            let names = facts.commands.iter().filter_map(|command| command.name.as_deref());
            let patterns = names.filter(|name| *name != without).map(|name| CommandPattern::parse(&format!("{name} *")));
            let own = Allowed { commands: Some(patterns.map(Result::unwrap).collect()), ..Allowed::default() };
            Plan::from(PlanParts { own, ..PlanParts::default() })
        };
        let departs = |plan: &Plan, name: &str| {
            let lines = facts.commands.iter().filter(|one| one.name.as_deref() == Some(name)).map(|one| &one.line);
            let found = parts(plan, &facts);
            lines.filter(|line| found.contains(&(DepartureKind::Command, (*line).clone()))).count() > 0
        };
        let names: Vec<&str> = facts.commands.iter().filter_map(|command| command.name.as_deref()).collect();
        if !names.is_empty() {
            let name = *removed.get(&names);
            prop_assert!(departs(&of(name), name));
            prop_assert!(!parts(&of(""), &facts).iter().any(|(kind, _)| *kind == DepartureKind::Command));
        }
    }

    #[test]
    fn what_does_not_widen_permits_no_more(old in plan(), new in plan(), facts in facts()) {
        let (old, new) = (Plan::from(old), Plan::from(new));
        prop_assert!(!widens(&old, &old));
        if !widens(&old, &new) {
            let departs = |plan| !check(plan, &view(&facts)).is_empty();
            prop_assert!(!departs(&old) || departs(&new));
        }
    }

    #[test]
    fn covered_calls_have_no_departure(parts in plan(), facts in facts()) {
        let plan = Plan::from(parts);
        let view = view(&facts);
        prop_assert!(!covers(&plan, &view).is_covered() || check(&plan, &view).is_empty());
    }
}
