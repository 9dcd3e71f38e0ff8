//! Build, install, test, bench and generate: `cargo xtask COMMAND`.
//!
//! Knows the project's structure. Must not depend on castellan's behaviour on a machine.

mod accuracy;
mod attacks;
mod bench;
mod build;
mod conformance;
mod corpus;
mod dependencies;
mod dist;
mod falco;
mod fuzz;
mod generate;
mod install;
mod layers;
mod lines;
mod macos;
mod plain;
mod same;
mod suites;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  install [--prefix DIR] [--home DIR] [--agent NAME]... [--no-agents] [--mode MODE] [--managed] [--launchers]
          builds release binaries, puts them into DIR/bin (default ~/.local/bin), installs and runs the doctor
  dist [--debug | --programs DIR [--platform TRIPLE]] [--out DIR]
          makes the packages in DIR (default target/dist): an archive with an install script, a Debian package, the plugins of
          Claude Code and Codex, the extension of Gemini CLI, a bill of materials. Without options it builds release programs;
          with --programs it packs ready ones
  dist --check [--debug]
          builds and packs the commit twice, in two folders, and compares every byte
  test [SUITE]...
          runs every test suite, or those named, whole: lint unit e2e agents attacks falco sandbox containment fuzz service
          plans lockdown walks; without a name no sandbox, containment, fuzz, service, plans, lockdown or walks, and one fifth
          of agents. `falco` compares both engines, row by row and session by session: with the `falco` on PATH, and always
          with a stand-in that loads the real plugin
  fuzz [--seconds N] [--if-present] [TARGET]
          fuzzes every target, or one, for N seconds in total (default 60); without a C++ compiler, which libFuzzer is
          built with, it fails, with --if-present it says so
  fuzz --children [--seconds N] [--bytes N]
          analyses pairs of all grammar tokens in child processes on small stacks, and counts aborts and what does not end
  bench hook [--calls N]
          measures the hook against its floor, the daemon's throughput and memory; prints tables in Markdown
  bench rules
          measures what rules cost, beside a plain evaluator; prints tables in Markdown
  bench decide
          measures one decision step by step, and what the pipeline adds to the rules; the whole decision of the collected
          everyday commands; the start of a daemon with all packs; prints tables in Markdown
  bench plans
          measures the comparison of a call with its plan; prints a table in Markdown
  bench run
          measures what `castellan run` adds to the start of an agent and to its stream; prints tables in Markdown
  bench sandbox
          measures the start of a program in castellan's sandbox, beside a bare start, `unshare` and bubblewrap; prints a table
  bench contained
          measures a contained call beside the same call: the hook's answer, and the run; prints a table in Markdown
  bench falco [--calls N]
          measures both engines side by side with the `falco` on PATH: the hook, decided calls a second, the rows of all
          cases. Without one it says that these did not run. Measures the plugin's extraction; prints tables in Markdown
  bench service
          measures calls while the daemon restarts, and `castellan status`; fails if a limit is exceeded
  bench undo [FOLDER]
          measures checkpoints, restores and listings, in the folder for temporary files or in FOLDER; prints a table
  bench state
          what sessions and grants cost in the daemon's memory, and how long it takes to start with them
  bench facts
          measures what it costs to understand a call: everyday commands, scripts, hostile text; prints tables in Markdown
  bench languages
          measures what the first use of each language costs a daemon, in time and memory; prints a table in Markdown
  accuracy [--profile NAME] [--misses [--half development|measured|all]] [--write]
          judges all labelled calls by the shipped rules under each profile and holds the figures against what is to be
          reached; --misses lists those of the half that rules are written on, or of the one named; --write puts what is
          printed into docs/accuracy.md, every miss into docs/accuracy-misses.md
  accuracy --ordinary [--seed N] [--list | --json | --calls]
          judges ordinary work in invented projects, made from a seed (default: the time), under each profile, and prints
          the share of interrupted calls and the causes; --list adds each interrupted call, --calls prints all calls
  corpus shell [--sample N] [--seed N] [--fresh]
          collects real shell text from packages (once, or with --fresh) and counts what of it is understood; writes a
          sample of N items (default 200) with the commands found, to be read by a person
  corpus witness
          has a second parser (witness/) read the same text: every command that it sees must be found, or stand in a part
          that is said not to be understood
  corpus benign [--sample N] [--seed N] [--fresh]
          makes target/corpus/benign.jsonl: at least 10,000 everyday commands from the same packages, labelled by
          corpus/labelled/labels.toml, and a sample of N (default 200) with its labels, to be read by a person
  attacks [--write]
          tries each attack of attacks/ in castellan's sandbox, in bubblewrap and in Anthropic's sandbox-runtime, and prints the
          table; --write puts it into docs/sandbox-attacks.md
  build-hook
  build-launcher
          builds the hook (the launcher of the sandbox) as it is installed, linked statically, and prints its path
  gen [--check]
          writes the documents that are made from the code, or checks that they are current
  conformance all
          everything that `test unit` runs, in one process: the following without `bypasses`
  conformance falco [PATH]
          holds every case that real Falco answered against the rule engine; PATH is a file or folder of cases
  conformance forerunners --facts [PATH]
          holds what four earlier guards said of commands against castellan's facts
  conformance forerunners [PATH]
          holds what they decided against castellan's decisions: nothing is laxer that is not listed with the reason
  conformance disguises
          holds commands in disguise, and texts that only look dangerous, against castellan's facts
  conformance bypasses
          prints the book of these disguises, which `gen` keeps in docs/bypasses.md
  conformance rules [PATH] [-v]
          loads real rule files and compares how their conditions print; -v shows every condition
  oracle effects
          runs harmless commands for real, under strace in namespaces of their own, and compares what they did with the
          predicted effects
  oracle shell [SEED]
          runs thousands of harmless texts in bash, zsh, ksh and dash, under strace in namespaces of their own: the walk
          must find every command that ran; prints a table, and each text with a command that it did not find, reduced;
          each seed has other random texts
  syntax --accept=SHELL [--all] [PATH]...
          compares the texts that the shell parser accepts with those that `SHELL -n` does: bash, dash, zsh or ksh, over the
          corpora or the named files and folders; prints differences without a known reason, with --all every one
  syntax --fuzz=SHELL [--count=N] [--seed=N] [--all] [PATH]...
          the same for generated and changed texts, 100,000 without --count
  same BASE [--texts]
          builds commit BASE beside the working tree, judges every known call by both, and reports what differs: verdicts,
          findings, facts, counted work, records; with --texts also what agents and people read, and registered settings
  layers  checks that crates depend only on lower layers, and that modules do not import each other in circles
  check-macos [--link] [--if-present]
          compiles all crates for macOS (Apple's and Intel's processors) with the sources of the standard library and zig, and
          compares the layout of the kernel's answers with Apple's headers; --link links the programs; nothing runs. Without
          these tools it names what is missing and fails; with --if-present it only names it
  lines [BASE]
          lines of code, tables, tests and comments of each crate, without blank lines; with a commit also the difference
  plain [PATH]...
          reports the share of sentences that are hard to read in documents and comments, and the worst of them
  dependencies
          checks licences, sources and versions of all crates that are linked
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["install", rest @ ..] => install::install(rest),
        ["test", suites @ ..] => suites::test(suites),
        ["fuzz", rest @ ..] => fuzz::fuzz(rest),
        ["bench", "hook", rest @ ..] => bench::hook(rest),
        ["bench", "decide"] => bench::decide(),
        ["bench", "run"] => bench::agent_run(),
        ["bench", "state"] => bench::state(),
        ["bench", "facts"] => bench::run("castellan-bench-facts"),
        ["bench", "languages"] => bench::languages(),
        ["bench", "rules"] => bench::run("castellan-bench-rules"),
        ["bench", "undo", folder @ ..] => bench::run_with("castellan-bench-undo", folder),
        ["bench", "plans"] => bench::run("castellan-bench-plans"),
        ["bench", "sandbox"] => bench::sandbox(),
        ["bench", "contained"] => bench::contained(),
        ["bench", "falco", rest @ ..] => bench::falco(rest),
        ["bench", "service"] => bench::service(),
        ["attacks", rest @ ..] => attacks::table(rest),
        ["accuracy", "--ordinary", rest @ ..] => conformance::run_ordinary(rest),
        ["accuracy", rest @ ..] => accuracy::run(rest),
        ["corpus", "shell", rest @ ..] => corpus::shell(rest),
        ["corpus", "benign", rest @ ..] => corpus::benign::run(rest),
        ["corpus", "witness"] => corpus::witness(),
        ["build-hook"] => {
            build::small_static("castellan-hook", "castellan-hook").map(|hook| println!("{}", hook.display()))
        }
        ["build-launcher"] => build::small_static("castellan-launcher", "castellan-sandbox")
            .map(|built| println!("{}", built.display())),
        ["conformance", rest @ ..] => conformance::run(rest),
        ["oracle", "effects"] => bench::run_with("castellan-oracle", &["effects"]),
        ["oracle", "shell", rest @ ..] if rest.len() <= 1 => {
            bench::run_with("castellan-oracle", &[&["shell"], rest].concat())
        }
        ["syntax", rest @ ..] => bench::syntax(rest),
        ["same", rest @ ..] => same::run(rest),
        ["layers"] => layers::check(),
        ["check-macos", rest @ ..] => macos::check(rest),
        ["dist", rest @ ..] => dist::run(rest),
        ["dependencies"] => dependencies::check(),
        ["lines", rest @ ..] => lines::report(rest),
        ["plain", paths @ ..] => plain::report(paths),
        ["gen", rest @ ..] => generate::generate(rest),
        ["help" | "--help" | "-h"] | [] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!("unknown command `{}`\n{USAGE}", words.join(" ")),
    }
}

fn root() -> anyhow::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_owned).context("xtask lies in no workspace")
}
