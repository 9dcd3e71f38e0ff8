//! Compares the prediction for one text with the observation. Must not run anything.

use crate::inside::{HOMES, PATH, Seen};
use crate::observed::{Event, Kind};
use crate::pattern::{is_below, is_pattern, matches};
use crate::predicted::{Command, Predicted, Said};
use crate::private::Private;

/// The result for an observed event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Happened {
    Predicted,
    /// A modelled program's own event, with the program's name.
    Private(String),
    /// Covered by an Opaque part with a matching role.
    Opaque,
    /// Covered by a file that runs and was not analysed.
    Execute,
    /// Neither predicted nor covered.
    Missed,
}

/// The result for a predicted effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foretold {
    /// It happened, or was tried.
    Happened,
    /// Its target did not exist, as the trace shows.
    NothingThere,
    /// Its command is in a branch, loop or list that did not run.
    NotRun,
    Wrong,
}

/// The outcome of one text.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) happened: Vec<(Event, Happened)>,
    pub(crate) foretold: Vec<(Kind, String, Foretold)>,
}

/// Judges one text.
pub(crate) fn compare(seen: &Seen, text: &str, mut events: Vec<Event>, private: &Private) -> Outcome {
    for event in events.iter_mut().filter(|event| event.kind != Kind::Connect && event.kind != Kind::Exec) {
        event.what = entry(&event.what);
    }
    let judge =
        Judge { predicted: &seen.predicted, events: &events, private, is_branching: is_branching(text) };
    let foretold = judge.foretold();
    let counted = events.iter().filter(|event| event.is_done && counts(event));
    let happened = counted.map(|event| (event.clone(), judge.happened(event))).collect();
    Outcome { happened, foretold }
}

/// Returns true for an event that is compared: reads only in the agent's home, and no devices, pipes or kernel files.
fn counts(event: &Event) -> bool {
    let others = ["/run/said", "/dev/", "/proc/", "pipe:", "socket:", "anon_inode:", "TCP", "UDP"];
    match event.kind {
        Kind::Look => false,
        Kind::Read => is_below(&event.what, HOMES),
        Kind::Write | Kind::Delete => {
            event.what.starts_with('/') && !others.iter().any(|other| event.what.starts_with(other))
        }
        Kind::Exec | Kind::Connect => true,
    }
}

/// Returns true for a text with words after which a command may not run.
fn is_branching(text: &str) -> bool {
    let words = [
        "&&", "||", "if ", "case ", "while ", "for ", "until ", "exit", "xargs", "-exec", "trap", "set -e",
        "()", "timeout",
    ];
    words.iter().any(|word| text.contains(word))
}

struct Judge<'a> {
    predicted: &'a Predicted,
    events: &'a [Event],
    private: &'a Private,
    is_branching: bool,
}

impl Judge<'_> {
    fn happened(&self, event: &Event) -> Happened {
        let effects = &self.predicted.effects;
        let is_said = match event.kind {
            Kind::Exec => self.is_program(&event.what) || effects.iter().any(|said| covers(said, event)),
            Kind::Delete => effects.iter().any(|said| covers(said, event)) || self.is_replaced(event),
            Kind::Read | Kind::Write | Kind::Connect | Kind::Look => effects
                .iter()
                .any(|said| covers(said, event) || event.kind == Kind::Read && is_on_the_way(said, event)),
        };
        if is_said {
            return Happened::Predicted;
        }
        if let Some(program) = self.private.of(event, self.predicted) {
            return Happened::Private(program.to_owned());
        }
        if self.is_name_lookup(event) {
            return Happened::Private("name lookup".to_owned());
        }
        let led = |said: &Said| self.led_to(said, event);
        if effects.iter().any(|said| said.is_opaque() && fits(said, event.kind) && led(said)) {
            return Happened::Opaque;
        }
        if effects.iter().any(|said| said.is_execute() && led(said)) {
            return Happened::Execute;
        }
        Happened::Missed
    }

    /// Returns true if the event looks up the address of a predicted host.
    fn is_name_lookup(&self, event: &Event) -> bool {
        let names_host = |said: &Said| said.host.as_deref().is_some_and(|host| !is_address(host));
        event.kind == Kind::Connect
            && event.what.ends_with(":53")
            && self.predicted.effects.iter().any(names_host)
    }

    /// Returns true if a file was removed only to be replaced, and writing this file was predicted.
    fn is_replaced(&self, delete: &Event) -> bool {
        let write = Event { kind: Kind::Write, ..delete.clone() };
        let is_written = self.events.iter().any(|event| event.is_done && *event == write);
        is_written && self.predicted.effects.iter().any(|said| covers(said, &write))
    }

    /// Returns true if an effect's command may be among the programs that led to an event. The shell itself and
    /// programs of unknown name may lead to any event.
    fn led_to(&self, said: &Said, event: &Event) -> bool {
        let Some(command) = self.predicted.command_of(said) else { return true };
        let Some(path) = &command.path else { return true };
        let is_itself = event.kind == Kind::Exec && real(&event.what) == *path;
        is_itself || event.programs.iter().any(|program| is_same_program(program, command))
    }

    fn is_program(&self, path: &str) -> bool {
        let file = real(path);
        let name = path.rsplit('/').next().unwrap_or_default();
        self.predicted.commands.iter().any(|command| {
            let is_wrapper = command
                .wrappers
                .iter()
                .any(|wrapper| wrapper == name || found(wrapper).as_ref() == Some(&file));
            is_wrapper || command.path.as_ref().is_some_and(|path| real(path) == file)
        })
    }

    fn foretold(&self) -> Vec<(Kind, String, Foretold)> {
        let mut all = Vec::new();
        for command in &self.predicted.commands {
            if let Some(path) = &command.path {
                all.push((Kind::Exec, path.clone(), self.ran(command, path)));
            }
        }
        for said in &self.predicted.effects {
            let Some(kind) = kind_of(said) else { continue };
            let what = if kind == Kind::Connect { said.host.clone() } else { said.path.clone() };
            // An unknown path or host has an Opaque effect beside it, which is counted there.
            let Some(what) =
                what.filter(|what| !what.is_empty() && (kind == Kind::Connect || what.starts_with('/')))
            else {
                continue;
            };
            all.push((kind, what.clone(), self.came_true(said, kind, &what)));
        }
        all.sort_by(|a, b| (a.0, &a.1, a.2 as u8).cmp(&(b.0, &b.1, b.2 as u8)));
        // A path predicted by two commands is right if either command touched it.
        all.dedup_by(|next, before| (next.0, &next.1) == (before.0, &before.1));
        all
    }

    fn ran(&self, command: &Command, path: &str) -> Foretold {
        let has_run =
            self.events.iter().any(|event| event.kind == Kind::Exec && real(&event.what) == real(path));
        match () {
            () if has_run => Foretold::Happened,
            () if self.is_branching || !command.wrappers.is_empty() => Foretold::NotRun,
            // The shell does not run a command whose redirect fails.
            () if self.has_failed(command, Kind::Write) => Foretold::NothingThere,
            () => Foretold::Wrong,
        }
    }

    /// Returns true if a command failed to open or check something. The command then may have done nothing else.
    fn has_failed(&self, command: &Command, kind: Kind) -> bool {
        let of_it =
            |said: &&Said| self.predicted.command_of(said).is_some_and(|of| std::ptr::eq(of, command));
        let has_failed = |said: &Said| {
            let is_it = |event: &&Event| kind == Kind::Read && event.kind == Kind::Look || event.kind == kind;
            let fails = |event: &Event| {
                let path = said.path.as_deref().unwrap_or_default();
                path == event.what || is_pattern(path) && matches(path, &event.what)
            };
            kind_of(said) == Some(kind)
                && self.events.iter().filter(is_it).any(|event| !event.is_done && fails(event))
        };
        self.predicted.effects.iter().filter(of_it).any(has_failed)
    }

    /// Returns true if the shell searched for a program and did not find it.
    fn is_not_installed(&self, command: &Command) -> bool {
        let Some(name) = command.name.as_deref().filter(|_| command.path.is_none()) else { return false };
        let mut files = PATH.split(':').map(|directory| format!("{directory}/{name}"));
        files.all(|file| {
            let is_it = |event: &&Event| event.what == file || event.what == real(&file);
            self.events.iter().filter(is_it).any(|event| !event.is_done)
        })
    }

    fn came_true(&self, said: &Said, kind: Kind, what: &str) -> Foretold {
        let is_such = |event: &&Event| {
            // A move reads its source, too.
            let reads = matches!(event.kind, Kind::Look | Kind::Exec | Kind::Delete);
            let is_kind = event.kind == kind || kind == Kind::Read && reads;
            is_kind && covers(said, &Event { kind, ..(*event).clone() })
        };
        if self.events.iter().any(|event| is_such(&event)) {
            return Foretold::Happened;
        }
        let command = self.predicted.command_of(said);
        if let Some((command, path)) = command.and_then(|command| Some((command, command.path.as_ref()?)))
            && self.ran(command, path) != Foretold::Happened
        {
            return Foretold::NotRun;
        }
        if command.is_some_and(|command| self.is_not_installed(command)) {
            return Foretold::NotRun;
        }
        let is_missing = |event: &Event| {
            let at = event.what == what
                || is_below(what, &event.what)
                || is_pattern(what) && matches(what, &event.what);
            !event.is_done && at
        };
        match () {
            () if self.events.iter().any(is_missing) => Foretold::NothingThere,
            () if command.is_some_and(|command| self.has_failed(command, Kind::Read)) => {
                Foretold::NothingThere
            }
            // A pattern without matches is a name that does not exist.
            () if is_pattern(what) && kind != Kind::Write => Foretold::NothingThere,
            // No name can be looked up in the enclosure.
            () if kind == Kind::Connect && !is_address(what) => Foretold::NothingThere,
            () if command.is_none_or(|command| command.path.is_none()) && self.is_branching => {
                Foretold::NotRun
            }
            () => Foretold::Wrong,
        }
    }
}

/// Returns the kind of event that an effect predicts; `None` if a trace cannot show it as a path or address.
fn kind_of(said: &Said) -> Option<Kind> {
    match said.kind.as_str() {
        "read" => Some(Kind::Read),
        "write" | "permission" | "link" => Some(Kind::Write),
        "delete" => Some(Kind::Delete),
        "connect" | "upload" | "download" | "query" | "mutate" if said.host.is_some() => Some(Kind::Connect),
        _ => None,
    }
}

/// Returns true if an effect predicts an event.
fn covers(said: &Said, event: &Event) -> bool {
    let of_file = said.is_execute() && matches!(event.kind, Kind::Read | Kind::Exec);
    if kind_of(said) != Some(event.kind) && !of_file {
        return false;
    }
    if event.kind == Kind::Connect {
        let host = event.what.rsplit_once(':').map_or(event.what.as_str(), |(host, _)| host);
        return said.host.as_deref().is_some_and(|said| is_same_host(said, host));
    }
    let Some(path) = said.path.as_deref() else { return false };
    let is_on_the_way = event.is_directory && is_below(path, &event.what);
    // The shell matches a pattern and reads the directory for that.
    let is_listed = event.kind == Kind::Read && is_pattern(path) && {
        let fixed = path.split(['*', '?', '[', '{']).next().unwrap_or_default();
        event.what == fixed.trim_end_matches('/') || is_below(&event.what, fixed.trim_end_matches('/'))
    };
    path == event.what
        || is_on_the_way
        || is_listed
        || is_pattern(path) && matches(path, &event.what)
        || is_below(&event.what, path)
            && (said.recursive || event.kind != Kind::Delete && is_direct(&event.what, path))
}

/// Returns true if a directory was read on the way to the target of an effect, or below a recursive target.
fn is_on_the_way(said: &Said, event: &Event) -> bool {
    let Some(path) = said.path.as_deref().filter(|_| event.is_directory && kind_of(said).is_some()) else {
        return false;
    };
    path == event.what || is_below(path, &event.what) || said.recursive && is_below(&event.what, path)
}

/// An effect on a directory also permits effects on its direct entries.
fn is_direct(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| !rest.trim_start_matches('/').contains('/'))
}

/// Returns true if an Opaque part may be the event.
fn fits(said: &Said, kind: Kind) -> bool {
    match said.role.as_deref() {
        Some("program" | "code" | "tool") => true,
        Some("target") => matches!(kind, Kind::Write | Kind::Delete | Kind::Connect | Kind::Read),
        _ => matches!(kind, Kind::Read),
    }
}

fn is_same_program(program: &str, command: &Command) -> bool {
    let file = command.path.as_deref().unwrap_or_default();
    command.name.as_deref() == Some(program) || file.rsplit('/').next() == Some(program)
}

fn is_address(host: &str) -> bool {
    host == "localhost"
        || host.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'[' | b']'))
}

fn is_same_host(said: &str, host: &str) -> bool {
    said == host
        || said == "localhost" && matches!(host, "127.0.0.1" | "::1")
        || said.trim_matches(['[', ']']) == host
}

/// Resolves the symlinks of a path's directories, which are the same outside and inside the enclosure. Paths in the
/// homes stay, because the kernel reported the real path of each opened file.
fn real(path: &str) -> String {
    if is_below(path, HOMES) || !path.starts_with('/') {
        return path.to_owned();
    }
    for at in std::path::Path::new(path).ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(at), std::path::Path::new(path).strip_prefix(at))
        {
            let whole = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
            return whole.to_string_lossy().into_owned();
        }
    }
    path.to_owned()
}

/// Resolves the directory of a path, but not its last component, because a change applies to the symlink itself.
fn entry(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, name)) if !directory.is_empty() => format!("{}/{name}", real(directory)),
        _ => path.to_owned(),
    }
}

fn found(name: &str) -> Option<String> {
    let mut files = PATH.split(':').map(|directory| format!("{directory}/{name}"));
    files.find(|file| std::path::Path::new(file).is_file()).map(|file| real(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, what: &str) -> Event {
        let programs = vec!["rm".to_owned()];
        Event { kind, what: what.to_owned(), is_done: true, is_directory: false, programs }
    }

    fn said(kind: &str, path: &str, recursive: bool) -> Said {
        Said { kind: kind.to_owned(), path: Some(path.to_owned()), recursive, ..Said::default() }
    }

    #[test]
    fn an_effect_covers_what_it_says_and_no_more() {
        for (kind, path, recursive, event, expected) in [
            ("delete", "/w/a", false, event(Kind::Delete, "/w/a"), true),
            ("delete", "/w/a", false, event(Kind::Write, "/w/a"), false),
            ("delete", "/w/a", false, event(Kind::Delete, "/w/ab"), false),
            ("delete", "/w/a", true, event(Kind::Delete, "/w/a/b/c"), true),
            ("delete", "/w/a", false, event(Kind::Delete, "/w/a/b/c"), false),
            ("permission", "/w/*.o", false, event(Kind::Write, "/w/x.o"), true),
        ] {
            assert_eq!(covers(&said(kind, path, recursive), &event), expected, "{kind} {path} {event:?}");
        }
        let dir = Event { is_directory: true, ..event(Kind::Write, "/w/a") };
        assert!(covers(&said("write", "/w/a/b", false), &dir));
    }

    #[test]
    fn what_nobody_said_is_missed_and_what_did_not_happen_is_wrong() {
        let Ok(private) = Private::read() else { panic!("private.toml") };
        let seen = |effects| Seen {
            predicted: Predicted { commands: Vec::new(), effects },
            trace: String::new(),
            said: String::new(),
        };
        let delete = event(Kind::Delete, "/w/a");
        let outcome = compare(&seen(Vec::new()), "rm a", vec![delete.clone()], &private);
        assert_eq!(outcome.happened, [(delete.clone(), Happened::Missed)]);
        let outcome =
            compare(&seen(vec![said("delete", "/w/b", false)]), "rm a", vec![delete.clone()], &private);
        assert_eq!(outcome.foretold, [(Kind::Delete, "/w/b".to_owned(), Foretold::Wrong)]);
        let opaque = Said { kind: "opaque".to_owned(), role: Some("operand".to_owned()), ..Said::default() };
        let outcome = compare(&seen(vec![opaque]), "rm a", vec![delete.clone()], &private);
        assert_eq!(outcome.happened, [(delete, Happened::Missed)], "an operand covers no delete");
    }
}
