//! Effects of tools other than the shell. This module must not know an agent's payload.

use castellan_event::{
    Call, Change, EffectKind, Facts, FileTarget, HEAD_BYTES, Operation, PatchOp, Replacement, Role, ToolKind,
    Why,
};
use castellan_programs::Arg;
use serde_json::Value as Json;

use crate::limits::MCP_VALUES_MAX;
use crate::scene::Scene;
use crate::sink::{Content, Sink};
use crate::{mcp, targets};

/// Adds the effects of the tool itself. The commands of shell text are found elsewhere.
pub(crate) fn effects(call: &Call, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let cwd = Some(call.agent.cwd.clone());
    for (at, file) in call.files.iter().enumerate() {
        let mut sink = Sink::new(scene, &mut facts.effects, None, cwd.clone());
        sink.source.file = Some(at);
        of_file(call.tool.kind, file, &mut sink);
    }
    let mut sink = Sink::new(scene, &mut facts.effects, None, cwd);
    match call.tool.kind {
        // A search without a path reads the working directory.
        ToolKind::Read if call.files.is_empty() => {
            sink.mode.recursive = Some(true);
            sink.path(EffectKind::Read, &Arg::known("."));
        }
        ToolKind::Web => web(&call.input, &mut sink),
        ToolKind::Subagent => {
            sink.on(EffectKind::Spawn, "", "", text_of(&call.input, "subagent_type").as_ref())
        }
        ToolKind::Mcp => mcp::effects(call, &mut sink),
        ToolKind::Unknown => sink.opaque(Role::Tool, Why::Unsupported, &call.tool.name_raw),
        ToolKind::Shell
        | ToolKind::Read
        | ToolKind::Write
        | ToolKind::Edit
        | ToolKind::Patch
        | ToolKind::Internal => {}
    }
}

fn of_file(kind: ToolKind, file: &FileTarget, sink: &mut Sink<'_, '_, '_, '_>) {
    let kinds: &[EffectKind] = match (file.patch_op, kind) {
        (Some(PatchOp::Add | PatchOp::Move), _) | (None, ToolKind::Write) => &[EffectKind::Write],
        (Some(PatchOp::Delete), _) => &[EffectKind::Delete],
        (None, ToolKind::Read) => &[EffectKind::Read],
        (Some(PatchOp::Update), _) | (None, _) => &[EffectKind::Read, EffectKind::Write],
    };
    let arg = Arg::known(file.path.clone());
    for of in kinds {
        let content = if *of == EffectKind::Read {
            Content::Read
        } else if *of == EffectKind::Write {
            written(file)
        } else {
            Content::Unsaid
        };
        sink.content(*of, content, &arg);
    }
}

/// The content of a file after a tool has written it, as far as the call shows it.
fn written(file: &FileTarget) -> Content {
    match &file.change {
        Change::Unsaid => Content::Unsaid,
        Change::Whole(text) => {
            let head = text.as_bytes().get(..HEAD_BYTES).unwrap_or(text.as_bytes());
            Content::Whole { size: text.len() as u64, is_binary: head.contains(&0) }
        }
        Change::Edited { of, replacements } => {
            let is_itself = *of == file.path;
            let mut grows_by = is_itself.then_some(0_i64);
            for Replacement { old, new, everywhere } in replacements {
                let by = i64::try_from(new.len()).unwrap_or(i64::MAX) - i64::try_from(old.len()).unwrap_or(0);
                // The number of occurrences is unknown; fewer bytes are never too many.
                let by = if *everywhere { (by <= 0).then_some(0) } else { Some(by) };
                grows_by = grows_by.zip(by).map(|(sum, by)| sum.saturating_add(by));
            }
            Content::Edited { grows_by }
        }
    }
}

fn web(input: &Json, sink: &mut Sink<'_, '_, '_, '_>) {
    match text_of(input, "url") {
        Some(url) => targets::url(EffectKind::Download, &url, sink),
        None if !in_prompt(input).is_empty() => {
            let urls = in_prompt(input);
            for url in urls.iter().take(MCP_VALUES_MAX) {
                targets::url(EffectKind::Download, &Arg::known(*url), sink);
            }
            if urls.len() > MCP_VALUES_MAX {
                sink.opaque(Role::Target, Why::Size, "prompt");
            }
        }
        None => {
            let query = text_of(input, "query");
            sink.add(Operation {
                kind: EffectKind::Query,
                system: Some("web".to_owned()),
                target: query.map(|query| query.written().into_owned()),
                ..Operation::default()
            });
        }
    }
}

/// The addresses in a text. Gemini CLI's tool receives addresses only in its prompt.
fn in_prompt(input: &Json) -> Vec<&str> {
    let prompt = input.get("prompt").and_then(Json::as_str).unwrap_or_default();
    let words = prompt.split(|letter: char| letter.is_whitespace() || "<>()[]\"'`,".contains(letter));
    words.filter(|word| word.contains("://")).take(MCP_VALUES_MAX + 1).collect()
}

fn text_of(input: &Json, key: &str) -> Option<Arg> {
    input.get(key).and_then(Json::as_str).map(Arg::known)
}
