//! Where an argument leads that names a path. (Replaced as a whole by the module with scopes as data.)

use castellan_event::{Answer, Process, Query, Recorder, Scope, Why};
use castellan_programs::Arg;

use crate::Setting;

#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    home: String,
    workspace: String,
}

impl Places {
    pub(crate) fn new(process: Option<&Process>, setting: &Setting) -> Places {
        let home = process.map(|process| process.var("HOME").unwrap_or(&process.home).to_owned());
        Places { home: home.unwrap_or_default(), workspace: setting.workspace.clone() }
    }

    pub(crate) fn home(&self) -> &str {
        &self.home
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) path: Option<String>,
    pub(crate) raw: String,
    pub(crate) scope: Scope,
    pub(crate) place: Scope,
    pub(crate) why: Option<Why>,
}

pub(crate) fn locate(raw: &Arg, cwd: Option<&str>, places: &Places, world: &mut Recorder<'_>) -> Located {
    let written = raw.written().into_owned();
    let text = match (raw.as_str(), raw.why()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(Why::Glob)) => written.clone(),
        (None, why) => {
            return Located { path: None, raw: written, scope: Scope::Outside, place: Scope::Outside, why };
        }
    };
    let base = if text.starts_with('/') { Some("/") } else { cwd };
    let answer = base.and_then(|base| world.ask(Query::RealPath { base: base.to_owned(), path: text }));
    let path = match answer {
        Some(Answer::RealPath(path)) => Some(path),
        _ => None,
    };
    let place = path.as_deref().map_or(Scope::Outside, |path| match path {
        "/" => Scope::Root,
        path if path.starts_with(&places.workspace) => Scope::Workspace,
        path if path.starts_with("/tmp") => Scope::Temporary,
        path if path.starts_with("/dev") => Scope::Device,
        path if path.starts_with(&places.home) => Scope::Home,
        _ => Scope::System,
    });
    let why = path.is_none().then_some(Why::Unreadable);
    Located { path, raw: written, scope: place, place, why }
}
