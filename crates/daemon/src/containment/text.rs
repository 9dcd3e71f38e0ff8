//! The command that an agent runs instead of a contained one: `castellan contained TICKET`. It must not know tickets.

use castellan_event::single_quoted;

use super::TicketId;

/// Words of a shell that change its directory.
const MOVES: &[&str] = &["cd", "chdir", "popd", "pushd"];

/// Returns the command. `program` is castellan with its home.
///
/// The agent's shell must wait for castellan as its child, so that castellan finds out which shell it is. So the exit code
/// is passed on by a command after it. An agent may keep the directory of its shell: if the text may change it, the shell
/// reads the last directory of the contained shell from castellan.
pub(crate) fn command_of((program, home): (&str, &str), id: &TicketId, text: &str) -> String {
    let castellan = format!("{} --home {} contained {id}", single_quoted(program), single_quoted(home));
    if !may_move(text) {
        return format!("{castellan} || (exit $?)");
    }
    format!(
        "{{ castellan_dir=$({castellan} --directory 3>&1 >&4 4>&-); castellan_code=$?; }} 4>&1; \
         [ -z \"$castellan_dir\" ] || cd -- \"$castellan_dir\"; (exit $castellan_code)"
    )
}

/// Reports whether a text may change the directory of its shell.
fn may_move(text: &str) -> bool {
    text.split(|one: char| !(one.is_ascii_alphanumeric() || one == '_' || one == '-'))
        .any(|word| MOVES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the command in real shells, with a stand-in for castellan.
    fn run(shell: &str, stand_in: &str, text: &str) -> Option<(i32, String)> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub dir")).unwrap();
        let program = dir.path().join("castellan's");
        std::fs::write(&program, format!("#!/bin/sh\n{stand_in}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let command = command_of((program.to_str().unwrap(), "/h o"), &TicketId::of(7), text);
        let script = format!("{command}; echo \"code $? in $(basename \"$PWD\")\"");
        let done = std::process::Command::new(shell).arg("-c").arg(script).current_dir(dir.path()).output();
        let done = done.ok()?;
        let out = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
        Some((done.status.code().unwrap(), out.replace(dir.path().file_name()?.to_str()?, "ROOT")))
    }

    #[test]
    fn exit_codes_output_and_directories_pass_every_shell() {
        for shell in ["sh", "bash", "zsh", "dash", "ksh"] {
            let check = |stand_in: &str, text: &str, expected: &str| {
                let Some((_, out)) = run(shell, stand_in, text) else { return };
                assert_eq!(out, expected, "{shell}: {stand_in}, {text}");
            };
            let id = TicketId::of(7);
            check("echo \"$@\"; exit 3", "make", &format!("--home /h o contained {id}\ncode 3 in ROOT\n"));
            check("exit 0", "make", "code 0 in ROOT\n");
            // `--directory`: standard output is that of the agent, and descriptor 3 takes the directory.
            let moved = format!("--home /h o contained {id} --directory\ncode 3 in sub dir\n");
            check("echo \"$@\"; echo \"$PWD/sub dir\" >&3; exit 3", "cd 'sub dir'", &moved);
            check("echo out; exit 0", "cd x && make", "out\ncode 0 in ROOT\n");
            // A directory that is gone changes nothing, and the code stays.
            if let Some((_, out)) = run(shell, "echo /no/such/dir >&3; exit 4", "cd x") {
                assert!(
                    out.ends_with("code 4 in ROOT\n") || out.contains("code 4 in ROOT\n"),
                    "{shell}: {out}"
                );
            }
        }
    }

    #[test]
    fn a_text_that_may_change_the_directory_is_known_by_its_words() {
        for (text, expected) in [
            ("cd sub && make", true),
            ("make;cd ..", true),
            ("(pushd x)", true),
            ("make", false),
            ("abcd x", false),
            ("./cd-tool", false),
            ("make cd_x", false),
        ] {
            assert_eq!(may_move(text), expected, "{text}");
        }
    }
}
