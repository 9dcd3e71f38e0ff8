//! Texts that must be redacted and texts that must stay. Secrets are assembled from parts, so that no scanner reports
//! them.

use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(redacted(text), expected, "redacting `{text}`");
    assert_eq!(redacted(expected), expected, "redacting `{text}` twice");
}

fn redacted(text: &str) -> String {
    replace(text, &spans(text), text.len()).0
}

fn letters(count: usize) -> String {
    "aB3dE6gH9j".chars().cycle().take(count).collect()
}

#[test]
fn patterns_compile() {
    assert!(ALL.is_some());
    for shape in SHAPES {
        assert!(Regex::new(shape.pattern).is_ok(), "{}", shape.pattern);
    }
}

#[test]
fn tokens_are_redacted_by_their_shape() {
    let tokens: &[(String, &str)] = &[
        (format!("AKIA{}", "A2B4C6D8E0F2G4H6"), "aws access key"),
        (format!("ASIA{}", "A2B4C6D8E0F2G4H6"), "aws access key"),
        (format!("ghp_{}", letters(36)), "github token"),
        (format!("gho_{}", letters(40)), "github token"),
        (format!("github_pat_{}_{}", letters(22), letters(59)), "github token"),
        (format!("glpat-{}", letters(20)), "gitlab token"),
        (format!("xoxb-123456789012-{}", letters(24)), "slack token"),
        (format!("sk-ant-api03-{}", letters(90)), "anthropic key"),
        (format!("sk-proj-{}", letters(48)), "openai key"),
        (format!("sk-{}", letters(48)), "api key"),
        (format!("AIza{}", letters(35)), "google key"),
        (format!("ya29.{}", letters(60)), "google token"),
        (format!("npm_{}", letters(36)), "npm token"),
        (format!("pypi-AgEI{}", letters(80)), "pypi token"),
        (format!("sk_live_{}", letters(24)), "stripe key"),
        (format!("hf_{}", "abcdefgHIJ".repeat(4).get(..34).unwrap()), "hugging face token"),
        (format!("SG.{}.{}", letters(22), letters(43)), "sendgrid key"),
        (format!("eyJ{}.eyJ{}.{}", letters(20), letters(40), letters(43)), "jwt"),
        (format!("AGE-SECRET-KEY-1{}", letters(58).to_uppercase()), "private key"),
    ];
    for (token, label) in tokens {
        for (before, after) in [("", ""), ("echo '", "' > x"), ("ü ", "\n"), ("a=", ";b")] {
            check(&format!("{before}{token}{after}"), &format!("{before}[redacted {label}]{after}"));
        }
    }
}

#[test]
fn private_keys_are_redacted_as_blocks() {
    let body = letters(64);
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}==\n-----END RSA PRIVATE KEY-----");
    check(&format!("cat > k <<E\n{key}\nE\nrm k"), "cat > k <<E\n[redacted private key]\nE\nrm k");
    check(&format!("{{\"k\": \"{}\"}}", key.replace('\n', "\\n")), "{\"k\": \"[redacted private key]\"}");
    check(&format!("-----BEGIN PRIVATE KEY-----\n{body}"), "[redacted private key]");
    check(
        &format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n{body}\n-----END PGP PRIVATE KEY BLOCK-----!"),
        "[redacted private key]!",
    );
}

#[test]
fn secrets_are_redacted_by_what_stands_before_them() {
    let cases = [
        (
            "curl -H 'Authorization: Bearer abc.def-1' x",
            "curl -H 'Authorization: Bearer [redacted authorization]' x",
        ),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted authorization]"),
        ("X-Api-Key: 0123abc", "X-Api-Key: [redacted api key]"),
        ("PRIVATE-TOKEN: 0123abc", "PRIVATE-TOKEN: [redacted api key]"),
        ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=[redacted password] psql -h db"),
        ("MYSQL_PWD=hunter2 mysql", "MYSQL_PWD=[redacted password] mysql"),
        ("token=x", "token=[redacted token]"),
        ("GITHUB_TOKEN=abc123;make", "GITHUB_TOKEN=[redacted token];make"),
        ("export API_KEY=\"ab c\"", "export API_KEY=\"[redacted key]\""),
        ("client_secret='ab$c'", "client_secret='[redacted secret]'"),
        ("AWS_SECRET_ACCESS_KEY=ab/c+d", "AWS_SECRET_ACCESS_KEY=[redacted key]"),
        ("https://x/?api_key=abc&page=2", "https://x/?api_key=[redacted key]&page=2"),
        ("password = \"hunter2\"", "password = \"[redacted password]\""),
        ("password = \"a{b$c[d\" x", "password = \"[redacted password]\" x"),
        ("tool --password hunter2 run", "tool --password [redacted secret] run"),
        ("tool --password=hunter2 run", "tool --password=[redacted password] run"),
        ("tool --api-key 'a b' run", "tool --api-key '[redacted secret]' run"),
        ("tool --registry-token abc", "tool --registry-token [redacted secret]"),
        ("git clone https://me:s3cret@host/r.git", "git clone https://me:[redacted password]@host/r.git"),
        (
            "postgres://u:p@db/x postgres://v:q@db/y",
            "postgres://u:[redacted password]@db/x postgres://v:[redacted password]@db/y",
        ),
        ("redis://:pw@host", "redis://:[redacted password]@host"),
        ("curl -s -u me:hunter2 https://x", "curl -s -u me:[redacted password] https://x"),
        (
            "-d '{\"password\": \"hunter2\", \"a\": 1}'",
            "-d '{\"password\": \"[redacted secret]\", \"a\": 1}'",
        ),
        (r#"-d "{\"api_key\":\"k1\"}""#, r#"-d "{\"api_key\":\"[redacted secret]\"}""#),
        ("db:\n  password: hunter2\n  port: 1", "db:\n  password: [redacted secret]\n  port: 1"),
    ];
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn look_alikes_stay() {
    let stay = [
        "AKIA",
        "AKIAIOSFODNN7EXAMPLEANDMORE",
        "ghp_short",
        "npm_config_registry=x",
        "npm_lifecycle_event",
        "sk-spinner-double-bounce-container-large-dark",
        "risk-assessment-of-the-whole-department-2026",
        "task-0123456789abcdef0123456789abcdef0123456789",
        "pypi-server --port 80",
        "eyJ is how a JWT begins",
        "hf_hub_download(repo_id)",
        "SG.js",
        "git rev-parse 0123456789abcdef0123456789abcdef01234567",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "grep -r -- '-----BEGIN RSA PRIVATE KEY-----' . && rm -rf x",
        "Authorization: required",
        "the authorization header: bearer of news",
        "curl -H \"Authorization: Bearer $TOKEN\"",
        "password=$PASSWORD",
        "password=\"$(pass show x)\"",
        "token={token}",
        "if password == other:",
        "if token==1 {",
        "max_tokens=4096",
        "token_count=12",
        "PWD=/home/u",
        "let token = lexer.next();",
        "tokenize --tokens 5",
        "docker login --password-stdin",
        "docker run -u 1000:1000 img",
        "docker build --secret id=npm .",
        "docker login --token --quiet",
        "gh secret list",
        "http://host:8080/path@2x.png",
        "git@github.com:org/repo.git",
        "https://user@host/x",
        "ssh -p 22 me@host:path",
        "npx create-thing@1.2.3",
        "interface X {\n  password: string;\n  token: Token\n}",
        "the password: ask your admin, room 12",
        "error: unexpected token: 42",
        "\"token\": \"${TOKEN}\"",
        "secret",
    ];
    for text in stay {
        check(text, text);
    }
}

#[test]
fn names_of_secrets() {
    let check = |name: &str, expected: Option<&str>| assert_eq!(secret_name(name), expected, "{name}");
    for name in ["password", "DB_PASSWORD", "userPassword", "pg-passwd"] {
        check(name, Some("password"));
    }
    check("GITHUB_TOKEN", Some("token"));
    check("accessToken", Some("token"));
    check("x-api-key", Some("api key"));
    check("AWS_SECRET_ACCESS_KEY", Some("access key"));
    check("Authorization", Some("authorization"));
    for name in ["max_tokens", "token_count", "tokenizer", "key", "secret_name", "author", "pwd", ""] {
        check(name, None);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_redacted_without_panic_and_keeps_its_order(text in "(?s).{0,300}") {
        let spans = spans(&text);
        for pair in spans.windows(2) {
            proptest::prop_assert!(pair[0].end <= pair[1].start);
        }
        for span in &spans {
            proptest::prop_assert!(text.get(span.start..span.end).is_some_and(|secret| !secret.is_empty()));
        }
    }
}
