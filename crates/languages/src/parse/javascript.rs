//! JavaScript and TypeScript by the parser of oxc. Only this module and `lower/javascript` use its types.

use castellan_event::Why;
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{ContentEq, SourceType};

use crate::limits::{JAVASCRIPT_STACK_PER_BYTE, PARSER_STACK_MIN};
use crate::lower::javascript;
use crate::tree::Node;

/// Signs that a script and a module read differently: in a module `await` is no name, comments of HTML are operators, and
/// there is `import.meta`. The parser takes other parts of a module in a script, too.
const OF_ONE_MODE: [&str; 4] = ["await", "<!--", "-->", "meta"];

/// Parses a program in each mode that may run it: script or module, JavaScript or TypeScript. If modes read it
/// differently, exactly one of their trees runs. A text that no mode accepts is a `Hole`, after the parts that the
/// parser recovered.
pub(super) fn parse(text: &str) -> Result<Node, Why> {
    let stack = PARSER_STACK_MIN + JAVASCRIPT_STACK_PER_BYTE * text.len();
    stacker::maybe_grow(stack, stack, || Ok(parsed(text)))
}

fn parsed(text: &str) -> Node {
    let memory = Allocator::default();
    let mut readings = Readings { memory: &memory, text, valid: Vec::new(), recovered: None };
    // No valid JavaScript has another reading with JSX.
    readings.read(SourceType::mjs().with_jsx(true));
    // `f<T>(x)` is a comparison or a call.
    if readings.valid.is_empty() || text.contains('<') {
        readings.read(SourceType::ts());
    }
    if readings.valid.is_empty() {
        readings.read_as(SourceType::tsx().with_module(true));
    }
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let trees: Vec<Node> = readings.valid.iter().map(|one| javascript(text, one)).collect();
    if trees.is_empty() {
        let recovered = readings.recovered.iter().map(|one| javascript(text, one));
        let hole = Node::hole((0, end), Why::Syntax);
        return Node::sequence((0, end), recovered.chain([hole]).collect());
    }
    Node::only(trees, |trees| Node::either((0, end), trees))
}

struct Readings<'t> {
    memory: &'t Allocator,
    text: &'t str,
    /// Programs without an error, each different.
    valid: Vec<Program<'t>>,
    /// The first program with an error behind which the parser went on.
    recovered: Option<Program<'t>>,
}

impl<'t> Readings<'t> {
    /// Reads the text as a script, which may return as a module of `CommonJS` does, and as a module.
    fn read(&mut self, kind: SourceType) {
        self.read_as(kind.with_commonjs(true));
        if OF_ONE_MODE.iter().any(|sign| self.text.contains(sign)) {
            self.read_as(kind.with_module(true));
        }
    }

    fn read_as(&mut self, kind: SourceType) {
        let options = ParseOptions { preserve_parens: false, ..ParseOptions::default() };
        let parsed = Parser::new(self.memory, self.text, kind).with_options(options).parse();
        let program = parsed.program;
        let is_valid = !parsed.panicked && parsed.diagnostics.is_empty();
        let is_same = |one: &Program<'_>| {
            one.directives.content_eq(&program.directives) && one.body.content_eq(&program.body)
        };
        if is_valid && !self.valid.iter().any(is_same) {
            self.valid.push(program);
        } else if !is_valid && !parsed.panicked {
            self.recovered.get_or_insert(program);
        }
    }
}
