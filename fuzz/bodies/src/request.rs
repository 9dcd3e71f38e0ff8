//! The body of a request, as an argument of a web client.

use std::rc::Rc;

use castellan_event::{Answer, EffectKind, Query, Recorder, World};
use castellan_facts::{Setting, effects_of};
use castellan_programs::Arg;
use castellan_shell::tree::Span;
use castellan_shell::{Found, Item, Origin, Run, Stdin};

use crate::world::shell_call;

/// Bytes of a text inside of a document. A longer body is a part that is not understood.
const TEXT_BYTES_MAX: usize = 4096;

/// A world without answers.
struct Nothing;

impl World for Nothing {
    fn answer(&self, _query: &Query) -> Option<Answer> {
        None
    }
}

/// Reads a text as a body. There must be no panic. As a comment or a value in a document the text hides no field.
pub fn request(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    destroys(text);
    if text.len() > TEXT_BYTES_MAX {
        return;
    }
    let comment = text.replace(['\n', '\r'], " ");
    let value = text.replace('\\', "\\\\").replace('"', "\\\"");
    for document in [
        format!("# {comment}\nmutation {{ deleteIt }}"),
        format!("mutation M {{ a(text: \"{value}\") deleteIt }}"),
    ] {
        assert!(destroys(&document), "{document}");
    }
}

fn destroys(body: &str) -> bool {
    let run = Run {
        argv: ["curl", "--data-raw", body, "https://a.example/"].map(Arg::from).to_vec(),
        env: Vec::new(),
        redirects: Vec::new(),
        wrappers: Rc::default(),
        origin: Origin::Text,
        script: None,
        span: Span::default(),
        line: String::new(),
        cwd: Some("/".to_owned()),
        remote: Rc::default(),
        pipe_from: None,
        stdin: Stdin::Inherited,
        made: Vec::new(),
        background: false,
    };
    let found = Found { items: vec![Item::Command(run)], ..Found::default() };
    let facts = effects_of(&found, &shell_call(body), &Setting::default(), &mut Recorder::new(&Nothing));
    facts.effects.iter().any(|effect| effect.kind() == EffectKind::Destroy)
}
