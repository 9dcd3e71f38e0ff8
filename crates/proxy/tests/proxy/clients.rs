//! Real clients: curl and git, with the variables that the sandbox sets.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use castellan_proxy::{CertificateFiles, HostPattern, Secret, environment};
use tempfile::TempDir;

use crate::support::{Ca, Running, Server, ok, rule};

const PLACEHOLDER: &str = "castellan-placeholder-1";
const VALUE: &str = "real-value-that-is-secret";

/// The inside of a sandbox, as far as clients see it: variables and certificates.
struct Inside {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Inside {
    fn new(proxy: &Running, pem: &str) -> Inside {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        fs::write(&file, pem).unwrap();
        let file = file.to_str().unwrap();
        let variables =
            environment(proxy.address(), Some(CertificateFiles { bundle: file, authority: file }));
        Inside { folder, variables }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a program; `None`, and a note, if it is not installed.
    fn run(&self, program: &str, arguments: &[impl AsRef<OsStr>]) -> Option<Output> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path())
            .stdin(Stdio::null());
        match command.output() {
            Ok(output) => Some(output),
            Err(_) => {
                println!("skipped: {program} is not installed");
                None
            }
        }
    }

    /// Runs curl; returns its exit code, and both outputs as text.
    fn curl(&self, arguments: &[&str]) -> Option<(i32, String)> {
        let output = self.run("curl", &[&["-q", "-sSv", "--max-time", "20"], arguments].concat())?;
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Some((output.status.code().unwrap(), text))
    }
}

fn secret() -> Secret {
    Secret::new("TOKEN", PLACEHOLDER, VALUE, vec![HostPattern::parse("git.example").unwrap()], &[]).unwrap()
}

#[test]
fn curl_by_each_way() {
    let ca = Ca::new();
    let plain = Server::http(|_, _| ok("hello"));
    let tls = ca.https("a.example", |_, _| ok("hello"));
    let own = ca.https("git.example", |_, _| ok("hello"));
    let rules = vec![
        rule(&format!("*.example:{}", plain.port())),
        rule(&format!("a.example:{}", tls.port())),
        rule(&format!("git.example:{}", own.port())),
    ];
    let (proxy, pem) = Running::with_secrets(rules, vec![secret()], &ca);
    let inside = Inside::new(&proxy, &(pem + &ca.pem()));
    let socks = format!("socks5h://{}", proxy.address());
    let bearer = format!("Authorization: Bearer {PLACEHOLDER}");
    let [plain_url, tls_url, own_url] = [
        format!("http://a.example:{}/x", plain.port()),
        format!("https://a.example:{}/x", tls.port()),
        format!("https://git.example:{}/x", own.port()),
    ];
    for (arguments, code, part) in [
        (vec![plain_url.as_str()], 0, "hello"),
        (vec!["-p", &plain_url], 0, "hello"),
        (vec!["-x", &socks, &plain_url], 0, "hello"),
        (vec![&tls_url], 0, "hello"),
        (vec!["-x", &socks, &tls_url], 0, "hello"),
        (vec!["-H", &bearer, &own_url], 0, "hello"),
        (vec!["-x", &socks, "-u", &format!("x:{PLACEHOLDER}"), &own_url], 0, "hello"),
        (vec!["-H", &bearer, "-d", &"x".repeat(2_000_000), &own_url], 0, "hello"),
        (vec!["-H", &bearer, &plain_url], 0, "`TOKEN` is not for this host"),
        (vec!["https://evil.test/"], 56, "castellan refused host"),
        (vec!["http://evil.test/"], 0, "no rule names this host"),
        (vec!["-x", &socks, "https://evil.test/"], 97, "socks5"),
        // Another name in TLS than in CONNECT.
        (
            vec!["--connect-to", &format!("evil.test:443:a.example:{}", tls.port()), "https://evil.test/"],
            35,
            "alert",
        ),
    ] {
        // A long body does not fit in an argument.
        let mut arguments = arguments.clone();
        if let Some(body) = arguments.iter_mut().find(|argument| argument.len() > 1_000_000) {
            fs::write(inside.path().join("body"), body.as_bytes()).unwrap();
            *body = "@body";
        }
        let Some((exit, text)) = inside.curl(&arguments) else { return };
        assert!(
            exit == code && text.to_lowercase().contains(&part.to_lowercase()),
            "{arguments:?} {exit}: {text}"
        );
        assert!(!text.contains(VALUE), "{text}");
    }
    let requests = own.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| !request.contains(PLACEHOLDER)), "{requests:?}");
    assert!(requests[2].ends_with(&"x".repeat(2_000_000)));
}

/// Runs git's own server of HTTP as a CGI program.
fn http_backend(root: &Path, head: &str, body: &str) -> Vec<u8> {
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let lower = head.to_ascii_lowercase();
    let field = |name: &str| {
        lower
            .split(&format!("\r\n{name}: "))
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next())
            .unwrap_or_default()
    };
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", field("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("GIT_PROTOCOL", field("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap().stdout;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let length = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", output.len() - end - 4);
    [length.as_bytes(), &output].concat()
}

/// git over https: the URL has the placeholder, and the server wants the value.
#[test]
fn git_clones_with_a_secret() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().to_owned();
    let git = |arguments: &[&str]| {
        Command::new("git")
            .arg("-C")
            .arg(&root)
            .args(arguments)
            .env("HOME", &root)
            .output()
            .map(|output| output.status.success())
    };
    let Ok(is_made) = git(&["init", "-q", "r.git"]) else {
        println!("skipped: git is not installed");
        return;
    };
    assert!(is_made);
    fs::write(root.join("r.git/file"), "content").unwrap();
    let identity = ["-c", "user.name=a", "-c", "user.email=a@a.example"];
    assert!(git(&["-C", "r.git", "add", "file"]).unwrap());
    assert!(git(&[&identity[..], &["-C", "r.git", "commit", "-qm", "first"]].concat()).unwrap());

    let ca = Ca::new();
    let expected = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(format!("user:{VALUE}"))
    };
    let server = ca.https("git.example", move |head, body| {
        if head.contains(&format!("Authorization: Basic {expected}\r\n")) {
            return http_backend(&root, head, body);
        }
        b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
            .to_vec()
    });
    let rules = vec![rule(&format!("git.example:{}", server.port()))];
    let (proxy, pem) = Running::with_secrets(rules, vec![secret()], &ca);
    let inside = Inside::new(&proxy, &pem);
    let url = |password: &str| format!("https://user:{password}@git.example:{}/r.git", server.port());
    let output = inside.run("git", &["clone", "-q", &url(PLACEHOLDER), "clone"]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(inside.path().join("clone/file")).unwrap(), "content");
    let output = inside.run("git", &["clone", "-q", &url("another-password"), "other"]).unwrap();
    assert!(!output.status.success());
}
