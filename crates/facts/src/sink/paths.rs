//! Effects on paths: an argument is located, through links that the call has made, and the effect gets the fields of the
//! location.

use castellan_event::{
    Answer, Doubt, EffectKind, FileKind, LocatedFile, Object, Operation, Query, Remote, Role, Scope, Why,
};
use castellan_programs::{Arg, Piece};

use super::bounds::{Bounds, Content};
use super::unknown::role_of;
use super::{Sink, happens_dry};
use crate::limits::{BYTES_PER_WORK, LINKS_MAX, WORK_OF_DESCENT, WORK_OF_LINK, WORK_OF_PATH, WORK_OF_UNSURE};
use crate::overlay::Way;
use crate::path::{self, Last, Located};
use crate::scope;

/// Further facts of an operation on a file, besides the file's location.
#[derive(Debug, Default)]
pub(crate) struct About {
    /// The machine that gets the file.
    pub(crate) sent_to: Option<Remote>,
    /// The reason why the file is not read.
    pub(crate) unread: Option<Why>,
    /// The content that the tool itself reads or writes.
    pub(crate) content: Content,
    /// The file that a hard link gives another name.
    pub(crate) linked: Option<String>,
}

impl Sink<'_, '_, '_, '_> {
    /// Adds an effect of this kind on the path in an argument.
    pub(crate) fn path(&mut self, kind: EffectKind, arg: &Arg) {
        self.path_effect(Operation::of(kind), arg);
    }

    /// Adds an operation on the path in an argument.
    pub(crate) fn path_effect(&mut self, op: Operation, arg: &Arg) {
        self.path_about(op, About::default(), arg);
    }

    /// Adds a link in an argument to a target. A hard link is another name of the same file.
    pub(crate) fn link(&mut self, target: String, is_hard: bool, arg: &Arg) {
        let about = About { linked: is_hard.then(|| target.clone()), ..About::default() };
        self.path_about(Operation { target: Some(target), ..Operation::of(EffectKind::Link) }, about, arg);
    }

    /// Adds an upload of the file in an argument.
    pub(crate) fn sent(&mut self, to: Remote, arg: &Arg) {
        let about = About { sent_to: Some(to), ..About::default() };
        self.path_about(Operation::of(EffectKind::Upload), about, arg);
    }

    /// Adds an effect of a tool that itself reads or writes the content of the file in an argument.
    pub(crate) fn content(&mut self, kind: EffectKind, content: Content, arg: &Arg) {
        self.path_about(Operation::of(kind), About { content, ..About::default() }, arg);
    }

    /// Adds the reading of a text that is sent, such as headers or a comment. Only of a secret it is an upload.
    pub(crate) fn text_sent(&mut self, to: Remote, arg: &Arg) {
        self.path(EffectKind::Read, arg);
        if self.is_secret(arg) {
            self.sent(to, arg);
        }
    }

    /// True if an argument names a secret, or a file that holds what the session read from one.
    pub(crate) fn is_secret(&mut self, arg: &Arg) -> bool {
        let located = self.locate(arg);
        self.as_secret_copy(EffectKind::Read, located).scope == Some(Scope::Secret)
    }

    /// Adds the start of a file that is not read.
    pub(crate) fn unread(&mut self, why: Why, arg: &Arg) {
        let about = About { unread: Some(why), ..About::default() };
        self.path_about(Operation::of(EffectKind::Execute), about, arg);
    }

    fn path_about(&mut self, op: Operation, about: About, arg: &Arg) {
        let is_entry = matches!(op.kind, EffectKind::Delete | EffectKind::Link);
        let mut located = if is_entry { self.locate_entry(arg) } else { self.locate(arg) };
        if op.kind == EffectKind::Read && located.path.is_none() && self.is_surely_secret(arg) {
            located.scope = Some(Scope::Secret);
        }
        if op.kind == EffectKind::Execute && !self.mode.dry {
            self.unless_file(&located);
        }
        self.located(op, about, located);
    }

    /// True if every value of a path's unknown part makes it a secret: `config/$STAGE.secrets.yml`.
    fn is_surely_secret(&mut self, arg: &Arg) -> bool {
        if arg.as_str().is_some() {
            return false;
        }
        // The unknown part may be a whole name before the secret's own name.
        let named = |with: &str| {
            let mut path = String::new();
            for piece in arg.pieces() {
                match piece {
                    Piece::Text(text) if with.is_empty() => path += text.trim_start_matches(['.', '-', '_']),
                    Piece::Text(text) => path += text,
                    Piece::Unknown { .. } => path += with,
                }
            }
            path
        };
        let mut is_secret = |path: String| self.locate(&Arg::known(path)).scope == Some(Scope::Secret);
        is_secret(named("x")) || is_secret(named(""))
    }

    /// Adds an operation on a path that was already located.
    pub(crate) fn located(&mut self, op: Operation, about: About, located: Located) {
        if self.mode.dry && !happens_dry(op.kind) {
            return;
        }
        let mut located = self.as_secret_copy(op.kind, located);
        // Streams store nothing, or the process has them open already.
        let kind = op.kind;
        if located.path.as_deref().is_some_and(path::is_stream) {
            // Code that a shell reads from a stream was found with the command.
            let is_empty = located.path.as_deref() == Some("/dev/null");
            if kind == EffectKind::Execute && !self.is_shell && !is_empty {
                self.opaque(Role::Code, Why::Input, &located.raw);
            }
            return;
        }
        if kind == EffectKind::Execute && !self.setup.remote {
            let Operation { system, verb, target, .. } = &op;
            if let Some(system) = system {
                let verb = verb.as_deref().unwrap_or_default();
                self.task(system, verb, target.as_deref(), &located.raw);
            }
        }
        if let Some(path) =
            located.path.as_deref().filter(|_| kind == EffectKind::Execute && !self.setup.remote)
        {
            self.scene.meet_contained(path);
        }
        // This must precede `remember`: a deletion changes the origin.
        let finds = [EffectKind::Execute, EffectKind::Read, EffectKind::Upload, EffectKind::Delete];
        let origin = located.path.as_deref().filter(|_| finds.contains(&kind) && !self.setup.remote);
        let origin = origin.and_then(|path| self.scene.origin_of(path, located.place));
        self.remember(&op, &located);
        if kind == EffectKind::Write && self.kind_at(&located) == Some(FileKind::Fifo) {
            self.inject(&located);
        }
        let mut bounds = self.bounds(&op, about.content, &mut located);
        if let (Some(path), Some(linked)) = (located.path.as_deref(), about.linked) {
            self.add_linked(path, linked, &mut bounds);
        }
        let changing = located.path.as_deref().filter(|path| self.scene.session.is_changing(path));
        let changing = changing.map(|_| Why::Changing);
        let (recursive, force) = (op.recursive.or(self.mode.recursive), op.force.or(self.mode.force));
        let op = Operation { recursive, force, ..op };
        let (raw, scope, why) = (located.raw.clone(), located.scope, located.why.or(changing));
        let file = self.file(&op, located);
        let doubt = about.unread.map(|why| Doubt { role: None, why });
        let Bounds { escape, measured, guard, why: unbounded } = bounds;
        let guard = file.guard.or(guard);
        let file = LocatedFile { origin, sent_to: about.sent_to, doubt, guard, escape, measured, ..file };
        self.push(op, Object::File(Box::new(file)));
        if let Some(why) = unbounded.filter(|_| why.is_none()) {
            // The file may be a secret, or part of the guard, by another name.
            self.opaque(Role::Target, why, &raw);
        }
        if let Some(why) = why {
            // A path that is too long to locate may hide the file that is read. No real file has such a name.
            let is_hidden = kind == EffectKind::Read && why == Why::Size;
            let role = if is_hidden { Role::Target } else { role_of(kind, scope) };
            self.opaque(role, why, &raw);
        }
    }

    /// Raises the class of a path that holds what the session read from a secret. A sent directory holds its files.
    fn as_secret_copy(&self, kind: EffectKind, located: Located) -> Located {
        let Some(path) = located.path.as_deref().filter(|_| !self.setup.remote) else { return located };
        let is_copy = matches!(kind, EffectKind::Read | EffectKind::Upload)
            && self.scene.is_secret_copy(path)
            || kind == EffectKind::Upload && self.scene.secret_copy_below(path).is_some();
        let scope = located.scope.map(|scope| if is_copy { scope.min(Scope::Secret) } else { scope });
        Located { scope, ..located }
    }

    /// Builds the object of an operation on a path, with the part of the guard that the operation reaches.
    pub(crate) fn file(&mut self, op: &Operation, located: Located) -> LocatedFile {
        let guard = self.guard_of(op, located.path.as_deref(), &located.raw);
        let Located { path, raw, scope, place, is_linked, why: _, about: _ } = located;
        let home_bytes = path.as_deref().and_then(|path| scope::home_of(path, &self.scene.session.places));
        LocatedFile { path, raw, is_linked, home_bytes, scope, place, guard, ..LocatedFile::default() }
    }

    fn kind_at(&mut self, located: &Located) -> Option<FileKind> {
        let path = located.path.clone().filter(|_| !self.setup.remote)?;
        match self.scene.world.ask(Query::FileKind { path })? {
            Answer::FileKind(kind) => Some(kind),
            Answer::RealPath(_)
            | Answer::Contents(_)
            | Answer::Executable(_)
            | Answer::Repository(_)
            | Answer::Newest(_)
            | Answer::Inode(_)
            | Answer::Head(_)
            | Answer::OtherNames(_)
            | Answer::Process(_) => None,
        }
    }

    /// Adds an Opaque effect for code that is not in a regular file: an open descriptor, a FIFO, a device. For a shell,
    /// such code by path was found with the command.
    fn unless_file(&mut self, located: &Located) {
        let path = located.path.as_deref();
        let is_stream = path.is_some_and(path::is_stream);
        let gives = |kind| matches!(kind, FileKind::Fifo | FileKind::Device | FileKind::Socket);
        let is_given = match self.is_shell {
            true => is_stream && path != Some("/dev/null"),
            false => !is_stream && self.kind_at(located).is_some_and(gives),
        };
        if is_given {
            self.opaque(Role::Code, Why::Input, &located.raw);
        }
    }

    /// Adds an Inject effect for a write to a FIFO: another program reads the text and may run it as commands.
    fn inject(&mut self, located: &Located) {
        let op = Operation { verb: Some("fifo".to_owned()), ..Operation::of(EffectKind::Inject) };
        let file = self.file(&op, located.clone());
        self.push(op, Object::File(Box::new(file)));
    }

    /// Locates an argument, through links that this call has made.
    pub(crate) fn locate(&mut self, arg: &Arg) -> Located {
        self.followed(arg, Last::Followed, true)
    }

    /// Locates an argument for an effect on the name itself: a final link is not followed.
    fn locate_entry(&mut self, arg: &Arg) -> Located {
        // `link/` means the link's target.
        let through = arg.as_str().is_some_and(|text| text.ends_with('/'));
        self.followed(arg, Last::Kept, through)
    }

    /// `through`: a final link that this call has made is followed.
    fn followed(&mut self, arg: &Arg, last: Last, through: bool) -> Located {
        let unsure = arg.pieces().iter().filter(|piece| matches!(piece, Piece::Unknown { .. })).count();
        let bytes = arg.len() + self.cwd.as_ref().map_or(0, String::len);
        let descends = arg.pieces().iter().any(|piece| piece.written().contains("**"));
        let times = if descends { WORK_OF_DESCENT } else { 1 };
        let units = WORK_OF_PATH + (bytes / BYTES_PER_WORK) as u64 + unsure as u64 * WORK_OF_UNSURE * times;
        if !self.spend(units) {
            return path::unknown(arg, Why::Budget);
        }
        if self.setup.remote {
            return path::elsewhere(arg, &self.scene.session.places);
        }
        let on_drive = self.has_drives && !self.scene.session.places.is_windows;
        if let Some(located) = on_drive.then(|| path::on_drive(arg, self.scene.world, last)).flatten() {
            return located;
        }
        let located = self.scene.located(arg, self.cwd.as_deref(), last);
        let way = located.path.as_deref().map_or(Way::Same, |path| self.scene.overlay.follow(path, through));
        let followed = match way {
            Way::Same => return located,
            Way::Elsewhere(_) => 1,
            Way::Endless => LINKS_MAX as u64,
        };
        if !self.spend(followed * WORK_OF_LINK) {
            return path::unknown(arg, Why::Budget);
        }
        let elsewhere = match way {
            Way::Same => return located,
            Way::Elsewhere(path) => path,
            Way::Endless => return located.without_end(),
        };
        let (places, world) = (&self.scene.session.places, &mut *self.scene.world);
        let followed = path::find(&Arg::known(elsewhere), None, places, world, last);
        Located { raw: located.raw, is_linked: true, ..followed }
    }
}
