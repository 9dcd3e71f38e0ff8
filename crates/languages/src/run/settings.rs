//! Assignments to library members: settings that later run, write or redirect something. Must not know what functions
//! do.

use castellan_event::{EffectKind, Role, Why};

use super::Machine;
use super::bound::Bound;
use super::computed::OTHER_ARGV;
use crate::act::What;
use crate::language::Language;
use crate::tree::Node;
use crate::value::Value;

/// PowerShell's default parameters of commands.
pub(super) const DEFAULTS: &str = "$psdefaultparametervalues";

/// Parameters that do not change the operand of a command.
const HARMLESS: &[&str] = &[
    "autosize",
    "confirm",
    "debug",
    "depth",
    "encoding",
    "erroraction",
    "informationaction",
    "progressaction",
    "skipcertificatecheck",
    "usebasicparsing",
    "verbose",
    "warningaction",
    "whatif",
    "width",
    "wrap",
];

impl Machine<'_> {
    /// `of.key = value`, for a member of a library.
    pub(super) fn set_of_library(&mut self, node: &Node, of: &Value, key: &Value, value: &Value) {
        let name = match of {
            Value::Object(space, _) | Value::Module(space) => space.0.name(),
            Value::Library(_, entry) if entry.0.takes_shell_text() => "shell text",
            _ => "",
        };
        match (self.language, name, key.as_str()) {
            (Language::PowerShell, "defaultparameters", _) => self.default_parameter(node, key),
            // .NET's own working directory; code that is no cmdlet resolves relative paths from it.
            (Language::PowerShell, "environment", Some("currentdirectory")) => self.works_in(node, value),
            (Language::Lua, "VimOptions", _) => self.vim_option(node, key, value),
            (Language::Lua, "VimGlobals", _) => self.vim_global(node, key, value),
            // Search paths of modules.
            (Language::Lua, "package", _) => {
                self.variable(node, &Value::text("LUA_PATH"), value);
                self.hand(node, value);
            }
            (Language::Python, "sys", Some("argv")) | (Language::JavaScript, "process", Some("argv")) => {
                self.state.set_own(0, &OTHER_ARGV.into(), value.clone());
            }
            (Language::Ruby, "Arguments", Some("@inplace_mode")) => {
                self.state.set_own(0, &super::opens::IN_PLACE_OF_RUBY.into(), value.clone());
            }
            (Language::JavaScript, "Report", Some("directory" | "filename")) => {
                self.path(node, EffectKind::Write, value, false);
            }
            // Texts around each shell command, and its shell.
            (Language::JavaScript, "shell text", Some("prefix" | "postfix" | "shell")) => {
                self.shell(node, value, &Bound::default());
            }
            (Language::JavaScript, "shell text", Some("cwd")) => self.works_in(node, value),
            // A replaced member: later calls of it are not followed.
            _ => {
                if self.is_capable(value) {
                    self.lost(node, Why::Dynamic);
                }
                self.hand(node, value);
            }
        }
    }

    pub(super) fn works_in(&mut self, node: &Node, directory: &Value) {
        for to in self.operands(node, directory) {
            self.act(node.at, What::Directory(to));
        }
    }

    /// `$PSDefaultParameterValues = @{ ... }`
    pub(super) fn default_parameters(&mut self, node: &Node, value: &Value) {
        let Value::Map(cell) = value else { return self.default_parameter(node, value) };
        let cell = self.state.cell(*cell);
        for (key, _) in cell.entries {
            let key = key.map_or(Value::Constant, |key| Value::text(&*key));
            self.default_parameter(node, &key);
        }
        if cell.is_open {
            self.default_parameter(node, &Value::Constant);
        }
    }

    /// Sets `Command:Parameter` to a value from now on.
    pub(super) fn default_parameter(&mut self, node: &Node, key: &Value) {
        let parameter = key.as_str().and_then(|key| key.rsplit(':').next()).map(str::to_lowercase);
        if !parameter.is_some_and(|parameter| HARMLESS.contains(&&*parameter)) {
            self.hole(node.at, Role::Target, Why::Unsupported, DEFAULTS);
        }
    }
}
