//! Commands in build files of Maven 3.9, Ant 1.10 and `MSBuild` 17. Only elements and attributes are read, so a text
//! that is not well formed is read as far as it goes.

use super::{Commands, HOME, Rest, Source, command, unknown};
use crate::limits::BUILD_COMMANDS_MAX;

/// Words by which a file loads code of its own into its tool.
type Dialect = (&'static str, &'static [&'static str]);

const DIALECTS: &[Dialect] = &[
    (
        "maven",
        &[
            "<script",
            "groovy",
            "gmaven",
            "beanshell",
            "jython",
            "<source>",
            "bsh-",
            "<scp",
            "<ftp",
            "<sshexec",
            "<taskdef",
        ],
    ),
    (
        "ant",
        &[
            "<script", "<java", "<taskdef", "<typedef", "<groovy", "<import", "<ant ", "<sql", "<scp",
            "<ftp", "<sshexec",
        ],
    ),
    ("msbuild", &["taskfactory", "<code", "<usingtask"]),
];

/// Elements whose text is shell text.
const SHELL: &[&str] = &["preBuildEvent", "PreBuildEvent", "PostBuildEvent", "PreLinkEvent"];

/// Elements with an attribute, and the beginning of the command for its value.
const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("RemoveDir", "Directories", "rm -rf"),
    ("Delete", "Files", "rm -f"),
    ("delete", "dir", "rm -rf"),
    ("delete", "file", "rm -f"),
    ("chmod", "file", "chmod 777"),
    ("concat", "destfile", "touch"),
    ("copy", "todir", "touch"),
    ("copy", "tofile", "touch"),
    ("echo", "file", "touch"),
    ("get", "src", "curl -O"),
    ("move", "todir", "touch"),
    ("move", "tofile", "touch"),
    ("DownloadFile", "SourceUrl", "curl -O"),
];

pub(super) fn is_one(language: &str) -> bool {
    DIALECTS.iter().any(|(name, _)| *name == language)
}

pub(super) fn read(language: &str, text: &str) -> Commands {
    let lower = text.to_lowercase();
    let words = DIALECTS.iter().find(|(name, _)| *name == language).map_or(&[][..], |(_, words)| words);
    let has_script = words.iter().any(|word| lower.contains(word));
    let mut found = Found::default();
    for piece in text.split('<').skip(1) {
        let (tag, inner) = piece.split_once('>').unwrap_or((piece, ""));
        found.add(tag, inner);
    }
    found.end();
    let is_over = found.lines.len().max(found.sources.len()) > BUILD_COMMANDS_MAX;
    found.lines.truncate(BUILD_COMMANDS_MAX);
    found.sources.truncate(BUILD_COMMANDS_MAX);
    Commands {
        shell: found.lines.join("\n"),
        sources: found.sources,
        rest: match (is_over, has_script) {
            (true, _) => Rest::Over,
            (false, true) => Rest::Script,
            (false, false) => Rest::Nothing,
        },
    }
}

#[derive(Default)]
struct Found {
    lines: Vec<String>,
    sources: Vec<Source>,
    /// The words of the command that is open.
    open: Vec<String>,
    /// The element that names a registry is open.
    is_in_registry: bool,
}

impl Found {
    fn add(&mut self, tag: &str, inner: &str) {
        let name = tag.split([' ', '\t', '\n', '\r', '/']).next().unwrap_or_default();
        let inner = value(inner.trim());
        match name {
            "exec" | "apply" => {
                self.end();
                self.open.extend(attribute(tag, "executable"));
            }
            "executable" => {
                self.end();
                self.open.push(inner);
            }
            "arg" => {
                let line = attribute(tag, "line").unwrap_or_default();
                self.open.extend(line.split_whitespace().map(str::to_owned));
                self.open.extend(attribute(tag, "value").or_else(|| attribute(tag, "file")));
            }
            "argument" => self.open.push(inner),
            "commandlineArgs" => self.open.extend(inner.split_whitespace().map(str::to_owned)),
            "Import" => self.sources.extend(attribute(tag, "Project").map(Source::File)),
            "module" => self.sources.push(Source::File(format!("{inner}/pom.xml"))),
            "relativePath" => self.sources.push(Source::File(inner)),
            "repository" | "pluginRepository" => self.is_in_registry = true,
            "url" if self.is_in_registry => self.sources.push(Source::Registry(inner)),
            "Exec" => self.lines.extend(attribute(tag, "Command")),
            name if SHELL.contains(&name) => self.lines.push(inner),
            name => {
                for (_, key, begin) in ATTRIBUTES.iter().filter(|(one, ..)| *one == name) {
                    let values = attribute(tag, key).map(|value| format!("{begin} {}", command(&[value])));
                    self.lines.extend(values);
                }
            }
        }
        self.is_in_registry &= !matches!(tag, "/repository" | "/pluginRepository");
        if tag == "/exec" || tag.starts_with("/configuration") || tag.ends_with('/') && name == "exec" {
            self.end();
        }
    }

    /// Ends the open command.
    fn end(&mut self) {
        let words = std::mem::take(&mut self.open);
        if !words.is_empty() {
            self.lines.push(command(&words));
        }
    }
}

/// Returns the value of an attribute.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(at) = rest.find(name) {
        let (before, after) = rest.split_at(at);
        rest = after.get(name.len()..)?;
        let Some(text) =
            rest.trim_start().strip_prefix('=').filter(|_| before.ends_with(char::is_whitespace))
        else {
            continue;
        };
        let text = text.trim_start();
        let quote = text.chars().next().filter(|one| matches!(one, '"' | '\''))?;
        return text.get(1..)?.split(quote).next().map(value);
    }
    None
}

/// Writes out the characters that a number names: `&#109;`, `&#x6d;`.
fn with_characters(text: &str) -> String {
    let mut parts = text.split("&#");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let named = part.split_once(';').and_then(|(code, rest)| {
            let code = match code.strip_prefix(['x', 'X']) {
                Some(code) => u32::from_str_radix(code, 16),
                None => code.parse(),
            };
            Some((char::from_u32(code.ok()?)?, rest))
        });
        match named {
            Some((letter, rest)) => {
                whole.push(letter);
                whole.push_str(rest);
            }
            None => whole.extend(["&#", part]),
        }
    }
    whole
}

/// Replaces entities and properties. The directory of the project is that of the command.
fn value(text: &str) -> String {
    let text = text.replace("<![CDATA[", "").replace("]]", "");
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let text = entities.iter().fold(with_characters(&text), |text, (from, to)| text.replace(from, to));
    properties(&properties(&text, "$(", ")"), "${", "}")
}

/// Bytes in which a property ends; names are short.
const PROPERTY_BYTES: usize = 128;

fn properties(text: &str, open: &str, close: &str) -> String {
    const HERE: &[&str] =
        &["basedir", "project.basedir", "ProjectDir", "MSBuildProjectDirectory", "SolutionDir"];
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let near = after.get(..PROPERTY_BYTES).unwrap_or(after);
        let end = near.find(close).filter(|end| near.get(..*end).is_some_and(is_property));
        let Some((name, behind)) = end.and_then(|_| after.split_once(close)) else {
            filled.push_str(before);
            filled.push_str(open);
            rest = after;
            continue;
        };
        filled.push_str(before);
        match name {
            name if HERE.contains(&name) => filled.push('.'),
            "user.home" | "env.HOME" => filled.push_str(HOME),
            _ => filled.push_str(&unknown()),
        }
        rest = behind;
    }
    filled + rest
}

/// A property has one name; a command has words.
fn is_property(name: &str) -> bool {
    name.chars().all(|one| one.is_alphanumeric() || "._-".contains(one))
        && name.contains(char::is_alphabetic)
        && !name.starts_with("castellan")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_elements_are_found() {
        let check = |language: &str, text: &str, expected: &str, rest: Rest| {
            let found = read(language, text);
            assert_eq!((found.shell.as_str(), found.rest), (expected, rest), "{text}");
        };
        check(
            "ant",
            "<exec executable=\"sh\"><arg value='-c'/><arg value=\"a &amp; b\"/></exec>",
            "'sh' '-c' 'a & b'",
            Rest::Nothing,
        );
        check(
            "ant",
            "<exec executable='git'><arg line='status -s'/></exec><delete dir=\"x\"/>",
            "'git' 'status' '-s'\nrm -rf 'x'",
            Rest::Nothing,
        );
        check("ant", "<project><script language='js'>x</script></project>", "", Rest::Script);
        check(
            "maven",
            "<configuration><executable>sh</executable><arguments><argument>-c</argument><argument>a</argument></arguments></configuration>",
            "'sh' '-c' 'a'",
            Rest::Nothing,
        );
        check("maven", "<plugin><artifactId>maven-surefire-plugin</artifactId></plugin>", "", Rest::Nothing);
        check("msbuild", "<Exec Command=\"a $(OutDir)x\" />", "a ${castellan_unknown_value}x", Rest::Nothing);
        check("msbuild", "<Exec Command=\"echo $(curl -s x)\" />", "echo $(curl -s x)", Rest::Nothing);
        check("maven", "<delete dir=\"${user.home}\"/>", "rm -rf \"${HOME}\"", Rest::Nothing);
        check("msbuild", "<UsingTask TaskName=\"a\"/>", "", Rest::Script);
    }

    #[test]
    fn files_and_registries_of_a_project_are_found() {
        let file = |path: &str| Source::File(path.to_owned());
        let registry = Source::Registry("https://h/m2".to_owned());
        let check = |language: &str, text: &str, expected: &[Source]| {
            assert_eq!(read(language, text).sources, expected, "{text}");
        };
        check("msbuild", "<Project><Import Project=\"a.txt\"/></Project>", &[file("a.txt")]);
        check("maven", "<modules><module>a</module></modules>", &[file("a/pom.xml")]);
        check(
            "maven",
            "<url>https://x</url><repository><id>r</id><url>https://h/m2</url></repository>",
            &[registry],
        );
    }
}
