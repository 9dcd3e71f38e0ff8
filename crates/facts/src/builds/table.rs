//! The languages of build files, with the words by which they start programs. Sources: the manuals of Meson 1.6, Dune
//! 3.17, Bazel 7, Terraform 1.10, sbt 1.10, Mix 1.18, rebar3 3.24, Zig 0.14.

use super::Rest;

/// A language of build files.
#[derive(Debug)]
pub(super) struct Dialect {
    name: &'static str,
    /// Beginnings and ends of comments.
    pub(super) comments: &'static [(&'static str, &'static str)],
    /// Quotes; longer ones first.
    pub(super) quotes: &'static [&'static str],
    /// Beginnings and ends of values inside texts.
    pub(super) holes: &'static [(&'static str, &'static str)],
    pub(super) starts: &'static [Start],
    /// Words outside of quotes are texts.
    pub(super) has_bare_texts: bool,
    /// Texts are expanded like those of a makefile.
    pub(super) is_expanded: bool,
    /// Texts that begin so are commands.
    pub(super) begins: &'static [&'static str],
    /// A text, or a list of texts, with a method `execute` is a command.
    pub(super) has_methods: bool,
    pub(super) rest: Rest,
}

/// A word that starts a program, the name of the block in which it does so (empty: any), and its arguments.
pub(super) type Start = (&'static str, &'static str, Takes);

/// How a word names what it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Its texts are the words of a command.
    Words,
    /// Its first text is shell text.
    Shell,
    /// Each of its texts is shell text.
    Each,
    /// Its texts are paths that it deletes with all below.
    Deleted,
    /// Like this, but paths that the file does not show are those of the build.
    DeletedTexts,
    /// Its last text is shell text.
    Last,
    /// Its words are shell text.
    Line,
    /// Its texts are code of another language.
    Code,
    /// Like [`Takes::Words`], with the texts of the methods that follow on its value.
    Chain,
    /// Its first text is a file in the same language, or an address from which this tool fetches code.
    Loaded(&'static str),
}

const HASH: (&str, &str) = ("#", "\n");
const SLASHES: (&str, &str) = ("//", "\n");
const STARS: (&str, &str) = ("/*", "*/");

const PYTHON_QUOTES: &[&str] = &["\"\"\"", "'''", "\"", "'"];

const BASE: Dialect = Dialect {
    name: "",
    comments: &[HASH],
    quotes: &["\""],
    holes: &[],
    starts: &[],
    has_bare_texts: false,
    is_expanded: false,
    begins: &[],
    has_methods: false,
    rest: Rest::Nothing,
};

/// What runs when Terraform reads data.
const TERRAFORM_DATA: &[Start] = &[("program", "external", Takes::Words)];

/// JavaScript, Python and XML, as far as names, quotes and brackets go.
pub(super) const SCRIPT: Dialect =
    Dialect { comments: &[SLASHES, STARS, ("# ", "\n")], quotes: &["\"", "'", "`"], ..BASE };

const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "meson",
        quotes: &["'''", "'"],
        starts: &[
            ("run_command", "", Takes::Words),
            ("command", "", Takes::Words),
            ("add_install_script", "", Takes::Words),
            ("add_postconf_script", "", Takes::Words),
            ("add_dist_script", "", Takes::Words),
            ("generator", "", Takes::Words),
        ],
        ..BASE
    },
    Dialect {
        name: "dune",
        comments: &[(";", "\n"), ("#|", "|#")],
        holes: &[("%{", "}")],
        starts: &[
            ("run", "", Takes::Words),
            ("dynamic-run", "", Takes::Words),
            ("system", "", Takes::Shell),
            ("bash", "", Takes::Shell),
        ],
        has_bare_texts: true,
        ..BASE
    },
    Dialect {
        name: "bazel",
        quotes: PYTHON_QUOTES,
        starts: &[
            ("cmd", "", Takes::Shell),
            ("cmd_bash", "", Takes::Shell),
            ("command", "", Takes::Shell),
            ("execute", "", Takes::Words),
        ],
        is_expanded: true,
        ..BASE
    },
    Dialect {
        name: "terraform",
        comments: &[HASH, SLASHES, STARS],
        holes: &[("${", "}")],
        starts: &[("program", "external", Takes::Words), ("command", "local-exec", Takes::Shell)],
        ..BASE
    },
    Dialect {
        name: "terraform-data",
        comments: &[HASH, SLASHES, STARS],
        holes: &[("${", "}")],
        starts: TERRAFORM_DATA,
        ..BASE
    },
    // A directory of modules is no file; their files are read by their names.
    Dialect {
        name: "terraform-sources",
        comments: &[HASH, SLASHES, STARS],
        holes: &[("${", "}")],
        starts: &[
            ("source", "module", Takes::Loaded("terraform")),
            ("source", "required_providers", Takes::Loaded("terraform")),
        ],
        ..BASE
    },
    Dialect {
        name: "terragrunt",
        comments: &[HASH, SLASHES, STARS],
        holes: &[("${", "}")],
        starts: &[
            ("execute", "before_hook", Takes::Words),
            ("execute", "after_hook", Takes::Words),
            ("execute", "error_hook", Takes::Words),
            ("run_cmd", "", Takes::Words),
            ("source", "terraform", Takes::Loaded("terraform")),
        ],
        ..BASE
    },
    // Scripts in Groovy and Kotlin of Gradle 8.
    Dialect {
        name: "gradle",
        comments: &[SLASHES, STARS],
        quotes: &["\"\"\"", "\"", "'"],
        holes: &[("${", "}")],
        starts: &[
            ("commandLine", "", Takes::Words),
            ("delete", "", Takes::DeletedTexts),
            ("exec", "", Takes::Words),
            ("from", "", Takes::Loaded("gradle")),
            ("ProcessBuilder", "", Takes::Words),
        ],
        has_methods: true,
        rest: Rest::Script,
        ..BASE
    },
    Dialect {
        name: "rebar",
        comments: &[("%", "\n")],
        starts: &[("pre_hooks", "", Takes::Each), ("post_hooks", "", Takes::Each)],
        ..BASE
    },
    Dialect {
        name: "sbt",
        comments: &[SLASHES, STARS],
        quotes: &["\"\"\"", "\""],
        holes: &[("${", "}")],
        starts: &[
            ("Process", "", Takes::Words),
            ("Seq", "", Takes::Words),
            ("exec", "", Takes::Shell),
            ("IO.delete", "", Takes::Deleted),
            ("at", "", Takes::Loaded("maven")),
        ],
        has_methods: true,
        rest: Rest::Code,
        ..BASE
    },
    Dialect {
        name: "mix",
        quotes: &["\"\"\"", "\"", "'"],
        holes: &[("#{", "}")],
        starts: &[
            ("System.cmd", "", Takes::Words),
            ("System.shell", "", Takes::Shell),
            (":os.cmd", "", Takes::Shell),
            ("File.rm_rf", "", Takes::Deleted),
            ("File.rm_rf!", "", Takes::Deleted),
            ("Code.eval_string", "", Takes::Code),
            ("Port.open", "", Takes::Words),
        ],
        begins: &["cmd "],
        rest: Rest::Code,
        ..BASE
    },
    Dialect {
        name: "zig-build",
        comments: &[SLASHES],
        starts: &[
            ("addSystemCommand", "", Takes::Words),
            ("b.run", "", Takes::Words),
            (".argv", "", Takes::Words),
            ("deleteTree", "", Takes::Deleted),
        ],
        rest: Rest::Code,
        ..BASE
    },
    Dialect {
        name: "swift-package",
        comments: &[SLASHES, STARS],
        starts: &[("arguments", "", Takes::Each)],
        rest: Rest::Code,
        ..BASE
    },
    // Calls of objects that these tools pass to Python code; all else is read as Python.
    Dialect {
        name: "nox",
        quotes: PYTHON_QUOTES,
        starts: &[("session.run", "", Takes::Words), ("s.run", "", Takes::Words)],
        ..BASE
    },
    Dialect {
        name: "invoke",
        quotes: PYTHON_QUOTES,
        starts: &[
            ("c.run", "", Takes::Shell),
            ("ctx.run", "", Takes::Shell),
            ("context.run", "", Takes::Shell),
        ],
        ..BASE
    },
    Dialect {
        name: "scons",
        quotes: PYTHON_QUOTES,
        starts: &[
            ("Command", "", Takes::Last),
            ("Execute", "", Takes::Shell),
            ("os.system", "", Takes::Shell),
            ("os.popen", "", Takes::Shell),
            ("subprocess.run", "", Takes::Words),
            ("subprocess.call", "", Takes::Words),
            ("subprocess.check_call", "", Takes::Words),
            ("subprocess.check_output", "", Takes::Words),
            ("subprocess.Popen", "", Takes::Words),
            ("shutil.rmtree", "", Takes::Deleted),
        ],
        rest: Rest::Code,
        ..BASE
    },
    // The input of node-gyp 10.
    Dialect { name: "gyp", quotes: &["\"", "'"], begins: &["<!(", "<!@("], ..BASE },
    // The input of Autoconf 2.72.
    Dialect {
        name: "autoconf",
        comments: &[("dnl", "\n"), HASH],
        starts: &[
            ("m4_esyscmd", "", Takes::Line),
            ("m4_esyscmd_s", "", Takes::Line),
            ("m4_syscmd", "", Takes::Line),
            ("esyscmd", "", Takes::Line),
            ("syscmd", "", Takes::Line),
        ],
        has_bare_texts: true,
        ..BASE
    },
    // Programs that a compiler builds, as far as they start others by a call with literal words.
    Dialect {
        name: "go-code",
        comments: &[SLASHES, STARS],
        quotes: &["`", "\""],
        starts: &[
            ("exec.Command", "", Takes::Words),
            ("exec.CommandContext", "", Takes::Words),
            ("os.RemoveAll", "", Takes::Deleted),
        ],
        ..BASE
    },
    Dialect {
        name: "rust-code",
        comments: &[SLASHES, STARS],
        starts: &[
            ("Command::new", "", Takes::Chain),
            ("fs::remove_dir_all", "", Takes::Deleted),
            ("remove_dir_all", "", Takes::Deleted),
        ],
        ..BASE
    },
    Dialect {
        name: "jvm-code",
        comments: &[SLASHES, STARS],
        quotes: &["\"\"\"", "\"", "'"],
        holes: &[("${", "}")],
        starts: &[
            ("ProcessBuilder", "", Takes::Words),
            ("exec", "", Takes::Words),
            ("Process", "", Takes::Words),
            ("commandLine", "", Takes::Words),
        ],
        has_methods: true,
        ..BASE
    },
    Dialect {
        name: "dart-code",
        comments: &[SLASHES, STARS],
        quotes: &["'''", "\"\"\"", "\"", "'"],
        holes: &[("${", "}")],
        starts: &[
            ("Process.run", "", Takes::Words),
            ("Process.runSync", "", Takes::Words),
            ("Process.start", "", Takes::Words),
        ],
        ..BASE
    },
    Dialect {
        name: "swift-code",
        comments: &[SLASHES, STARS],
        starts: &[("arguments", "", Takes::Each)],
        ..BASE
    },
    Dialect {
        name: "dotnet-code",
        comments: &[SLASHES, STARS],
        starts: &[("Process.Start", "", Takes::Words), ("ProcessStartInfo", "", Takes::Words)],
        ..BASE
    },
    Dialect {
        name: "haskell-code",
        comments: &[("--", "\n"), ("{-", "-}")],
        starts: &[
            ("callCommand", "", Takes::Shell),
            ("system", "", Takes::Shell),
            ("callProcess", "", Takes::Words),
            ("rawSystem", "", Takes::Words),
            ("readProcess", "", Takes::Words),
            ("removeDirectoryRecursive", "", Takes::Deleted),
        ],
        ..BASE
    },
    // Rockspecs of LuaRocks 3, package files of opam 2.
    Dialect {
        name: "rockspec",
        comments: &[("--", "\n")],
        quotes: &["\"", "'"],
        starts: &[("build_command", "", Takes::Shell), ("install_command", "", Takes::Shell)],
        ..BASE
    },
    Dialect {
        name: "opam",
        starts: &[
            ("build", "", Takes::Words),
            ("install", "", Takes::Words),
            ("remove", "", Takes::Words),
            ("run-test", "", Takes::Words),
        ],
        ..BASE
    },
    Dialect {
        name: "nix-file",
        comments: &[HASH, STARS],
        quotes: &["''", "\""],
        holes: &[("${", "}")],
        starts: &[
            ("shellHook", "", Takes::Shell),
            ("writeShellScript", "", Takes::Last),
            ("writeShellScriptBin", "", Takes::Last),
            ("text", "writeShellApplication", Takes::Shell),
            ("builtins.exec", "", Takes::Words),
            ("import", "", Takes::Loaded("nix")),
            ("callPackage", "", Takes::Loaded("nix")),
        ],
        ..BASE
    },
];

pub(super) fn find(language: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == language)
}
