//! Paths of PowerShell's providers: files, and other items with paths: the environment, the registry, functions.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Piece};

use super::Machine;
use super::bound::Bound;
use super::bound::inner;
use super::bound::is_true;
use crate::act::{Operand, What};
use crate::table::Part;
use crate::tree::Node;
use crate::value::{Ref, Value};

impl Machine<'_> {
    /// `Rename-Item PATH NAME`: the new name is in the directory of the old one.
    pub(super) fn renamed(&mut self, node: &Node, bound: &Bound) -> Value {
        let (Some(path), Some(name)) = (bound.part(Part::Delete), bound.begun("newname")) else {
            return Value::Constant;
        };
        self.hand(node, name);
        let mut values = Vec::new();
        for path in self.operands(node, path) {
            let parent = match path.as_str() {
                Some(path) if path.contains(['/', '\\']) => {
                    path.trim_end_matches(['/', '\\']).rfind(['/', '\\']).and_then(|at| path.get(..=at))
                }
                Some(_) => Some(""),
                None => None,
            };
            values.push(match parent {
                Some(parent) => self.beside(node, &Value::text(parent), name),
                None => self.unknown(node, path.why().unwrap_or(Why::Dynamic)),
            });
        }
        for value in values {
            self.path(node, EffectKind::Write, &value, false);
        }
        Value::Constant
    }

    /// Converts provider paths among a command's arguments to file paths. Reports the act of a path that is no file.
    pub(super) fn provided(&mut self, node: &Node, bound: &mut Bound) {
        let mut given = std::mem::take(&mut bound.given);
        for (parameter, value) in &mut given {
            if parameter.parts.iter().any(|part| is_provided(*part)) {
                let parts = parameter.parts;
                *value = self.path_of(node, value, parts);
            }
        }
        bound.given = given;
    }

    fn path_of(&mut self, node: &Node, value: &Value, parts: &[Part]) -> Value {
        if !self.step(2) {
            return Value::Constant;
        }
        match value {
            Value::Any(_) => self.over(node, value, |machine, one| machine.path_of(node, one, parts)),
            Value::List(_) => {
                let (mut elements, _) = self.elements(node, value);
                for one in &mut elements {
                    *one = self.path_of(node, one, parts);
                }
                self.list(elements)
            }
            Value::Text(arg) => {
                let arg = self.on_own_drive(node, arg);
                if self.on_drive(node, &arg, parts) {
                    return Value::Constant;
                }
                let expanded = self.expanded(node, &Value::arg(file_path(&arg)));
                match expanded.to_arg() {
                    Some(arg) => Value::arg(super::paths::pattern_of(&arg)),
                    None => expanded,
                }
            }
            Value::Object(space, inner) => {
                Value::Object(Ref(space.0), self.path_of(node, &inner.clone(), parts).into())
            }
            other => other.clone(),
        }
    }

    /// Resolves a path on a drive that the program made, or that PowerShell maps to a directory.
    fn on_own_drive(&mut self, node: &Node, arg: &Arg) -> Arg {
        let found = arg.prefix().split_once(':').map(|(drive, _)| (drive.len() + 1, drive_name(drive)));
        let Some((length, drive)) = found else { return arg.clone() };
        let rest = arg.prefix().get(..length).and_then(|drive| arg.strip_prefix(drive));
        let root = match &*drive {
            "drive:/" => Some(Value::text("/")),
            "drive:temp" => Some(Value::text("/tmp")),
            _ => self.state.own_name(0, &drive),
        };
        let (Some(root), Some(rest)) = (root, rest) else { return arg.clone() };
        let rest = file_path(&rest);
        let rest = rest.strip_prefix("/").unwrap_or(rest);
        let path = self.beside(node, &root, &Value::arg(rest));
        path.to_arg().map_or_else(|| Arg::unknown(Why::Dynamic, arg.written(), false), |path| (*path).clone())
    }

    /// `New-PSDrive`: a path that begins with the drive's name is below its root.
    pub(super) fn new_drive(&mut self, node: &Node, bound: &Bound) -> Value {
        let named = |name: &str| bound.named(name).cloned().unwrap_or(Value::Constant);
        let is_file = named("psprovider").as_str().is_none_or(|one| one.eq_ignore_ascii_case("filesystem"));
        match named("name").as_str() {
            Some(name) if is_file => {
                let root = self.path_of(node, &named("root"), &[Part::Directory]);
                self.state.set_own(0, &drive_name(name).into(), root);
            }
            Some(_) => {}
            None => self.hole(node.at, Role::Code, Why::Dynamic, "a drive"),
        }
        Value::Constant
    }

    /// `${c:/file}`: the content of an item.
    pub(super) fn drive_item(&mut self, node: &Node, item: &Value) -> Value {
        // In a text, a colon after a name is mostly plain text.
        let is_path =
            item.as_str().is_some_and(|item| item.contains(['/', '\\']) || item.find(':') == Some(1));
        if is_path {
            let path = self.path_of(node, item, &[Part::Read]);
            self.path(node, EffectKind::Read, &path, false);
        }
        self.unknown(node, Why::File)
    }

    /// `${c:/file} = value`, `$alias:name = value`
    pub(super) fn stored_item(&mut self, node: &Node, bound: &Bound) -> Value {
        let item = bound.at(0).and_then(Value::as_str).unwrap_or_default();
        if let Some((drive, name)) = item.split_once(':')
            && drive.eq_ignore_ascii_case("alias")
        {
            let value = bound.value(1);
            return self.alias(node, &Value::text(name), value);
        }
        let path = self.path_of(node, &Value::text(item), &[Part::Write]);
        self.path(node, EffectKind::Write, &path, false);
        Value::Constant
    }

    /// Reports an act on an item that is no file; returns whether it was one.
    fn on_drive(&mut self, node: &Node, arg: &Arg, parts: &[Part]) -> bool {
        let prefix = arg.prefix();
        let Some((drive, rest)) = prefix.split_once(':') else { return false };
        let changes = parts.iter().any(|part| !matches!(part, Part::Read | Part::Directory | Part::Tree));
        let system = |system: &'static str, verb: &'static str| {
            let (system, verb) = (system.into(), verb.into());
            let kind = if changes { EffectKind::Mutate } else { EffectKind::Query };
            What::Effect { kind, on: Operand::System { system, verb }, recursive: false }
        };
        let what = match drive.to_ascii_lowercase().as_str() {
            "env" if changes => {
                let name = rest.trim_start_matches(['\\', '/', ':']);
                let name = match arg.as_str() {
                    Some(_) => Arg::known(name),
                    None => arg.clone(),
                };
                What::Variable { name, value: Arg::unknown(Why::Dynamic, "a value", false) }
            }
            "hklm"
            | "hkcu"
            | "hkcr"
            | "hku"
            | "hkcc"
            | "registry"
            | "microsoft.powershell.core\\registry" => system("registry", "item"),
            "cert" => system("certificates", "item"),
            "wsman" => system("wsman", "item"),
            // A command gets another meaning.
            "function" | "alias" | "variable" if changes => {
                What::Hole { role: Role::Code, why: Why::Unsupported, written: arg.written().into_owned() }
            }
            "env" | "function" | "alias" | "variable" => return true,
            // A drive that was made elsewhere may map to any directory.
            name if name.len() > 1 && name.chars().all(char::is_alphanumeric) && !rest.starts_with("//") => {
                let role = if changes { Role::Target } else { Role::Operand };
                What::Hole { role, why: Why::Unresolved, written: arg.written().into_owned() }
            }
            _ => return false,
        };
        self.act(node.at, what);
        true
    }

    /// `New-Item`: a file, directory or link, below the first directory argument.
    pub(super) fn new_item(&mut self, node: &Node, bound: &Bound) -> Value {
        let path = match (bound.begun("path"), bound.begun("name")) {
            (Some(path), Some(name)) => self.beside(node, path, name),
            (Some(path), None) | (None, Some(path)) => path.clone(),
            (None, None) => return Value::Constant,
        };
        let path = self.path_of(node, &path, &[Part::Write]);
        let kind = bound.begun("itemtype").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let is_link = kind.ends_with("link") || kind == "junction";
        for path in self.operands(node, &path) {
            match bound.begun("<value").filter(|_| is_link) {
                Some(to) => {
                    for to in self.operands(node, to) {
                        self.effect(node, EffectKind::Link, Operand::Link { path: path.clone(), to });
                    }
                }
                None => {
                    self.effect(node, EffectKind::Write, Operand::Path(path));
                }
            }
        }
        self.file_of(&path)
    }

    /// Returns the file object of a path.
    pub(super) fn file_of(&self, path: &Value) -> Value {
        match self.table.kind("fileinfo") {
            Some(kind) => Value::Object(Ref(kind), inner(path).into()),
            None => Value::Constant,
        }
    }

    /// Returns the files that a path names: the content of a directory, or the matches of a pattern.
    pub(super) fn found_files(&mut self, node: &Node, bound: &Bound) -> Value {
        let path = bound.begun("<").cloned().unwrap_or_else(|| Value::text("."));
        let is_tree = bound.begun("recurse").is_some_and(is_true);
        let filter = bound.given.iter().find(|(parameter, _)| matches!(parameter.name, "filter" | "include"));
        let pattern = match filter.and_then(|(_, value)| value.to_arg()) {
            Some(filter) => Value::arg(super::paths::pattern_of(&filter)),
            None => Value::arg(Arg::unknown(Why::Glob, if is_tree { "**" } else { "*" }, false)),
        };
        let mut found = Vec::new();
        for path in self.items(node, &path).0 {
            let path = inner(&path);
            let is_pattern = path.to_arg().is_some_and(|arg| arg.why() == Some(Why::Glob));
            let path = if is_pattern && filter.is_none() { path } else { self.beside(node, &path, &pattern) };
            found.push(self.file_of(&path));
        }
        self.list(found)
    }

    /// `[Environment]::GetFolderPath(name)`
    pub(super) fn folder(&mut self, node: &Node, name: &Value) -> Value {
        let home = self.home();
        match name.as_str().map(str::to_lowercase).as_deref() {
            Some("userprofile") => home,
            Some("desktop" | "desktopdirectory") => self.beside(node, &home, &Value::text("Desktop")),
            Some("mydocuments" | "personal") => self.beside(node, &home, &Value::text("Documents")),
            _ => self.unknown(node, Why::Variable),
        }
    }
}

/// Replaces backslashes by slashes, except in a Windows path, which begins with a drive or server.
fn file_path(arg: &Arg) -> Arg {
    let lower = arg.prefix().to_ascii_lowercase();
    let provider = ["microsoft.powershell.core\\filesystem::", "filesystem::"]
        .into_iter()
        .find(|one| lower.starts_with(one));
    let stripped = provider.and_then(|one| arg.strip_prefix(arg.prefix().get(..one.len())?));
    let arg = stripped.unwrap_or_else(|| arg.clone());
    let mut letters = arg.prefix().chars();
    let (first, second) = (letters.next(), letters.next());
    if second == Some(':') || first == Some('\\') && second == Some('\\') {
        return arg;
    }
    let pieces = arg.pieces().iter().map(|piece| match piece {
        Piece::Text(text) => Piece::Text(text.replace('\\', "/")),
        unknown @ Piece::Unknown { .. } => unknown.clone(),
    });
    Arg::from_pieces(pieces.collect::<Vec<_>>(), arg.splits())
}

/// The key of a drive in the state; no variable or function has such a name.
fn drive_name(name: &str) -> String {
    format!("drive:{}", name.to_lowercase())
}

/// Reports whether an argument part is a provider path, with an optional drive and patterns.
fn is_provided(part: Part) -> bool {
    matches!(
        part,
        Part::Read
            | Part::Write
            | Part::Delete
            | Part::Permission
            | Part::Link
            | Part::Script
            | Part::Directory
            | Part::Execute
    )
}
