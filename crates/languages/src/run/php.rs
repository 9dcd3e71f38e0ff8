//! PHP functions whose effects depend on an argument: settings, `unserialize`, `mail`.

use castellan_event::{EffectKind, Role, Why};

use super::bound::{Bound, is_true};
use super::{Argument, Machine};
use crate::tree::Node;
use crate::value::Value;

/// Settings that name a file or directory that PHP writes later.
const WRITTEN: &[&str] =
    &["error_log", "mail.log", "session.save_path", "soap.wsdl_cache_dir", "opcache.file_cache"];

/// Settings that a program can change and whose value PHP runs, as a file, function or program.
const RUN: &[&str] = &[
    "auto_prepend_file",
    "auto_append_file",
    "unserialize_callback_func",
    "assert.callback",
    "sendmail_path",
    "extension",
    "zend_extension",
    "ffi.preload",
    "opcache.preload",
    "dl_path",
];

/// Options of sendmail that name a file or settings.
const SENDMAIL_FILES: &[&str] = &["-X", "-C", "-O", "-oQ", "-be", "-D"];

impl Machine<'_> {
    /// `ini_set(option, value)`
    pub(super) fn set_option(&mut self, node: &Node, bound: &Bound) -> Value {
        let value = bound.value(1);
        for option in bound.first().choices() {
            match option.as_str().map(str::to_ascii_lowercase).as_deref() {
                Some("include_path") => self.includes_elsewhere(),
                Some(name) if WRITTEN.contains(&name) => self.path(node, EffectKind::Write, &value, false),
                Some(name) if RUN.contains(&name) => self.hole(node.at, Role::Code, Why::Unsupported, name),
                Some(_) => {}
                None => self.hole(node.at, Role::Target, Why::Dynamic, "an option"),
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `set_include_path(path)`: PHP no longer looks beside the program first for files without a directory.
    pub(super) fn includes_elsewhere(&mut self) {
        self.libraries.push(String::new());
    }

    /// `unserialize(data, options)`: creates objects of any class, whose methods run.
    pub(super) fn unserialized(&mut self, node: &Node, bound: &Bound) -> Value {
        let options = bound.at(1).cloned();
        let allowed = options.map(|options| self.index(node, &options, &Value::text("allowed_classes")));
        if matches!(allowed, Some(Value::Constant)) {
            return self.unknown(node, Why::Dynamic);
        }
        let makes_objects = |text: &str| text.contains("O:") || text.contains("C:") || text.contains("E:");
        for one in bound.first().choices() {
            let arg = one.to_arg();
            match arg.as_deref().map(|arg| (arg.as_str(), arg.why())) {
                Some((Some(text), _)) if !makes_objects(text) => {}
                Some((Some(_), _)) | None => {
                    self.lost(node, Why::Unsupported);
                }
                Some((None, why)) => {
                    self.lost(node, why.unwrap_or(Why::Dynamic));
                }
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `mail(to, subject, message, headers, params)`: `params` has options of sendmail, which may write any file.
    pub(super) fn mailed(&mut self, node: &Node, bound: &Bound) -> Value {
        let params = bound.named("params").cloned();
        for one in params.iter().flat_map(Value::choices) {
            match one.as_str() {
                Some(text) => {
                    for word in text.split_whitespace() {
                        if let Some(path) = word.strip_prefix("-X").filter(|path| !path.is_empty()) {
                            self.path(node, EffectKind::Write, &Value::text(path), false);
                        } else if SENDMAIL_FILES.iter().any(|option| word.starts_with(option)) {
                            self.hole(node.at, Role::Target, Why::Unsupported, word);
                        }
                    }
                }
                None if *one == Value::Constant => {}
                None => self.hole(node.at, Role::Target, Why::Dynamic, "options"),
            }
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `new SimpleXMLElement(data, options, true)`: the data is a path.
    pub(super) fn xml_of(&mut self, node: &Node, bound: &Bound) -> Value {
        if bound.named("isurl").is_some_and(is_true) {
            self.path(node, EffectKind::Read, &bound.first(), false);
        }
        self.unknown(node, Why::Dynamic)
    }

    /// `filter_var(value, FILTER_CALLBACK, ['options' => function])`
    pub(super) fn filtered(&mut self, node: &Node, bound: &Bound) -> Value {
        let options = bound.value_of("options");
        let function = match &options {
            Value::List(_) => self.index(node, &options, &Value::text("options")),
            _ => Value::Constant,
        };
        let names = |one: &Value| match one {
            Value::List(_) | Value::Method(..) => false,
            other => matches!(other, Value::Text(_)) || other.is_callable(),
        };
        if function.choices().iter().any(names) {
            return self.call_named(node, &function, vec![Argument::plain(bound.first())]);
        }
        self.unknown(node, Why::Dynamic)
    }
}
