//! [`Effect`]: a change, query or Opaque part that a command or tool has. It must not know how effects are found.

use std::sync::Arc;

use crate::vocabulary::{EffectKind, Escape, FileOrigin, Guard, HostClass, Role, Scope, Why};

/// An effect of a command or tool on the world.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Position in [`crate::Facts::commands`] of the command with this effect; `None` for an effect of the tool itself.
    pub command: Option<usize>,
    /// Position in the call's files of the file that the tool itself acts on.
    pub file: Option<usize>,
    /// The script file with the command.
    pub script: Option<Arc<ScriptId>>,
    /// The change or query.
    pub op: Operation,
    /// The file, machine or package of the operation.
    pub object: Object,
}

/// A script file with commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptId {
    /// Its path.
    pub path: String,
    /// Its SHA-256, hex.
    pub sha256: Option<String>,
}

/// A change or query, as a program's model states it. `None` is an absent field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Operation {
    /// The kind of the effect.
    pub kind: EffectKind,
    /// The system that is changed, such as `postgres` or `aws`.
    pub system: Option<String>,
    /// The action on that system.
    pub verb: Option<String>,
    /// The object of that action, as written; of an Opaque part: its text.
    pub target: Option<String>,
    /// The effect includes directories below the path.
    pub recursive: Option<bool>,
    /// The program neither asks nor stops at problems.
    pub force: Option<bool>,
}

/// The object of an operation, as far as it is located. Each kind of object has its own fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Object {
    /// Nothing besides the operation's target.
    #[default]
    Target,
    /// A file or directory.
    File(Box<LocatedFile>),
    /// Another machine, or a port of this one.
    Remote(Box<Remote>),
    /// A repository of version control, or the work tree that it changes.
    Repository {
        /// The location of the repository.
        place: Option<Scope>,
        /// The part of the guard in the work tree.
        guard: Option<Guard>,
    },
    /// A package that is installed.
    Package {
        /// The name as its registry compares names, without version, extras and alias.
        name: Option<String>,
        /// The origin of the file that declares the package.
        origin: Option<FileOrigin>,
    },
    /// A part or a program that was not understood.
    Unknown(Doubt),
}

/// A path with its location.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LocatedFile {
    /// The path, symlinks resolved. A pattern (`*.rs`) is in it as written. `None` if it is unknown.
    pub path: Option<String>,
    /// The path as written.
    pub raw: String,
    /// The path as written passes a symlink, or `/proc` resolves to it. A symlink as the last name of a deleted or
    /// renamed path is excepted.
    pub is_linked: bool,
    /// Number of bytes at the start of the path that name the user's home around it.
    pub home_bytes: Option<usize>,
    /// The most sensitive class of the path.
    pub scope: Option<Scope>,
    /// The location of the path; equal to `scope` if the path has no sensitive class.
    pub place: Option<Scope>,
    /// The part of the session's guard that the effect may change, or may pass to an unknown program.
    pub guard: Option<Guard>,
    /// The origin of the file at the path.
    pub origin: Option<FileOrigin>,
    /// How the path leaves the workspace, although as written it is inside.
    pub escape: Option<Escape>,
    /// Numbers and content of the file.
    pub measured: Measured,
    /// The machine that gets the file.
    pub sent_to: Option<Remote>,
    /// The reason why the file, or the program that gets it, was not understood.
    pub doubt: Option<Doubt>,
}

/// Numbers and content of a file. `None` is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measured {
    /// Number of names (hard links) of the regular file.
    pub links: Option<u64>,
    /// Its most sensitive other name, as far as castellan looked: in the directories of secrets and of settings.
    pub other_name: Option<String>,
    /// Bytes of the regular file that is read, or of the file after a tool has written it.
    pub size: Option<u64>,
    /// A NUL is among the first bytes that a tool reads or writes.
    pub is_binary: Option<bool>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remote {
    /// The host.
    pub host: Option<String>,
    /// The kind of machine.
    pub class: Option<HostClass>,
    /// The URL.
    pub url: Option<String>,
}

/// The reason why something was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    /// The role of the missing value in an Opaque part; `None` for a program that runs unread.
    pub role: Option<Role>,
    /// The reason.
    pub why: Why,
}

impl Effect {
    /// Builds an effect of a kind without other fields.
    pub fn of(kind: EffectKind) -> Effect {
        Effect { op: Operation::of(kind), ..Effect::default() }
    }

    /// Builds an Opaque part. `text` is its text as written.
    pub fn opaque(role: Role, why: Why, text: Option<String>) -> Effect {
        let op = Operation { target: text, ..Operation::of(EffectKind::Opaque) };
        Effect { op, object: Object::Unknown(Doubt { role: Some(role), why }), ..Effect::default() }
    }

    /// Builds an effect on a file.
    pub fn on_file(kind: EffectKind, file: LocatedFile) -> Effect {
        Effect { object: Object::File(Box::new(file)), ..Effect::of(kind) }
    }

    /// Returns the kind.
    pub fn kind(&self) -> EffectKind {
        self.op.kind
    }

    /// Reports whether the effect describes an Opaque part.
    pub fn is_opaque(&self) -> bool {
        self.kind() == EffectKind::Opaque
    }

    /// Returns the system that is changed.
    pub fn system(&self) -> Option<&str> {
        self.op.system.as_deref()
    }

    /// Returns the action on that system.
    pub fn verb(&self) -> Option<&str> {
        self.op.verb.as_deref()
    }

    /// Returns the object of the action, as written.
    pub fn target(&self) -> Option<&str> {
        self.op.target.as_deref()
    }

    /// Reports whether the effect includes everything below a directory. An unknown depth is none.
    pub fn is_recursive(&self) -> bool {
        self.op.recursive == Some(true)
    }

    /// Returns the located path.
    pub fn located(&self) -> Option<&LocatedFile> {
        match &self.object {
            Object::File(file) => Some(file),
            Object::Target
            | Object::Remote(_)
            | Object::Repository { .. }
            | Object::Package { .. }
            | Object::Unknown(_) => None,
        }
    }

    /// Returns the path, symlinks resolved.
    pub fn path(&self) -> Option<&str> {
        self.located()?.path.as_deref()
    }

    /// Returns the path as written.
    pub fn path_raw(&self) -> Option<&str> {
        Some(self.located()?.raw.as_str())
    }

    /// Returns the path relative to the user's home around it: `/` is the home itself.
    pub fn home_path(&self) -> Option<&str> {
        let below = self.path()?.get(self.located()?.home_bytes?..)?;
        Some(if below.is_empty() { "/" } else { below })
    }

    /// Returns the most sensitive class of the path.
    pub fn scope(&self) -> Option<Scope> {
        self.located()?.scope
    }

    /// Returns the location of the path or the repository.
    pub fn place(&self) -> Option<Scope> {
        match &self.object {
            Object::File(file) => file.place,
            Object::Repository { place, .. } => *place,
            Object::Target | Object::Remote(_) | Object::Package { .. } | Object::Unknown(_) => None,
        }
    }

    /// Returns the part of the session's guard that the effect may reach.
    pub fn guard(&self) -> Option<Guard> {
        match &self.object {
            Object::File(file) => file.guard,
            Object::Repository { guard, .. } => *guard,
            Object::Target | Object::Remote(_) | Object::Package { .. } | Object::Unknown(_) => None,
        }
    }

    /// Returns the origin of the file, or of the file that declares the package.
    pub fn file_origin(&self) -> Option<FileOrigin> {
        match &self.object {
            Object::File(file) => file.origin,
            Object::Package { origin, .. } => *origin,
            Object::Target | Object::Remote(_) | Object::Repository { .. } | Object::Unknown(_) => None,
        }
    }

    /// Returns how the path leaves the workspace, although as written it is inside.
    pub fn escape(&self) -> Option<Escape> {
        self.located()?.escape
    }

    /// Returns numbers and content of the file.
    pub fn measured(&self) -> Option<&Measured> {
        Some(&self.located()?.measured)
    }

    /// Returns the other machine.
    pub fn remote(&self) -> Option<&Remote> {
        match &self.object {
            Object::Remote(remote) => Some(remote),
            Object::File(file) => file.sent_to.as_ref(),
            Object::Target | Object::Repository { .. } | Object::Package { .. } | Object::Unknown(_) => None,
        }
    }

    /// Returns the host.
    pub fn host(&self) -> Option<&str> {
        self.remote()?.host.as_deref()
    }

    /// Returns the kind of machine.
    pub fn host_class(&self) -> Option<HostClass> {
        self.remote()?.class
    }

    /// Returns the URL.
    pub fn url(&self) -> Option<&str> {
        self.remote()?.url.as_deref()
    }

    /// Returns the name of the installed package.
    pub fn package(&self) -> Option<&str> {
        match &self.object {
            Object::Package { name, .. } => name.as_deref(),
            Object::Target
            | Object::File(_)
            | Object::Remote(_)
            | Object::Repository { .. }
            | Object::Unknown(_) => None,
        }
    }

    /// Returns the reason why the effect was not understood.
    pub fn doubt(&self) -> Option<Doubt> {
        match &self.object {
            Object::Unknown(doubt) => Some(*doubt),
            Object::File(file) => file.doubt,
            Object::Target | Object::Remote(_) | Object::Repository { .. } | Object::Package { .. } => None,
        }
    }

    /// Returns the role of the Opaque part.
    pub fn role(&self) -> Option<Role> {
        self.doubt()?.role
    }

    /// Returns the reason why the part was not understood.
    pub fn why(&self) -> Option<Why> {
        Some(self.doubt()?.why)
    }

    /// Sets the origin of the file, or of the file that declares the package. Other objects have no origin.
    pub fn set_file_origin(&mut self, new: Option<FileOrigin>) {
        match &mut self.object {
            Object::File(file) => file.origin = new,
            Object::Package { origin, .. } => *origin = new,
            Object::Target | Object::Remote(_) | Object::Repository { .. } | Object::Unknown(_) => {}
        }
    }

    /// Sets the reason of an Opaque part without a path.
    pub fn set_why(&mut self, why: Why) {
        if let Object::Unknown(doubt) = &mut self.object {
            doubt.why = why;
        }
    }

    /// Returns the path of the script file with the command.
    pub fn script_path(&self) -> Option<&str> {
        Some(self.script.as_ref()?.path.as_str())
    }
}

impl Operation {
    /// Builds an operation of a kind without other fields.
    pub fn of(kind: EffectKind) -> Operation {
        Operation { kind, ..Operation::default() }
    }
}
