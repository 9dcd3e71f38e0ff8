//! [`Input`]: every known call with a stable id: cases beside rules, labelled calls, disguises, everyday commands,
//! commands of forerunners, fuzz seeds. Must not depend on how calls are judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use castellan_corpus::{Disguises, commands};
use castellan_trial::{Case, CaseFile, Laid, read_labelled, shipped_cases};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

/// Fuzz targets with text seeds, and the command that passes a seed to the analysis. `{}` is the quoted seed.
const SEEDS: &[(&str, &str)] =
    &[("shell", ""), ("shell_parse", ""), ("path", "rm -r -- {}"), ("sql", "psql -c {}"), ("url", "curl {}")];

/// Interpreters by the language in the first line of a `program` seed.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "python3 seed.py"),
    ("javascript", "node seed.mjs"),
    ("perl", "perl seed.pl"),
    ("ruby", "ruby seed.rb"),
    ("php", "php seed.php"),
    ("lua", "lua seed.lua"),
    ("powershell", "pwsh -File seed.ps1"),
    ("cmd", "cmd /c seed.bat"),
    ("batch", "cmd /c seed.bat"),
    ("applescript", "osascript seed.scpt"),
];

pub(crate) struct Input {
    /// Source and a hash of the call, such as `rules/git:1f2e3d4c5b6a`. A call keeps its id when its line moves.
    pub(crate) id: String,
    pub(crate) case: Case,
}

/// Files outside of the tree.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Folders or files with labelled calls (`.jsonl`).
    pub(crate) labelled: Vec<PathBuf>,
    /// The folder with recorded answers of forerunners.
    pub(crate) recorded: Option<PathBuf>,
}

/// Collects every input once, sorted by id.
pub(crate) fn all(sources: &Sources) -> anyhow::Result<Vec<Input>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut inputs = BTreeMap::new();
    let mut add = |source: &str, case: Case| {
        inputs.entry(format!("{source}:{}", hash(&case))).or_insert(case);
    };
    for (rules, cases) in shipped_cases() {
        let read = CaseFile::read(&cases).map_err(|problems| anyhow!("{}: {problems:?}", cases.name))?;
        let name = rules.name.trim_end_matches(".yaml");
        read.cases.into_iter().for_each(|case| add(&format!("rules/{name}"), case.case));
    }
    for path in [root.join("corpus/labelled")].iter().chain(&sources.labelled) {
        for file in files(path, "jsonl")? {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let (labelled, _) = read_labelled(&name, &text(&file)?);
            labelled.into_iter().for_each(|one| add(&format!("labelled/{name}"), one.case));
        }
    }
    let disguises = Disguises::read().map_err(|error| anyhow!("disguises: {error}"))?;
    disguises.cases.iter().for_each(|one| add("disguise", shell(&one.text)));
    commands().iter().for_each(|command| add("everyday", shell(command)));
    match sources.recorded.as_ref().map(|folder| folder.join("forerunners.jsonl")) {
        Some(file) if file.exists() => forerunners(&file, &mut add)?,
        _ => eprintln!("castellan-same: no recorded calls of forerunners; they are left out"),
    }
    seeds(&root.join("fuzz/corpus"), &mut add)?;
    Ok(inputs.into_iter().map(|(id, case)| Input { id, case }).collect())
}

/// Adds calls of earlier guards, with the tool of each row.
fn forerunners(path: &Path, add: &mut impl FnMut(&str, Case)) -> anyhow::Result<()> {
    for line in text(path)?.lines().filter(|line| !line.trim().is_empty()) {
        let row: Json = serde_json::from_str(line).context("forerunners.jsonl")?;
        let tool = row.get("tool").and_then(Json::as_str);
        let input = row.get("input").and_then(Json::as_object);
        let (Some(tool), Some(input)) = (tool, input) else { continue };
        let command = ["command", "cmd", "raw_input"].iter().find_map(|key| input.get(*key)?.as_str());
        match command.filter(|_| tool.eq_ignore_ascii_case("bash")) {
            Some(command) => add("forerunner", shell(command)),
            None => add("forerunner", Case::new(tool, input.clone())),
        }
    }
    Ok(())
}

fn seeds(folder: &Path, add: &mut impl FnMut(&str, Case)) -> anyhow::Result<()> {
    for (target, form) in SEEDS {
        for file in files(&folder.join(target), "")? {
            let Ok(seed) = std::fs::read_to_string(&file) else { continue };
            let (command, contents) =
                seed.split_once('\u{1}').map_or((seed.as_str(), None), |(a, b)| (a, Some(b)));
            let quoted = castellan_event::single_quoted(command);
            let given = if form.is_empty() { command.to_owned() } else { form.replace("{}", &quoted) };
            let mut case = shell(&given);
            if let Some(contents) = contents {
                let names = ["a.sh", "lib.sh", "x.sh", "x", "f"];
                case.files = names.iter().map(|name| (*name).into()).zip(texts(contents)).collect();
            }
            add(&format!("seed/{target}"), case);
        }
    }
    for file in files(&folder.join("program"), "")? {
        let Ok(seed) = std::fs::read_to_string(&file) else { continue };
        let (name, program) = seed.split_once('\n').unwrap_or((&seed, ""));
        let Some((_, command)) = INTERPRETERS.iter().find(|(language, _)| *language == name) else {
            continue;
        };
        let mut case = shell(command);
        let script = command.rsplit(' ').next().unwrap_or_default();
        case.files = [(script.to_owned(), Laid::Text(program.to_owned()))].into();
        add("seed/program", case);
    }
    Ok(())
}

fn texts(contents: &str) -> impl Iterator<Item = Laid> {
    std::iter::repeat_with(|| Laid::Text(contents.to_owned()))
}

fn shell(command: &str) -> Case {
    let mut input = Map::new();
    input.insert("command".to_owned(), command.into());
    Case::new("Bash", input)
}

/// Hashes the parts of a call, so that renamed types keep its id.
fn hash(case: &Case) -> String {
    let laid = |laid: &Laid| match laid {
        Laid::Text(text) => json!(["text", text]),
        Laid::Link(link) => json!(["link", link.link]),
        Laid::Same(same) => json!(["same", same.same_as]),
        Laid::Sized(sized) => json!(["sized", sized.size, sized.binary]),
        Laid::Unknown(()) => json!(["unknown"]),
    };
    let files: Vec<Json> = case.files.iter().map(|(path, there)| json!([path, laid(there)])).collect();
    let earlier: Vec<Json> = case.earlier.iter().map(|one| json!([one.tool, one.input])).collect();
    let agent = case.agent.word();
    let whole =
        json!([agent, case.call.tool, case.call.input, case.cwd, files, case.env, case.real_path, earlier]);
    let digest = Sha256::digest(whole.to_string());
    base16ct::lower::encode_string(digest.get(..8).unwrap_or_default())
}

/// Returns the files below a folder with an extension (empty for all), sorted. For a file, returns that file.
fn files(path: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).with_context(|| format!("`{}`", path.display()))? {
        let entry = entry?.path();
        let is_wanted = extension.is_empty() || entry.extension().is_some_and(|one| one == extension);
        if entry.is_dir() {
            found.extend(files(&entry, extension)?);
        } else if is_wanted {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

fn text(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))
}
