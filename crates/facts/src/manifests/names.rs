//! Names of packages in manifests and in what is asked for. Readers take what they find and never fail: a name that
//! they miss counts as not declared.

use toml::{Table, Value};

use crate::limits::MANIFEST_TABLES_MAX;

/// Tables and lists that declare packages, in all manifests of TOML and JSON.
const SECTIONS: &[&str] = &[
    "dependencies",
    "dev-dependencies",
    "build-dependencies",
    "optional-dependencies",
    "dependency-groups",
    "requires",
    "packages",
    "dev-packages",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "require",
    "require-dev",
];

/// A URL without a scheme, or the short form of a repository.
pub(crate) fn is_remote(spec: &str, system: &str) -> bool {
    let schemes = ["git+", "github:", "gitlab:", "bitbucket:", "gist:", "git@", "hg+", "svn+"];
    schemes.iter().any(|scheme| spec.starts_with(scheme))
        || system == "npm"
            && !spec.starts_with(['@', '.', '/', '~'])
            && spec.contains('/')
            && !spec.contains(':')
}

/// A directory or a file of this machine.
pub(crate) fn is_local(spec: &str) -> bool {
    let starts = ["./", "../", "/", "~/", "file:", "link:"];
    let ends = [".tgz", ".whl", ".tar.gz", ".gem", ".deb", ".rpm", ".apk", ".zip", ".snap", ".flatpak"];
    matches!(spec, "." | "..")
        || spec.starts_with(".[")
        || starts.iter().any(|start| spec.starts_with(start))
        || ends.iter().any(|end| spec.ends_with(end))
}

/// `name@version`, `@scope/name@version`, `other@npm:name@version`, `npm:name`, `name:version`.
pub(super) fn before_at(spec: &str) -> String {
    let spec = spec.split_once("@npm:").map_or(spec, |(_, meant)| meant);
    let spec = spec.strip_prefix("npm:").unwrap_or(spec);
    let (scope, rest) = match spec.strip_prefix('@') {
        Some(rest) => ("@", rest),
        None => ("", spec),
    };
    let name = rest.split(['@', ':']).next().unwrap_or_default();
    format!("{scope}{name}")
}

/// `vendor/name:^1`, `vendor/name=1`.
pub(super) fn of_composer(spec: &str) -> String {
    spec.split([':', '=', ' ']).next().unwrap_or_default().to_ascii_lowercase()
}

/// `Name[extra]>=1; python_version < "3"`, as PEP 503 compares names.
pub(super) fn of_requirement(spec: &str) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let name = spec.trim().split(|letter| !is_name(letter)).next().unwrap_or_default();
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

pub(super) fn of_requirements(text: &str) -> Vec<String> {
    text.lines().map(of_requirement).filter(|name| !name.is_empty() && !name.starts_with('-')).collect()
}

pub(super) fn of_gemfile(text: &str) -> Vec<String> {
    let gems = text.lines().filter_map(|line| line.trim().strip_prefix("gem"));
    let names = gems.filter_map(|rest| rest.trim_start_matches([' ', '(']).strip_prefix(['\'', '"']));
    names.filter_map(|rest| rest.split(['\'', '"']).next()).map(str::to_owned).collect()
}

pub(super) fn of_go_mod(text: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let modules = text.lines().map(words).filter_map(|words| {
        let mut words = words.into_iter().skip_while(|word| word == "require");
        let (module, version) = (words.next()?, words.next()?);
        version.starts_with('v').then_some(module)
    });
    modules.collect()
}

pub(super) fn of_json(text: &str) -> Vec<String> {
    let Ok(serde_json::Value::Object(top)) = serde_json::from_str(text) else { return Vec::new() };
    let sections = top.iter().filter(|(name, _)| SECTIONS.contains(&name.as_str()));
    let tables = sections.filter_map(|(_, value)| value.as_object());
    tables.flat_map(|table| table.keys().map(|name| name.to_ascii_lowercase())).collect()
}

/// Whatever a table of one of the known names holds, wherever it stands: keys of tables, requirements in lists.
pub(super) fn of_toml(text: &str) -> Vec<String> {
    let Ok(top) = text.parse::<Table>() else { return Vec::new() };
    let mut names = Vec::new();
    let mut open: Vec<(&Table, bool)> = vec![(&top, false)];
    let mut seen = 0;
    while let Some((table, declares)) = open.pop() {
        seen += 1;
        if seen > MANIFEST_TABLES_MAX {
            break;
        }
        for (name, value) in table {
            let is_section = SECTIONS.contains(&name.as_str());
            match value {
                Value::Table(inner) if is_section || !declares => open.push((inner, is_section)),
                Value::Array(list) if is_section || declares => {
                    names.extend(list.iter().filter_map(Value::as_str).map(of_requirement));
                }
                Value::String(_)
                | Value::Integer(_)
                | Value::Float(_)
                | Value::Boolean(_)
                | Value::Datetime(_)
                | Value::Array(_)
                | Value::Table(_) => {}
            }
            // A list has the name of a group.
            if declares && !value.is_array() {
                names.push(of_requirement(name));
                names.push(name.clone());
            }
        }
    }
    names
}
