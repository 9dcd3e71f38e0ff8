//! `castellan completions`: prints shell completions. bash, zsh and fish also complete request ids, which they get from
//! the hidden command `castellan request-ids`.

use std::io::Write;

use clap_complete::Shell;

use crate::Arguments;
use crate::exit::Exit;

const BASH: &str = include_str!("completions/request_ids.bash");
const ZSH: &str = include_str!("completions/request_ids.zsh");
const FISH: &str = include_str!("completions/request_ids.fish");

/// Options of `castellan completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Shell to print completions for
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    // Generated in memory first: the generator panics on a closed pipe.
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::definition(), "castellan", &mut text);
    let text = String::from_utf8(text)?;
    let text = match options.shell {
        Shell::Bash => text + BASH,
        Shell::Zsh => with_zsh(&text),
        Shell::Fish => text + FISH,
        Shell::Elvish | Shell::PowerShell | _ => text,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Starts of the lines about a request id, as clap writes them.
const ZSH_LINES: [&str; 4] = ["':id -- Request id", "'::id -- Request id", "'--request=[", "'--from-log=["];

/// The first line of clap's function. The function later cuts `words` down to those of the subcommand.
const ZSH_BEGIN: &str = "_castellan() {";

/// Inserts the function behind the first line, which names the command, and calls it for request ids.
fn with_zsh(text: &str) -> String {
    let mut with = String::new();
    for (number, line) in text.lines().enumerate() {
        let is_about = ZSH_LINES.iter().any(|start| line.starts_with(start));
        with.push_str(&if is_about {
            line.replace(":_default'", ":_castellan_request_ids'")
        } else {
            line.to_owned()
        });
        with.push('\n');
        if line == ZSH_BEGIN {
            with.push_str("    local -a whole=(\"${words[@]}\")\n");
        }
        if number == 0 {
            with.push_str(ZSH);
        }
    }
    with
}
