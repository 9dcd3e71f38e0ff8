//! Effects of files with code that a command runs: of their current contents, unless the call changes them before.

mod there;

use crate::call;
use std::collections::BTreeSet;

use castellan_event::{EffectKind, Recorder, Role, Why};
use castellan_facts::{Setting, analyse};

use crate::machine::Machine;
use there::THERE;

/// `delete PATH`, `download URL` and Opaque effects, with `in SCRIPT` for the effects of a file.
fn shown(text: &str, setting: &Setting) -> String {
    let facts = analyse(&call::shell("codex", text), setting, &mut Recorder::new(&Machine(THERE)));
    let mut lines = BTreeSet::new();
    for effect in &facts.effects {
        let what = if effect.is_opaque() {
            let (role, why) = (effect.role().map_or("", Role::as_str), effect.why().map_or("", Why::as_str));
            format!("{role} {why}")
        } else if effect.kind() == EffectKind::Delete {
            effect.path().map(str::to_owned).unwrap_or_default()
        } else if effect.kind() == EffectKind::Download {
            effect.url().map(str::to_owned).unwrap_or_default()
        } else {
            continue;
        };
        let script = effect.script_path().map(|path| format!(" in {path}")).unwrap_or_default();
        lines.insert(format!("{} {what}{script}", effect.kind()));
    }
    lines.into_iter().collect::<Vec<_>>().join("; ")
}

#[test]
fn a_module_that_stands_there_is_what_runs() {
    let check = |text: &str, expected: &str| assert_eq!(shown(text, &Setting::default()), expected, "{text}");
    check("python3 -m mymod", "delete /w/out in /w/mymod.py");
    check("python3 -Wignore -um mymod x", "delete /w/out in /w/mymod.py");
    check("python3 -m pack", "delete /w/a in /w/pack/__init__.py; delete /w/b in /w/pack/__main__.py");
    // Python finds it before the library's own module.
    check("python3 -m json.tool x.json", "delete /w/c in /w/json/tool.py");
    check("python3 -m http.server 80", "");
    // Package managers add `src` to the path of a project under development.
    const STORED: &str = "delete /w/stored in /w/src/app/store.py";
    check("python3 -m app", &format!("delete /w/main in /w/src/app/__main__.py; {STORED}"));
    check("python3 -c 'from app.store import drop; drop()'", STORED);
    check("cd sub; python3 -c 'from app.store import drop; drop()'", "opaque code unresolved");
    check("python3 pack", "delete /w/b in /w/pack/__main__.py");
    check("python3 ./pack/", "delete /w/b in /w/pack/__main__.py");
    check("python3 sub", "opaque code file in /w/sub/__main__.py");
    check("python3 app.zip", "opaque code encoding in /w/app.zip");
    // The call writes the module's file.
    check("echo 'import os; os.remove(\"/w/d\")' > fresh.py; python3 -m fresh", "delete /w/d in /w/fresh.py");
    check(
        "echo 'print(1)' > fresh.py; cp x fresh.py; python3 -m fresh",
        "opaque code shadowed in /w/fresh.py",
    );
}

#[test]
fn what_a_test_runner_loads_is_read_where_the_session_wrote_it() {
    let check = |text: &str, written: &[&str], expected: &str| {
        let written: BTreeSet<String> = written.iter().map(|path| (*path).to_owned()).collect();
        let setting = Setting { workspace: "/w".to_owned(), written: written.into(), ..Setting::default() };
        assert_eq!(shown(text, &setting), expected, "{text}");
    };
    const TEST: &str = "delete /w/out in /w/tests/test_a.py";
    const FIX: &str = "delete /w/fix in /w/conftest.py";
    const WRAPPED: &str = "delete /w/wrapped in /w/.cargo/config.toml";
    check("pytest --version", &[], "");
    check("pytest", &["/w/tests/test_a.py"], &format!("{FIX}; {TEST}"));
    check("python3 -m pytest -q", &["/w/tests/test_a.py"], &format!("{FIX}; {TEST}"));
    check("pytest tests/test_a.py::test_x", &["/w/tests/test_a.py"], &format!("{FIX}; {TEST}"));
    check("pytest other/", &["/w/tests/test_a.py"], FIX);
    check("pytest other/", &["/w/conftest.py"], "delete /w/fix in /w/conftest.py");
    check("pytest --version", &["/w/tests/test_a.py"], "");
    check("cd tests && pytest", &["/w/conftest.py"], FIX);
    check("pytest", &["/w/tests/test_gone.py"], &format!("{FIX}; opaque code file in /w/tests/test_gone.py"));
    check("npx vitest run", &["/w/vite.config.js", "/w/notes.js"], "delete /w/conf in /w/vite.config.js");
    check("vite build", &["/w/vite.config.js"], "delete /w/conf in /w/vite.config.js");
    check("echo 'import os' > test_b.py; pytest", &[], FIX);
    check(
        "echo 'import os; os.remove(\"/w/d\")' > test_b.py; pytest",
        &[],
        &format!("delete /w/d in /w/test_b.py; {FIX}"),
    );
    check(
        "echo 'import os' > test_b.py; cp x test_b.py; pytest",
        &[],
        &format!("{FIX}; opaque code shadowed in /w/test_b.py"),
    );
    // Compiled code is not read. The run of compiled code and its origin are effects.
    check("cargo test", &["/w/src/lib.rs"], WRAPPED);
    check("cargo build", &["/w/build.rs"], &format!("{WRAPPED}; opaque code language"));
    check("cargo run -- a.b", &["/w/src/main.rs"], WRAPPED);
    check("cargo build", &["/w/src/lib.rs"], WRAPPED);
    check("cargo test", &["/w/README.md"], WRAPPED);
    check("go test ./...", &["/w/pkg/a_test.go"], "");
    check("go run /x/main.go", &["/x/main.go"], "");
    check("go run main.go", &[], "");
    check("go generate ./...", &["/w/gen.go"], "delete /w/out in /w/gen.go");
    check("go generate gen.go", &[], "delete /w/out in /w/gen.go");
    check("node --test", &["/w/a.test.js"], "opaque code file in /w/a.test.js");
    check("bun test", &["/w/a.test.ts"], "opaque code file in /w/a.test.ts");
}

#[test]
fn what_a_tool_loads_by_its_name_is_read_whoever_wrote_it() {
    let check = |text: &str, expected: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        assert_eq!(shown(text, &setting), expected, "{text}");
    };
    const FIX: &str = "delete /w/fix in /w/conftest.py";
    check("pytest", FIX);
    check("pytest -q deep/a/test_x.py::test_y", &format!("delete /w/deeper in /w/deep/a/conftest.py; {FIX}"));
    check("cd deep && pytest a", &format!("delete /w/deeper in /w/deep/a/conftest.py; {FIX}"));
    check("pytest --version", "");
    // At any depth; above the limit the result is Opaque.
    check(
        &format!("pytest {}x.py", "d/".repeat(20)),
        &format!("delete /w/far in /w{}/conftest.py; {FIX}", "/d".repeat(20)),
    );
    check(&format!("pytest {}x.py", "e/".repeat(300)), &format!("{FIX}; opaque code budget"));
    check("vite build", "delete /w/conf in /w/vite.config.js");
    check("npx vitest run", "delete /w/conf in /w/vite.config.js");
    check("eslint .", "delete /w/lint in /w/.eslintrc.js");
    check("webpack --mode production", "");
    check("tox -e py312", &format!("delete /w/cache in /w/tox.ini; {FIX}"));
    check("rake", "delete /w/rake in /w/Rakefile");
    check("cargo build", "delete /w/wrapped in /w/.cargo/config.toml");
    check("cargo fmt", "");
    check("pip install left", "");
    check("pip install -e ./deep", "delete /w/egg in /w/deep/setup.py");
    // Unread code is reported with its file.
    let ran = |text: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        let facts = analyse(&call::shell("codex", text), &setting, &mut Recorder::new(&Machine(THERE)));
        let unread = facts.effects.into_iter().filter(|effect| effect.why() == Some(Why::Language));
        unread.filter_map(|effect| effect.path().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(ran("cd crates/a && cargo test"), ["/w/crates/a/build.rs"]);
    assert_eq!(ran("cargo test"), ["/w/crates/a/build.rs"]);
    assert_eq!(ran("cargo fmt"), [""; 0]);
    // Files that the call may have changed before are not read.
    check("cp -r /x/. . && vite build", "");
    // A formatter does not change the effects of code.
    check("prettier --write . ; eslint .", "delete /w/lint in /w/.eslintrc.js");
}

#[test]
fn a_file_is_given_to_what_its_first_line_names() {
    let check = |text: &str, expected: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        assert_eq!(shown(text, &setting), expected, "{text}");
    };
    check("./k1 /w/a", "delete /w/a; delete /w/k1");
    check("./k2", "delete /w/out in /w/k2");
    check("./k3", "delete /w/out");
    check("./k4", "");
    check("./k5", "delete /w/out in /w/k5");
    check("./k6", "delete /w/out in /w/k6");
    check("printf '#!/bin/rm -rf\n' > k7; chmod +x k7; ./k7 /w/a", "delete /w/a; delete /w/k7");
}

#[test]
fn modules_that_a_program_names_are_read() {
    let check = |text: &str, expected: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        assert_eq!(shown(text, &setting), expected, "{text}");
    };
    const OUT: &str = "delete /w/out in /w/mymod.py";
    for text in [
        "coverage run mymod.py",
        "coverage run -m mymod",
        "python3 -m coverage run mymod.py",
        "python3 -m doctest mymod.py",
        "python3 -m pydoc mymod",
        "flask --app mymod run",
        "flask --app mymod:app run",
        "uvicorn mymod:app --reload",
        "pm2 start mymod.py",
    ] {
        check(text, OUT);
    }
    check("pytest -p mymod", &format!("delete /w/fix in /w/conftest.py; {OUT}"));
    check("invoke x", "delete /w/out in /w/tasks.py");
    // A file with the usual name is read even if an option names another file.
    check("invoke -c mymod x", &format!("{OUT}; delete /w/out in /w/tasks.py"));
    check("gawk -i ./part.awk 1", "delete /w/out in /w/part.awk");
    check("gawk -i inplace 1 x", "");
    check("pre-commit run -a", "delete /w/out in /w/.pre-commit-config.yaml");
    check("pre-commit run b", "");
    check("nodemon vite.config.js", "delete /w/conf in /w/vite.config.js");
    check("echo 'rm -rf /w/a' | at now", "delete /w/a");
    check("at -f lone.sh now", "delete /w/b in /w/lone.sh");
    check("echo 'rm -rf /w/a' | find . -maxdepth 0 -exec sh \\;", "delete /w/a");
    check("python3 -m code <<< 'import os; os.remove(\"/w/a\")'", "delete /w/a");
}

#[test]
fn a_script_runs_in_the_package_that_is_asked_for() {
    let check = |text: &str, expected: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        assert_eq!(shown(&format!("cd mono; {text}"), &setting), expected, "{text}");
    };
    const ONE: &str = "delete /w/mono/libs/one/one in /w/mono/libs/one/package.json";
    check("npm run build", "delete /w/mono/root in /w/mono/package.json");
    check("npm run build -w libs/one", ONE);
    check("npm run build --workspace=@x/one", ONE);
    check("npm -w @x/one run build", ONE);
    check("npm run build --prefix libs/one", ONE);
    check("pnpm --filter @x/one build", ONE);
    check("pnpm --filter @x/one run build", ONE);
    check("yarn workspace @x/one build", ONE);
    check("yarn workspace @x/one run build", ONE);
    check("npm run build -w gone", "opaque code file in /w/mono/**/package.json");
    const ROOT: &str = "delete /w/mono/root in /w/mono/package.json";
    check("npm run build --workspaces", ROOT);
    check("pnpm -r build", ROOT);
    let written = BTreeSet::from(["/w/mono/libs/one/package.json".to_owned()]);
    let setting = Setting { workspace: "/w".to_owned(), written: written.into(), ..Setting::default() };
    assert_eq!(shown("cd mono; pnpm -r build", &setting), format!("{ONE}; {ROOT}"));
    check("pnpm --filter './libs/**' build", "opaque code file in /w/mono/**/package.json");
    check("node --run build", "delete /w/mono/root in /w/mono/package.json");
    check("cd ../shelled; npm run build", "opaque code language in /w/shelled/package.json");
}

#[test]
fn a_script_with_the_name_of_a_known_program_is_what_runs() {
    let check = |text: &str, expected: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        assert_eq!(shown(text, &setting), expected, "{text}");
    };
    check("./ls", "delete /w/s in /w/ls");
    check("./ls x", "delete /w/s in /w/ls; delete /w/x in /w/ls");
    check("sudo ./ls", "delete /w/s in /w/ls");
    check("./cat", "delete /w/c in /w/cat");
    check("./head", "opaque code input");
    // A file that is not text is a program without known effects, like any other.
    check("./du", "");
    // In the usual directories of tools the name means the program.
    check("./node_modules/.bin/ls", "");
    check("./gradlew build", "");
    check("ls", "");
}

#[test]
fn a_file_is_given_the_arguments_of_its_command() {
    let check = |text: &str, expected: &str| assert_eq!(shown(text, &Setting::default()), expected, "{text}");
    check("python3 args.py /w/a /w/b", "delete /w/a in /w/args.py; delete /w/b in /w/args.py");
    check("python3 -u ./args.py /w/a", "delete /w/a in /w/args.py");
    check("python3 args.py", "");
    check("./args.py /w/a", "delete /w/a in /w/args.py");
    check("python3 -m args /w/a", "delete /w/a in /w/args.py");
    check("python3 -um args /w/a -m", "delete /w/-m in /w/args.py; delete /w/a in /w/args.py");
    check("python3 args.py \"$X\"", "delete  in /w/args.py; opaque target variable in /w/args.py");
    check("ruby args.rb 'rm -rf /w/out'", "delete /w/out in /w/args.rb");
    check("ruby args.rb \"$X\"", "opaque code variable in /w/args.rb");
    // The arguments of another program are unknown.
    check("python3 uses.py /w/a", "delete  in /w/args.py; opaque target dynamic in /w/args.py");
}

#[test]
fn a_file_does_what_it_holds() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            shown(text, &Setting { workspace: "/w".to_owned(), ..Setting::default() }),
            expected,
            "{text}"
        );
    };
    const BUILD: &str = "delete /w/a in /w/build.sh; delete /w/out in /w/build.sh; \
                         download https://a.example/x in /w/build.sh";
    check("bash build.sh a", BUILD);
    check("./build.sh a", BUILD);
    check("sudo -u x sh -eu ./build.sh a", BUILD);
    check("bash linked.sh a", BUILD);
    check("bash calm.sh", "");
    check("cat build.sh", "");
    check("BASH_ENV=bash_env bash -c ls", "delete /w/out in /w/bash_env");
    check("export BASH_ENV=bash_env; bash calm.sh", "delete /w/out in /w/bash_env");
    check("ENV=bash_env sh -i -c ls", "delete /w/out in /w/bash_env");
    check("ENV=bash_env sh -c ls", "");
    check("BASH_ENV= bash -c ls", "");
    check("source env.sh; lib", "delete /w/out in /w/env.sh");
    let shadowed = |text: &str| {
        let shown = shown(text, &Setting { workspace: "/w".to_owned(), ..Setting::default() });
        assert!(shown.contains("opaque code shadowed"), "{text}: {shown}");
    };
    check(
        "while x; do bash calm.sh; echo 'rm -rf out' > calm.sh; done",
        "delete /w/out in /w/calm.sh; opaque code dynamic",
    );
    shadowed("tar xf a.tar; bash calm.sh");
    shadowed("cd /; tar xf a.tar -C w; bash w/calm.sh");
    shadowed("git clone https://a.example/r /w; bash /w/calm.sh");
    shadowed("rsync -a e/ .; bash calm.sh");
    shadowed("rm -rf /w; mv /e /w; bash /w/calm.sh");
    check("bash broken.sh", "opaque code syntax in /w/broken.sh");
    check("./wheel.sh", "opaque code nesting in /w/wheel.sh");
    check("bash grows.sh", "opaque code changing in /w/grows.sh");
    check("bash tees.sh", "opaque code changing in /w/tees.sh");
}

#[test]
fn a_task_does_what_its_file_says() {
    let check = |text: &str, expected: &str| {
        let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
        assert_eq!(shown(text, &setting), expected, "{text}");
    };
    check("make", "delete /w/out in /w/Makefile");
    check(
        "make clean EXTRA='/etc /usr'",
        "delete /etc in /w/Makefile; delete /usr in /w/Makefile; delete /w/out in /w/Makefile",
    );
    check("make -C /w clean", "delete /w/out in /w/Makefile");
    check("cd /; make -C w clean", "delete /w/out in /w/Makefile");
    // The contents of a file with secrets are not read.
    check("make -f secret.mk", "delete /w/out in /w/secret.mk; opaque code file in /w/secret.mk");
    check("make -f absent.mk", "delete /w/out in /w/absent.mk");
    // The directory is unknown.
    check("make -C $X clean", "opaque code file; opaque program dynamic");
    check("make other", "");
    check("make -n clean", "");
    check("cp other Makefile; make", "opaque code shadowed");
    let unknown = |why: &str| {
        let of = |role: &str| format!("opaque {role} {why} in /w/Makefile");
        format!("delete  in /w/Makefile; {}; {}", of("operand"), of("target"))
    };
    // In quotes it is one argument, and not an option.
    check("make quoted", "delete  in /w/Makefile; opaque target dynamic in /w/Makefile");
    check("make home", "delete /home/u/x in /w/Makefile");
    check("HOME=/h make home", "delete /h/x in /w/Makefile");
    check("export HOME=/h; make home", &unknown("variable"));
    check("just wipe", "delete /w/out in /w/justfile");
    check("npm run clean", "delete /w/a in /w/package.json; delete /w/b in /w/package.json");
    check(
        "npm run clean -- /etc",
        "delete /etc in /w/package.json; delete /w/a in /w/package.json; delete /w/b in /w/package.json",
    );
    check("task", "delete /w/d in /w/Taskfile.yml");
    check("task wipe", "delete /w/d in /w/Taskfile.yml; delete /w/out in /w/Taskfile.yml");
    check("task -t Taskfile.yml wipe", "delete /w/d in /w/Taskfile.yml; delete /w/out in /w/Taskfile.yml");
    check("task drop:a:b", "delete /w/e in /w/Taskfile.yml");
    check("task other", "opaque code file in /w/Taskfile.yml");
    check("just other", "opaque code file in /w/justfile");
    check("deno task wipe", "delete /w/out in /w/deno.json");
    check("composer wipe", "delete /w/out in /w/composer.json");
    check("composer install", "delete /w/i in /w/composer.json");
    check("composer install --no-scripts", "");
    const INSTALL: &str = "delete /w/i in /w/package.json; delete /w/p in /w/package.json";
    check("npm ci", INSTALL);
    check("npm install", INSTALL);
    check("yarn", INSTALL);
    check("pnpm install", INSTALL);
    check("npm ci --ignore-scripts", "");
    check("npm install x", "");
    check("npm publish", "delete /w/o in /w/package.json; delete /w/p in /w/package.json");
    check("npm publish --dry-run", "");
    check("npm test", "delete /w/c in /w/package.json");
    check("cd sub && yarn test", "delete /w/c in /w/package.json");
    check("pnpm run test /etc", "delete /etc in /w/package.json; delete /w/c in /w/package.json");
    for endless in ["npm run loop", "make loop", "npm run storm"] {
        assert!(shown(endless, &Setting::default()).contains("opaque code nesting"), "{endless}");
    }
}

#[test]
fn nothing_runs_of_a_file_that_is_not_there() {
    let project = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    let full = Setting { written_is_full: true, ..project.clone() };
    for (text, setting, is_missing) in [
        ("npm run half", &project, true),
        // The place of the project is unknown, or the paths that the session wrote.
        ("npm run half", &Setting::default(), false),
        ("npm run half", &full, false),
        // A user who types a name has a file of that name, or is about to create it.
        ("bash none.sh", &project, false),
        ("node -e 'require(\"./none\")'", &project, false),
        // Another command may create the file.
        ("npm run bring", &project, false),
        ("sleep 9; npm run half", &project, false),
        ("npm run half & ls", &project, false),
        ("npm run half; unheard-of --into none.sh", &project, false),
        ("git pull; npm run half", &project, false),
    ] {
        let found = shown(text, setting);
        assert_eq!(found.contains("code missing"), is_missing, "{text}: {found}");
        assert!(found.contains("opaque code"), "{text}: {found}");
    }
}

#[test]
fn what_cannot_be_read_is_code_that_is_not_known() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            shown(text, &Setting { workspace: "/w".to_owned(), ..Setting::default() }),
            expected,
            "{text}"
        );
    };
    check("bash fifo.sh", "opaque code input");
    check("bash null.sh", "opaque code input");
    check("bash folder.sh", "opaque code file");
    check("bash locked.sh", "opaque code unreadable");
    check("bash latin.sh", "opaque code encoding");
    check("bash elf.sh", "opaque code encoding");
    check("bash long.sh", "opaque code unreadable");
    check("bash missing.sh", "opaque code file");
    check("source missing.sh", "opaque code file");
    // The contents of a secret must not be reported.
    check("source .env", "opaque code file");
}

#[test]
fn what_the_call_itself_puts_there_is_what_runs() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            shown(text, &Setting { workspace: "/w".to_owned(), ..Setting::default() }),
            expected,
            "{text}"
        );
    };
    check("cat > new.sh <<'EOF'\nrm -rf /w/a\nEOF\nbash new.sh", "delete /w/a in /w/new.sh");
    check("echo 'rm -rf /w/a' > new.sh; chmod +x new.sh; ./new.sh", "delete /w/a in /w/new.sh");
    check("echo 'rm -rf /w/a' | tee new.sh; bash new.sh", "delete /w/a in /w/new.sh");
    check("tee new.sh <<< 'rm -rf /w/a' > /dev/null; sh ./new.sh", "delete /w/a in /w/new.sh");
    check("echo 'rm -rf /w/a' | sudo tee -a -- new.sh other.sh; . ./other.sh", "delete /w/a in /w/other.sh");
    check("echo ls > new.sh; echo 'rm -rf /w/a' | tee new.sh | sh", "delete /w/a");
    check("tee new.sh; bash new.sh", "opaque code input");
    check(
        "echo 'rm -rf /w/a' | tee -i $X new.sh; bash new.sh",
        "delete /w/a in /w/new.sh; opaque operand variable; opaque target variable",
    );
    // A write on another machine does not change local files, unless both share the files.
    let both = "delete /w/b in /w/lone.sh; opaque code shadowed";
    check("ssh h 'echo ls > /w/lone.sh'; bash lone.sh", both);
    check("docker exec c tee /w/lone.sh <<< ls; bash lone.sh", both);
    check("echo ls > new.sh; ssh h ls; bash new.sh", "");
    // Writing to an existing file may fail: it may be write-protected.
    check("echo 'rm -rf /w/a' > calm.sh; bash calm.sh", "delete /w/a in /w/calm.sh; opaque code shadowed");
    check("echo ls > fifo.sh; cat fifo.sh | bash", "opaque code file");
    // Input of a shell that a program starts.
    let program = "import subprocess\nsubprocess.run('sh', shell=True, input='rm -rf /w/a')";
    check(&format!("python3 -c \"{program}\""), "delete /w/a");
    check("python3 -c \"import os; os.popen('sh', 'w').write('ls')\"", "opaque code input");
    // Two names of one file.
    check("echo ls > fresh.sh; echo 'rm -rf /w/a' > alias.sh; bash fresh.sh", "opaque code shadowed");
    check("set -C; echo 'rm -rf /w/a' > new.sh; echo ls > new.sh; bash new.sh", "delete /w/a in /w/new.sh");
    // Changes that the walk does not follow: the read contents differ from those that run.
    let url = "https://b.example/x";
    check(
        &format!("cmd /c 'certutil -urlcache -f {url} x.exe & x.exe'"),
        &format!("download {url}; opaque program shadowed"),
    );
    check(&format!("curl -o calm.sh {url}; bash calm.sh"), &format!("download {url}; opaque code shadowed"));
    check(
        &format!("curl -o new.sh {url}; bash new.sh"),
        &format!("download {url}; opaque code file; opaque code shadowed"),
    );
    check("cp other calm.sh; . ./calm.sh", "opaque code shadowed");
    check("ln -sf /tmp/x calm.sh; bash calm.sh", "opaque code shadowed");
    check("sed -i s/hello/x/ calm.sh; bash < calm.sh", "opaque code shadowed");
    check(
        &format!("echo ls > new.sh; curl -o new.sh {url}; bash new.sh"),
        &format!("download {url}; opaque code shadowed"),
    );
    check("cp other c*.sh; bash calm.sh", "opaque code shadowed");
    check("echo ls > d/x.sh; tar xf a.tar -C d; bash d/x.sh", "opaque code shadowed");
    check("rm -rf /w/d; echo ls > d/x.sh; bash d/x.sh", "delete /w/d");
    check("git pull; bash calm.sh", "download ; opaque code shadowed");
    check("git checkout main && make", "opaque code shadowed");
    check("git stash pop; ./calm.sh", "opaque code shadowed; opaque program shadowed");
    check("git status; git add a; git commit -m x; bash calm.sh", "");
    check("cp other calm.sh; ./calm.sh", "opaque code shadowed; opaque program shadowed");
}

#[test]
fn what_earlier_calls_wrote_is_read_and_what_is_changing_is_not() {
    let of = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<String>>();
    let written = Setting {
        workspace: "/w".to_owned(),
        written: of(&["/w/build.sh", "/w/tool.py"]).into(),
        ..Setting::default()
    };
    assert_eq!(shown("bash build.sh /w/a", &written).matches("in /w/build.sh").count(), 3);
    assert_eq!(shown("./build.sh /w/a", &written).matches("in /w/build.sh").count(), 3);
    assert!(!shown("./build.sh /w/a", &written).contains("opaque"));
    assert_eq!(shown("./tool.py", &written), "");
    let changing =
        Setting { workspace: "/w".to_owned(), changing: of(&["/w/build.sh"]), ..Setting::default() };
    assert!(shown("bash build.sh /w/a", &changing).contains("opaque code changing"));
}

#[test]
fn what_comes_from_the_network_is_known_by_it() {
    let origins = |text: &str, setting: &Setting| {
        let facts = analyse(&call::shell("codex", text), setting, &mut Recorder::new(&Machine(THERE)));
        let runs = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Execute);
        runs.map(|effect| effect.file_origin().map_or("none", |origin| origin.as_str()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    assert_eq!(origins("bash build.sh", &setting), "repository");
    assert_eq!(origins("bash /opt/x.sh", &setting), "none");
    assert_eq!(origins("echo ls > x.sh; bash x.sh", &setting), "written");
    let url = "https://a.example/x";
    for fetch in [
        format!("curl -o x.sh {url}"),
        format!("wget -O x.sh {url}"),
        format!("curl {url} > x.sh"),
        format!("curl {url} | sed s/a/b/ > x.sh"),
        format!("curl {url} | tee x.sh"),
        format!("x=$(curl {url}); echo \"$x\" > x.sh"),
        format!("curl -o y {url}; cp y x.sh"),
        format!("curl -o y {url}; mv y x.sh"),
    ] {
        assert_eq!(origins(&format!("{fetch}; chmod +x x.sh; ./x.sh"), &setting), "downloaded", "{fetch}");
        assert_eq!(origins(&format!("{fetch}; bash x.sh"), &setting), "downloaded", "{fetch}");
    }
    assert_eq!(origins(&format!("git clone {url} tool; bash tool/install.sh"), &setting), "downloaded");
    let paths = |path: &str| BTreeSet::from([path.to_owned()]);
    let before =
        Setting { written: paths("/w/x.sh").into(), downloaded: paths("/w/x.sh").into(), ..setting.clone() };
    assert_eq!(origins("bash x.sh", &before), "downloaded");
    assert_eq!(origins("./x.sh", &before), "downloaded");
    let written = Setting { written: paths("/w/x.sh").into(), ..setting };
    assert_eq!(origins("bash x.sh", &written), "written");
}
