//! Readers for each form of file: the registered hooks, and why the agent may find more hooks than castellan. This
//! module must not know where a file is.

use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::{HookFileReport, NamedHook};
use crate::agent::{AgentId, hook_events, question_event};
use crate::comments::without_comments;
use crate::family::HookCommand;
use crate::front_matter::front_matter;
use crate::settings::{Foreign, inspect, our_argv};
use crate::spec::ReaderFamily;

/// Reads settings, and Codex's `hooks.json`.
pub(super) fn read_settings(agent: AgentId, text: &str) -> HookFileReport {
    let found = match inspect(agent, text) {
        Ok(found) => found,
        Err(problem) => return unread_if(may_be_read(agent, text), problem.to_string()),
    };
    let mut report = match &found.ignored {
        None => HookFileReport::default(),
        Some(why) if may_be_read_all_the_same(agent, text) => unread_if(true, why.clone()),
        Some(_) => return HookFileReport::default(),
    };
    for ours in &found.ours {
        let hook = HookCommand::of_argv(&ours.argv);
        if ours.intact && ours.event == question_event(agent) {
            report.ours.extend(hook.clone());
        }
        report.named.push(named(&ours.event, &ours.argv));
    }
    HookFileReport { foreign: found.foreign, plugins: plugins(text), ..report }
}

/// Reads a plugin's `hooks.json` or `plugin.json`. Paths in it are skipped; their files are read separately.
pub(super) fn read_plugin_hooks(agent: AgentId, text: &str) -> HookFileReport {
    let json: Json = match serde_json::from_str(without_mark(text)) {
        Ok(json) => json,
        Err(error) => return unread_if(may_be_read(agent, text), format!("not read here: {error}")),
    };
    let mut report = HookFileReport::default();
    let Some(hooks) = json.get("hooks") else { return report };
    let parts = hooks.as_array().map_or(std::slice::from_ref(hooks), Vec::as_slice);
    for part in parts.iter().filter(|part| !part.is_string()) {
        add(&mut report, read_hooks(agent, part));
    }
    report
}

pub(super) fn read_front_matter(agent: AgentId, text: &str) -> HookFileReport {
    let mut report = HookFileReport::default();
    for read in front_matter(text) {
        let part = match read {
            Ok(json) => {
                json.get("hooks").filter(|hooks| !hooks.is_null()).map(|hooks| read_hooks(agent, hooks))
            }
            Err(why) => Some(unread_if(true, why)),
        };
        add(&mut report, part.unwrap_or_default());
    }
    report
}

/// Reads `[[hooks.EVENT]]` with `[[hooks.EVENT.hooks]]`, also as inline tables.
pub(super) fn read_toml(agent: AgentId, text: &str) -> HookFileReport {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let mut report = HookFileReport::default();
    let events = document.get("hooks").and_then(Item::as_table_like);
    for (event, groups) in events.iter().flat_map(|events| events.iter()) {
        for group in tables(groups) {
            for handler in group.get("hooks").map(tables).unwrap_or_default() {
                let kind = handler.get("type").and_then(Item::as_str);
                let command = handler.get("command").and_then(Item::as_str);
                let Some(argv) = our_argv(agent, &json!({ "type": kind, "command": command })) else {
                    let command = command.filter(|_| kind.is_none_or(|kind| kind == "command"));
                    let shown = command.or(kind).unwrap_or("a hook of an unknown kind");
                    report.foreign.push(Foreign { event: event.to_owned(), command: shown.to_owned() });
                    continue;
                };
                if event == question_event(agent) && is_as_written(agent, event, group, handler) {
                    report.ours.extend(HookCommand::of_argv(&argv));
                }
                report.named.push(named(event, &argv));
            }
        }
    }
    report
}

/// True if an entry is exactly as castellan writes it, with castellan's matcher and timeout and no other keys.
fn is_as_written(agent: AgentId, event: &str, group: &dyn TableLike, handler: &dyn TableLike) -> bool {
    let Some(written) = hook_events(agent).iter().find(|written| written.name == event) else { return false };
    let has_only = |table: &dyn TableLike, keys: &[&str]| table.iter().all(|(key, _)| keys.contains(&key));
    let timeout_s = handler.get("timeout").and_then(Item::as_integer);
    group.get("matcher").map(Item::as_str) == written.matcher.map(Some)
        && timeout_s.and_then(|timeout_s| u64::try_from(timeout_s).ok()) == Some(written.timeout_s)
        && has_only(group, &["matcher", "hooks"])
        && has_only(handler, &["type", "command", "timeout"])
}

fn tables(list: &Item) -> Vec<&dyn TableLike> {
    let tables = list.as_array_of_tables().into_iter().flat_map(|tables| tables.iter());
    let inline =
        list.as_array().into_iter().flat_map(|array| array.iter()).filter_map(Value::as_inline_table);
    tables.map(|table| table as &dyn TableLike).chain(inline.map(|table| table as &dyn TableLike)).collect()
}

/// Reads the events of a `hooks` value, without plugins.
fn read_hooks(agent: AgentId, hooks: &Json) -> HookFileReport {
    let report = read_settings(agent, &json!({ "hooks": hooks }).to_string());
    HookFileReport { plugins: Vec::new(), ..report }
}

fn add(report: &mut HookFileReport, part: HookFileReport) {
    report.ours.extend(part.ours);
    report.named.extend(part.named);
    report.foreign.extend(part.foreign);
    report.unread = report.unread.take().or(part.unread);
}

fn named(event: &str, argv: &[String]) -> NamedHook {
    let program = argv.first().cloned().unwrap_or_default();
    let hook = HookCommand::of_argv(argv).unwrap_or(HookCommand { program, home: String::new() });
    let command = format!("{} --home {}", hook.program, hook.home);
    NamedHook { hook, shown: Foreign { event: event.to_owned(), command } }
}

fn unread_if(may_be_read: bool, why: String) -> HookFileReport {
    HookFileReport { unread: may_be_read.then_some(why), ..HookFileReport::default() }
}

/// True if the agent may read a text that castellan cannot read. Claude Code reads like JavaScript: it accepts JSON
/// that Rust cannot hold (half a surrogate pair, a huge number, a thousand levels). Codex is written in Rust.
fn may_be_read(agent: AgentId, text: &str) -> bool {
    match agent.spec().families.reader {
        ReaderFamily::JavaScript => serde_json::from_str::<IgnoredAny>(without_mark(text)).is_ok(),
        ReaderFamily::Commented => {
            serde_json::from_str::<IgnoredAny>(&without_comments(without_mark(text))).is_ok()
        }
        ReaderFamily::Serde => serde_json::from_str::<Json>(text).is_ok(),
    }
}

/// True if the agent may read a text that `inspect` reports as ignored. Codex ignores such a text (measured).
fn may_be_read_all_the_same(agent: AgentId, text: &str) -> bool {
    match agent.spec().families.reader {
        ReaderFamily::JavaScript | ReaderFamily::Commented => may_be_read(agent, text),
        ReaderFamily::Serde => false,
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads `{"enabledPlugins": {NAME: true}}`.
fn plugins(text: &str) -> Vec<(String, bool)> {
    let json: Json = serde_json::from_str(without_mark(text)).unwrap_or_default();
    let enabled = json.get("enabledPlugins").and_then(|enabled| enabled.as_object()).into_iter().flatten();
    enabled.map(|(name, value)| (name.clone(), value != &json!(false))).collect()
}
