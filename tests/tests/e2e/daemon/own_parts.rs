//! The project's own code with an Opaque part, over two sessions of one workspace. A file that one session or its
//! sub-agent wrote or changed is not the project's own code for the other session. It is left to the agent only where the
//! agent itself asks a person, and only if its bytes come from a known place.

use std::fs;
use std::path::{Path, PathBuf};

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, call, judge, run, understood};
use castellan_tests::terminal;
use serde_json::{Value as Json, json};

/// A program that loads a file known only at run time, and a shell script that runs it.
const PROGRAM: &str = "require('./plugins/' + process.env.PLUGIN);\n";

/// The change that `patch` makes to the program.
const PATCH: &str = "--- a/lib/tool.js\n+++ b/lib/tool.js\n@@ -1 +1 @@\n-require('./plugins/' + process.env.PLUGIN);\n+require(process.env.PLUGIN);\n";

/// The command of the other session.
const RUN: &str = "node lib/tool.js";

/// Commands after which an agent that itself asks is not left alone with the program, either.
const FROM_ELSEWHERE: &[&str] =
    &["curl -o lib/tool.js https://a.example/x", "cp other.js \"$TO\"", "node lib/gen.js > lib/tool.js"];

/// A mode in which the agent runs commands without a prompt. It drops asks about files, so castellan denies.
const WITHOUT_PROMPTS: &str = "bypassPermissions";

/// A command of one session in the workspace, and the next answer to the other session, whose agent does not prompt.
const COMMANDS: &[(&str, &str)] = &[
    // Only reads, or changes something else.
    ("cat lib/tool.js", "defer"),
    ("echo x > notes.md", "defer"),
    ("cp lib/tool.js other.js", "defer"),
    ("git status", "defer"),
    ("git commit -m x", "defer"),
    ("git push", "defer"),
    ("git -C ../elsewhere checkout main", "defer"),
    ("cd ../elsewhere && git pull", "defer"),
    // Changes the program: written, copied, moved or linked over, unpacked, patched, rewritten.
    ("echo x > lib/tool.js", "deny"),
    ("echo x | tee -a lib/tool.js", "deny"),
    ("cp other.js lib/tool.js", "deny"),
    ("mv other.js lib/tool.js", "deny"),
    ("rm -r lib && mv other lib", "deny"),
    ("ln -sf ../other.js lib/tool.js", "deny"),
    ("install -m 755 other.js lib/tool.js", "deny"),
    ("sed -i s/a/b/ lib/tool.js", "deny"),
    ("sed -i s/a/b/ lib/*.js", "deny"),
    ("perl -pi -e s/a/b/ lib/tool.js", "deny"),
    ("python3 -c \"open('lib/tool.js', 'w').write('x')\"", "deny"),
    ("curl -o lib/tool.js https://a.example/x", "deny"),
    ("tar xf a.tar", "deny"),
    ("unzip -o a.zip", "deny"),
    ("rsync -a ../elsewhere/ .", "deny"),
    ("patch -p1 -i x.patch", "deny"),
    ("truncate -s 0 lib/tool.js", "deny"),
    ("cp other.js \"$TO\"", "deny"),
    ("node lib/gen.js > lib/tool.js", "deny"),
    // A reformatted file stays the project's own code.
    ("prettier --write .", "defer"),
    ("npx prettier --write lib/tool.js", "defer"),
    ("eslint --fix .", "defer"),
    ("dos2unix lib/tool.js", "deny"),
    // Version control does not report the files that it changes.
    ("git checkout main", "deny"),
    ("git checkout -- lib/tool.js", "deny"),
    ("git switch other", "deny"),
    ("git restore .", "deny"),
    ("git apply x.patch", "deny"),
    ("git am x.patch", "deny"),
    ("git stash pop", "deny"),
    ("git stash apply", "deny"),
    ("git pull", "deny"),
    ("git merge other", "deny"),
    ("git rebase main", "deny"),
    ("git cherry-pick abc", "deny"),
    ("git revert HEAD", "deny"),
    ("git reset --hard HEAD~1", "deny"),
    ("git submodule update --init", "deny"),
    ("git read-tree -u -m other", "deny"),
    ("git checkout-index -fa", "deny"),
    ("gh pr checkout 3", "deny"),
    ("hg update other", "deny"),
    ("svn update", "deny"),
];

/// A separate workspace for each story, all in one home.
struct Story<'h> {
    home: &'h Home,
    workspace: PathBuf,
    number: usize,
}

impl Story<'_> {
    fn new(home: &Home, number: usize) -> anyhow::Result<Story<'_>> {
        let workspace = home.workspace().join(format!("story-{number}/repo"));
        for folder in [workspace.join(".git"), workspace.join("lib"), workspace.join("../elsewhere/.git")] {
            fs::create_dir_all(folder)?;
        }
        fs::write(workspace.join("lib/tool.js"), PROGRAM)?;
        fs::write(workspace.join("lib/gen.js"), PROGRAM)?;
        fs::write(workspace.join("other.js"), "1\n")?;
        fs::write(workspace.join("x.patch"), PATCH)?;
        Ok(Story { home, workspace: workspace.canonicalize()?, number })
    }

    /// Starts a story in a workspace that a person has trusted.
    fn trusted(home: &Home, number: usize) -> anyhow::Result<Story<'_>> {
        let story = Story::new(home, number)?;
        let workspace = story.workspace.display().to_string();
        let done = terminal::run_castellan(home, &["trust", "--yes", &workspace])?;
        anyhow::ensure!(done.code == Some(0), "the workspace is not trusted: {done:?}");
        Ok(story)
    }

    /// Returns the answer to a session's call, and finishes the call.
    fn ask(&self, session: &str, subagent: &str, of: Json, cwd: &Path) -> anyhow::Result<String> {
        let mut of = of;
        of["session_id"] = format!("{session}-{}", self.number).into();
        of["cwd"] = cwd.display().to_string().into();
        if !subagent.is_empty() {
            of["agent_id"] = subagent.into();
        }
        let answer = understood(&judge(self.home, &of)?);
        of["hook_event_name"] = "PostToolUse".into();
        of["tool_response"] = json!({});
        run(self.home, "claude", "PostToolUse", of.to_string().as_bytes())?;
        Ok(answer)
    }

    fn other_runs_it(&self, mode: &str) -> anyhow::Result<String> {
        let mut run = bash(RUN);
        run["permission_mode"] = mode.into();
        self.ask("other", "", run, &self.workspace)
    }

    fn path(&self, name: &str) -> String {
        self.workspace.join(name).display().to_string()
    }
}

#[test]
fn what_one_session_changes_is_no_code_of_the_project_to_another() -> anyhow::Result<()> {
    let home = Home::with_castellan("own-parts", ENFORCE, "")?;
    let _daemon = home.start_daemon()?;
    let mut wrong = Vec::new();
    for (number, (command, expected)) in COMMANDS.iter().enumerate() {
        let story = Story::trusted(&home, number)?;
        let before = if number == 0 { story.other_runs_it(WITHOUT_PROMPTS)? } else { "defer".to_owned() };
        let one = story.ask("one", "", bash(command), &story.workspace)?;
        let after = story.other_runs_it(WITHOUT_PROMPTS)?;
        let prompted = story.other_runs_it("default")?;
        let asks = if FROM_ELSEWHERE.contains(command) { "ask" } else { "defer" };
        if before != "defer" || one == "deny" || after != *expected || prompted != asks {
            wrong.push(format!(
                "{command}: before {before}, itself {one}, after {after}, prompted {prompted}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn nor_is_what_a_tool_or_a_sub_agent_writes_or_who_works_elsewhere() -> anyhow::Result<()> {
    let home = Home::with_castellan("own-parts-tools", ENFORCE, "")?;
    let _daemon = home.start_daemon()?;
    let write = |path: String| call("Write", &json!({ "file_path": path, "content": PROGRAM }));
    let check =
        |number, subagent: &str, call: &dyn Fn(&Story<'_>) -> Json, cwd: &str| -> anyhow::Result<()> {
            let story = Story::trusted(&home, number)?;
            assert_eq!(story.other_runs_it(WITHOUT_PROMPTS)?, "defer", "{number}");
            let of = call(&story);
            story.ask("one", subagent, of.clone(), &story.workspace.join(cwd).canonicalize()?)?;
            assert_eq!(story.other_runs_it(WITHOUT_PROMPTS)?, "deny", "{number}: {of}");
            Ok(())
        };
    check(0, "", &|story| write(story.path("lib/tool.js")), ".")?;
    check(1, "helper", &|story| write(story.path("lib/tool.js")), ".")?;
    check(2, "helper", &|_| bash("cp other.js lib/tool.js"), ".")?;
    let edit = |story: &Story<'_>| {
        let path = story.path("lib/tool.js");
        call("Edit", &json!({ "file_path": path, "old_string": "PLUGIN", "new_string": "P" }))
    };
    check(3, "", &edit, ".")?;
    // A session of another workspace.
    check(4, "", &|story| write(story.path("lib/tool.js")), "../elsewhere")?;
    check(5, "", &|story| bash(&format!("git -C {} checkout main", story.path(""))), "../elsewhere")?;
    check(6, "", &|_| bash("cd ../repo && git stash pop"), "../elsewhere")?;
    // The daemon that judged the change is gone.
    let story = Story::new(&home, 7)?;
    story.ask("one", "", bash("git checkout main"), &story.workspace)?;
    super::kill(home.start_daemon()?)?;
    assert_eq!(story.other_runs_it(WITHOUT_PROMPTS)?, "deny");
    Ok(())
}

#[test]
fn code_of_a_workspace_that_nobody_trusts_is_left_only_to_an_agent_that_asks() -> anyhow::Result<()> {
    let home = Home::with_castellan("own-parts-trust", ENFORCE, "")?;
    let _daemon = home.start_daemon()?;
    let story = Story::new(&home, 0)?;
    assert_eq!(story.other_runs_it(WITHOUT_PROMPTS)?, "deny");
    assert_eq!(story.other_runs_it("default")?, "defer");
    let story = Story::trusted(&home, 1)?;
    assert_eq!(story.other_runs_it(WITHOUT_PROMPTS)?, "defer");
    Ok(())
}
