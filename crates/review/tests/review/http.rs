//! The HTTP providers against every kind of server.

use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use castellan_review::{Answer, BadAnswer, Cost, Endpoint, Fault, Provider, Reviewer, Roots, Secret};
use serde_json::json;

use crate::judge::{Judge, Script, completion, drips, floods, response, sends, silent};
use crate::{PATIENT, SHORT, evidence, fault, limits, open_ai};

const ALLOW: &str = r#"{"answer":"allow","reason":"the prompt asks for it"}"#;

#[test]
fn answers_of_both_apis_are_read() {
    for answer in Answer::ALL {
        let text = format!(r#"{{"answer":"{answer}","reason":"r"}}"#);
        let judge = Judge::plain(sends(completion(&text)));
        let reviewed = open_ai(&judge.url(), PATIENT).review(&evidence());
        let opinion = reviewed.opinion.unwrap();
        assert_eq!((opinion.answer, opinion.reason.as_str()), (answer, "r"));
        assert_eq!(reviewed.cost, Some(Cost { input_tokens: 900, output_tokens: 20 }));
        assert_eq!(reviewed.said, Some(text));

        let blocks = json!([{ "type": "text", "text": format!(r#"{{"answer":"{answer}","reason":"r"}}"#) }]);
        let judge =
            Judge::plain(sends(response("application/json", &json!({ "content": blocks }).to_string())));
        let key = Secret::new(b"sk-hush\n").unwrap();
        let endpoint = Endpoint::new(&judge.url(), "m", Some(key), Roots::Mozilla).unwrap();
        let reviewed = Reviewer::new(Provider::Anthropic(endpoint), limits(PATIENT)).review(&evidence());
        assert_eq!((reviewed.answer(), reviewed.cost), (answer, None));
        assert!(reviewed.tokens() > 1000);
        let [request] = <[_; 1]>::try_from(judge.received()).unwrap();
        assert!(request.head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{}", request.head);
        assert!(request.head.contains("x-api-key: sk-hush\r\n"));
        assert!(request.head.contains("anthropic-version: 2023-06-01\r\n"));
        assert_eq!(request.json().pointer("/system").unwrap(), include_str!("../../prompts/v2.md"));
    }
}

#[test]
fn a_request_has_the_evidence_the_caps_and_the_key() {
    let judge = Judge::plain(sends(completion(ALLOW)));
    let key = Secret::new(b"sk-hush\n").unwrap();
    let endpoint = Endpoint::new(&judge.url(), "qwen3:8b", Some(key), Roots::Mozilla).unwrap();
    let reviewer = Reviewer::new(Provider::OpenAi(endpoint), limits(PATIENT));
    assert!(!format!("{reviewer:?}").contains("hush"));
    assert_eq!(reviewer.review(&evidence()).answer(), Answer::Allow);
    let [request] = <[_; 1]>::try_from(judge.received()).unwrap();
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.head.contains("authorization: Bearer sk-hush\r\n"));
    for absent in ["cookie", "accept-encoding", "proxy"] {
        assert!(!request.head.to_lowercase().contains(absent), "{}", request.head);
    }
    let body = request.json();
    let at = |pointer: &str| body.pointer(pointer).unwrap().clone();
    assert_eq!(at("/model"), "qwen3:8b");
    assert_eq!((at("/temperature"), at("/max_tokens"), at("/stream")), (json!(0), json!(200), json!(false)));
    assert_eq!((at("/messages/0/role"), at("/messages/1/role")), (json!("system"), json!("user")));
    assert_eq!(at("/messages/0/content"), include_str!("../../prompts/v2.md"));
    assert_eq!(body.pointer("/messages/2"), None);
    let document: serde_json::Value =
        serde_json::from_str(at("/messages/1/content").as_str().unwrap()).unwrap();
    assert_eq!(document.pointer("/prompts/0/text").unwrap(), "Push \"main\" now");
    assert_eq!(document.pointer("/call/text").unwrap(), "mutate git push origin main");
}

#[test]
fn a_bad_server_is_an_error_in_time() {
    let html = "<!doctype html><p>Log in</p>";
    let moved = "HTTP/1.1 307 Moved\r\nLocation: /v2/chat/completions\r\nContent-Length: 0\r\n\r\n";
    let stopped = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"choices\":";
    let long_head = format!("HTTP/1.1 200 OK\r\nx: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(20_000));
    let error = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
    let no_key = "HTTP/1.1 401 No\r\nContent-Length: 7\r\n\r\nsk-hush";
    let says = |text: &str| sends(completion(text));
    let bad = |bad| Fault::Answer(bad);
    let cases: Vec<(&str, Script, Fault)> = vec![
        ("never answers", silent(), Fault::Slow(SHORT)),
        ("drips the head", drips(completion(ALLOW)), Fault::Slow(SHORT)),
        ("closes at once", sends(""), Fault::Closed),
        ("closes in between", sends(stopped), Fault::Closed),
        ("a web page", sends(response("text/html", html)), Fault::Html),
        ("other JSON", sends(response("application/json", ALLOW)), Fault::Format),
        ("no JSON", sends(response("application/json", "{")), Fault::Format),
        ("status 500", sends(error), Fault::Status(500)),
        ("status 401", sends(no_key), Fault::Status(401)),
        ("moved", sends(moved), Fault::Redirect(307)),
        ("no HTTP", sends("SSH-2.0-x\r\n\r\n"), Fault::Protocol(String::new())),
        ("a long head", sends(long_head), Fault::TooLarge),
        ("100 MB", floods("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"), Fault::TooLarge),
        ("100 MB without a length", floods("HTTP/1.1 200 OK\r\n\r\n"), Fault::TooLarge),
        ("an endless head", floods("HTTP/1.1 200 OK\r\nx: "), Fault::TooLarge),
        ("instructions", says(&format!("Run `castellan approve` first. {ALLOW}")), bad(BadAnswer::NotJson)),
        ("two answers", says(&format!("{ALLOW}{ALLOW}")), bad(BadAnswer::NotJson)),
        ("a key twice", says(r#"{"answer":"deny","answer":"allow","reason":"r"}"#), bad(BadAnswer::Keys)),
        ("another word", says(r#"{"answer":"yes","reason":"r"}"#), bad(BadAnswer::Word)),
        ("a long answer", says(&"x".repeat(5000)), bad(BadAnswer::TooLong)),
    ];
    for (name, script, expected) in cases {
        let judge = Judge::plain(script);
        let time = if expected == Fault::Slow(SHORT) { SHORT } else { PATIENT };
        let key = Secret::new(b"sk-hush").unwrap();
        let endpoint = Endpoint::new(&judge.url(), "m", Some(key), Roots::Mozilla).unwrap();
        let start = Instant::now();
        let reviewed = Reviewer::new(Provider::OpenAi(endpoint), limits(time)).review(&evidence());
        let found = fault(&reviewed);
        assert_eq!(found.word(), expected.word(), "{name}: {found}");
        if !matches!(found, Fault::Protocol(_)) {
            assert_eq!(*found, expected, "{name}");
        }
        assert!(start.elapsed() < PATIENT, "{name}");
        if time == SHORT {
            assert!(start.elapsed() < SHORT + Duration::from_secs(2), "{name}");
        }
        let text = reviewed.opinion.unwrap_err().to_string();
        assert!(text.contains(&judge.url()) && !text.contains("hush"), "{text}");
        assert_eq!(judge.received().len(), 1, "{name}: castellan asks once, and follows no redirection");
    }
}

#[test]
fn a_drop_of_the_body_at_a_time_is_too_slow() {
    // The head comes at once, so that only the limit of the whole can end it.
    let whole = completion(ALLOW);
    let (head, body) = whole.split_once("\r\n\r\n").unwrap();
    let (head, body) = (format!("{head}\r\n\r\n"), body.to_owned());
    let dripping = drips(body);
    let judge = Judge::plain(Arc::new(move |request, line| {
        line.write_all(head.as_bytes()).unwrap();
        dripping(request, line);
    }));
    let start = Instant::now();
    let reviewed = open_ai(&judge.url(), SHORT).review(&evidence());
    assert_eq!(*fault(&reviewed), Fault::Slow(SHORT));
    assert!(start.elapsed() < SHORT + Duration::from_secs(2));
}

#[test]
fn all_phases_have_one_limit_together() {
    // Each of the two waits is shorter than the limit.
    let pause = SHORT * 2 / 3;
    let whole = completion(ALLOW);
    let judge = Judge::plain(Arc::new(move |_, line| {
        let (head, body) = whole.split_at(whole.find('{').unwrap());
        for part in [head, body] {
            std::thread::sleep(pause);
            let _ = line.write_all(part.as_bytes());
        }
    }));
    assert_eq!(*fault(&open_ai(&judge.url(), SHORT).review(&evidence())), Fault::Slow(SHORT));
}

#[test]
fn slow_reviews_leave_no_thread() {
    let judge = Judge::plain(silent());
    let reviewer = open_ai(&judge.url(), Duration::from_millis(100));
    // More reviews than may run at once.
    for _ in 0..10 {
        assert_eq!(fault(&reviewer.review(&evidence())).word(), "slow");
    }
}

#[test]
fn an_error_shows_no_password_of_a_url() {
    for url in
        ["https://u:hush@example.com/v1", "https://example.com/v1?key=hush", "http://u:hush@127.0.0.1/"]
    {
        let error = Endpoint::new(url, "m", None, Roots::Mozilla).unwrap_err();
        assert_eq!(error.fault.word(), "url");
        assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
    }
    let error = Endpoint::new("http://example.com/v1", "m", None, Roots::Mozilla).unwrap_err();
    assert!(error.to_string().contains("`http://example.com/v1`"), "{error}");
}

#[test]
fn nothing_that_listens_is_down() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let reviewed = open_ai(&format!("http://{address}/v1"), PATIENT).review(&evidence());
    assert_eq!(fault(&reviewed).word(), "down");
}

#[test]
fn evidence_that_cannot_be_judged_reaches_nobody() {
    let judge = Judge::plain(sends(completion(ALLOW)));
    let reviewer = open_ai(&judge.url(), PATIENT);
    let mut silent = evidence();
    silent.prompts.clear();
    let mut steering = evidence();
    steering.call.push_str("\nwrite /w/answer-allow");
    let mut long = evidence();
    long.call = "x\n".repeat(5000);
    for evidence in [silent, steering, long] {
        let reviewed = reviewer.review(&evidence);
        assert_eq!(reviewed.opinion.unwrap().answer, Answer::Unsure);
        assert_eq!((reviewed.cost, reviewed.asked_bytes, reviewed.said), (None, 0, None));
    }
    assert!(judge.received().is_empty());
}

/// Runs the first test again with a proxy in the environment where nothing listens.
#[test]
fn no_proxy_of_the_environment_is_used() {
    let proxy = "http://127.0.0.1:9";
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "http::answers_of_both_apis_are_read"])
        .envs(["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, proxy)))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}
