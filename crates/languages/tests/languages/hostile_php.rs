//! PHP texts that try a parser, as those of [`super::hostile`].
use castellan_event::Why;
use castellan_languages::{Language, Reading, Start, What, read};

use super::hostile::{has_command, holes};

const RM: &str = "system('rm -rf /');";

/// Reads a file, whose text has tags.
fn php(text: &str) -> Reading {
    let start = Start { file: Some("/w/x.php".to_owned()), ..Start::default() };
    let reading = read(Language::Php, text, &start);
    let is_inside = reading.acts.iter().all(|act| text.get(act.span.clone()).is_some());
    assert!(is_inside, "an act outside of the text: {text:?} {:?}", reading.acts);
    reading
}

/// Nothing is silent because PHP reads the bytes in another way.
#[test]
fn texts_that_are_not_what_they_seem_are_reported() {
    let rows: &[(&str, bool, Option<Why>)] = &[
        (&format!("<?php {RM}"), true, None),
        (&format!("<?PHP {RM} ?>x"), true, None),
        ("<?= system('rm -rf /') ?>", true, None),
        (&format!("#!/usr/bin/php\n<?php {RM}"), true, None),
        (&format!("\u{feff}<?php {RM}"), true, None),
        (&format!("<?php\r{RM}\r"), true, None),
        (&format!("<?php\r\n{RM}\r\n"), true, None),
        (&format!("<?php # x\r{RM}"), true, None),
        (&format!("<?php # x ?><?php {RM}"), true, None),
        (RM, false, None),
        // Settings and versions decide whether this is code.
        (&format!("<? {RM} ?>"), false, Some(Why::Unsupported)),
        (&format!("<?php 1; ?>\n<?{RM}"), false, Some(Why::Unsupported)),
        (&format!("<%= {RM} %>"), false, Some(Why::Unsupported)),
        (&format!("<script language=\"PHP\">{RM}</script>"), false, Some(Why::Unsupported)),
        ("<?xml version='1.0'?><a/><script>x</script>", false, None),
        (&format!("<?php declare(encoding='SJIS'); {RM}"), true, Some(Why::Encoding)),
        (&format!("<?php declare(strict_types=1); {RM}"), true, None),
        (&format!("<?php declare(ticks=1) {{ {RM} }}"), true, None),
        // The program ends here.
        (&format!("<?php f(); function f() {{}} __halt_compiler(); {RM}"), false, None),
        (&format!("<?php {RM}\0"), true, Some(Why::Syntax)),
        (&format!("<?php $x = '\0'; {RM}"), true, None),
        (&format!("<?php {RM} \u{1a}"), true, Some(Why::Syntax)),
        (&format!("<?php /* {RM}"), false, Some(Why::Syntax)),
        // Other versions.
        (&format!("<?php $x = $y{{0}}; {RM}"), true, Some(Why::Syntax)),
        (&format!("<?php class A {{ function f() {{ $this = 1; }} }} {RM}"), true, Some(Why::Syntax)),
        // A comment before PHP 8, and an end of a here-document since PHP 7.3.
        (&format!("<?php\n#[A('\n{} //')] function f() {{}}", RM.replace('\'', "\"")), true, None),
        (&format!("<?php #[A(\n  1,\n)] function f() {{}} {RM}"), true, None),
        (&format!("<?php $x = <<<E\n E; /*\nE;\n{RM} //*/\n"), true, None),
        // New syntax.
        (
            &format!("<?php enum A: int {{ case B = 1; const C = 2; function f() {{ {RM} }} }} A::B->f();"),
            true,
            None,
        ),
        ("<?php 'rm -rf /' |> system(...);", true, None),
        ("<?php $f = system(...); $f('rm -rf /');", true, None),
        (&format!("<?php class A {{ public int $x {{ get {{ {RM} return 1; }} }} }}"), true, None),
        ("<?php $x = clone(new A, ['y' => system('rm -rf /')]);", true, Some(Why::Variable)),
        ("<?php A::{system('rm -rf /')};", true, None),
        ("<?php $x instanceof (system('rm -rf /'));", true, None),
        ("<?php `rm -rf /`;", true, None),
        ("<?php $x = <<<E\n  {${system('rm -rf /')}}\n  E;", true, Some(Why::Dynamic)),
    ];
    for (text, has_act, why) in rows {
        let reading = php(text);
        assert_eq!(has_command(&reading), *has_act, "{text:?}: {:?}", reading.acts);
        assert_eq!(holes(&reading).first(), why.as_ref(), "{text:?}: {:?}", reading.acts);
    }
}

/// A program that is cut off at any place is read, and keeps the command that was whole.
#[test]
fn every_prefix_is_read() {
    let program = format!(
        "<?php {RM} /* é */ namespace A\\B {{ use C\\{{D as E, function f, const G}}; const H = 1, I = [1, 'a' \
         => &$b, ...$c];\n\
         abstract class J extends K implements L, M {{ use N, O {{ N::p insteadof O; p as protected q; }}\n\
         public const int R = self::S; private static ?int $t = 1; public $u {{ get => $this->u; set($v) {{ }} }}\n\
         function __construct(private readonly int|null $w = 1, &...$x) {{ parent::__construct(...$x); \
         static::${{'y'}}++; }} }}\n\
         enum P: string {{ case Q = 'é'; }} interface R2 extends S2 {{}} trait T2 {{ static function u() {{ \
         yield 1 => 2; }} }} }}\n\
         namespace {{ global $a; static $b = 1, $c; foreach ($a as $k => [$l, , 'm' => &$n]) {{ unset($a[$k], \
         $b->c); }}\n\
         for ($i = 0, $j = 1; $i < 9; ++$i): continue; endfor; while (1) {{ break 1; }} do {{ goto z; }} while \
         ($a <=> 1); z:\n\
         switch ($a) {{ case 1: default: echo \"{{$a['b']}} $a[c] ${{d}} \\x41\\u{{e9}}\", <<<'E'\n  raw\n  E; }}\n\
         try {{ throw new class(1) extends F {{}}; }} catch (G|H $e) {{ }} finally {{ return; }}\n\
         $f = static fn(int $x): ?int => $x ?: match(true) {{ 1, 2 => $x?->y()?->z, default => null }};\n\
         $g = function &() use ($f, &$a) {{ return include_once __DIR__ . '/h'; }}; [$a, [$b]] = list($c, 'd' \
         => $e) = $$f;\n\
         declare(ticks=1); $a ??= @`id $b` . (string) -1.5e3 <=> ~$x and print isset($a, $b->c) xor exit(1);\n\
         A::b(...)(c: 1, ...$d); new $a->b; $c::$d['e']; f()->{{'g'}}(); __halt_compiler(); }} é"
    );
    for (at, _) in program.char_indices() {
        let prefix = program.get(..at).unwrap();
        let reading = php(prefix);
        let is_read = at < "<?php ".len() + RM.len() - 1 || has_command(&reading);
        assert!(is_read, "{prefix:?}: {:?}", reading.acts);
    }
}

#[test]
fn a_text_that_is_no_utf_8_is_unknown() {
    let command = |text: &str| {
        let reading = php(text);
        let text_of = |what: &What| {
            if let What::Shell { text, .. } = what { Some(text.as_str().map(str::to_owned)) } else { None }
        };
        let shell = reading.acts.iter().find_map(|act| text_of(&act.what));
        shell.unwrap_or_else(|| panic!("{text:?}: {:?}", reading.acts))
    };
    assert_eq!(command(r#"<?php system("a\xff");"#), None);
    assert_eq!(command(r#"<?php system("\xc3\xa9\u{61}\142\e[\q");"#).as_deref(), Some("éab\u{1b}[\\q"));
    assert_eq!(command("<?php system(<<<E\n    a\n\n      {$_x}b\n    E);").as_deref(), None);
    assert_eq!(command("<?php system(<<<'E'\n    a\n\n      $b\n    E);").as_deref(), Some("a\n\n  $b"));
}
