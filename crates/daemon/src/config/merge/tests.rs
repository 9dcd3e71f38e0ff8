use std::path::Path;

use super::*;
use crate::config::{Config, LayerText};

const ORGANISATION: &str = "/etc/castellan/config.toml";
const USER: &str = "/u/config.toml";
const PROJECT: &str = ".castellan/config.toml";

fn settled(organisation: &str, user: &str, project: &str) -> Settled {
    let text = |layer, file, text: &str| (layer, Path::new(file), format!("version = 1\n{text}"));
    let texts = [
        text(Layer::Organisation, ORGANISATION, organisation),
        text(Layer::User, USER, user),
        text(Layer::Project, PROJECT, project),
    ];
    let texts: Vec<LayerText<'_>> =
        texts.iter().map(|(layer, file, text)| LayerText { layer: *layer, file, text }).collect();
    Config::of(&texts).unwrap().settled
}

/// Checks the effective values of a key and their origin: `value layer line`, with `*` for a preset of a profile.
fn check(key: &str, (organisation, user, project): (&str, &str, &str), expected: &[&str]) {
    let settled = settled(organisation, user, project);
    let shown = |sourced: &Sourced| {
        let value = match &sourced.value {
            Value::Word(word) => (*word).to_owned(),
            Value::Text(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Selections(list) => format!("{} selections", list.len()),
            Value::Outputs(list) => format!("{} outputs", list.len()),
        };
        let at = sourced.at.as_ref().map_or("default".to_owned(), |(_, line)| line.to_string());
        let preset = if sourced.is_preset { "*" } else { "" };
        format!("{value} {} {at}{preset}", sourced.layer)
    };
    let counts: Vec<String> = settled.counts(key).iter().map(shown).collect();
    assert_eq!(counts, expected, "{key}: {organisation} | {user} | {project}");
}

#[test]
fn the_strictest_counts() {
    check("mode", ("", "", ""), &["enforce user default"]);
    check("mode", ("", "mode = 'monitor'", ""), &["monitor user 2"]);
    check("mode", ("mode = 'enforce'", "mode = 'monitor'", ""), &["enforce organisation 2"]);
    check("mode", ("", "mode = 'monitor'", "mode = 'enforce'"), &["enforce project 2"]);
    check("mode", ("mode = 'monitor'", "mode = 'enforce'", "mode = 'passthrough'"), &["enforce user 2"]);
    // A key that is absent in the user's file has its default.
    check("mode", ("mode = 'monitor'", "", ""), &["enforce user default"]);
    check("opaque", ("opaque = 'defer'", "", ""), &["ask user default*"]);
    check("opaque", ("opaque = 'deny'", "opaque = 'defer'", ""), &["deny organisation 2"]);
    check(
        "level.session",
        ("level.session = 'workspace-write'", "level.session = 'off'", "level.session = 'read-only'"),
        &["read-only project 2"],
    );
    check("rules.reload", ("", "rules.reload = 'watch'", ""), &["watch user 2"]);
    check(
        "rules.reload",
        ("rules.reload = 'apply'", "rules.reload = 'watch'", ""),
        &["apply organisation 2"],
    );
    check(
        "rules.priority",
        ("rules.priority = 'info'", "rules.priority = 'error'", ""),
        &["info organisation 2"],
    );
}

#[test]
fn profiles_are_expanded_before_they_meet() {
    check("opaque", ("profile = 'strict'", "", ""), &["deny organisation 2*"]);
    check("opaque", ("profile = 'strict'", "opaque = 'defer'", ""), &["deny organisation 2*"]);
    check("opaque", ("\nprofile = 'strict'\nopaque = 'ask'", "profile = 'kit'", ""), &["ask organisation 4"]);
    check("level.session", ("", "profile = 'kit'", "profile = 'strict'"), &["workspace-write project 2*"]);
    check("allow_understood", ("", "profile = 'autonomous'", ""), &["true user 2*"]);
    check(
        "allow_understood",
        ("profile = 'strict'", "profile = 'autonomous'", ""),
        &["false organisation 2*"],
    );
    check("allow_understood", ("", "profile = 'autonomous'", "profile = 'standard'"), &["false project 2*"]);
    check("unknown_workspace", ("profile = 'strict'", "", ""), &["read-only organisation 2*"]);
    check("tools", ("", "", "profile = 'observer'"), &["false project 2*"]);
    check("profile", ("profile = 'kit'", "profile = 'strict'", ""), &["strict user 2"]);
    // In sessions without a person, the profile's denial stays in force.
    check(
        "headless_default",
        ("default = 'defer'", "profile = 'strict'\ndefault = 'allow'", ""),
        &["deny user 2*"],
    );
    check("headless_default", ("default = 'defer'", "default = 'allow'", ""), &["defer organisation 2*"]);
}

#[test]
fn lists_are_united_and_the_highest_says_the_rest() {
    let both = ("deny = ['Bash(a)', 'Bash(b)']", "\ndeny = ['Bash(c)']", "deny = [\n'Bash(a)']");
    check(
        "deny",
        both,
        &["Bash(a) organisation 2", "Bash(b) organisation 2", "Bash(c) user 3", "Bash(a) project 3"],
    );
    check("tags.deny", ("", "tags.deny = 'x'", ""), &["x user 2"]);
    check("tags.deny", ("tags.deny = 'y'", "tags.deny = 'x'", ""), &["y organisation 2"]);
    check("log.notable_days", ("log.notable_days = 7", "", ""), &["7 organisation 2"]);
    check("rules.select", ("", "rules.select = [{disable = {rule = '*'}}]", ""), &["1 selections user 2"]);
}

#[test]
fn a_locked_key_is_the_organisations() {
    let lock = |key: &str| format!("locked = ['{key}']");
    check("opaque", ("locked = ['opaque']", "opaque = 'defer'", ""), &["ask organisation default*"]);
    check("opaque", ("locked = ['opaque']\nopaque = 'ask'", "opaque = 'defer'", ""), &["ask organisation 3"]);
    check("headless_opaque", ("locked = ['opaque']", "opaque = 'defer'", ""), &["ask organisation default*"]);
    // A lower layer may be stricter.
    check("opaque", ("locked = ['opaque']", "opaque = 'deny'", ""), &["deny user 2"]);
    check("mode", ("locked = ['mode']", "mode = 'monitor'", ""), &["enforce organisation default"]);
    check(
        "allow_understood",
        ("locked = ['profile']", "profile = 'autonomous'", ""),
        &["false organisation default*"],
    );
    check("level.session", ("locked = ['profile']", "profile = 'strict'", ""), &["workspace-write user 2*"]);
    check("allow", (&lock("allow"), "allow = ['Bash(a)']", "allow = ['Bash(b)']"), &[]);
    check("deny", (&lock("deny"), "deny = ['Bash(a)']", ""), &["Bash(a) user 2"]);
    check(
        "tags.deny",
        (&lock("tags.deny"), "tags.deny = 'x'", ""),
        &["coding_agent_deny organisation default"],
    );
    check(
        "rules.select",
        (&lock("rules.select"), "rules.select = [{disable = {rule = '*'}}]", ""),
        &["0 selections organisation default"],
    );
    check("log.fsync", (&lock("log.fsync"), "log.fsync = true", ""), &["false organisation default"]);
}

#[test]
fn what_is_locked_in_vain_is_told() {
    let user = "opaque = 'defer'\nallow = ['Bash(a)']\ntags.deny = 'x'\nmode = 'enforce'";
    let settled =
        settled("\n\nlocked = ['opaque', 'allow', 'tags.deny', 'mode']\nmode = 'enforce'", user, "");
    let line = |line: usize, key: &str| {
        format!("`{USER}`:{line}: `{key}` has no effect: the organisation locked it (`{ORGANISATION}`:4)")
    };
    // The mode is equal, so it is not reported.
    let expected = [line(2, "opaque"), line(3, "allow"), line(4, "tags.deny")];
    assert_eq!(settled.ignored(), expected);
}

#[test]
fn nobody_below_trusts_a_hook_that_the_organisations_word_bars() {
    let trusted = "hooks.trusted = ['mine']";
    check("hooks.trusted", ("", trusted, ""), &["mine user 2"]);
    check(
        "hooks.trusted",
        ("profile = 'autonomous'", &format!("profile = 'strict'\n{trusted}"), ""),
        &["mine user 3"],
    );
    check("hooks.trusted", ("profile = 'strict'", trusted, ""), &[]);
    check(
        "hooks.trusted",
        ("profile = 'strict'\nhooks.trusted = ['ours']", trusted, ""),
        &["ours organisation 3"],
    );
    // With and without the same profile in the user's file.
    check("hooks.trusted", ("profile = 'strict'", &format!("profile = 'strict'\n{trusted}"), ""), &[]);
}

#[test]
fn what_is_laxer_than_the_organisation_is_said_in_vain() {
    let check = |organisation: &str, user: &str, expected: &[&str]| {
        assert_eq!(settled(organisation, user, "").in_vain(), expected, "{organisation} | {user}");
    };
    check(
        "mode = 'enforce'",
        "mode = 'monitor'",
        &[
            "`/u/config.toml`:2: `mode` has no effect: the organisation sets \"enforce\" (`/etc/castellan/config.toml`:2)",
        ],
    );
    check("mode = 'monitor'", "mode = 'monitor'", &[]);
    check("mode = 'monitor'", "mode = 'enforce'", &[]);
    check("", "mode = 'monitor'", &[]);
    check(
        "locked = ['mode']",
        "mode = 'monitor'",
        &[
            "`/u/config.toml`:2: `mode` has no effect: the organisation locked it (`/etc/castellan/config.toml`:2)",
        ],
    );
    check(
        "profile = 'strict'",
        "opaque = 'defer'\nhooks.trusted = ['mine']",
        &[
            "`/u/config.toml`:2: `opaque` has no effect: the organisation sets \"deny\" (`/etc/castellan/config.toml`:2)",
            "`/u/config.toml`:3: `hooks.trusted` has no effect: the organisation blocks calls beside foreign hooks \
         (`/etc/castellan/config.toml`:2)",
        ],
    );
}

#[test]
fn a_lower_layer_only_tightens_how_far_a_pack_counts() {
    check("packs.git", ("", "", ""), &["enforce user default"]);
    check("packs.git", ("", "packs.git = 'observe'", ""), &["observe user 2"]);
    check("packs.git", ("", "packs.git = 'off'", "packs.git = 'enforce'"), &["enforce project 2"]);
    check("packs.git", ("", "packs.git = 'observe'", "packs.git = 'off'"), &["observe user 2"]);
    check("packs.git", ("packs.git = 'observe'", "packs.git = 'off'", ""), &["observe organisation 2"]);
    check(
        "packs.git",
        ("locked = ['packs.git']", "packs.git = 'off'", ""),
        &["enforce organisation default"],
    );
    check("tiers.review", ("", "profile = 'kit'", ""), &["observe user 2*"]);
    check("tiers.review", ("", "profile = 'kit'", "profile = 'standard'"), &["enforce project 2*"]);
}

#[test]
fn what_gets_milder_is_named() {
    let of = |user: &str| settled("", user, "");
    for (before, after, expected) in [
        ("", "profile = 'strict'", &[][..]),
        ("profile = 'kit'", "", &[]),
        (
            "",
            "profile = 'kit'",
            &[
                "profile",
                "default",
                "opaque",
                "boundary.mode",
                "new_mcp_server",
                "headless_default",
                "headless_opaque",
                "tiers.review",
            ],
        ),
        ("", "profile = 'autonomous'", &["allow_understood"]),
        ("profile = 'strict'", "profile = 'strict'\nopaque = 'ask'", &["opaque"]),
        ("", "packs.git = 'observe'", &["packs.git"]),
        ("packs.git = 'off'", "packs.git = 'observe'", &[]),
        ("", "deny = ['Bash(ls)']", &[]),
        ("deny = ['Bash(a)', 'Bash(b)']", "deny = ['Bash(c)', 'Bash(b)']", &["deny"]),
        ("ask = ['Bash(a)', 'Bash(b)']", "ask = ['Bash(b)']", &["ask"]),
        ("", "allow = ['Bash(ls)']", &["allow"]),
        ("allow = ['Bash(a)', 'Bash(b)']", "allow = ['Bash(b)']", &[]),
        ("allow = ['Bash(a)']", "allow = ['Bash(b)']", &["allow"]),
        ("hooks.trusted = ['a']", "", &[]),
        ("", "ask_wait = 5", &["ask_wait"]),
        ("", "boundary.mode = 'off'", &["boundary.mode"]),
        ("", "boundary.mode = 'strict'", &[]),
        ("", "boundary.read_mib = 20", &["boundary.read_mib"]),
        ("", "boundary.write_mib = 0", &["boundary.write_mib"]),
    ] {
        assert_eq!(of(after).milder_than(&of(before)), expected, "{before} -> {after}");
    }
}
