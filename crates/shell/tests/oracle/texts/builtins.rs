//! Builtins, and lines that use them.

use super::{ARITHMETIC, Texts};

impl Texts<'_> {
    #[expect(clippy::too_many_lines, reason = "one arm for each form: a table")]
    pub(super) fn builtin(&mut self) -> String {
        match self.draws.below(34) {
            0 => format!("set -- {}", self.words(4)),
            1 => self.pick(&["shift", "shift 2", "shift 0", "shift 9"]).to_owned(),
            2 => format!(
                "read {} <<<{}",
                self.pick(&[
                    "x", "-r x", "x y", "-r x y z", "-a arr", "-d : x", "-n 1 x", "", "-ra arr", "-p q x",
                    "-N 2 x"
                ]),
                self.word()
            ),
            3 => format!(
                "printf -v {} {} {}",
                self.pick(&["x", "y", "arr[1]"]),
                self.pick(&["%s", "'%s-'", "%d", "'%q'", "'%5s'", "a"]),
                self.words(2)
            ),
            4 => format!("(({}))", self.pick(ARITHMETIC)),
            5 => format!("let {}", self.pick(&["i=1", "i++", "'i = 2'", "n=i+1 i=3", "x=5"])),
            6 => self
                .pick(&[
                    "IFS=:",
                    "IFS=",
                    "IFS=$' \\t\\n'",
                    "unset IFS",
                    "IFS=a",
                    "IFS=' '",
                    "IFS=' :'",
                    "IFS=,",
                ])
                .to_owned(),
            7 => format!(
                "declare {} {}",
                self.pick(&[
                    "-l", "-u", "-i", "-r", "-x", "-a", "-c", "-t", "-g", "-lx", "+i", "-ia", "-n", "-gi"
                ]),
                self.pick(&["q=Ab", "x=AbC", "i=1+2", "x", "y=x", "arr=(A b)", "i", "n=i", "ref=x", "x+=q"])
            ),
            8 => self
                .pick(&[
                    "declare -n ref=x",
                    "declare -n ref=arr",
                    "unset -n ref",
                    "ref=z",
                    "declare -n ref=arr[1]",
                    "declare -n ref",
                    "ref=q",
                    "local -n ref=x",
                    "typeset -n ref=y",
                ])
                .to_owned(),
            9 => format!(
                "export {}",
                self.pick(&[
                    "x",
                    "x=1",
                    "y=\"a b\"",
                    "-n x",
                    "x y",
                    "x=$y",
                    "x=a y=$x",
                    "\"x=a b\"",
                    "x=~",
                    "-f f",
                    "x=$y$y"
                ])
            ),
            10 => self
                .pick(&[
                    "unset x",
                    "unset arr",
                    "unset 'arr[0]'",
                    "unset -v y",
                    "unset -f f",
                    "unset f",
                    "unset 'arr[-1]'",
                    "unset x y",
                    "unset 'map[k]'",
                    "unset ref",
                ])
                .to_owned(),
            11 => self
                .pick(&[
                    "cd sub",
                    "cd ./sub",
                    "cd sub && cd ..",
                    "pushd sub",
                    "pushd sub; popd",
                    "cd sub; cd -",
                    "cd \"$PWD\"",
                    "cd sub/..",
                    "cd -P sub",
                    "cd -- sub",
                    "cd ~; cd -",
                    "CDPATH=sub; cd sub; CDPATH=",
                ])
                .to_owned(),
            12 => self
                .pick(&[
                    "set -f",
                    "set +f",
                    "set -o noglob",
                    "set -e",
                    "set +e",
                    "set -u",
                    "set -a",
                    "set -o pipefail",
                    "set -B",
                    "set +B",
                    "set -k",
                    "set -n",
                    "set -x",
                    "set -o posix",
                    "set -t",
                    "set +o noglob",
                    "set -efu",
                ])
                .to_owned(),
            13 => format!(
                "shopt {} {}",
                self.pick(&["-s", "-u"]),
                self.pick(&[
                    "nullglob",
                    "dotglob",
                    "nocaseglob",
                    "extglob",
                    "failglob",
                    "globstar",
                    "lastpipe",
                    "expand_aliases",
                    "inherit_errexit",
                    "nocasematch",
                    "sourcepath",
                    "assoc_expand_once",
                    "localvar_inherit",
                    "xpg_echo",
                    "compat44",
                    "patsub_replacement",
                    "execfail",
                    "interactive_comments"
                ])
            ),
            14 => format!(
                "alias {}",
                self.pick(&[
                    "al=mark",
                    "al='mark a'",
                    "al='mark '",
                    "al2='al b'",
                    "f='mark aliased'",
                    "echo='mark e'",
                    "al='mark a;'",
                    "x='mark x'",
                    "mark='mark m'",
                    "al='mark $x'",
                    "al='mark \"'",
                    "al='if true; then mark t; fi'",
                    "al='f() { mark alf; }; f'"
                ])
            ),
            15 => self.pick(&["unalias al", "unalias -a", "\\unalias al2"]).to_owned(),
            16 => self
                .pick(&[
                    "hash -p \"${BASH%/*}/nosuch\" mk",
                    "hash -r",
                    "hash -p ./nosuch q",
                    "hash mark",
                    "hash -d mark",
                ])
                .to_owned(),
            17 => self
                .pick(&[
                    "true",
                    "false",
                    ":",
                    "return",
                    "exit",
                    "exit 3",
                    "break",
                    "continue",
                    "return 1",
                    "break 2",
                    "continue 2",
                    "logout",
                ])
                .to_owned(),
            18 => format!("test {}", self.condition()),
            19 => format!("[[ {} ]]", self.double_condition()),
            20 => format!("eval {}", self.eval_text()),
            21 => self
                .pick(&[
                    "mapfile -t arr <a1.txt",
                    "mapfile -t arr <<<$'a\\nb'",
                    "readarray arr <<<a",
                    "mapfile -t -C 'mark cb' -c 1 arr <<<$'a\\nb'",
                    "mapfile -d : -t arr <<<a:b",
                    "mapfile -t -n 1 arr <<<$'a\\nb'",
                    "mapfile -t -s 1 arr <<<$'a\\nb'",
                    "mapfile -t -O 2 arr <<<z",
                    "mapfile -t <<<q",
                ])
                .to_owned(),
            22 => self
                .pick(&[
                    "getopts ab: x -a",
                    "getopts a x",
                    "getopts ab: x -b v; y=$OPTARG",
                    "while getopts ab: x; do mark $x $OPTARG; done",
                ])
                .to_owned(),
            23 => format!(
                "trap {} {}",
                self.quoted_inline(),
                self.pick(&["EXIT", "0", "EXIT", "DEBUG", "ERR", "RETURN", "USR1", "- EXIT", "exit"])
            ),
            24 => self.pick(&["trap - EXIT", "trap '' EXIT", "trap EXIT", "trap - DEBUG"]).to_owned(),
            25 => self
                .pick(&[
                    "enable -n echo",
                    "enable echo",
                    "builtin echo a",
                    "type mark",
                    "wait",
                    "umask 022",
                    "times",
                    "caller",
                    "jobs",
                    "help :",
                    "history",
                    "enable -n printf",
                    "enable -n eval",
                    "enable -n test",
                    "enable -n cd",
                    "enable -n command",
                ])
                .to_owned(),
            26 => self
                .pick(&[
                    "local x=l",
                    "local x",
                    "local -a arr=(l m)",
                    "local y=$x",
                    "local x=1 y=$x",
                    "local -i i=2+3",
                    "local - ; set -f",
                    "local -I x",
                    "local IFS=:",
                    "local -n ref=y",
                    "local i",
                    "local -A map=([k]=loc)",
                    "local arr",
                ])
                .to_owned(),
            27 => self
                .pick(&[
                    "source <(echo mark sourced)",
                    ". <(echo 'mark \"$@\"') p q",
                    "source /dev/stdin <<<'mark src'",
                    ". ./b.md",
                    "echo 'mark written' >w.sh; . ./w.sh",
                    "source a1.txt",
                    "echo 'mark by bash' >w.sh; bash w.sh",
                    "echo mark w >w.sh; bash <w.sh",
                    ". /dev/fd/0 <<<'mark fd0; return; mark no'",
                    "source <(echo 'x=sourced; set -- s t')",
                    "echo 'mark e' >e.sh; BASH_ENV=./e.sh bash -c :",
                ])
                .to_owned(),
            28 => self
                .pick(&["readonly x", "readonly x=r", "readonly -a arr", "declare -r y=3", "readonly n i"])
                .to_owned(),
            29 => self
                .pick(&[
                    "exec 3<a1.txt; read x <&3",
                    "exec 3<<<'l1'; read x <&3",
                    "exec 3>out.txt; echo a >&3",
                    "exec {fd}<a1.txt; read -u $fd x",
                    "exec 4<&0",
                    "exec 5< <(echo mark p5); . /dev/fd/5",
                    "exec 0<<<'mark stdin'; bash",
                    "exec <<<'a b'; read x y",
                    "exec >out.txt",
                    "exec 3>&-",
                ])
                .to_owned(),
            30 => self
                .pick(&[
                    "x=$((i++))",
                    "i=$i$i",
                    "x=$x$y",
                    "x+=$x",
                    "arr=(\"${arr[@]}\" z)",
                    "arr=(\"${arr[@]:1}\")",
                    "set -- \"$@\" t",
                    "set -- \"${@:2}\"",
                    "x=${x%?}",
                    "x=\"${arr[*]}\"",
                    "y=x; eval \"$y=ev\"",
                    "y=x; x=via; declare -n ref=$y",
                    "export x; bash -c 'mark $x'",
                    "x=${x:-$y}",
                    "i=$((i+1))",
                    "unset x; : ${x:=def}",
                ])
                .to_owned(),
            31 => self
                .pick(&[
                    "eval \"$(declare -p x)\"",
                    "eval \"$(declare -f f)\"; f",
                    "eval \"x=$y\"",
                    "eval x='$y'",
                    "eval \"set -- $x\"",
                    "eval 'mark $x' $y",
                    "eval \"mark ${x@Q}\"",
                    "eval \"arr=($x)\"",
                    "printf -v x '%q ' a 'b c'; eval \"mark $x\"",
                    "eval \"$(echo 'mark e1; mark e2')\"",
                    "eval $(printf 'mark %s;' a b)",
                    "eval mark '\"$@\"'",
                ])
                .to_owned(),
            32 => self
                .pick(&[
                    "command_not_found_handle() { mark nf \"$@\"; }; nosuch a",
                    "nosuch b c",
                    "command nosuch d",
                    "unset -f command_not_found_handle",
                ])
                .to_owned(),
            _ => self
                .pick(&[
                    "mark \"${FUNCNAME[0]}\"",
                    "mark $LINENO",
                    "mark $0",
                    "mark \"$-\"",
                    "mark $BASH_VERSION",
                    "mark $_",
                    "mark \"${PIPESTATUS[@]}\"",
                    "mark $UID",
                    "mark \"$IFS\"",
                    "mark ${!x*}",
                    "mark $PWD",
                    "mark $HOME",
                    "mark $OPTIND",
                    "mark ${BASH_SOURCE[0]}",
                    "mark $SHLVL",
                    "mark $REPLY",
                    "mark ${PATH:+p}",
                    "mark $BASH_SUBSHELL",
                    "mark $OLDPWD",
                    "mark $DIRSTACK",
                    "mark ${SHELLOPTS:0:2}",
                    "mark $OSTYPE",
                    "mark $GROUPS",
                    "mark $HOSTNAME",
                    "mark $PS4",
                    "mark $TERM",
                    "mark ${BASH_REMATCH[0]}",
                    "mark $MAPFILE",
                    "mark $COPROC",
                    "mark $EUID",
                    "mark \"${BASH_ARGV0}\"",
                    "mark $OPTERR",
                    "mark $MACHTYPE",
                ])
                .to_owned(),
        }
    }
}
