//! The policy hash: SHA-256 over a text of everything that changes decisions. The text must not depend on the names of
//! Rust's types or on their `Debug` output, so that only a changed policy changes the hash.
//!
//! Each setting is a line `key=value`, in a fixed order; a list has a line for each entry. Texts are escaped, so that
//! no value ends its line. All structs are destructured, so that a new setting does not compile until it has its line.

use std::fmt::{Display, Write as _};

use castellan_event::{AccessLevel, PartsHash, sha256_hex};
use castellan_rules::{AppendOutput, ExtraField, Matching, Options, Selected, Selection};

use super::{LayerRules, PolicyRule, RuleState};
use crate::boundary::BoundarySettings;
use crate::engine::EngineSettings;
use crate::operators::Operators;
use crate::review::ReviewSettings;
use crate::sandbox::{SandboxLimits, SandboxSettings};
use crate::settings::Settings;
use crate::tags::Tags;
use crate::undo::UndoSettings;
use crate::ungoverned::Ungoverned;

/// Hashes the lengths, too, so that different sets of files give different input.
pub(super) fn policy_hash(layers: &[LayerRules<'_>], settings: &Settings) -> String {
    let mut hash = PartsHash::default();
    hash.put(&settings_text(settings));
    for LayerRules { layer, sources, options, .. } in layers {
        hash.put(layer.as_str());
        hash.put(&options_text(options));
        for source in *sources {
            hash.put(&source.name);
            hash.put(&source.text);
        }
    }
    hash.hex()
}

/// Returns the hash of a policy in which some rules are not enforced. `hash`: the hash if all are.
pub(super) fn with_states<'p>(hash: &str, rules: impl Iterator<Item = PolicyRule<'p>>) -> String {
    let mut lines = Lines::default();
    for PolicyRule { layer, rule, state, .. } in rules.filter(|rule| rule.state != RuleState::Enforce) {
        lines.text(&format!("state.{layer}.{}", state.as_str()), &rule.name);
    }
    let Lines(states) = lines;
    if states.is_empty() { hash.to_owned() } else { sha256_hex(hash.to_owned() + &states) }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    /// Adds a value that contains no line break.
    fn put(&mut self, key: &str, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{key}={value}");
    }

    fn text(&mut self, key: &str, text: &str) {
        self.put(key, text.escape_default());
    }

    fn level(&mut self, key: &str, level: Option<AccessLevel>) {
        self.put(key, level.map_or("none", AccessLevel::as_str));
    }
}

fn settings_text(settings: &Settings) -> String {
    let Settings {
        profile,
        tools,
        default_verdict,
        headless_default,
        level,
        unknown_workspace,
        organisation_level,
        organisation_allows_understood,
        on_insufficient,
        opaque,
        headless_opaque,
        own_opaque,
        unknown_tool,
        new_server,
        probing,
        allow_understood,
        ungoverned,
        plans,
        review,
        sandbox,
        containment,
        undo,
        boundary,
        engine,
        operators,
        tags,
        // The states of rules are hashed separately.
        tiers: _,
        // The way of getting a person's consent changes no decision.
        presence: _,
        ask_wait_s: _,
        notify: _,
    } = settings;
    let mut lines = Lines::default();
    lines.put("profile", profile.as_str());
    lines.put("tools", tools);
    lines.put("default_verdict", default_verdict.as_str());
    lines.put("headless_default", headless_default.as_str());
    lines.level("level", *level);
    lines.level("unknown_workspace", *unknown_workspace);
    lines.level("organisation_level", *organisation_level);
    lines.put("organisation_allows_understood", organisation_allows_understood);
    lines.put("on_insufficient", on_insufficient.as_str());
    lines.put("opaque", opaque.as_str());
    lines.put("headless_opaque", headless_opaque.as_str());
    lines.put("own_opaque", own_opaque.as_str());
    lines.put("unknown_tool", unknown_tool.as_str());
    lines.put("new_server", new_server.as_str());
    lines.put("probing", probing.as_str());
    lines.put("allow_understood", allow_understood);
    put_ungoverned(&mut lines, ungoverned);
    lines.put("plans.mode", plans.mode.as_str());
    lines.put("plans.ad_hoc", plans.ad_hoc.as_str());
    put_review(&mut lines, review);
    put_sandbox(&mut lines, sandbox);
    lines.put("containment.mode", containment.as_str());
    put_undo(&mut lines, *undo);
    put_boundary(&mut lines, boundary);
    put_engine(&mut lines, engine);
    put_operators(&mut lines, operators);
    put_tags(&mut lines, tags);
    lines.0
}

/// The limits of time and cost, and the key, change no opinion. Without a reviewer there is no line.
fn put_review(lines: &mut Lines, review: &ReviewSettings) {
    if !review.is_on() {
        return;
    }
    let ReviewSettings {
        provider,
        url,
        model,
        command,
        key_file: _,
        time_ms: _,
        per_hour: _,
        tokens_per_day: _,
        opaque,
        with_host,
    } = review;
    lines.put("review.opaque", opaque);
    lines.put("review.with_host", with_host);
    lines.put("review.provider", provider.as_str());
    lines.text("review.url", url);
    lines.text("review.model", model);
    for word in command {
        lines.text("review.command", word);
    }
}

fn put_boundary(lines: &mut Lines, boundary: &BoundarySettings) {
    let BoundarySettings { mode, read_mib, write_mib } = boundary;
    lines.put("boundary.mode", mode.as_str());
    lines.put("boundary.read_mib", read_mib);
    lines.put("boundary.write_mib", write_mib);
}

/// castellan's own engine is no line: then the paths decide nothing.
fn put_engine(lines: &mut Lines, engine: &EngineSettings) {
    if !engine.is_falco() {
        return;
    }
    // Copies decide nothing.
    let EngineSettings { kind, falco, plugin, events: _ } = engine;
    lines.put("engine.kind", kind.as_str());
    lines.text("engine.falco", falco);
    lines.text("engine.plugin", plugin);
}

/// The default sandbox is no line.
fn put_sandbox(lines: &mut Lines, sandbox: &SandboxSettings) {
    if *sandbox == SandboxSettings::DEFAULT {
        return;
    }
    let SandboxSettings {
        mode,
        files,
        commits,
        writable,
        private_home,
        network,
        hosts,
        requests,
        secrets,
        environment,
        limits,
    } = sandbox;
    lines.put("sandbox.mode", mode.as_str());
    lines.put("sandbox.files", files.as_str());
    lines.put("sandbox.commits", commits);
    lines.put("sandbox.private_home", private_home);
    lines.put("sandbox.network", network.as_str());
    let lists = [
        ("writable", writable),
        ("hosts", hosts),
        ("requests", requests),
        ("secrets", secrets),
        ("environment", environment),
    ];
    for (name, list) in lists {
        for text in list {
            lines.text(&format!("sandbox.{name}"), text);
        }
    }
    let SandboxLimits { processes, memory_mib, cpu_s, file_mib, open_files, wall_s } = limits;
    for (name, limit) in [
        ("processes", processes),
        ("memory_mib", memory_mib),
        ("cpu_s", cpu_s),
        ("file_mib", file_mib),
        ("open_files", open_files),
        ("wall_s", wall_s),
    ] {
        lines.put(&format!("sandbox.{name}"), limit);
    }
}

/// The default is no line. The amounts that castellan keeps change no decision.
fn put_undo(lines: &mut Lines, undo: UndoSettings) {
    let UndoSettings { is_on, is_required, ceiling_mib: _, age_days: _ } = undo;
    if (is_on, is_required) != (UndoSettings::DEFAULT.is_on, UndoSettings::DEFAULT.is_required) {
        lines.put("undo.on", is_on);
        lines.put("undo.required", is_required);
    }
}

fn put_ungoverned(lines: &mut Lines, ungoverned: &Ungoverned) {
    let Ungoverned { action, level, blocks_foreign_hooks, trusted_hooks } = ungoverned;
    lines.put("ungoverned.action", action.as_str());
    lines.level("ungoverned.level", *level);
    lines.put("ungoverned.blocks_foreign_hooks", blocks_foreign_hooks);
    for hook in trusted_hooks {
        lines.text("ungoverned.trusted_hook", hook);
    }
}

fn put_operators(lines: &mut Lines, operators: &Operators) {
    for (layer, [deny, ask, allow]) in operators.texts() {
        for (list, patterns) in [("deny", deny), ("ask", ask), ("allow", allow)] {
            for pattern in patterns {
                lines.text(&format!("operators.{layer}.{list}"), pattern);
            }
        }
    }
}

fn put_tags(lines: &mut Lines, tags: &Tags) {
    let Tags { deny, ask, contain, review, allow, seen, mark } = tags;
    lines.text("tags.deny", deny);
    lines.text("tags.ask", ask);
    lines.text("tags.contain", contain);
    lines.text("tags.review", review);
    lines.text("tags.allow", allow);
    lines.text("tags.seen", seen);
    lines.text("tags.mark", mark);
}

/// Returns the options that change the results of rules.
fn options_text(options: &Options) -> String {
    let Options {
        source,
        plugin_version,
        other_plugins,
        engine,
        matching,
        regex_compat_falco,
        // A rejected file has no policy.
        redefined_in_file: _,
        priority,
        selection,
        append_output,
        // A file with another tag has no policy either.
        tags: _,
        lints: _,
        describe: _,
    } = options;
    let mut lines = Lines::default();
    lines.text("source", source);
    lines.text("plugin_version", plugin_version);
    for (name, version) in other_plugins {
        lines.text("other_plugin.name", name);
        lines.text("other_plugin.version", version);
    }
    lines.put("engine", engine.version());
    lines.put(
        "matching",
        match matching {
            Matching::All => "all",
            Matching::First => "first",
        },
    );
    lines.put("regex_compat_falco", regex_compat_falco);
    lines.put("priority", priority.as_str());
    for Selection { enable, of } in selection {
        let action = if *enable { "enable" } else { "disable" };
        match of {
            Selected::Rule(pattern) => lines.text(&format!("{action}.rule"), pattern),
            Selected::Tag(tag) => lines.text(&format!("{action}.tag"), tag),
        }
    }
    for addition in append_output {
        put_addition(&mut lines, addition);
    }
    lines.0
}

/// The line that is always there comes first: it separates the additions.
fn put_addition(lines: &mut Lines, addition: &AppendOutput) {
    let AppendOutput { source, rule, tags, extra_output, extra_fields, suggested_output } = addition;
    lines.put("append_output.suggested_output", suggested_output);
    for (key, text) in [("source", source), ("rule", rule), ("extra_output", extra_output)] {
        if let Some(text) = text {
            lines.text(&format!("append_output.{key}"), text);
        }
    }
    for tag in tags {
        lines.text("append_output.tag", tag);
    }
    for field in extra_fields {
        match field {
            ExtraField::Field(name) => lines.text("append_output.field", name),
            ExtraField::Format { name, format } => {
                lines.text("append_output.format.name", name);
                lines.text("append_output.format", format);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::Operator;
    use crate::review::ReviewProvider;
    use crate::sandbox::SandboxMode;
    use crate::settings::Profile;

    #[test]
    fn settings_are_lines_in_a_fixed_order() {
        let operator = Operator::parse(&["Bash(rm:*)".to_owned()], &[], &["Read".to_owned()]).unwrap();
        let ungoverned =
            Ungoverned { trusted_hooks: vec!["a\nb=c".to_owned()], ..Profile::Strict.settings().ungoverned };
        let settings = Settings { operators: operator.into(), ungoverned, ..Profile::Strict.settings() };
        let expected = "\
profile=strict
tools=true
default_verdict=defer
headless_default=deny
level=workspace-write
unknown_workspace=read-only
organisation_level=none
organisation_allows_understood=false
on_insufficient=ask
opaque=deny
headless_opaque=deny
own_opaque=prompted
unknown_tool=deny
new_server=ask
probing=ask
allow_understood=false
ungoverned.action=notify
ungoverned.level=read-only
ungoverned.blocks_foreign_hooks=true
ungoverned.trusted_hook=a\\nb=c
plans.mode=warn
plans.ad_hoc=ask
containment.mode=prefer
boundary.mode=strict
boundary.read_mib=10
boundary.write_mib=10
operators.user.deny=Bash(rm:*)
operators.user.allow=Read
tags.deny=coding_agent_deny
tags.ask=coding_agent_ask
tags.contain=coding_agent_contain
tags.review=coding_agent_review
tags.allow=coding_agent_allow
tags.seen=coding_agent_seen
tags.mark=coding_agent_mark:
";
        assert_eq!(settings_text(&settings), expected);
    }

    #[test]
    fn a_reviewer_is_part_of_the_settings_and_its_limits_are_not() {
        let of = |review: ReviewSettings| settings_text(&Settings { review, ..Settings::default() });
        let plain = of(ReviewSettings::OFF);
        assert!(!plain.contains("review."), "{plain}");
        let command = vec!["/r".to_owned(), "a\nb".to_owned()];
        let provider = ReviewProvider::Command;
        let program = ReviewSettings { provider, command, ..ReviewSettings::OFF };
        let expected =
            "review.provider=command\nreview.url=\nreview.model=\nreview.command=/r\nreview.command=a\\nb\n";
        assert!(of(program.clone()).contains(expected), "{}", of(program));
        let limited = ReviewSettings { time_ms: 9, per_hour: 9, tokens_per_day: 9, ..program.clone() };
        assert_eq!(of(limited), of(program.clone()));
        let beside = ReviewSettings { with_host: true, ..program.clone() };
        assert_ne!(of(beside), of(program));
    }

    #[test]
    fn what_checkpoints_demand_is_part_of_the_settings() {
        let of = |undo: UndoSettings| settings_text(&Settings { undo, ..Settings::default() });
        let default = UndoSettings::DEFAULT;
        assert!(!of(default).contains("undo."));
        assert_eq!(of(UndoSettings { ceiling_mib: 5, age_days: 1, ..default }), of(default));
        assert!(of(UndoSettings { is_on: false, ..default }).contains("undo.on=false\n"));
        assert!(of(UndoSettings { is_required: true, ..default }).contains("undo.required=true\n"));
    }

    #[test]
    fn a_sandbox_is_part_of_the_settings() {
        let of = |sandbox: SandboxSettings| settings_text(&Settings { sandbox, ..Settings::default() });
        let plain = of(SandboxSettings::DEFAULT);
        assert!(!plain.contains("sandbox."), "{plain}");
        let hosts = vec!["a.example".to_owned()];
        let sandbox = SandboxSettings { mode: SandboxMode::Require, hosts, ..SandboxSettings::DEFAULT };
        let text = of(sandbox.clone());
        assert!(
            text.contains("sandbox.mode=require\n") && text.contains("sandbox.hosts=a.example\n"),
            "{text}"
        );
        let limits = SandboxLimits { wall_s: 9, ..SandboxLimits::default() };
        assert_ne!(of(SandboxSettings { limits, ..sandbox }), text);
    }

    #[test]
    fn another_engine_is_part_of_the_settings() {
        let of = |engine: EngineSettings| settings_text(&Settings { engine, ..Settings::default() });
        let native = EngineSettings::native();
        assert!(!of(native.clone()).contains("engine."));
        assert_eq!(of(EngineSettings { falco: "/f".to_owned(), ..native.clone() }), of(native.clone()));
        let falco = EngineSettings { kind: crate::EngineKind::Falco, falco: "/f".to_owned(), ..native };
        let text = of(falco.clone());
        assert!(text.contains("engine.kind=falco\nengine.falco=/f\nengine.plugin=/usr/"), "{text}");
        assert_ne!(of(EngineSettings { plugin: "/p".to_owned(), ..falco }), text);
    }

    #[test]
    fn options_are_lines_in_a_fixed_order() {
        let format = ExtraField::Format { name: "n".to_owned(), format: "%f".to_owned() };
        let additions = vec![
            AppendOutput {
                rule: Some("r".to_owned()),
                extra_fields: vec![format],
                ..AppendOutput::default()
            },
            AppendOutput { suggested_output: true, ..AppendOutput::default() },
        ];
        let options = Options {
            selection: vec![Selection { enable: false, of: Selected::Tag("t".to_owned()) }],
            append_output: additions,
            ..Options::default()
        };
        let expected = "\
source=coding_agent
plugin_version=0.5.0
engine=0.58.0
matching=all
regex_compat_falco=false
priority=Debug
disable.tag=t
append_output.suggested_output=false
append_output.rule=r
append_output.format.name=n
append_output.format=%f
append_output.suggested_output=true
";
        assert_eq!(options_text(&options), expected);
    }
}
