//! The ordinary set of a seed: projects of each ecosystem. Must not know the text of a grammar.

use fastrand::Rng;

use crate::grammar::Grammar;
use crate::project::Project;

/// Projects of each grammar.
const PROJECTS: usize = 5;

/// Texts that all grammars share.
const COMMON: &str = include_str!("../grammars/common.txt");

/// Each ecosystem with its grammars.
pub const ECOSYSTEMS: &[(&str, &[&str])] = &[
    (
        "node",
        &[
            include_str!("../grammars/npm.txt"),
            include_str!("../grammars/pnpm.txt"),
            include_str!("../grammars/yarn.txt"),
            include_str!("../grammars/bun.txt"),
        ],
    ),
    ("python", &[include_str!("../grammars/python.txt"), include_str!("../grammars/uv.txt")]),
    ("rust", &[include_str!("../grammars/rust.txt")]),
    ("go", &[include_str!("../grammars/go.txt")]),
    ("jvm", &[include_str!("../grammars/gradle.txt"), include_str!("../grammars/maven.txt")]),
    ("c", &[include_str!("../grammars/cmake.txt")]),
    ("ruby", &[include_str!("../grammars/ruby.txt")]),
    ("php", &[include_str!("../grammars/php.txt")]),
    ("dotnet", &[include_str!("../grammars/dotnet.txt")]),
    ("infrastructure", &[include_str!("../grammars/infrastructure.txt")]),
    ("elixir", &[include_str!("../grammars/elixir.txt")]),
];

/// Makes the projects of a seed. Returns an error if a grammar has a wrong line.
pub fn projects(seed: u64) -> Result<Vec<Project>, String> {
    let mut rng = Rng::with_seed(seed);
    let mut projects = Vec::new();
    for (ecosystem, texts) in ECOSYSTEMS {
        for text in *texts {
            let grammar = Grammar::read(&[COMMON, text]).map_err(|why| format!("{ecosystem}: {why}"))?;
            // Each project has its own numbers: a change of one grammar keeps the projects of the others.
            let of_grammar = (0..PROJECTS).map(|_| Project::new(ecosystem, &grammar, &mut rng.fork()));
            projects.extend(of_grammar);
        }
    }
    Ok(projects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_projects() {
        assert_eq!(projects(7), projects(7));
        assert_ne!(projects(7), projects(8));
    }

    #[test]
    fn a_seed_makes_enough_work() {
        for seed in 1..=20 {
            let projects = projects(seed).unwrap();
            let calls: usize = projects.iter().map(Project::calls).sum();
            assert!(calls >= 3000 && projects.len() >= 60, "seed {seed}: {calls}, {}", projects.len());
            assert!(projects.iter().all(|project| project.sessions.len() >= 3 && project.calls() >= 20));
        }
        assert!(ECOSYSTEMS.len() >= 10);
    }

    #[test]
    fn every_word_of_a_grammar_has_a_meaning() {
        for project in projects(1).unwrap() {
            let texts = project.sessions.iter().flatten().map(|step| format!("{:?}", step.asked));
            let texts = texts.chain(project.files.iter().map(|file| format!("{file:?}")));
            for text in texts {
                assert!(!text.contains(['«', '»', '¦']), "{}: {text}", project.directory);
            }
        }
    }
}
