//! The project's own code with an Opaque part, over two sessions of one workspace. A file that one session or its
//! sub-agent wrote or changed is not the project's own code for the other session.

use std::fs;
use std::path::{Path, PathBuf};

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, call, judge, run, understood};
use serde_json::{Value as Json, json};

/// A program that loads a file known only at run time, and a shell script that runs it.
const PROGRAM: &str = "require('./plugins/' + process.env.PLUGIN);\n";

/// The change that `patch` makes to the program.
const PATCH: &str = "--- a/lib/tool.js\n+++ b/lib/tool.js\n@@ -1 +1 @@\n-require('./plugins/' + process.env.PLUGIN);\n+require(process.env.PLUGIN);\n";

/// The command of the other session.
const RUN: &str = "node lib/tool.js";

/// A command of one session in the workspace, and the next answer to the other session.
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
    ("echo x > lib/tool.js", "ask"),
    ("echo x | tee -a lib/tool.js", "ask"),
    ("cp other.js lib/tool.js", "ask"),
    ("mv other.js lib/tool.js", "ask"),
    ("rm -r lib && mv other lib", "ask"),
    ("ln -sf ../other.js lib/tool.js", "ask"),
    ("install -m 755 other.js lib/tool.js", "ask"),
    ("sed -i s/a/b/ lib/tool.js", "ask"),
    ("sed -i s/a/b/ lib/*.js", "ask"),
    ("perl -pi -e s/a/b/ lib/tool.js", "ask"),
    ("python3 -c \"open('lib/tool.js', 'w').write('x')\"", "ask"),
    ("curl -o lib/tool.js https://a.example/x", "ask"),
    ("tar xf a.tar", "ask"),
    ("unzip -o a.zip", "ask"),
    ("rsync -a ../elsewhere/ .", "ask"),
    ("patch -p1 -i x.patch", "ask"),
    ("truncate -s 0 lib/tool.js", "ask"),
    ("cp other.js \"$TO\"", "ask"),
    // A reformatted file stays the project's own code.
    ("prettier --write .", "defer"),
    ("npx prettier --write lib/tool.js", "defer"),
    ("eslint --fix .", "defer"),
    ("dos2unix lib/tool.js", "ask"),
    // Version control does not report the files that it changes.
    ("git checkout main", "ask"),
    ("git checkout -- lib/tool.js", "ask"),
    ("git switch other", "ask"),
    ("git restore .", "ask"),
    ("git apply x.patch", "ask"),
    ("git am x.patch", "ask"),
    ("git stash pop", "ask"),
    ("git stash apply", "ask"),
    ("git pull", "ask"),
    ("git merge other", "ask"),
    ("git rebase main", "ask"),
    ("git cherry-pick abc", "ask"),
    ("git revert HEAD", "ask"),
    ("git reset --hard HEAD~1", "ask"),
    ("git submodule update --init", "ask"),
    ("git read-tree -u -m other", "ask"),
    ("git checkout-index -fa", "ask"),
    ("gh pr checkout 3", "ask"),
    ("hg update other", "ask"),
    ("svn update", "ask"),
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
        fs::write(workspace.join("other.js"), "1\n")?;
        fs::write(workspace.join("x.patch"), PATCH)?;
        Ok(Story { home, workspace: workspace.canonicalize()?, number })
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

    fn other_runs_it(&self) -> anyhow::Result<String> {
        self.ask("other", "", bash(RUN), &self.workspace)
    }

    fn path(&self, name: &str) -> String {
        self.workspace.join(name).display().to_string()
    }
}

#[test]
fn what_one_session_changes_is_no_code_of_the_project_to_another() -> anyhow::Result<()> {
    let home = Home::with_castellan("own-parts", ENFORCE, "")?;
    let mut wrong = Vec::new();
    for (number, (command, expected)) in COMMANDS.iter().enumerate() {
        let story = Story::new(&home, number)?;
        let before = if number == 0 { story.other_runs_it()? } else { "defer".to_owned() };
        let one = story.ask("one", "", bash(command), &story.workspace)?;
        let after = story.other_runs_it()?;
        if before != "defer" || one == "deny" || after != *expected {
            wrong.push(format!("{command}: before {before}, itself {one}, after {after}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn nor_is_what_a_tool_or_a_sub_agent_writes_or_who_works_elsewhere() -> anyhow::Result<()> {
    let home = Home::with_castellan("own-parts-tools", ENFORCE, "")?;
    let write = |path: String| call("Write", &json!({ "file_path": path, "content": PROGRAM }));
    let check =
        |number, subagent: &str, call: &dyn Fn(&Story<'_>) -> Json, cwd: &str| -> anyhow::Result<()> {
            let story = Story::new(&home, number)?;
            assert_eq!(story.other_runs_it()?, "defer", "{number}");
            let of = call(&story);
            story.ask("one", subagent, of.clone(), &story.workspace.join(cwd).canonicalize()?)?;
            assert_eq!(story.other_runs_it()?, "ask", "{number}: {of}");
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
    assert_eq!(story.other_runs_it()?, "ask");
    Ok(())
}
