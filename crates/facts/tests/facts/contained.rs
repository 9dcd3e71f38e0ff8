//! Files that a contained command wrote: running or loading one is Opaque code, whatever is in it.

use std::collections::BTreeSet;

use castellan_event::{Recorder, Role, Why};
use castellan_facts::{ChangedPath, Setting, analyse};

use crate::call;
use crate::machine::Machine;
use crate::machine::There::{self, Link, Text};

const THERE: &[(&str, There)] = &[
    ("/w/run.sh", Text("echo hi\n")),
    ("/w/other.sh", Text("echo hi\n")),
    ("/w/calls.sh", Text("sh run.sh\n")),
    ("/w/alias.sh", Link("/w/run.sh")),
    ("/w/lib/a.sh", Text("echo hi\n")),
    ("/w/app.py", Text("print(1)\n")),
    ("/w/run.log", Text("text\n")),
    ("/v/run.sh", Text("echo hi\n")),
    ("/l/.git", Text("gitdir: /w/.git/worktrees/l\n")),
    ("/l/a.sh", Text("echo hi\n")),
];

/// Returns the targets of the Opaque parts for contained files.
fn found(command: &str, contained: &[&str]) -> Vec<String> {
    let contained: BTreeSet<String> = contained.iter().map(|path| (*path).to_owned()).collect();
    let setting = Setting { workspace: "/w".to_owned(), contained: contained.into(), ..Setting::default() };
    let machine = Machine(THERE);
    let facts = analyse(&call::shell("codex", command), &setting, &mut Recorder::new(&machine));
    let of = facts.effects.iter().filter(|effect| effect.why() == Some(Why::Contained));
    of.map(|effect| {
        assert_eq!(effect.role(), Some(Role::Code));
        effect.target().unwrap_or_default().to_owned()
    })
    .collect()
}

#[test]
fn running_or_loading_a_contained_file_is_opaque() {
    let script: &[&str] = &["/w/run.sh"];
    for command in [
        "sh run.sh",
        "bash ./run.sh",
        ". ./run.sh",
        "sh calls.sh",
        "sh < run.sh",
        "cd /w && sh run.sh",
        "timeout 5 sh run.sh",
    ] {
        assert_eq!(found(command, script), ["/w/run.sh"], "{command}");
    }
    // Both names of the file are told.
    assert!(found("sh alias.sh", script).contains(&"/w/run.sh".to_owned()));
    for command in
        ["cat run.sh", "ls", "git status", "sh other.sh", "rm run.sh", "grep x run.sh", "sh /v/run.sh"]
    {
        assert_eq!(found(command, script), [""; 0], "{command}");
        assert_eq!(found(command, &[]), [""; 0], "{command}");
    }
    // A directory, and a workspace in which a command still runs.
    assert_eq!(found("sh lib/a.sh", &["/w/lib"]), ["/w/lib/a.sh"]);
    assert_eq!(found("sh other.sh", &[&ChangedPath::Anywhere("/w").stored()]), ["/w/other.sh"]);
    assert_eq!(found("sh /v/run.sh", &[&ChangedPath::Anywhere("/w").stored()]), [""; 0]);
}

#[test]
fn a_tool_that_loads_a_project_may_load_any_contained_file() {
    let module: &[&str] = &["/w/src/module.x"];
    for command in [
        "make",
        "cargo test",
        "npm test",
        "python3 app.py",
        "python3 -c 'import a'",
        "gcc a.c",
        "./tool",
        "docker build .",
        "cd src && make",
        "make -C src",
    ] {
        assert_eq!(found(command, module), module, "{command}");
        assert_eq!(found(command, &["/w/run.log"]), [""; 0], "{command}");
    }
    for command in ["make --version", "cat src/module.x", "git commit -m x", "sh other.sh"] {
        assert_eq!(found(command, module), [""; 0], "{command}");
    }
    // Tests run the examples of documents, and builds apply patches.
    for (command, file) in [
        ("cargo test", "/w/README.md"),
        ("pytest --doctest-glob='*.rst'", "/w/docs/use.rst"),
        ("make", "/w/patches/a.patch"),
    ] {
        assert_eq!(found(command, &[file]), [file], "{command}");
    }
    // Packages are installed by the files that name them.
    for command in ["npm install", "cargo add x", "go get x"] {
        assert_eq!(found(command, module), [""; 0], "{command}");
    }
    assert_eq!(found("npm install", &["/w/package.json"]), ["/w/package.json"]);
    assert_eq!(found("npm install", &["/w/.npmrc"]), ["/w/.npmrc"]);
    assert_eq!(found("pip install -e .", &["/w/setup.py"]), ["/w/setup.py"]);
    // The project around the directory of the command, if that is another one.
    assert_eq!(found("make -C /v", module), module);
    assert_eq!(found("make -C /v", &["/v/rules.mk"]), ["/v/rules.mk"]);
    assert_eq!(found("make", &["/v/rules.mk"]), [""; 0]);
}

#[test]
fn of_many_files_the_first_are_told() {
    let files: Vec<String> = (10..40).map(|number| format!("/w/{number}.sh")).collect();
    let contained: Vec<&str> = files.iter().map(String::as_str).collect();
    let command = files.iter().map(|file| format!("sh {file}; ")).collect::<String>();
    assert_eq!(found(&command, &contained), contained[..8]);
    assert_eq!(found(&command, &[]), [""; 0]);
}

/// Returns the files into which a call copies contained files.
fn copied(command: &str, contained: &[&str]) -> Vec<String> {
    let contained: BTreeSet<String> = contained.iter().map(|path| (*path).to_owned()).collect();
    let setting = Setting { workspace: "/w".to_owned(), contained: contained.into(), ..Setting::default() };
    let machine = Machine(THERE);
    let facts = analyse(&call::shell("codex", command), &setting, &mut Recorder::new(&machine));
    facts.contained_copies.into.into_iter().collect()
}

#[test]
fn a_copy_of_a_contained_file_is_one_too() {
    let script: &[&str] = &["/w/run.sh"];
    for (command, expected) in [
        ("cp run.sh b.sh", "/w/b.sh"),
        ("mv run.sh b.sh", "/w/b.sh"),
        ("ln run.sh b.sh", "/w/b.sh"),
        ("ln -s run.sh b.sh", "/w/b.sh"),
        ("cp alias.sh b.sh", "/w/b.sh"),
        ("cp *.sh /o/", "/o/*.sh"),
        ("install -m 755 run.sh b.sh", "/w/b.sh"),
        ("dd if=run.sh of=b.sh", "/w/b.sh"),
        ("cat run.sh > b.sh", "/w/b.sh"),
        ("cat run.sh | tee b.sh", "/w/b.sh"),
        ("X=$(cat run.sh); echo \"$X\" > b.sh", "/w/b.sh"),
        ("sed s/a/b/ run.sh > b.sh", "/w/b.sh"),
        ("while read l; do echo \"$l\"; done < run.sh > b.sh", "/w/b.sh"),
        ("python3 -c 'import shutil; shutil.copy(\"run.sh\", \"b.sh\")'", "/w/b.sh"),
        ("node -e 'require(\"fs\").copyFileSync(\"run.sh\", \"b.sh\")'", "/w/b.sh"),
        ("base64 run.sh > b.txt", "/w/b.txt"),
        ("cp -r /w /o/w", "/o/w"),
        ("mv /w /o/w", "/o/w"),
        ("tar cf /o/w.tar .", "/o/w.tar"),
        ("tar cf - . | tar xf - -C /o", "/o"),
        ("zip -r /o/w.zip .", "/o/w.zip"),
        ("rsync -a ./ /o/", "/o"),
        ("find . -name '*.sh' -exec cp {} /o/ \\;", "/o/*.sh"),
        ("find . | xargs cp -t /o", "/o/**"),
        ("git mv run.sh b.sh", "/w/b.sh"),
        ("git show HEAD:run.sh > b.sh", "/w/b.sh"),
        ("git show HEAD > b.patch", "/w/b.patch"),
        ("git diff > /o/b.patch", "/o/b.patch"),
        ("git archive HEAD | tar x -C /o", "/o"),
        ("git worktree add /o", "/o"),
        ("git clone . /o", "/o"),
        ("git checkout-index -a --prefix=/o/", "/o"),
        ("git read-tree --prefix=sub/ HEAD", "/w/sub"),
        ("git -C /w worktree add /o", "/o"),
        ("git --work-tree=/o checkout -f", "/o"),
        ("GIT_WORK_TREE=/o git checkout -f", "/o"),
        ("git bundle create /o/w.bundle HEAD", "/o/w.bundle"),
        // An object of any name becomes a file of any name at the next checkout.
        ("git update-index --add --cacheinfo 100644,0123456789abcdef0123456789abcdef01234567,b.sh", "/w"),
        ("git mktree < tree", "/w"),
        ("git commit-tree 0123456789abcdef0123456789abcdef01234567 -m x", "/w"),
        ("git fast-import < stream", "/w"),
        // A repository of this machine is a copy.
        ("git push /o/r.git HEAD", "/o/r.git"),
        ("git remote add o /o/r.git; git push /o/r.git main", "/o/r.git"),
        ("cd /o && git clone /w c", "/o/c"),
        ("cd /o && git pull /w main", "/o"),
        // A linked work tree has the commits of the main one.
        ("cd /l && git checkout main", "/l"),
        ("cd /l && git show HEAD:run.sh > b.sh", "/l/b.sh"),
    ] {
        let found = copied(command, script);
        assert!(found.contains(&expected.to_owned()), "{command}: {found:?}");
        assert_eq!(copied(command, &[]), [""; 0], "{command}");
    }
    for command in [
        "cp other.sh b.sh",
        "cat run.sh",
        "echo x > b.sh",
        "git add run.sh && git commit -m x",
        "git checkout main",
        "git pull",
        "git push origin main",
        "git status > b.txt",
        "git clone https://git.example/a /o",
        "rm run.sh",
    ] {
        assert_eq!(copied(command, script), [""; 0], "{command}");
    }
    // A target that castellan does not know may be any file.
    assert_eq!(copied("cp run.sh \"$OUT\"", script), [ChangedPath::Anywhere("/w").stored()]);
    // The copy of a copy, and an archive of one.
    assert_eq!(copied("tar xf w.tar -C /o", &["/w/w.tar"]), ["/o"]);
    assert_eq!(copied("cp lib/a.sh b.sh", &["/w/lib"]), ["/w/b.sh"]);
    assert_eq!(copied("cp lib/a.sh b.sh", &["/w/*/a.sh"]), ["/w/b.sh"]);
    assert_eq!(copied("cp lib/a.sh b.sh", &[&ChangedPath::Anywhere("/w").stored()]), ["/w/b.sh"]);
}
