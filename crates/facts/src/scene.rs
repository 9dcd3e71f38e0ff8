//! [`Scene`]: the state for finding the effects of one call: session, world, and the call's own earlier changes.

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
    /// Files with code that the call's analysis asked for, by their absolute path as written.
    pub(crate) scripts: BTreeMap<String, Known>,
    /// Real paths of the files that run and whose text the walk has read.
    pub(crate) read_scripts: BTreeSet<String>,
    /// Real paths of all files that run, with the SHA-256 of the text that was read. None if another text runs.
    pub(crate) ran: BTreeMap<String, Option<String>>,
    /// Real paths of the project's missing files with code.
    pub(crate) missing: BTreeSet<String>,
    /// Directories below which version control changes files during the call.
    pub(crate) changed_trees: BTreeSet<String>,
    /// The call passes unknown input to the code of a file.
    pub(crate) is_code_given_unknown: bool,
    /// Modules that a command's program has loaded. Each module is loaded once.
    pub(crate) modules: BTreeSet<(usize, String)>,
    /// Files of the session that programs may load and that were already read.
    pub(crate) sources: BTreeSet<String>,
    /// Files of repositories that were already read.
    pub(crate) repositories: BTreeSet<String>,
    /// Tasks whose analysis is in progress; prevents endless recursion.
    pub(crate) open_tasks: Vec<String>,
    /// The names that each manifest declares, by the path of the query. None for a missing manifest.
    pub(crate) manifests: HashMap<String, Option<Rc<[String]>>>,
    /// Total bytes of the files with code that were read.
    pub(crate) script_bytes: usize,
    /// Number of programs in other languages and of tasks that were read.
    pub(crate) programs_read: usize,
    /// The remaining work for reading these programs and tasks.
    pub(crate) program_work: castellan_languages::Work,
    /// Commands that read secrets.
    pub(crate) secrets: SecretReads,
    /// Variables that earlier commands of the call have exported.
    pub(crate) exported: BTreeSet<String>,
    /// Exported `CC` and `CXX` that name a known compiler; their value applies to commands at any position.
    pub(crate) exported_compilers: BTreeMap<String, String>,
    /// Exported variables that may hold code, with their values.
    pub(crate) exported_code: Vec<(String, Arg)>,
    /// Text of exported variables that the next command passes to a shell.
    pub(crate) exported_texts: Vec<Arg>,
    /// Variables whose code was already found, with their values and the place of the finding.
    pub(crate) inherited: BTreeSet<String>,
    /// Located program files, by path. A script runs the same program many times.
    programs: HashMap<String, Located>,
    /// Located arguments, relative to `seen_from`. Scripts name the same files many times.
    located: HashMap<(Arg, Last), Located>,
    seen_from: Option<String>,
    /// The agent's process, as far as the world could read it.
    pub(crate) process: Option<Process>,
    /// The remaining work for effects.
    pub(crate) work: Work,
    /// The work that was done before `work` was last set, in units of shell text.
    spent: u64,
    /// The effect for the used-up work was already added.
    pub(crate) is_over_told: bool,
    /// The files that guard the session. Computed at the first change.
    pub(crate) guarded: OnceCell<Guarded>,
    /// The patterns among the paths that earlier calls wrote, and among the paths that running calls may change.
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

    /// Counts one more program or task that is read. False above [`PROGRAMS_MAX`].
    pub(crate) fn counts_program(&mut self) -> bool {
        self.programs_read += 1;
        self.programs_read <= PROGRAMS_MAX
    }

    /// True if the text of a file is known. The file may appear only during the call.
    pub(crate) fn has_script(&self, path: &str) -> bool {
        self.scripts.get(path).is_some_and(|known| known.text.is_ok())
    }

    /// True if the path is a file, not a directory, when the call reaches it.
    pub(crate) fn is_file_there(&mut self, path: &str) -> bool {
        let kind = self.world.ask(Query::FileKind { path: path.to_owned() });
        let is_there = !matches!(kind, Some(Answer::FileKind(FileKind::Missing | FileKind::Directory)));
        is_there || self.overlay.has_written(path) || self.has_script(path)
    }

    /// Files below a directory that this call or an earlier call of the session wrote.
    pub(crate) fn written_below(&self, directory: &str) -> Vec<String> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let earlier = self.setting.written.range(begin.clone()..).take_while(|path| path.starts_with(&begin));
        earlier.cloned().chain(self.overlay.written_below(&begin)).collect()
    }

    /// True if this call, as far as it was analysed, or an earlier call of the session has written anything.
    pub(crate) fn has_changes(&self) -> bool {
        let Setting { written, downloaded, written_is_full, .. } = self.setting;
        !written.is_empty() || !downloaded.is_empty() || *written_is_full || !self.overlay.is_empty()
    }

    /// Files below a directory that this call or an earlier call of the session wrote and that `fits` accepts.
    pub(crate) fn written_where(&self, directory: &str, fits: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let earlier = self.setting.written.range(begin.clone()..).take_while(|path| path.starts_with(&begin));
        let earlier = earlier.filter(|path| fits(path)).cloned();
        earlier.chain(self.overlay.written_below(&begin).filter(|path| fits(path))).collect()
    }

    /// The origin of a file. A file in a written directory (a cloned repository) has the origin of that directory.
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

    /// True if an earlier call of the session wrote, or may have written, the file or a directory above it.
    pub(crate) fn is_of_earlier_call(&self, path: &str) -> bool {
        let Setting { written, downloaded, written_is_full, .. } = self.setting;
        let mut paths = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path]);
        *written_is_full
            || paths.any(|path| written.contains(path) || downloaded.contains(path))
            || self.may_be_of_session(path)
    }

    /// True if an earlier call may have written the file without naming it: by a pattern, or anywhere in the workspace.
    fn may_be_of_session(&self, path: &str) -> bool {
        let workspace = self.setting.workspace.trim_end_matches('/');
        let is_inside = || path.strip_prefix(workspace).is_some_and(|rest| rest.starts_with('/'));
        let is_anywhere = || self.setting.written.contains(&format!("{workspace}/{ANYWHERE_MARK}"));
        self.fits_written(path) || is_inside() && is_anywhere()
    }

    /// True if an earlier call of the session wrote the file, by its name or by a pattern that may match the name.
    pub(crate) fn has_session_written(&self, path: &str) -> bool {
        self.setting.written.contains(path) || self.fits_written(path)
    }

    fn fits_written(&self, path: &str) -> bool {
        self.written_patterns.get_or_init(|| Patterns::of(&self.setting.written)).may_be(path)
    }

    /// Locates a program's file. The caller knows that the path has no further symlinks.
    pub(crate) fn program(&mut self, file: &str) -> &Located {
        let Scene { programs, places, .. } = self;
        programs.entry(file.to_owned()).or_insert_with(|| path::real(file.to_owned(), places))
    }

    /// Locates an argument relative to a directory. Each query runs once: the world's answers do not change within a
    /// call.
    pub(crate) fn located(&mut self, arg: &Arg, cwd: Option<&str>, last: Last) -> Located {
        if self.seen_from.as_deref() != cwd {
            self.located.clear();
            self.seen_from = cwd.map(str::to_owned);
        }
        let Scene { located, places, world, .. } = self;
        let found = || path::find(arg, cwd, places, world, last);
        located.entry((arg.clone(), last)).or_insert_with(found).clone()
    }

    /// Sets the work for texts of this many bytes and adds the work that the walk has left.
    pub(crate) fn allow_text(&mut self, bytes: usize, left: &Work) {
        let own = (bytes as u64).saturating_mul(WORK_PER_BYTE).saturating_add(WORK_MIN).min(WORK_MAX);
        self.spent += left.spent();
        self.work = Work::of(own.saturating_add(left.left()));
    }

    /// Sets the work for a tool's effects besides shell text. Tools have their own limits.
    pub(crate) fn allow_tool(&mut self) {
        self.spent += self.work.spent();
        self.work = Work::of(WORK_MAX);
    }

    /// The work that was done for the call so far.
    pub(crate) fn spent(&self) -> Spent {
        Spent { text: self.spent + self.work.spent(), programs: self.program_work.spent() }
    }

    /// Spends work. The first failure adds one Opaque effect, which covers everything that is omitted from then on.
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

    /// True if a running call may be changing the path, a directory above it, or a pattern that may match it.
    pub(crate) fn is_changing(&self, path: &str) -> bool {
        let mut ancestors = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let fits =
            || self.changing_patterns.get_or_init(|| Patterns::of(&self.setting.changing)).may_be(path);
        let changing = &self.setting.changing;
        !changing.is_empty()
            && (changing.contains(path) || ancestors.any(|path| changing.contains(path)) || fits())
    }
}
