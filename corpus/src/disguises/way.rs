//! A way to disguise a command, and the layers that cover what facts do not show. Must not depend on the texts.

/// A way to disguise a command, or to bypass castellan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Its group.
    pub group: String,
    /// Its name, in one line.
    pub name: String,
    /// Tests elsewhere.
    pub tests: Vec<Test>,
    /// The layer that covers it, if it is not detected.
    pub left: Option<Left>,
}

/// A test outside of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its file, from the workspace's root.
    pub file: String,
    /// The function in a file of code.
    pub function: Option<String>,
}

/// The cover of an undetected way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The layer.
    pub layer: Layer,
    /// The reason why it is not detected, and the layer's protection.
    pub why: String,
}

/// A layer in addition to the decision on a call's facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// A sandbox around the agent's commands.
    Sandbox,
    /// The machine-wide registration.
    Managed,
    /// Marks of a session for its later calls.
    Marks,
    /// A user's own rule.
    Rule,
    /// The report of calls that ran without being judged.
    Report,
    /// The audit log.
    Log,
}

impl Layer {
    /// All layers.
    pub const ALL: [Layer; 6] =
        [Layer::Sandbox, Layer::Managed, Layer::Marks, Layer::Rule, Layer::Report, Layer::Log];

    /// Returns its word in the file and in the catalogue.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Sandbox => "sandbox",
            Layer::Managed => "managed",
            Layer::Marks => "marks",
            Layer::Rule => "rule",
            Layer::Report => "report",
            Layer::Log => "log",
        }
    }

    /// Returns its description, and its state if it is only planned.
    pub fn meaning(self) -> &'static str {
        match self {
            Layer::Sandbox => {
                "the agent's commands run in a sandbox, a container or as another user, where they cannot reach it; \
                 castellan's own sandbox (`castellan run`) is planned"
            }
            Layer::Managed => "the agents' machine-wide registration (`castellan install --managed`)",
            Layer::Marks => "a rule marks the session, and another rule judges later calls by the mark",
            Layer::Rule => "your own rule on the command, or on `fx.kind = execute`",
            Layer::Report => {
                "castellan finds calls that ran without a decision afterwards, and reports them (`ungoverned` in the log)"
            }
            Layer::Log => "recorded, not prevented",
        }
    }
}

impl Way {
    pub(super) fn new(group: &str, name: &str) -> Way {
        Way { group: group.to_owned(), name: name.to_owned(), tests: Vec::new(), left: None }
    }

    /// Reads a line of the way, without the `@`. The error names the invalid part.
    pub(super) fn note(&mut self, note: &str) -> Result<(), String> {
        let (kind, text) = note.split_once(' ').unwrap_or((note, ""));
        match kind {
            "test" => {
                let (file, function) =
                    text.split_once(' ').map_or((text, None), |(file, name)| (file, Some(name.to_owned())));
                self.tests.push(Test { file: file.to_owned(), function });
            }
            "left" => {
                let (word, why) = text.split_once(": ").ok_or("`@left` takes LAYER: WHY")?;
                let layer = Layer::ALL.into_iter().find(|layer| layer.as_str() == word);
                let layer = layer.ok_or_else(|| format!("no layer is called `{word}`"))?;
                self.left = Some(Left { layer, why: why.to_owned() });
            }
            _ => return Err(format!("`@{kind}` is neither `@test` nor `@left`")),
        }
        Ok(())
    }
}
