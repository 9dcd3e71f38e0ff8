//! `cargo xtask gen`: generates documents and tables from the code. With `--check` it fails if one is stale.

use std::process::Command;

use anyhow::{Context, bail, ensure};
use castellan_agents::{AgentId, own_plugin_hooks};
use castellan_wire::HomeArgument;

use crate::build::{cargo, target};
use crate::root;

const FIELDS_HEAD: &str = "\
# Fields

Every field that a rule's condition and output can name. `cargo xtask gen` makes this page from the table of fields; do not edit.

A field of level `call` describes the whole call. castellan tests a call with several files, such as a patch, once for each file.

";

const CONFIGURATION_HEAD: &str = "\
# Configuration

Every key of `config.toml`. `cargo xtask gen` makes this page from the table of keys; do not edit. [Layers](decisions.md#layers) explains how
castellan merges the files of several owners.

* `castellan config show [KEY] [--origin]` prints the values in force, with file and line.
* `castellan config check [FILE]` reports every mistake with line, column and a suggestion, and former names of keys.
* `castellan config set KEY VALUE` and `unset KEY` show the difference, and change the key in force and in `config.toml`. A change
  that loosens, or of a key whose values have no order, needs the user presence check.
* `castellan config schema` prints a JSON schema for editors.

";

struct Document {
    file: &'static str,
    maker: Maker,
}

enum Maker {
    /// A program of the workspace whose output follows `head`.
    Program { head: &'static str, program: &'static str, arguments: &'static [&'static str] },
    /// A function.
    Function(fn() -> String),
    /// A function that generates the part between [`PART_BEGINS`] and [`PART_ENDS`]. People write the rest.
    Part(fn() -> String),
}

const PART_BEGINS: &str = "<!-- Made by `cargo xtask gen`; do not edit. -->\n";
const PART_ENDS: &str = "<!-- The end of what is made. -->\n";

const DOCUMENTS: &[Document] = &[
    Document {
        file: "crates/hook/src/failure/table.rs",
        maker: Maker::Function(castellan_agents::hook_table),
    },
    Document {
        file: "plugins/claude/castellan/hooks/hooks.json",
        maker: Maker::Function(|| plugin_hooks(AgentId::CLAUDE)),
    },
    Document {
        file: "plugins/codex/castellan/hooks/hooks.json",
        maker: Maker::Function(|| plugin_hooks(AgentId::CODEX)),
    },
    Document {
        file: "plugins/gemini/castellan/hooks/hooks.json",
        maker: Maker::Function(|| plugin_hooks(AgentId::GEMINI)),
    },
    Document { file: "docs/decisions.md", maker: Maker::Part(castellan_policy::stage_table) },
    Document {
        file: "docs/fields.md",
        maker: Maker::Program {
            head: FIELDS_HEAD,
            program: "castellan",
            arguments: &["rules", "fields", "--markdown"],
        },
    },
    Document {
        file: "docs/configuration.md",
        maker: Maker::Program {
            head: CONFIGURATION_HEAD,
            program: "castellan",
            arguments: &["config", "schema", "--markdown"],
        },
    },
    Document {
        file: "docs/bypasses.md",
        maker: Maker::Program { head: "", program: "castellan-conformance", arguments: &["bypasses"] },
    },
    Document {
        file: "docs/messages.md",
        maker: Maker::Program { head: "", program: "castellan-conformance", arguments: &["messages"] },
    },
    Document {
        file: "docs/incidents.md",
        maker: Maker::Program { head: "", program: "castellan-conformance", arguments: &["incidents"] },
    },
];

pub(crate) fn generate(words: &[&str]) -> anyhow::Result<()> {
    let check = match words {
        [] => false,
        ["--check"] => true,
        _ => bail!("gen takes --check"),
    };
    cargo(&["build", "--workspace"], "")?;
    for document in DOCUMENTS {
        let name = document.file;
        let file = root()?.join(name);
        let present = std::fs::read_to_string(&file).unwrap_or_default();
        let wanted = document.text(&present)?;
        if present == wanted {
            println!("{name} is as the code says");
            continue;
        }
        ensure!(!check, "{name} is stale: run `cargo xtask gen`");
        std::fs::write(&file, wanted).with_context(|| format!("`{}` cannot be written", file.display()))?;
        println!("wrote {name}");
    }
    Ok(())
}

impl Document {
    /// Returns the text that must replace `present`.
    fn text(&self, present: &str) -> anyhow::Result<String> {
        let (head, program, arguments) = match self.maker {
            Maker::Function(text) => return Ok(text()),
            Maker::Part(part) => {
                let marks =
                    || format!("{} has no place for the part that is made: add both comments", self.file);
                return with_part(present, &part()).with_context(marks);
            }
            Maker::Program { head, program, arguments } => (head, program, arguments),
        };
        let output = Command::new(target()?.join("debug").join(program))
            .args(arguments)
            .output()
            .with_context(|| format!("{program} cannot be started"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{program} {}` failed: {said}", arguments.join(" "));
        let made = String::from_utf8(output.stdout).with_context(|| format!("{program} wrote no text"))?;
        Ok(format!("{head}{made}"))
    }
}

/// Returns the hooks of castellan's plugin for an agent, for each user's own home.
fn plugin_hooks(agent: AgentId) -> String {
    own_plugin_hooks(agent, &HomeArgument::Own.to_string()).unwrap_or_default()
}

/// Replaces the part between the two comments; `None` if the text lacks them.
fn with_part(text: &str, part: &str) -> Option<String> {
    let (before, rest) = text.split_once(PART_BEGINS)?;
    let (_, after) = rest.split_once(PART_ENDS)?;
    Some(format!("{before}{PART_BEGINS}\n{part}\n{PART_ENDS}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_between_its_comments_and_nowhere_else() {
        let text = |part: &str| format!("a\n{PART_BEGINS}{part}{PART_ENDS}b\n");
        assert_eq!(with_part(&text("old"), "new\n"), Some(text("\nnew\n\n")));
        for without in ["", PART_BEGINS, PART_ENDS] {
            assert_eq!(with_part(without, "new"), None);
        }
    }
}
