//! Rows, rules, and an engine that waits for a Falco.

use std::borrow::Cow;
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use castellan_engine::{EngineError, RemoteEngine, Secret, Setup};
use castellan_event::{FIELDS, Level, Row, Value};
use castellan_falco::description::Described;
use castellan_falco::export::{EngineRules, for_engine};
use castellan_rows::{Generation, Identity};
use castellan_rules::{Engine, Loaded, Options, Source, load};
use tempfile::TempDir;

pub(crate) const LONG: Duration = Duration::from_secs(30);

const RULES: &str = r#"
- rule: castellan has seen the row
  desc: a rule with the name of the one that reports rows
  condition: tool.name = Bash
  output: shell
  priority: INFO
  source: coding_agent
- rule: deletes
  desc: d
  condition: cmd.name = rm and not cmd.args intersects (-i)
  output: "rm %cmd.args"
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
- rule: off
  desc: d
  condition: tool.name exists
  output: o
  priority: INFO
  source: coding_agent
  enabled: false
- rule: writes to the system
  desc: d
  condition: fx.kind = write and not fx.path startswith /work
  output: "writes %fx.path"
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]
- rule: only lists
  desc: d
  condition: tool.name = Bash and cmd.name in (ls, cat)
  output: ok
  priority: INFO
  source: coding_agent
  tags: [coding_agent_allow]
"#;

/// The rules as castellan loads them, and as it exports them.
pub(crate) struct Rules {
    pub(crate) native: Loaded,
    pub(crate) exported: EngineRules,
}

impl Rules {
    pub(crate) fn load() -> Rules {
        let source = Source { name: "rules.yaml".to_owned(), text: RULES.to_owned() };
        let native = load(&[source], FIELDS, &Options { describe: true, ..Options::default() });
        assert!(native.problems.is_empty(), "{:?}", native.problems);
        let described = Described {
            layer: None,
            rules: &native.rules,
            description: native.description.as_ref().unwrap(),
        };
        let exported = for_engine(&[described], Engine::V0_43);
        Rules { native, exported }
    }

    /// The numbers of the rules that castellan's own engine finds.
    pub(crate) fn native(&self, rows: &[Made]) -> Vec<Vec<u64>> {
        let numbers =
            |row: &Made| self.native.rules.evaluate(row).iter().map(|hit| hit.rule as u64).collect();
        rows.iter().map(numbers).collect()
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity { key: [1; 32], generation: Generation::parse(&self.exported.generation).unwrap() }
    }
}

/// A row of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    level: Level,
    values: Vec<(&'static str, String)>,
    args: Vec<String>,
}

impl Row for Made {
    fn value(&self, field: usize, _arg: Option<&str>) -> Value<'_> {
        let name = FIELDS[field].name;
        let text = |text: &str| Value::Text(Cow::Owned(text.as_bytes().to_vec()));
        match name {
            "row.level" => return text(self.level.as_str()),
            "cmd.args" if self.level >= Level::Command => {
                return Value::List(self.args.iter().map(|arg| text(arg)).collect());
            }
            _ => {}
        }
        self.values.iter().find(|(own, _)| *own == name).map_or(Value::Absent, |(_, value)| text(value))
    }

    fn level(&self) -> Level {
        self.level
    }

    fn part(&self, of: Level) -> Option<usize> {
        (of == Level::Call).then_some(0)
    }
}

/// The rows of a shell call with one command and one effect.
pub(crate) fn rows(program: &str, args: &[&str], kind: &str, path: &str) -> Vec<Made> {
    let mut values = vec![("tool.name", "Bash".to_owned())];
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let call = Made { level: Level::Call, values: values.clone(), args: args.clone() };
    values.push(("cmd.name", program.to_owned()));
    let command = Made { level: Level::Command, values: values.clone(), args: args.clone() };
    values.extend([("fx.kind", kind.to_owned()), ("fx.path", path.to_owned())]);
    vec![call, command, Made { level: Level::Effect, values, args }]
}

/// The rows of one of many different calls.
pub(crate) fn rows_of(number: usize) -> Vec<Made> {
    let program = ["rm", "ls", "cat", "make"][number % 4];
    let args: &[&str] = if number.is_multiple_of(3) { &["-i", "x"] } else { &["x"] };
    let kind = if number.is_multiple_of(5) { "write" } else { "read" };
    let path = if number.is_multiple_of(7) { "/project/x" } else { "/etc/x" };
    rows(program, args, kind, path)
}

/// The daemon's side.
pub(crate) struct Castellan {
    pub(crate) engine: RemoteEngine,
    pub(crate) secret: Secret,
    pub(crate) socket: PathBuf,
    _directory: TempDir,
}

impl Castellan {
    pub(crate) fn start(rules: &Rules) -> Castellan {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("rows.sock");
        let secret = Secret::random().unwrap();
        let setup = Setup {
            rows: UnixListener::bind(&socket).unwrap(),
            alerts: TcpListener::bind("127.0.0.1:0").unwrap(),
            identity: rules.identity(),
            secret: secret.clone(),
            rules: rules.exported.count,
            roll: rules.exported.roll.clone(),
            admit: Box::new(|stream: &UnixStream| match peer_user(stream) {
                Ok(peer) if peer == user() => Ok(()),
                other => Err(format!("{other:?}")),
            }),
        };
        let engine = RemoteEngine::start(setup, |_| {}).unwrap();
        Castellan { engine, secret, socket, _directory: directory }
    }

    pub(crate) fn matches(&self, rows: &[Made], wait: Duration) -> Result<Vec<Vec<u64>>, EngineError> {
        self.engine.matches(rows, &[], Instant::now() + wait)
    }
}

pub(crate) fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

pub(crate) fn peer_user(stream: &UnixStream) -> std::io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}
