//! The packages of `sdk/` with the real Claude Agent SDKs, as `cargo xtask test lockdown` installs them, and one query of
//! them against a scripted model. Must not know castellan's answers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use crate::agents::{not_run, target};
use crate::home::Home;
use crate::model::Model;
use crate::process::{Finished, Running};
use crate::run::{AGENT_LIMIT, claude_environment};

/// A compiler, a type checker and unit tests run for some seconds.
const TOOL_LIMIT: Duration = Duration::from_secs(120);

/// A package of `sdk/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdk {
    /// `sdk/typescript`.
    TypeScript,
    /// `sdk/python`.
    Python,
}

impl Sdk {
    /// All packages.
    pub const ALL: [Sdk; 2] = [Sdk::TypeScript, Sdk::Python];

    /// Returns true if the real SDK is installed and the package is built. Else returns false, after a warning on the
    /// terminal. With `CI=true` that is an error.
    pub fn is_ready(self) -> Result<bool> {
        if !self.folder().join("installed").is_file() {
            not_run(&format!("`{self}` is not in `target/sdk`; run `cargo xtask test lockdown`"))?;
            return Ok(false);
        }
        match self {
            Sdk::TypeScript => build_typescript()?,
            Sdk::Python => {}
        }
        Ok(true)
    }

    /// Runs the package's own tests, and for Python the type checker.
    pub fn check_own_tests(self) -> Result<()> {
        let home = Home::new("sdk")?;
        match self {
            Sdk::TypeScript => {
                let mut node = home.command(Path::new("node"));
                node.current_dir(self.folder()).args(["--test", "dist/test/"]);
                node.env("CASTELLAN_FRAMES", sources().join("frames.json"));
                succeed(&mut node)
            }
            Sdk::Python => {
                let mut tests = self.python(&home);
                tests.args(["-m", "unittest", "discover", "-s", "tests", "-t", "."]);
                succeed(tests.current_dir(sources().join("python")))?;
                let mut types = self.python(&home);
                types.args(["-m", "mypy", "--strict", "castellan_agent_sdk", "tests", "--cache-dir"]);
                succeed(types.arg(self.folder().join("mypy")).current_dir(sources().join("python")))
            }
        }
    }

    fn folder(self) -> PathBuf {
        target().join("sdk").join(self.to_string())
    }

    fn python(self, home: &Home) -> Command {
        let mut python = home.command(&self.folder().join("bin/python"));
        python.env("PYTHONPATH", sources().join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }

    fn driver(self, home: &Home) -> Command {
        match self {
            Sdk::TypeScript => {
                let mut node = home.command(Path::new("node"));
                node.arg(self.folder().join("drive.mjs"));
                node
            }
            Sdk::Python => {
                let mut python = self.python(home);
                python.arg(drivers().join("drive.py"));
                python
            }
        }
    }
}

/// Prints the name of its folder.
impl fmt::Display for Sdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sdk::TypeScript => "typescript",
            Sdk::Python => "python",
        })
    }
}

/// A variable of the program has this value.
pub const INHERITED_SECRET: &str = "ghp-inherited-secret";

/// One query of an embedded agent.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// A locked-down agent below this directory; without it an agent that castellan guards.
    pub locked_in: Option<&'a Path>,
    /// Layers of the lockdown that are left out, see `tests/sdk/drive.mjs`.
    pub without: Vec<&'a str>,
    /// The answer of a person at the program, `yes` or `no`; `None` if nobody is there.
    pub person: Option<&'a str>,
    /// The permission mode of a guarded agent.
    pub mode: &'a str,
    /// The program that starts a missing daemon.
    pub castellan: PathBuf,
    /// The prompt.
    pub prompt: String,
}

impl Query<'_> {
    /// A query of an agent that castellan guards, without a person.
    pub fn guarded(home: &Home) -> Query<'static> {
        Query {
            locked_in: None,
            without: Vec::new(),
            person: None,
            mode: "default",
            castellan: home.bin().join("castellan"),
            prompt: "go".to_owned(),
        }
    }

    /// A query of a locked-down agent below `directory`.
    pub fn locked<'a>(home: &Home, directory: &'a Path) -> Query<'a> {
        Query { locked_in: Some(directory), ..Query::guarded(home) }
    }

    /// Starts the program that embeds the agent.
    pub fn start(&self, sdk: Sdk, home: &Home, model: &Model) -> Result<Running> {
        // `IS_SANDBOX` permits bypassPermissions for root. A locked-down agent may not have it from its caller.
        let is_given = |name: &str| name != "IS_SANDBOX";
        let all = claude_environment(model).into_iter();
        let (env, mut more): (Vec<_>, Vec<_>) = all.partition(|(name, _)| is_given(name));
        if self.locked_in.is_none() {
            more.push(("HOME", home.user().display().to_string()));
        }
        let object = |pairs: Vec<(&str, String)>| {
            Json::Object(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
        };
        let spec = json!({
            "directory": self.locked_in, "without": self.without, "person": self.person, "mode": self.mode,
            "home": home.castellan(), "castellan": self.castellan, "cwd": home.workspace(),
            "env": object(env), "more_env": object(more), "prompt": self.prompt,
        });
        Running::start(sdk.driver(home).env("GITHUB_TOKEN", INHERITED_SECRET).arg(spec.to_string()))
    }

    /// Runs the program to its end, and returns what it printed.
    pub fn run(&self, sdk: Sdk, home: &Home, model: &Model) -> Result<Events> {
        Events::of(self.start(sdk, home, model)?.finish(AGENT_LIMIT)?)
    }
}

/// Lines that a program printed.
#[derive(Debug)]
pub struct Events {
    events: Vec<Json>,
}

impl Events {
    /// Reads the output of a program that has succeeded.
    pub fn of(done: Finished) -> Result<Events> {
        ensure!(done.code == Some(0), "the program failed: {done:?}");
        let events = done.stdout.lines().map(serde_json::from_str).collect::<Result<Vec<Json>, _>>()?;
        ensure!(events.iter().any(|event| event["result"] == "success"), "the query failed: {events:?}");
        Ok(Events { events })
    }

    /// Returns the values of one kind of event, in order.
    pub fn all(&self, kind: &str) -> Vec<&str> {
        self.events.iter().filter_map(|event| event.get(kind)?.as_str()).collect()
    }
}

/// Returns the folder `sdk/` of the workspace.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk")
}

fn drivers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sdk")
}

/// True once the package is built by this process.
static BUILT: Mutex<bool> = Mutex::new(false);

/// Compiles the package in its folder below `target`, where npm has installed the compiler and the real SDK.
fn build_typescript() -> Result<()> {
    let mut is_built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_built {
        return Ok(());
    }
    let (from, to) = (sources().join("typescript"), Sdk::TypeScript.folder());
    for folder in ["src", "test", "dist"] {
        drop(std::fs::remove_dir_all(to.join(folder)));
    }
    for folder in ["src", "test"] {
        std::fs::create_dir(to.join(folder))?;
        for file in std::fs::read_dir(from.join(folder))? {
            let file = file?;
            std::fs::copy(file.path(), to.join(folder).join(file.file_name()))?;
        }
    }
    std::fs::copy(from.join("tsconfig.json"), to.join("tsconfig.json"))?;
    std::fs::copy(drivers().join("drive.mjs"), to.join("drive.mjs"))?;
    let home = Home::new("sdk")?;
    succeed(home.command(&to.join("node_modules/.bin/tsc")).arg("--project").arg(&to))?;
    *is_built = true;
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let done = Running::start(command)?.finish(TOOL_LIMIT)?;
    ensure!(done.code == Some(0), "{command:?}\n{}\n{}", done.stdout, done.stderr);
    Ok(())
}

/// Reads a file of `sdk/` as JSON.
pub fn read_json(file: &str) -> Result<Json> {
    let text = std::fs::read(sources().join(file)).with_context(|| file.to_owned())?;
    Ok(serde_json::from_slice(&text)?)
}
