//! Ruby texts that try a parser, as those of [`super::hostile`]. Prism is C: more stack than there is ends the process.
use castellan_event::Why;
use castellan_languages::{Language, Reading, Start, What, read};

use super::hostile::{has_command, holes};

const RM: &str = "system('rm -rf /')";

fn ruby(text: &str) -> Reading {
    let reading = read(Language::Ruby, text, &Start::default());
    let is_inside = reading.acts.iter().all(|act| text.get(act.span.clone()).is_some());
    assert!(is_inside, "an act outside of the text: {text:?} {:?}", reading.acts);
    reading
}

/// Nothing is silent because Ruby reads the bytes in another way.
#[test]
fn texts_that_are_not_what_they_seem_are_reported() {
    let rows: &[(&str, bool, Option<Why>)] = &[
        (RM, true, None),
        (&format!("x = 1\r\n{RM}\r\n"), true, None),
        // A carriage return alone ends no line.
        (&format!("# x\r{RM}\r"), false, None),
        (&format!("x = 1\r{RM}\r"), false, Some(Why::Syntax)),
        (&format!("\u{feff}{RM}"), true, None),
        (&format!("x = 1\n\u{feff}{RM}"), false, Some(Why::Variable)),
        // The program ends here.
        (&format!("{RM}\0)"), true, None),
        (&format!("1\n\0\n{RM}"), false, None),
        (&format!("1\n\u{4}\n{RM}"), false, None),
        (&format!("1\n\u{1a}\n{RM}"), false, None),
        (&format!("1\n__END__\n{RM}"), false, None),
        (&format!("1\n __END__\n{RM}"), true, Some(Why::Variable)),
        (&format!("x = '\0'\n{RM}"), true, None),
        (&format!("# encoding: utf-8\n{RM}"), true, None),
        (&format!("# -*- coding: us-ascii -*-\n{RM}"), true, None),
        (&format!("# encoding: us-ascii\nx = 'é'; {RM}"), false, Some(Why::Encoding)),
        (&format!("# Coding = latin-1\n{RM}"), false, Some(Why::Encoding)),
        (&format!("#!ruby\n# vim: set fileencoding=sjis :\n{RM}"), false, Some(Why::Encoding)),
        (&format!("\n\n# encoding: sjis\n{RM}"), true, None),
        // The first line.
        (&format!("#!/usr/bin/env ruby -w\n{RM}"), true, None),
        (&format!("#!/usr/bin/env rake\n{RM}"), true, None),
        (&format!("#!/bin/sh\n=begin\n#!ruby\n{RM}\n__END__\n=end"), false, Some(Why::Unsupported)),
        (&format!("#!ruby -x\n{RM}"), false, Some(Why::Unsupported)),
        ("#!ruby -r./x\n", false, Some(Why::Unsupported)),
        ("#!/usr/bin/env ruby -w -i\n", false, Some(Why::Unsupported)),
        ("#!ruby -Ks\n", false, Some(Why::Unsupported)),
        ("#!ruby --require=x\n", false, Some(Why::Unsupported)),
        (&format!("#!ruby -lan\nBEGIN {{ x = 1 }}\nnext if $F\n{RM}"), true, None),
        (&format!("BEGIN {{ {RM} }}\n)"), false, Some(Why::Syntax)),
        // A part of another program.
        (&format!("next if y = 1\n{RM}"), true, None),
        (&format!("yield\n{RM}"), true, None),
        // New syntax.
        (&format!("def f = {RM}\nf"), true, None),
        ("[1].each { system(\"rm -rf #{it}\") }", true, None),
        ("[1].each { system(\"rm -rf #{_1}\") }", true, None),
        (&format!("case [1]\nin [Integer => x] if {RM}\n 1\nend"), true, None),
        (&format!("case 1\nin ^({RM}) then 1\nend"), true, None),
        (&format!("def f(*, **, &) = g(*, **, &)\ndef g(x) = {RM}\nf(1)"), true, None),
        (&format!("def f(...) = g(...)\ndef g(x) = {RM}\nf(1)"), true, None),
        (&format!("x = {{y: 1}}\nx => {{y:}}\n{RM} if y"), true, None),
        (&format!("begin; 1; rescue ({RM}; IOError); end"), true, None),
        ("if /(?<x>.)/ =~ 'a' then system(\"rm #{x}\") end", true, None),
    ];
    for (text, has_act, why) in rows {
        let reading = ruby(text);
        assert_eq!(has_command(&reading), *has_act, "{text:?}: {:?}", reading.acts);
        assert_eq!(holes(&reading).first(), why.as_ref(), "{text:?}: {:?}", reading.acts);
    }
}

/// A program that is cut off at any place is read, or reported in whole.
#[test]
fn every_prefix_is_read() {
    let program = format!(
        "{RM}\n# é\nmodule A; class B < C::D; attr_reader :x\n  def self.f(a, (b, *c), d = 1, *e, g:, h: 2, \
         **i, &j)\n    \
         return yield(*e, **i) unless j&.call(a.b ||= 1, a[0] += 2, @x <<= 3)\n  rescue E, *F => @@err then retry\n  \
         else redo if defined?(x)\n  ensure $y = %w[a #{{b}}] + %I[c] + <<~T + <<'U'\n      \\x41 #{{a + \
         \"é\"}} \\\n    \
         b\n    T\nU\n  end\nend; end\nfor q, (r, s) in 1..2 do p(q...r) end\ncase z = {{\"k\": 1, l => ->(m; \
         n) {{ m }}}}\nin \
         {{k: [Integer | nil => o, *], **nil}} if o then `id #{{o}}`\nin [*, ^z, *] unless z\nend\nx, *w = *v, 1r, 2i\n\
         while (a and not b) or c do break 1, 2 end while d\nBEGIN {{ alias $new $old }}; END {{ undef f, :g }}\n\
         p ?a, :\"b#{{c}}\", /d#{{e}}/mix, -\"f\", !g, ::H, i rescue j\n__END__\nk"
    );
    let mut whole = 0;
    for (at, _) in program.char_indices() {
        let prefix = program.get(..at).unwrap();
        let reading = ruby(prefix);
        let is_reported = holes(&reading) == [Why::Syntax] || has_command(&reading);
        assert!(is_reported || at < RM.len(), "{prefix:?}: {:?}", reading.acts);
        whole += usize::from(has_command(&reading));
    }
    assert!(whole > 8, "{whole}");
    let has_error = |text: &str| holes(&ruby(text)).contains(&Why::Syntax);
    assert!(!has_error(&program) && has_error(&format!("{program}\n").replace("__END__", ")")));
}

#[test]
fn a_text_that_is_no_utf_8_is_unknown() {
    let command = |text: &str| {
        let reading = ruby(text);
        let text_of = |what: &What| {
            if let What::Shell { text, .. } = what { Some(text.as_str().map(str::to_owned)) } else { None }
        };
        let shell = reading.acts.iter().find_map(|act| text_of(&act.what));
        shell.unwrap_or_else(|| panic!("{text:?}: {:?}", reading.acts))
    };
    assert_eq!(command(r#"system("a\xff")"#), None);
    assert_eq!(command(r#"system("\xc3\xa9\u{61 62}\143\C-a\s")"#).as_deref(), Some("éabc\u{1} "));
    assert_eq!(command("system(<<~A.strip)\n    a\n\n      #{'b'}\n  A\n").as_deref(), Some("a\n\n  b\n"));
}
