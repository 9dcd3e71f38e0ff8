//! `curl`: which files go to which URLs, and what comes back into which files. Options between two `--next` belong
//! together. Source: the manual of curl 8.10.

use castellan_event::{EffectKind, Remote, Role, Why};
use castellan_programs::{Arg, Invocation, Piece};

use super::netcat::to_socket;
use super::patch::given_text;
use super::web;
use crate::limits::LINES_MAX;
use crate::remote::{self, Request};
use crate::sink::Sink;
use crate::targets;

/// What one group of options says.
#[derive(Default)]
struct Group<'a> {
    urls: Vec<Arg>,
    /// Files whose content is sent.
    files: Vec<Arg>,
    /// Files with headers, cookies and variables.
    texts: Vec<Arg>,
    /// The known texts of the body.
    bodies: Vec<String>,
    headers: Vec<String>,
    /// `-T`: the file is the body, and a PUT.
    puts: bool,
    /// Something is sent.
    sends: bool,
    method: Option<&'a Arg>,
    /// `-I`: only headers come back.
    head: bool,
    /// `-G`: what is sent goes into the URL.
    get: bool,
    /// Where results go, in order; `None` for a name made of the URL.
    outputs: Vec<Option<&'a Arg>>,
    remote_names: bool,
    server_names: bool,
    directory: Option<&'a Arg>,
}

/// Adds what each group does.
pub(super) fn curl(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some(argv) = with_config(read, argv, sink) {
        sink.inner = Some(argv);
        return;
    }
    let mut group = Group::default();
    let mut operands = read.operands.iter().peekable();
    for used in &read.options {
        while let Some(operand) = operands.next_if(|operand| operand.at < used.at) {
            group.urls.push(web::with_scheme(&operand.arg, "http"));
        }
        let value = used.value.as_ref();
        match (used.option.flags.last().copied().unwrap_or_default(), value) {
            ("--next", _) => std::mem::take(&mut group).effects(sink),
            ("--url" | "--expand-url", Some(url)) => group.urls.push(web::with_scheme(url, "http")),
            ("--request" | "--expand-request", Some(_)) => group.method = value,
            ("--head", _) => group.head = true,
            ("--get", _) => group.get = true,
            ("--output" | "--expand-output", Some(_)) => group.outputs.push(value),
            ("--remote-name", _) => group.outputs.push(None),
            ("--remote-name-all", _) => group.remote_names = true,
            ("--remote-header-name", _) => group.server_names = true,
            ("--output-dir", Some(_)) => group.directory = value,
            ("--upload-file", Some(file)) => {
                (group.sends, group.puts) = (true, true);
                group.files.extend(web::named(file));
            }
            (flag, Some(value)) => group.value(flag, value, sink),
            (_, None) => {}
        }
    }
    group.urls.extend(operands.map(|operand| web::with_scheme(&operand.arg, "http")));
    group.effects(sink);
}

/// The same command with the options of its configuration in the place of `--config`, where that can be read. One that
/// names another is not followed.
fn with_config(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) -> Option<Vec<Arg>> {
    let used = read.options.iter().find(|used| used.option.flags.contains(&"--config"))?;
    let file = used.value.as_ref()?;
    let text = given_text((!targets::is_standard_stream(file)).then_some(file), sink)?;
    let options = options_of(&text)?;
    if !targets::is_standard_stream(file) {
        sink.path(EffectKind::Read, file);
    }
    // Its value stands in it, or is the next argument.
    let own = argv.get(used.at)?.as_str()?;
    let is_next = matches!(own, "-K" | "--config");
    // Letters before it are options of their own.
    let letters = own.strip_suffix('K').filter(|letters| letters.len() > 1 && !letters.starts_with("--"));
    let is_next = is_next || letters.is_some();
    let before = argv.get(..used.at)?.iter().cloned().chain(letters.map(Arg::known));
    let behind = argv.get(used.at + if is_next { 2 } else { 1 }..).unwrap_or_default().iter().cloned();
    Some(before.chain(options.into_iter().map(Arg::known)).chain(behind).collect())
}

/// The options of a configuration: `url = "x"`, `--data x`, `-o x`, one on a line, `#` begins a remark.
fn options_of(text: &str) -> Option<Vec<String>> {
    let mut options = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if options.len() > LINES_MAX {
            return None;
        }
        let end = line.find(|sign: char| sign.is_whitespace() || "=:".contains(sign)).unwrap_or(line.len());
        let (name, value) = line.split_at_checked(end)?;
        // Another one, by its letter among others or by the beginning of its name.
        let bare = name.trim_start_matches('-');
        let is_letters = name.starts_with('-') && !name.starts_with("--");
        if is_letters && bare.contains('K') || bare.len() > 2 && "config".starts_with(bare) {
            return None;
        }
        options.push(if name.starts_with('-') { name.to_owned() } else { format!("--{name}") });
        let value = value.trim_start().strip_prefix(['=', ':']).unwrap_or(value).trim();
        if let Some(quoted) = value.strip_prefix('"') {
            options.push(unquoted(quoted));
        } else if !value.is_empty() {
            options.push(value.to_owned());
        }
    }
    Some(options)
}

/// The text up to the closing quote, without its backslashes.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
        match letter {
            '\\' => plain.extend(letters.next().map(|next| match next {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            letter => plain.push(letter),
        }
    }
    plain
}

impl Group<'_> {
    /// An option whose value may name a file.
    fn value(&mut self, flag: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
        match flag {
            "--data"
            | "--data-ascii"
            | "--data-binary"
            | "--json"
            | "--expand-data"
            | "--expand-json"
            | "--expand-data-binary" => {
                self.sends = true;
                self.body(value.strip_prefix("@"), value, sink);
            }
            "--data-raw" | "--form-string" => {
                self.sends = true;
                self.bodies.push(remote::text_of(value));
            }
            "--data-urlencode" | "--url-query" => {
                self.sends |= flag == "--data-urlencode";
                let file = value.prefix().split_once('@').filter(|(name, _)| !name.contains('='));
                let file = file.and_then(|(name, _)| value.strip_prefix(name)?.strip_prefix("@"));
                self.body(file, value, sink);
            }
            "--form" | "--expand-form" => {
                self.sends = true;
                self.form(value, sink);
            }
            "--header" | "--proxy-header" => {
                self.headers.push(remote::text_of(value));
                self.texts.extend(value.strip_prefix("@").and_then(|file| web::named(&file)));
            }
            "--cookie" if !value.prefix().contains('=') => self.texts.extend(web::named(value)),
            "--cert" | "--proxy-cert" => {
                let file = value.prefix().split(':').next().unwrap_or_default();
                if !file.is_empty() {
                    sink.path(EffectKind::Read, &Arg::known(file));
                }
            }
            "--config" => {
                sink.path(EffectKind::Read, value);
                sink.opaque(Role::Target, Why::File, &value.written());
            }
            "--unix-socket" => to_socket(value, sink),
            "--abstract-unix-socket" => sink.on(EffectKind::Connect, "unix", "", Some(value)),
            "--variable" => {
                let file = value.prefix().split_once('@').filter(|(name, _)| !name.contains('='));
                let file = file.and_then(|(name, _)| value.strip_prefix(name)?.strip_prefix("@"));
                self.texts.extend(file.and_then(|file| web::named(&file)));
            }
            "--connect-to" | "--resolve" => {
                let host = value.prefix().split(':').nth(2).unwrap_or_default();
                if !host.is_empty() {
                    targets::host(EffectKind::Connect, &Arg::known(host), sink);
                }
            }
            "--quote" => sink.on(EffectKind::Mutate, "ftp", "quote", Some(value)),
            "--engine" => sink.path(EffectKind::Execute, value),
            "--write-out" => {
                value.strip_prefix("@").into_iter().for_each(|file| sink.path(EffectKind::Read, &file));
                let file = value.prefix().split("%output{").nth(1).and_then(|rest| rest.split('}').next());
                file.into_iter().for_each(|file| {
                    sink.path(EffectKind::Write, &Arg::known(file.trim_start_matches(">>")));
                });
            }
            _ => {}
        }
    }

    fn body(&mut self, file: Option<Arg>, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
        self.bodies.push(match &file {
            Some(file) => web::contents(file, sink),
            None => remote::text_of(value),
        });
        match file {
            Some(file) => self.files.extend(web::named(&file)),
            None if value.prefix().is_empty() && value.why().is_some() => {
                sink.opaque(Role::Operand, value.why().unwrap_or_default(), &value.written());
            }
            None => {}
        }
    }

    /// `name=@file;type=...`, `name=<file`, several after commas.
    fn form(&mut self, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
        let Some((name, _)) = value.prefix().split_once('=') else { return };
        let Some(content) = value.strip_prefix(name).and_then(|rest| rest.strip_prefix("=")) else { return };
        let Some(files) = content.strip_prefix("@").or_else(|| content.strip_prefix("<")) else {
            return self.body(None, &content, sink);
        };
        let Some(text) = files.as_str() else {
            self.files.push(files);
            return;
        };
        for file in text.split(',') {
            let file = file.split(';').next().unwrap_or_default().trim_matches('"');
            self.files.extend(web::named(&Arg::known(file)));
        }
    }

    fn effects(self, sink: &mut Sink<'_, '_, '_, '_>) {
        let method = self.method.map(|method| method.written().to_ascii_uppercase());
        let sends = self.sends && !self.get;
        let default = if self.puts { "PUT" } else { "POST" };
        let verb = method.as_deref().or(sends.then_some(default));
        let url = self.urls.first().map(|url| url.written().into_owned());
        let to = Remote { url, ..Remote::default() };
        for file in &self.files {
            sink.path(EffectKind::Read, file);
            sink.sent(to.clone(), file);
        }
        for file in &self.texts {
            sink.text_sent(to.clone(), file);
        }
        for (number, url) in self.urls.iter().enumerate() {
            let output = self.outputs.get(number).copied();
            let output = output.or((self.remote_names && self.outputs.is_empty()).then_some(None));
            if let Some(path) = web::local_file(url) {
                sink.path(EffectKind::Read, &path);
            } else if self.head || method.as_deref() == Some("HEAD") {
                targets::url(EffectKind::Connect, url, sink);
            } else {
                let changes = verb.is_some_and(|verb| web::changes(verb, sends));
                web::exchange(url, verb.unwrap_or_default(), sends, changes, output.is_some(), sink);
                let (bodies, headers) = (&self.bodies, &self.headers);
                let method = verb.unwrap_or_default();
                let unknown = self.method.and_then(Arg::why);
                remote::request(&Request { method, unknown, url: Some(url), bodies, headers }, sink);
            }
            if let Some(output) = output {
                self.stored(url, output, sink);
            }
        }
    }

    fn stored(&self, url: &Arg, output: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) {
        if output.is_none() && self.server_names {
            sink.opaque(Role::Target, Why::Network, &url.written());
        }
        let file = match output {
            Some(file) if file.as_str() == Some("-") => return,
            Some(file) => file.clone(),
            None => web::file_name(url),
        };
        let is_relative = !file.prefix().starts_with('/');
        let path = match self.directory.filter(|_| is_relative) {
            Some(directory) => {
                let slash = [Piece::Text("/".to_owned())];
                let pieces = directory.pieces().iter().cloned().chain(slash);
                Arg::from_pieces(pieces.chain(file.pieces().iter().cloned()), false)
            }
            None => file,
        };
        sink.path(EffectKind::Write, &path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_holds_options() {
        for (text, expected) in [
            (
                "url = \"https://x.example\"\n# a\n-o out\n",
                Some(vec!["--url", "https://x.example", "-o", "out"]),
            ),
            ("--data-binary \"@a \\\"b\\\"\"\nsilent\n", Some(vec!["--data-binary", "@a \"b\"", "--silent"])),
            ("form=f=@x\nuser: a:b\n", Some(vec!["--form", "f=@x", "--user", "a:b"])),
            ("config = other\n", None),
        ] {
            let expected = expected.map(|options| options.into_iter().map(str::to_owned).collect());
            assert_eq!(options_of(text), expected, "{text}");
        }
    }
}
