//! [`Scene`]: what the effects of one call are found with: the session, the world, and what earlier commands of the call
//! have changed.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use castellan_event::{
    Answer, Call, Effect, EffectKind, FileKind, FileOrigin, Process, Query, Recorder, Role, Scope, Why,
};
use castellan_programs::Arg;
use castellan_shell::Work;

use crate::guard::Guarded;
use crate::limits::{PROGRAMS_MAX, WORK_MAX, WORK_MIN, WORK_PER_BYTE};
use crate::names::Names;
use crate::overlay::Overlay;
use crate::path::{self, Last, Located, Places};
use crate::scripts::Known;
use crate::secrets::SecretReads;
use crate::trees::{ANYWHERE_MARK, Patterns};
use crate::{Setting, Spent};

pub(crate) struct Scene<'s, 'w, 'r> {
    pub(crate) setting: &'s Setting,
    pub(crate) world: &'r mut Recorder<'w>,
    pub(crate) places: Places,
    pub(crate) names: Names,
    pub(crate) overlay: Overlay,
    /// Files with code that were asked for, by their absolute paths as written.
    pub(crate) scripts: BTreeMap<String, Known>,
    /// Those that run and that the walk has read, by where they lie.
    pub(crate) read_scripts: BTreeSet<String>,
    /// All that run: where each lies, and the SHA-256 of what was read, if that is what runs.
    pub(crate) ran: BTreeMap<String, Option<String>>,
    /// Files with code of the project that are not there, by where they would lie.
    pub(crate) missing: BTreeSet<String>,
    /// Directories below which the call changes files by way of version control.
    pub(crate) changed_trees: BTreeSet<String>,
    /// The call gives code of a file what is not known.
    pub(crate) is_code_given_unknown: bool,
    /// Modules that a command's program has loaded: each is loaded once.
    pub(crate) modules: BTreeSet<(usize, String)>,
    /// Files of the session that programs may load in turn, and that were looked at.
    pub(crate) sources: BTreeSet<String>,
    /// Files of repositories that were looked at.
    pub(crate) repositories: BTreeSet<String>,
    /// Tasks that are being looked through.
    pub(crate) open_tasks: Vec<String>,
    /// The names that manifests declare, by the paths at which they were asked for; none where there is none.
    pub(crate) manifests: HashMap<String, Option<Rc<[String]>>>,
    /// Bytes of those that were read.
    pub(crate) script_bytes: usize,
    /// Programs in other languages and tasks that were read.
    pub(crate) programs_read: usize,
    /// The work that is left for reading them.
    pub(crate) program_work: castellan_languages::Work,
    /// Commands that read secrets.
    pub(crate) secrets: SecretReads,
    /// Variables that the call itself has exported before.
    pub(crate) exported: BTreeSet<String>,
    /// Compilers among them, which are what they are wherever the command stands.
    pub(crate) exported_compilers: BTreeMap<String, String>,
    /// Those of them that may hold code, with their values.
    pub(crate) exported_code: Vec<(String, Arg)>,
    /// Text of exported variables that the next command has a shell run.
    pub(crate) exported_texts: Vec<Arg>,
    /// Variables whose code was found already, with their values and where that was.
    pub(crate) inherited: BTreeSet<String>,
    /// Programs' files, by their paths: the same program runs many times in a script.
    programs: HashMap<String, Located>,
    /// Where arguments lead, seen from `seen_from`: scripts name the same files again and again.
    located: HashMap<(Arg, Last), Located>,
    seen_from: Option<String>,
    /// The agent's process, as far as the world could look at it.
    pub(crate) process: Option<Process>,
    /// The work that is left for effects.
    pub(crate) work: Work,
    /// The work that was done before that, in units of shell text.
    spent: u64,
    /// It was said that none is left.
    pub(crate) is_over_told: bool,
    /// The files by which the session is guarded; found for the first change.
    pub(crate) guarded: OnceCell<Guarded>,
    /// The patterns among what earlier calls wrote, and among what calls may be changing.
    written_patterns: OnceCell<Patterns>,
    changing_patterns: OnceCell<Patterns>,
}

impl<'s, 'w, 'r> Scene<'s, 'w, 'r> {
    pub(crate) fn new(call: &Call, setting: &'s Setting, world: &'r mut Recorder<'w>) -> Scene<'s, 'w, 'r> {
        let process = match world.ask(Query::Process { pid: call.agent.pid }) {
            Some(Answer::Process(process)) => process,
            _ => None,
        };
        let places = Places::of_session(
            process.as_ref(),
            Some(&setting.workspace).filter(|path| !path.is_empty()).map(String::as_str),
            &setting.own,
        );
        let names = Names::new(process.as_ref());
        Scene {
            setting,
            world,
            places,
            names,
            overlay: Overlay::default(),
            scripts: BTreeMap::new(),
            read_scripts: BTreeSet::new(),
            ran: BTreeMap::new(),
            missing: BTreeSet::new(),
            changed_trees: BTreeSet::new(),
            is_code_given_unknown: false,
            modules: BTreeSet::new(),
            sources: BTreeSet::new(),
            repositories: BTreeSet::new(),
            open_tasks: Vec::new(),
            manifests: HashMap::new(),
            script_bytes: 0,
            programs_read: 0,
            program_work: castellan_languages::Work::default(),
            secrets: SecretReads::default(),
            exported: BTreeSet::new(),
            exported_compilers: BTreeMap::new(),
            exported_code: Vec::new(),
            exported_texts: Vec::new(),
            inherited: BTreeSet::new(),
            programs: HashMap::new(),
            located: HashMap::new(),
            seen_from: None,
            process,
            work: Work::of(WORK_MAX),
            spent: 0,
            is_over_told: false,
            guarded: OnceCell::new(),
            written_patterns: OnceCell::new(),
            changing_patterns: OnceCell::new(),
        }
    }

    /// Counts a program or a task that is read. False when there were enough.
    pub(crate) fn counts_program(&mut self) -> bool {
        self.programs_read += 1;
        self.programs_read <= PROGRAMS_MAX
    }

    /// Whether the text of a file is known, which may only come to be there.
    pub(crate) fn has_script(&self, path: &str) -> bool {
        self.scripts.get(path).is_some_and(|known| known.text.is_ok())
    }

    /// Whether there is a file when the call comes to it, which is no directory.
    pub(crate) fn is_file_there(&mut self, path: &str) -> bool {
        let kind = self.world.ask(Query::FileKind { path: path.to_owned() });
        let is_there = !matches!(kind, Some(Answer::FileKind(FileKind::Missing | FileKind::Directory)));
        is_there || self.overlay.has_written(path) || self.has_script(path)
    }

    /// Files below a directory that this call or an earlier one of the session wrote.
    pub(crate) fn written_below(&self, directory: &str) -> Vec<String> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let earlier = self.setting.written.range(begin.clone()..).take_while(|path| path.starts_with(&begin));
        earlier.cloned().chain(self.overlay.written_below(&begin)).collect()
    }

    /// Whether this call, as far as it was looked at, or an earlier one of the session has written anything.
    pub(crate) fn has_changes(&self) -> bool {
        let Setting { written, downloaded, written_is_full, .. } = self.setting;
        !written.is_empty() || !downloaded.is_empty() || *written_is_full || !self.overlay.is_empty()
    }

    /// Those of the files below a directory that this call or an earlier one of the session wrote and that fit.
    pub(crate) fn written_where(&self, directory: &str, fits: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let earlier = self.setting.written.range(begin.clone()..).take_while(|path| path.starts_with(&begin));
        let earlier = earlier.filter(|path| fits(path)).cloned();
        earlier.chain(self.overlay.written_below(&begin).filter(|path| fits(path))).collect()
    }

    /// How a file came to where it is: what is written to a directory, as a repository that is cloned, is in it.
    pub(crate) fn origin_of(&self, path: &str, place: Option<Scope>) -> Option<FileOrigin> {
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let mut paths = above.chain([path]).filter(|path| !path.is_empty());
        let is_fetched =
            |path: &str| self.overlay.has_downloaded(path) || self.setting.downloaded.contains(path);
        if paths.clone().any(is_fetched) {
            Some(FileOrigin::Downloaded)
        } else if self.overlay.has_written_on_way(path)
            || paths.any(|path| self.setting.written.contains(path))
            || self.may_be_of_session(path)
            || self.setting.written_is_full && place != Some(Scope::System)
        {
            Some(FileOrigin::Written)
        } else {
            (place == Some(Scope::Workspace)).then_some(FileOrigin::Repository)
        }
    }

    /// Whether an earlier call of the session wrote a file, a directory that it lies in, or may have done so.
    pub(crate) fn is_of_earlier_call(&self, path: &str) -> bool {
        let Setting { written, downloaded, written_is_full, .. } = self.setting;
        let mut paths = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path]);
        *written_is_full
            || paths.any(|path| written.contains(path) || downloaded.contains(path))
            || self.may_be_of_session(path)
    }

    /// Whether an earlier call of the session may have written a file without naming it: by a pattern, or anywhere in the workspace.
    fn may_be_of_session(&self, path: &str) -> bool {
        let workspace = self.setting.workspace.trim_end_matches('/');
        let is_inside = || path.strip_prefix(workspace).is_some_and(|rest| rest.starts_with('/'));
        let is_anywhere = || self.setting.written.contains(&format!("{workspace}/{ANYWHERE_MARK}"));
        self.fits_written(path) || is_inside() && is_anywhere()
    }

    /// Whether an earlier call of the session wrote a file, by its name or by a pattern that may stand for it.
    pub(crate) fn has_session_written(&self, path: &str) -> bool {
        self.setting.written.contains(path) || self.fits_written(path)
    }

    fn fits_written(&self, path: &str) -> bool {
        self.written_patterns.get_or_init(|| Patterns::of(&self.setting.written)).may_be(path)
    }

    /// Where a program's file lies, which is known to lead nowhere else.
    pub(crate) fn program(&mut self, file: &str) -> &Located {
        let Scene { programs, places, .. } = self;
        programs.entry(file.to_owned()).or_insert_with(|| path::real(file.to_owned(), places))
    }

    /// Where an argument leads, seen from a directory. The world gives one answer within a call, so that it is asked once.
    pub(crate) fn located(&mut self, arg: &Arg, cwd: Option<&str>, last: Last) -> Located {
        if self.seen_from.as_deref() != cwd {
            self.located.clear();
            self.seen_from = cwd.map(str::to_owned);
        }
        let Scene { located, places, world, .. } = self;
        let found = || path::find(arg, cwd, places, world, last);
        located.entry((arg.clone(), last)).or_insert_with(found).clone()
    }

    /// The work for texts of so many bytes, and what walking them has left.
    pub(crate) fn allow_text(&mut self, bytes: usize, left: &Work) {
        let own = (bytes as u64).saturating_mul(WORK_PER_BYTE).saturating_add(WORK_MIN).min(WORK_MAX);
        self.spent += left.spent();
        self.work = Work::of(own.saturating_add(left.left()));
    }

    /// The work for what a tool does besides shell text, which has limits of its own.
    pub(crate) fn allow_tool(&mut self) {
        self.spent += self.work.spent();
        self.work = Work::of(WORK_MAX);
    }

    /// The work that was done for the call so far.
    pub(crate) fn spent(&self) -> Spent {
        Spent { text: self.spent + self.work.spent(), programs: self.program_work.spent() }
    }

    /// Pays for something. When that cannot be paid, it is said once, and what is left out from then on is part of it.
    pub(crate) fn spend(&mut self, units: u64, command: Option<usize>, effects: &mut Vec<Effect>) -> bool {
        if self.work.spend(units) {
            return true;
        }
        if !std::mem::replace(&mut self.is_over_told, true) {
            effects.push(Effect {
                command,
                kind: EffectKind::Opaque,
                role: Some(Role::Code),
                why: Some(Why::Budget),
                ..Effect::default()
            });
        }
        false
    }

    /// Whether a call that runs now may be changing what a path leads to or holds: the path, a directory above it, or a pattern that may
    /// stand for it.
    pub(crate) fn is_changing(&self, path: &str) -> bool {
        let mut ancestors = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let fits =
            || self.changing_patterns.get_or_init(|| Patterns::of(&self.setting.changing)).may_be(path);
        let changing = &self.setting.changing;
        !changing.is_empty()
            && (changing.contains(path) || ancestors.any(|path| changing.contains(path)) || fits())
    }
}
