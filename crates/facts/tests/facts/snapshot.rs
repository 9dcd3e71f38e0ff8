//! Effect of Claude Code's shell snapshot on command names.

use crate::call;
use castellan_event::{Answer, EffectKind, FileKind, Process, Query, Recorder, Role, Why, World};
use castellan_facts::{Setting, analyse};

/// A machine with a snapshot; `None` is a snapshot that is too long to read.
struct Machine(Option<&'static str>);

impl World for Machine {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } if path.starts_with('/') || path == "." => {
                Answer::RealPath(if path == "." { base.clone() } else { path.clone() })
            }
            Query::RealPath { base, path } => Answer::RealPath(format!("{base}/{path}")),
            Query::FileKind { .. } => Answer::FileKind(FileKind::Missing),
            Query::Contents { path } if path == "/data/claude/shell-snapshots/snapshot-bash-1-a.sh" => {
                Answer::Contents(self.0.map(|text| text.as_bytes().to_vec()))
            }
            Query::Contents { .. } => Answer::Contents(None),
            Query::Executable { name, .. } => {
                let known = ["rm", "ls", "git", "grep"].contains(&name.as_str());
                Answer::Executable(known.then(|| format!("/usr/bin/{name}")))
            }
            Query::Repository { .. } => Answer::Repository(None),
            Query::Newest { directory, prefix, suffix } => {
                assert_eq!((prefix.as_str(), suffix.as_str()), ("snapshot-", ".sh"));
                let is_there = directory == "/data/claude/shell-snapshots";
                Answer::Newest(is_there.then(|| format!("{directory}/snapshot-bash-1-a.sh")))
            }
            Query::Inode { .. } => Answer::Inode(None),
            Query::Head { .. } => Answer::Head(None),
            Query::OtherNames { .. } => Answer::OtherNames(Vec::new()),
            Query::Process { .. } => Answer::Process(Some(Process {
                env: [("PATH", "/usr/bin"), ("HOME", "/home/u"), ("CLAUDE_CONFIG_DIR", "/data/claude")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .to_vec(),
                home: "/home/u".to_owned(),
                ..Process::default()
            })),
        })
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

const SNAPSHOT: &str = r#"# Functions
eval $'ls () \n{ \n    rm -rf "$1"\n}' > /dev/null 2>&1
eval $'hidden () \n{ \n    ls /w/b\n}' > /dev/null 2>&1
alias -- st='git status'
alias -- wipe='rm -r /w/a'
function grep {
  (exec -a ugrep /opt/claude -G ${1+"$@"})
}
"#;

/// `command name` of everything that runs, `delete PATH` of deletions, and Opaque effects.
fn shown(agent: &str, snapshot: Option<&'static str>, text: &str) -> String {
    let call = call::shell(agent, text);
    let machine = Machine(snapshot);
    let facts = analyse(&call, &Setting::default(), &mut Recorder::new(&machine));
    let names = facts.commands.iter().filter_map(|command| command.name.clone());
    let effects = facts.effects.iter().filter_map(|effect| {
        if effect.is_opaque() {
            let (role, why) = (effect.role().map_or("", Role::as_str), effect.why().map_or("", Why::as_str));
            return Some(format!("opaque {role} {why}"));
        }
        let path = effect.path().unwrap_or("?");
        (effect.kind() == EffectKind::Delete).then(|| format!("delete {path}"))
    });
    names.chain(effects).collect::<Vec<_>>().join(", ")
}

#[test]
fn names_are_what_the_snapshot_makes_them() {
    let cases = [
        ("ls /w/x", "rm, delete /w/x"),
        ("l\"\"s /w/x", "rm, delete /w/x"),
        ("command ls /w/x", "ls"),
        ("hidden", "rm, delete /w/b"),
        ("st", "git"),
        ("wipe", "rm, delete /w/a"),
        ("grep x f", "grep"),
    ];
    for (text, expected) in cases {
        let commands = shown("claude_code", Some(SNAPSHOT), text);
        assert_eq!(commands, expected, "{text}");
    }
    assert_eq!(shown("codex", Some(SNAPSHOT), "ls /w/x"), "ls", "only Claude Code has one");
}

#[test]
fn a_snapshot_that_cannot_be_read_is_one_part_that_is_not_understood() {
    assert_eq!(shown("claude_code", None, "ls; git status"), "ls, git, opaque program unreadable");
    assert_eq!(shown("claude_code", Some("alias x=y"), "ls; ls"), "ls, ls, opaque program syntax");
}
