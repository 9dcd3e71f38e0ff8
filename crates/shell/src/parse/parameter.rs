//! `${...}`: which parameter, and what is done with its value.

use castellan_event::Why;
use shuck_ast::{BourneParameterExpansion as Expansion, ParameterExpansion, ParameterExpansionSyntax};
use shuck_ast::{ParameterOp, Pattern, SourceText, Subscript, SubscriptSelector, VarRef, Word as ParsedWord};

use super::literal::Place;
use super::word::is_parameter;
use super::{Range, Reader, range};
use crate::tree::{Index, Operation, Parameter, Part, ReplaceAt, Substitute, Word};

/// The letters after `@`.
const TRANSFORMS: &str = "UuLQEPAKak";

impl Reader<'_, '_> {
    pub(super) fn parameter(&mut self, parsed: &ParameterExpansion, own: Range, place: Place) -> Part {
        if let Some(part) = self.command_in_braces(own, place) {
            return part;
        }
        let read = match &parsed.syntax {
            ParameterExpansionSyntax::Bourne(expansion) => self.expansion(expansion, own, place),
            ParameterExpansionSyntax::Zsh(_) => Err(Why::Unsupported),
        };
        match read {
            Ok(parameter) => Part::Parameter { parameter: Box::new(parameter), quoted: place.quoted() },
            Err(why) => Part::Hole(self.hole(why, own)),
        }
    }

    fn expansion(&mut self, expansion: &Expansion, own: Range, place: Place) -> Result<Parameter, Why> {
        let plain = |operation| (false, operation);
        let (reference, (indirect, operation)) = match expansion {
            Expansion::Access { reference } => (reference, plain(Operation::Value)),
            Expansion::Length { reference } => (reference, plain(Operation::Length)),
            Expansion::Indices { reference } => (reference, plain(Operation::Keys)),
            Expansion::PrefixMatch { prefix, .. } => {
                return self.named(prefix.as_str(), None, false, Operation::Names, own);
            }
            Expansion::Indirect { reference, operator: None, .. } => (reference, (true, Operation::Value)),
            Expansion::Indirect {
                reference,
                operator: Some(operator),
                operand,
                operand_word_ast,
                colon_variant,
            } => {
                let operand = Operand { text: operand.as_ref(), word: operand_word_ast.as_deref() };
                (reference, (true, self.operation(operator, operand, *colon_variant, own, place)?))
            }
            Expansion::Operation { reference, operator, operand, operand_word_ast, colon_variant } => {
                let operand = Operand { text: operand.as_ref(), word: operand_word_ast.as_deref() };
                (reference, plain(self.operation(operator, operand, *colon_variant, own, place)?))
            }
            Expansion::Slice { reference, offset, offset_word_ast, length, length_word_ast, .. } => {
                let offset = Operand { text: Some(offset), word: Some(offset_word_ast) };
                let offset = self.operand(&offset, place);
                let length = length.as_ref().map(|length| {
                    self.operand(&Operand { text: Some(length), word: length_word_ast.as_deref() }, place)
                });
                (reference, plain(Operation::Slice { offset, length }))
            }
            Expansion::Transformation { operator, .. } if !TRANSFORMS.contains(*operator) => {
                return Err(Why::Unsupported);
            }
            Expansion::Transformation { reference, operator } => {
                (reference, plain(Operation::Transform(*operator)))
            }
        };
        let index = self.index(reference, place);
        self.named(reference.name.as_str(), index, indirect, operation, own)
    }

    fn named(
        &mut self,
        name: &str,
        index: Option<Index>,
        indirect: bool,
        operation: Operation,
        own: Range,
    ) -> Result<Parameter, Why> {
        let source = self.ground.slice(own).unwrap_or_default();
        let written = source.strip_prefix("${").unwrap_or(source);
        let written =
            written.strip_prefix(['!', '#']).filter(|rest| rest.starts_with(name)).unwrap_or(written);
        if !is_parameter(name) || !written.starts_with(name) {
            return Err(Why::Unsupported);
        }
        Ok(Parameter {
            name: name.to_owned(),
            index,
            indirect,
            operation,
            zsh: None,
            span: self.ground.span(own),
        })
    }

    pub(super) fn index(&mut self, reference: &VarRef, place: Place) -> Option<Index> {
        let subscript = reference.subscript.as_deref()?;
        Some(match subscript.selector() {
            Some(SubscriptSelector::At) => Index::Each,
            Some(SubscriptSelector::Star) => Index::Joined,
            None => Index::At(self.subscript(subscript, place)),
        })
    }

    pub(super) fn subscript(&mut self, subscript: &Subscript, place: Place) -> Word {
        let text = subscript.syntax_source_text();
        self.operand(&Operand { text: Some(text), word: subscript.word_ast() }, place)
    }

    fn operation(
        &mut self,
        operator: &ParameterOp,
        operand: Operand<'_>,
        colon: bool,
        own: Range,
        place: Place,
    ) -> Result<Operation, Why> {
        let substitute = match operator {
            ParameterOp::UseDefault => Some(Substitute::Default),
            ParameterOp::AssignDefault => Some(Substitute::Assign),
            ParameterOp::UseReplacement => Some(Substitute::Alternative),
            ParameterOp::Error => Some(Substitute::Error),
            ParameterOp::RemovePrefixShort { .. }
            | ParameterOp::RemovePrefixLong { .. }
            | ParameterOp::RemoveSuffixShort { .. }
            | ParameterOp::RemoveSuffixLong { .. }
            | ParameterOp::ReplaceFirst { .. }
            | ParameterOp::ReplaceAll { .. }
            | ParameterOp::UpperFirst
            | ParameterOp::UpperAll
            | ParameterOp::LowerFirst
            | ParameterOp::LowerAll => None,
        };
        if let Some(kind) = substitute {
            return Ok(Operation::Substitute { kind, colon, word: self.operand(&operand, place) });
        }
        let mut remove = |pattern: &Pattern, suffix, longest| {
            let pattern = self.pattern(pattern, place);
            Ok(Operation::Remove { suffix, longest, pattern })
        };
        match operator {
            ParameterOp::RemovePrefixShort { pattern } => remove(pattern, false, false),
            ParameterOp::RemovePrefixLong { pattern } => remove(pattern, false, true),
            ParameterOp::RemoveSuffixShort { pattern } => remove(pattern, true, false),
            ParameterOp::RemoveSuffixLong { pattern } => remove(pattern, true, true),
            ParameterOp::ReplaceFirst { pattern, replacement, replacement_word_ast } => {
                Ok(self.replace(false, pattern, (replacement, replacement_word_ast), own, place))
            }
            ParameterOp::ReplaceAll { pattern, replacement, replacement_word_ast } => {
                Ok(self.replace(true, pattern, (replacement, replacement_word_ast), own, place))
            }
            ParameterOp::UpperFirst => Ok(self.case(true, false, &operand, place)),
            ParameterOp::UpperAll => Ok(self.case(true, true, &operand, place)),
            ParameterOp::LowerFirst => Ok(self.case(false, false, &operand, place)),
            ParameterOp::LowerAll => Ok(self.case(false, true, &operand, place)),
            ParameterOp::UseDefault
            | ParameterOp::AssignDefault
            | ParameterOp::UseReplacement
            | ParameterOp::Error => Err(Why::Unsupported),
        }
    }

    fn case(&mut self, upper: bool, all: bool, operand: &Operand<'_>, place: Place) -> Operation {
        let pattern = operand.text.map(|_| self.operand(operand, place));
        Operation::Case { upper, all, pattern: pattern.filter(|pattern| !pattern.parts.is_empty()) }
    }

    fn replace(
        &mut self,
        all: bool,
        pattern: &Pattern,
        (replacement, word): (&SourceText, &ParsedWord),
        own: Range,
        place: Place,
    ) -> Operation {
        let mut pattern = self.pattern(pattern, place);
        let after = range(replacement.span());
        let written = self.ground.slice((after.0.saturating_sub(1).max(own.0), own.1)).unwrap_or_default();
        let replacement = (written.starts_with('/') && after.0 < own.1).then(|| {
            // Also between double quotes, single ones are quotes here.
            let quoted = self.ground.slice(after).is_some_and(|source| source.contains('\''));
            let place = if quoted { Place::Inner } else { place };
            self.operand(&Operand { text: Some(replacement), word: Some(word) }, place)
        });
        let mut at = if all { ReplaceAt::All } else { ReplaceAt::First };
        if let (false, Some(Part::Text { text, quoted: false })) = (all, pattern.parts.first_mut()) {
            for (sign, place) in [("#", ReplaceAt::Start), ("%", ReplaceAt::End)] {
                if let Some(rest) = text.strip_prefix(sign) {
                    *text = rest.to_owned();
                    at = place;
                    break;
                }
            }
        }
        pattern.parts.retain(|part| !matches!(part, Part::Text { text, quoted: false } if text.is_empty()));
        Operation::Replace { at, pattern, replacement }
    }

    /// The word after an operator.
    fn operand(&mut self, operand: &Operand<'_>, place: Place) -> Word {
        let own = match (operand.text, operand.word) {
            (Some(text), _) => range(text.span()),
            (None, Some(word)) => range(word.span),
            (None, None) => return Word::default(),
        };
        let span = self.ground.span(own);
        let source = self.ground.slice(own).unwrap_or_default();
        // Between double quotes, single ones are text: what stands in them is expanded.
        if place.quoted() && source.contains('\'') {
            let parts = self.reread(own, Place::Quoted);
            if quotes_a_brace(&parts) {
                // bash goes on to the next brace, other shells do not: they read different commands after it.
                return Word { parts: vec![Part::Hole(self.hole(Why::Unsupported, own))], span };
            }
            return Word { parts, span };
        }
        match operand.word {
            _ if own.0 == own.1 => Word { parts: Vec::new(), span },
            Some(word) if range(word.span) == own => self.word_at(word, Place::Inner),
            _ => Word { parts: self.reread(own, Place::Inner), span },
        }
    }
}

/// What stands after an operator: its text, and what the parser made of it.
#[derive(Debug)]
struct Operand<'a> {
    text: Option<&'a SourceText>,
    word: Option<&'a ParsedWord>,
}

/// Whether a `}` follows a single quote in the text.
fn quotes_a_brace(parts: &[Part]) -> bool {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.chars()),
        Part::Parameter { .. } | Part::Command { .. } | Part::Process { .. } => None,
        Part::Arithmetic { .. } | Part::Hole(_) => None,
    });
    texts.flatten().skip_while(|one| *one != '\'').any(|one| one == '}')
}
