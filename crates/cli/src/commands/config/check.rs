//! `castellan config check`: reports every error in configuration files with file, line, column and a suggestion.

use std::io::Write;
use std::path::{Path, PathBuf};

use castellan_daemon::{Config, FileSetError, Layout, PROJECT_FOLDER, read_config, read_organisation};
use castellan_event::Layer;
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, ERROR, GOOD, NOTE, WARNING};

/// Options of `castellan config check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Files to check; default: those of the organisation and the home. A file in `.castellan` is checked as a
    /// project's, a file in the organisation's folder as the organisation's
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The findings in one file.
struct Checked {
    file: PathBuf,
    layer: Layer,
    /// The message, with line and column if known.
    errors: Vec<(Option<(usize, usize)>, String)>,
    /// Names of an earlier version, with line and column.
    notes: Vec<((usize, usize), String)>,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let checked: Vec<Checked> = match options.files.as_slice() {
        [] => of_home(&layout),
        files => files.iter().map(|file| check(file, layer_of(file, &layout))).collect(),
    };
    let is_sound = checked.iter().all(|file| file.errors.is_empty());
    // Finds contradictions that appear only across several places or layers.
    let together = match options.files.is_empty() && is_sound {
        true => Config::of_home(&layout).map(|config| config.ignored()),
        false => Ok(Vec::new()),
    };
    let mut out = anstream::stdout();
    if options.json {
        let errors: Vec<Json> = checked.iter().flat_map(Checked::json).collect();
        let whole = together.as_ref().err().map(ToString::to_string);
        let mut warnings: Vec<String> = checked.iter().flat_map(Checked::warnings).collect();
        warnings.extend(together.as_ref().ok().cloned().unwrap_or_default());
        let ok = is_sound && whole.is_none();
        writeln!(out, "{:#}", json!({"ok": ok, "errors": errors, "whole": whole, "warnings": warnings}))?;
    } else {
        for file in &checked {
            file.write(&mut out)?;
        }
        match &together {
            Ok(warnings) => output::write_messages(&mut out, WARNING, warnings)?,
            Err(error) => writeln!(out, "{ERROR} {}", output::printable(&error.to_string()))?,
        }
    }
    Ok(if is_sound && together.is_ok() { Exit::Done } else { Exit::No })
}

fn of_home(layout: &Layout) -> Vec<Checked> {
    let mut checked = Vec::new();
    let organisation = layout.organisation().dir.join("config.toml");
    match read_organisation(layout.organisation()) {
        Ok(None) => {}
        Ok(Some(set)) => checked.push(Checked::of(organisation, Layer::Organisation, &set.config)),
        Err(error) => {
            let dir = layout.organisation().dir.clone();
            checked.push(Checked::unread(dir, Layer::Organisation, refused(&error)));
        }
    }
    if layout.config_file().exists() {
        checked.push(check(&layout.config_file(), Layer::User));
    }
    checked
}

fn refused(error: &FileSetError) -> String {
    match error.is_distrusted() {
        true => format!("{error}; until then it does not count"),
        false => error.to_string(),
    }
}

fn check(file: &Path, layer: Layer) -> Checked {
    match read_config(file) {
        Ok(text) => Checked::of(file.to_owned(), layer, &text),
        Err(error) => Checked::unread(file.to_owned(), layer, error.to_string()),
    }
}

/// Returns the layer of a file by its folder.
fn layer_of(file: &Path, layout: &Layout) -> Layer {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match absolute.parent() {
        Some(dir) if dir == layout.organisation().dir => Layer::Organisation,
        Some(dir) if dir.ends_with(PROJECT_FOLDER) => Layer::Project,
        _ => Layer::User,
    }
}

impl Checked {
    fn unread(file: PathBuf, layer: Layer, why: String) -> Checked {
        Checked { file, layer, errors: vec![(None, why)], notes: Vec::new() }
    }

    fn of(file: PathBuf, layer: Layer, text: &str) -> Checked {
        let mistakes = Config::mistakes(text, layer).into_iter();
        let errors = mistakes.map(|mistake| (Some((mistake.line, mistake.column)), mistake.message));
        let notes = Config::former_names(text, layer).into_iter();
        let notes = notes.map(|note| ((note.line, note.column), note.message));
        Checked { file, layer, errors: errors.collect(), notes: notes.collect() }
    }

    fn write(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let file = self.file.display();
        if self.errors.is_empty() {
            writeln!(out, "{GOOD}ok{GOOD:#}: `{file}` ({})", self.layer)?;
        }
        for ((line, column), message) in &self.notes {
            let message = output::printable(message);
            writeln!(out, "{NOTE} `{file}`:{line}:{column}: {message}")?;
        }
        for (place, message) in &self.errors {
            let message = output::printable(message);
            match place {
                Some((line, column)) => {
                    writeln!(out, "{ERROR} `{file}`:{line}:{column}: {message}")?;
                }
                None => writeln!(out, "{ERROR} `{file}` ({}): {message}", self.layer)?,
            }
        }
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        let place = |(line, column): &(usize, usize)| format!("`{}`:{line}:{column}", self.file.display());
        self.notes.iter().map(|(at, message)| format!("{}: {message}", place(at))).collect()
    }

    fn json(&self) -> Vec<Json> {
        let error = |(place, message): &(Option<(usize, usize)>, String)| {
            json!({
                "file": self.file.display().to_string(),
                "layer": self.layer.as_str(),
                "line": place.map(|(line, _)| line),
                "column": place.map(|(_, column)| column),
                "message": message,
            })
        };
        self.errors.iter().map(error).collect()
    }
}
