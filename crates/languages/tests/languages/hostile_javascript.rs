//! Texts of JavaScript and TypeScript that try a parser: deep, long, wrong, cut off, or not what they seem. Each test runs
//! on a thread of 2 MiB.
use castellan_event::Why;
use castellan_languages::{Language, Reading, Start, What, read};

use super::hostile::{has_command, holes};

const RM: &str = "require('child_process').execSync('rm -rf /')";

fn javascript(text: &str) -> Reading {
    let reading = read(Language::JavaScript, text, &Start::default());
    let is_inside = reading.acts.iter().all(|act| text.get(act.span.clone()).is_some());
    assert!(is_inside, "an act outside of the text");
    reading
}

/// The deepest texts that a helper may get.
#[test]
fn deep_texts_have_a_stack() {
    for (unit, end) in [("[", "]"), ("{a: ", "}"), ("!", ""), ("y => ", ""), ("`${", "}`"), ("f(", ")")] {
        let count = (60 << 10) / (unit.len() + end.len());
        let reading = javascript(&format!("x = {}1{}", unit.repeat(count), end.repeat(count)));
        assert!(holes(&reading).contains(&Why::Nesting), "{unit:?}: {reading:?}");
    }
}

/// Nothing is silent because another mode reads the text in another way.
#[test]
fn texts_that_are_not_what_they_seem_are_reported() {
    let rows: &[(&str, bool, Option<Why>)] = &[
        (RM, true, None),
        (&format!("\u{feff}{RM}"), true, None),
        (&format!("#!/usr/bin/env node\n{RM}"), true, None),
        (&format!("x = 1\r{RM}\r"), true, None),
        (&format!("// x\r{RM}"), true, None),
        (&format!("// x\u{2028}{RM}"), true, None),
        (&format!("x = 1\r\n{RM}\r\n"), true, None),
        (&format!("{RM}\0"), false, Some(Why::Syntax)),
        (&format!("x = '\0'\n{RM}"), true, None),
        (&format!("\u{1a}\n{RM}"), false, Some(Why::Syntax)),
        (&RM.replace("re", "\\u0072e"), true, None),
        // Comments of HTML, which only scripts have.
        (&format!("<!-- x\n{RM}"), true, None),
        (&format!("<!-- x\r{RM}"), true, None),
        (&format!("/* x\n*/ --> {RM}"), false, None),
        (&format!("let x = 3; while (x --> 0) {RM}"), true, None),
        (&format!("let x = 1; x<!--x; {RM}"), true, None),
        (&format!("let x = 1; x<!--x; {RM}\n--> {RM}"), false, None),
        // `await` is a name in a script.
        (&format!("await /\"/; {RM} //\""), true, None),
        (&format!("var await = 1; await /{RM}/ 1"), true, None),
        (&format!("await ({RM})"), true, None),
        (&format!("await x; {RM}"), true, Some(Why::Variable)),
        (&format!("return {RM}"), true, None),
        (&format!("import 'fs'; {RM}"), true, None),
        (&format!("import 'fs'; return {RM}"), true, None),
        // Types are operands in JavaScript.
        (&RM.replace("execSync", "execSync<string>"), true, None),
        (&format!("let a = 1, b = 1; a<b>\n/\"/; {RM} //\""), true, None),
        (&format!("let f = 1; f<{{[{RM}]: 1}}>(1)"), true, None),
        (&format!("let x: any = <any>{RM}"), true, None),
        (&format!("let x = <any>{{{RM}}}</any>"), false, Some(Why::Unsupported)),
        (&format!("let y: any = <any>{{{RM}}}</any>"), false, Some(Why::Unsupported)),
        (&format!("interface\nx\n{{{RM}}}"), true, Some(Why::Variable)),
        (&format!("global\n{{{RM}}}; 1 < 2"), true, None),
        (&format!("declare global {{ var x: string }}; {RM}"), true, None),
        (&format!("namespace A.B {{ export const x = {RM} }}"), true, None),
        (&format!("import a = b.c.d; import type e = require('e'); {RM}"), true, Some(Why::Variable)),
        // Languages that only look like JavaScript.
        (&format!("// @flow\n({RM}: any)"), false, Some(Why::Syntax)),
        (&format!("%DebugPrint(1); {RM}"), false, Some(Why::Syntax)),
        ("#include <stdlib.h>\nint main() { system(\"rm -rf /\"); }", false, Some(Why::Syntax)),
    ];
    let mut wrong = Vec::new();
    for (text, has_act, why) in rows {
        let reading = javascript(text);
        if has_command(&reading) != *has_act || holes(&reading).first() != why.as_ref() {
            wrong.push((text, reading.acts));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A program that is cut off at any place is read, or reported.
#[test]
fn every_prefix_is_read_or_reported() {
    let program = format!(
        "{RM};\nimport a, {{type b, 'c' as d}} from 'e'; export default class extends f {{ #x = `é${{1}}`; @g static async *h({{i = 1, ...j}}, \
         [k, , ...l]: m<n>[]) {{ for await (const o of p?.[q]!) yield* r`s${{t}}` }} get u() {{ return new.target ?? /v/gu }} \
         accessor w = <x>y; static {{ label: do {{ if (z) continue label; else break }} while (!0n) }} }}\n\
         switch (a) {{ case 1: try {{ throw b }} catch {{ debugger }} finally {{ delete a.b, void 0 }} default: c ||= d = e++ }}\n\
         enum F {{ G = 1, 'H' }} namespace I.J {{ export let k = import('l') }} function m(this: n, o?: p): asserts o is q\n"
    );
    for (at, _) in program.char_indices() {
        let prefix = program.get(..at).unwrap();
        let reading = javascript(prefix);
        let is_reported = has_command(&reading) || !holes(&reading).is_empty();
        assert!(is_reported || at < RM.len(), "{prefix:?}: {:?}", reading.acts);
        let is_cut = at < RM.len() && prefix.matches('(').count() > prefix.matches(')').count();
        assert!(!is_cut || !holes(&reading).is_empty(), "{prefix:?}: {:?}", reading.acts);
    }
    let whole = javascript(&program);
    assert!(has_command(&whole), "{:?}", whole.acts);
}

/// A value that the parser cannot tell is unknown, not another text.
#[test]
fn half_of_a_surrogate_pair_is_unknown() {
    let command = |text: &str| {
        let reading = javascript(&RM.replace("'rm -rf /'", text));
        let text_of = |what: &What| {
            if let What::Shell { text, .. } = what { Some(text.as_str().map(str::to_owned)) } else { None }
        };
        let shell = reading.acts.iter().find_map(|act| text_of(&act.what));
        shell.unwrap_or_else(|| panic!("{text:?}: {:?}", reading.acts))
    };
    assert_eq!(command("'a\\ud800'"), None);
    assert_eq!(command("`a\\ud800`"), None);
    assert_eq!(command("'\u{fffd}'").as_deref(), Some("\u{fffd}"));
    assert_eq!(command("'\\u{61}\\x62\\143\\\n\\d\\ud83d\\ude00'").as_deref(), Some("abcd😀"));
    assert_eq!(command("`a${'b'}${0x10}`").as_deref(), Some("ab16"));
}
