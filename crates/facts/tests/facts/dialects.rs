//! The language of a tool's text: a shell, PowerShell, `cmd`, or all that are possible.

use crate::call;
use castellan_event::{Answer, Call, EffectKind, FileKind, Process, Query, Recorder, World};
use castellan_facts::{Setting, analyse};

/// A machine with default answers.
struct Machine;

impl World for Machine {
    fn answer(&self, query: &Query) -> Option<Answer> {
        match query {
            Query::RealPath { base, path } if path.starts_with('/') || path == "." => {
                Some(Answer::RealPath(if path == "." { base.clone() } else { path.clone() }))
            }
            Query::RealPath { base, path } => Some(Answer::RealPath(format!("{base}/{path}"))),
            Query::Executable { name, .. } => Some(Answer::Executable(Some(format!("/usr/bin/{name}")))),
            Query::Process { .. } => Some(Answer::Process(Some(Process {
                env: vec![("PATH".to_owned(), "/usr/bin".to_owned())],
                home: "/home/u".to_owned(),
                ..Process::default()
            }))),
            Query::FileKind { .. } => Some(Answer::FileKind(FileKind::Missing)),
            Query::Newest { .. } => Some(Answer::Newest(None)),
            Query::Inode { .. } => Some(Answer::Inode(None)),
            Query::Head { .. } => Some(Answer::Head(None)),
            Query::OtherNames { .. } => Some(Answer::OtherNames(Vec::new())),
            Query::Contents { .. } | Query::Repository { .. } => None,
        }
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

/// The kind and the target of each effect.
fn shown(call: &Call) -> Vec<String> {
    let facts = analyse(call, &Setting::default(), &mut Recorder::new(&Machine));
    let shown = facts.effects.iter().map(|effect| {
        let on = effect.path().or(effect.path_raw()).or(effect.target());
        format!("{} {}", effect.kind(), on.unwrap_or_default())
    });
    shown.collect()
}

fn of_tool(agent: &str, name: &str, cwd: &str, text: &str) -> Call {
    let mut call = call::shell(agent, text);
    (call.tool.name, call.tool.name_raw) = (name.to_owned(), name.to_owned());
    call.agent.cwd = cwd.to_owned();
    call
}

#[test]
fn the_tool_says_the_language() {
    let deletes = |shown: &[String], path: &str| shown.iter().any(|one| *one == format!("delete {path}"));
    let powershell = shown(&of_tool("claude_code", "PowerShell", "/w", "Remove-Item -Recurse x"));
    assert_eq!(powershell, ["delete /w/x"]);
    let harmless = shown(&of_tool("claude_code", "PowerShell", "/w", "Write-Host 'rm -rf /'"));
    assert_eq!(harmless, Vec::<String>::new());
    let bash = shown(&of_tool("claude_code", "Bash", "/w", "rm x"));
    assert!(deletes(&bash, "/w/x"), "{bash:?}");
    // Each possible reader of the text adds its effects.
    for text in ["rm C:/x", "Remove-Item C:/x", "del C:\\x"] {
        let all = shown(&of_tool("codex", "Bash", "C:\\w", text));
        assert!(all.iter().any(|one| one.starts_with("delete C:")), "{text}: {all:?}");
    }
}

/// PowerShell and cmd programs in a workspace `/w` without a drive, and the deleted paths with their places.
const ON_DRIVES: &[(&str, &str, &[&str])] = &[
    ("PowerShell", r"Remove-Item C:\x", &["C:/x outside"]),
    ("PowerShell", r"Remove-Item C:/w/x", &["C:/w/x outside"]),
    ("PowerShell", r"Remove-Item \\host\share", &["//host/share network"]),
    ("PowerShell", r"Remove-Item C:x", &["? ?"]),
    ("PowerShell", r"Remove-Item C:\*.txt", &["? ?"]),
    ("PowerShell", r"Set-Location C:\; Remove-Item x", &["C:/x outside"]),
    ("PowerShell", r"Set-Location \\h\s; Remove-Item x", &["//h/s/x network"]),
    ("PowerShell", r"D:; Remove-Item x", &["? ?"]),
    ("PowerShell", r"Set-Location C:\; Remove-Item /w/x", &["/w/x workspace"]),
    ("PowerShell", r"cmd /c 'cd /d D:\ & del x'", &["D:/x outside"]),
    ("PowerShell", r"cmd /c 'subst X: C:\a & del X:\y'", &["X:/y outside"]),
    ("PowerShell", r"Remove-Item a\x", &["/w/a/x workspace"]),
    // For a POSIX program it is an ordinary name.
    ("Bash", r"rm C:\\x", &[r"/w/C:\x workspace"]),
];

#[test]
fn paths_with_a_drive_are_not_in_a_workspace_without_one() {
    for (tool, text, expected) in ON_DRIVES {
        let call = of_tool("claude_code", tool, "/w", text);
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        let facts = analyse(&call, &setting, &mut Recorder::new(&Machine));
        let deleted = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Delete);
        let shown: Vec<String> = deleted
            .map(|effect| {
                let place = effect.place().map_or("?".to_owned(), |place| place.to_string());
                format!("{} {place}", effect.path().unwrap_or("?"))
            })
            .collect();
        assert_eq!(shown, *expected, "{text}");
    }
}
