//! The contents of words, which this parser leaves as text: parsed one level at a time. Must not depend on statements.

use brush_parser::Parser;
use brush_parser::word::{self, Parameter, ParameterExpr, WordPiece, WordPieceWithSource};

use crate::names::Names;

impl Names {
    pub(crate) fn word(&mut self, text: &str) {
        // Only these contain commands.
        if text.contains(['$', '`']) {
            let pieces = word::parse(text, &self.options);
            self.parsed(pieces.ok());
        }
    }

    pub(crate) fn heredoc(&mut self, text: &str) {
        if text.contains(['$', '`']) {
            let pieces = word::parse_heredoc(text, &self.options);
            self.parsed(pieces.ok());
        }
    }

    fn parsed(&mut self, pieces: Option<Vec<WordPieceWithSource>>) {
        match pieces {
            Some(pieces) => self.pieces(&pieces),
            None => self.unread += 1,
        }
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource]) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner)
                }
                WordPiece::ParameterExpansion(expression) => self.parameter(expression),
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    self.text(text)
                }
                WordPiece::ArithmeticExpression(expression) => self.arithmetic(expression),
                WordPiece::Text(_)
                | WordPiece::SingleQuotedText(_)
                | WordPiece::AnsiCQuotedText(_)
                | WordPiece::TildeExpansion(_)
                | WordPiece::EscapeSequence(_) => {}
            }
        }
    }

    fn text(&mut self, text: &str) {
        match Parser::new(text.as_bytes(), &self.options).parse_program() {
            Ok(program) => program.complete_commands.iter().for_each(|list| self.list(list)),
            Err(_) => self.unread += 1,
        }
    }

    fn parameter(&mut self, expression: &ParameterExpr) {
        let (parameter, texts) = parts(expression);
        if let Some(Parameter::NamedWithIndex { index, .. }) = parameter {
            self.word(index);
        }
        texts.into_iter().flatten().for_each(|text| self.word(text));
    }
}

/// Returns the parameter of an expansion, and the texts in it that are words again.
fn parts(expression: &ParameterExpr) -> (Option<&Parameter>, [Option<&str>; 2]) {
    use ParameterExpr as Expr;
    match expression {
        Expr::Parameter { parameter, .. }
        | Expr::ParameterLength { parameter, .. }
        | Expr::Transform { parameter, .. } => (Some(parameter), [None, None]),
        Expr::UseDefaultValues { parameter, default_value: word, .. }
        | Expr::AssignDefaultValues { parameter, default_value: word, .. }
        | Expr::IndicateErrorIfNullOrUnset { parameter, error_message: word, .. }
        | Expr::UseAlternativeValue { parameter, alternative_value: word, .. }
        | Expr::RemoveSmallestSuffixPattern { parameter, pattern: word, .. }
        | Expr::RemoveLargestSuffixPattern { parameter, pattern: word, .. }
        | Expr::RemoveSmallestPrefixPattern { parameter, pattern: word, .. }
        | Expr::RemoveLargestPrefixPattern { parameter, pattern: word, .. }
        | Expr::UppercaseFirstChar { parameter, pattern: word, .. }
        | Expr::UppercasePattern { parameter, pattern: word, .. }
        | Expr::LowercaseFirstChar { parameter, pattern: word, .. }
        | Expr::LowercasePattern { parameter, pattern: word, .. } => (Some(parameter), [word.as_deref(), None]),
        Expr::Substring { parameter, offset, length, .. } => {
            (Some(parameter), [Some(&offset.value), length.as_ref().map(|length| length.value.as_str())])
        }
        Expr::ReplaceSubstring { parameter, pattern, replacement, .. } => {
            (Some(parameter), [Some(pattern), replacement.as_deref()])
        }
        Expr::VariableNames { .. } | Expr::MemberKeys { .. } => (None, [None, None]),
    }
}
