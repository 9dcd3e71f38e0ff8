//! `castellan service status`: the manager, the files and the state of the service.

use castellan_daemon::{HooksOnStop, Layout};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::in_force::InForce;
use crate::output::{self, Cell, GOOD, WARN, printable};
use crate::removed_hooks;
use crate::service::{Found, Service, State};

/// Options of `castellan service status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything about the service of a home.
struct Report {
    service: Option<Service>,
    /// The files with the word for the state of each.
    files: Vec<(String, &'static str)>,
    /// `None`: no service, or its manager does not answer.
    state: Option<State>,
    is_running: bool,
    hooks_on_stop: HooksOnStop,
    removed: Vec<String>,
    problems: Vec<String>,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let report = Report::of(&global.layout()?, global.client()?.status().is_ok())?;
    let mut out = anstream::stdout();
    if options.json {
        output::write_json(&mut out, &report.json())?;
    } else {
        output::write_table(&mut out, &report.rows())?;
    }
    Ok(report.exit())
}

/// Describes the service in one line, and reports whether it is as it should be; `None` without a service.
pub(crate) fn shown(layout: &Layout, is_running: bool) -> Option<(String, bool)> {
    let report = Report::of(layout, is_running).ok()?;
    let service = report.service.as_ref()?;
    let text = format!("{}, {}", service.manager.title(), service.name());
    Some(match report.problems.first() {
        None => (text, true),
        Some(problem) => (format!("{text}: {problem}"), false),
    })
}

impl Report {
    fn of(layout: &Layout, is_running: bool) -> anyhow::Result<Report> {
        let service = Service::installed(layout.home())?;
        let (mut files, mut problems, mut state) = (Vec::new(), Vec::new(), None);
        if let Some(service) = &service {
            for (file, found) in service.files(layout)? {
                let (word, problem) = match found {
                    Found::Same => ("installed", None),
                    Found::Missing => ("missing", Some("is missing".to_owned())),
                    Found::Differs => ("different", Some("is not what this castellan writes".to_owned())),
                    Found::Foreign(why) => ("foreign", Some(format!("is not castellan's: {why}"))),
                };
                let file = file.display().to_string();
                let remedy = |what| format!("`{file}` {what}: castellan service install");
                problems.extend(problem.map(remedy));
                files.push((file.clone(), word));
            }
            match service.state() {
                Ok(asked) => {
                    problems.extend(asked.doubts.iter().map(|doubt| printable(doubt)));
                    if !asked.is_active && !layout.home().stopped_marker().exists() {
                        problems.push(format!(
                            "it does not run ({}): castellan service start",
                            printable(&asked.word)
                        ));
                    }
                    state = Some(asked);
                }
                Err(error) => {
                    problems.push(format!("{} does not answer: {error:#}", service.manager.title()))
                }
            }
        }
        let in_force = InForce::read(layout);
        let hooks_on_stop = in_force.map_or(HooksOnStop::Keep, |in_force| in_force.config.hooks_on_stop);
        let removed = removed_hooks::removed(layout);
        Ok(Report { service, files, state, is_running, hooks_on_stop, removed, problems })
    }

    fn exit(&self) -> Exit {
        match () {
            () if self.service.is_some() && !self.is_running => Exit::NotRunning,
            () if self.service.is_none() || !self.problems.is_empty() => Exit::No,
            () => Exit::Done,
        }
    }

    fn rows(&self) -> Vec<Vec<Cell>> {
        let row = |name: &str, value: &str| vec![Cell::from(name), Cell::from(value)];
        let warning = |name: &str, value: &str| vec![Cell::from(name), Cell::new(value, WARN)];
        let Some(service) = &self.service else {
            return vec![warning("service", "not installed: `castellan service install`")];
        };
        let mut rows = vec![row("service", &format!("{}, {}", service.manager.title(), service.name()))];
        if let Some(state) = &self.state {
            let style = if state.is_active { GOOD } else { WARN };
            rows.push(vec!["state".into(), Cell::new(printable(&state.word), style)]);
            rows.push(row("at login", if state.is_enabled { "starts" } else { "does not start" }));
        }
        rows.push(row("daemon", if self.is_running { "running" } else { "not running" }));
        rows.extend(
            self.files.iter().map(|(file, word)| vec!["file".into(), file.clone().into(), (*word).into()]),
        );
        rows.push(row(
            "hooks",
            match self.hooks_on_stop {
                HooksOnStop::Keep => "stay after a stop, and block every call",
                HooksOnStop::Remove => "are removed by a stop",
            },
        ));
        for agent in &self.removed {
            rows.push(warning(
                "removed",
                &format!("the hooks of {}: `castellan service start`", printable(agent)),
            ));
        }
        rows.extend(self.problems.iter().map(|problem| warning("problem", problem)));
        rows
    }

    fn json(&self) -> Json {
        let files: Vec<Json> =
            self.files.iter().map(|(file, word)| json!({ "file": file, "state": word })).collect();
        json!({
            "installed": self.service.is_some(),
            "manager": self.service.as_ref().map(|service| service.manager.as_str()),
            "name": self.service.as_ref().map(Service::name),
            "enabled": self.state.as_ref().map(|state| state.is_enabled),
            "active": self.state.as_ref().map(|state| state.is_active),
            "state": self.state.as_ref().map(|state| state.word.clone()),
            "daemon_running": self.is_running,
            "files": files,
            "hooks_on_stop": self.hooks_on_stop.as_str(),
            "hooks_removed": self.removed,
            "problems": self.problems,
        })
    }
}
