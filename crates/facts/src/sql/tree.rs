//! Parses a DELETE or UPDATE to find whether its condition excludes any row. This module must not know effects.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sqlparser::ast::{
    BinaryOperator, Expr, Query, SetExpr, Statement as Parsed, TableFactor, TableWithJoins, UnaryOperator,
    Value,
};
use sqlparser::dialect::{
    Dialect, DuckDbDialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::System;
use super::lex::Statement;
use crate::limits::{SQL_DEPTH_MAX, SQL_JOINS_MAX, SQL_TOKENS_MAX};

/// A change of rows, at any place in the statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// `delete`, `update` or `insert`.
    pub(super) verb: &'static str,
    pub(super) table: Option<String>,
    /// The change reaches every row.
    pub(super) all: bool,
}

/// Returns the changes of rows in a statement. `None` if it does not parse.
pub(super) fn changes(statement: &Statement, system: System) -> Option<Vec<Change>> {
    if statement.tokens.len() > SQL_TOKENS_MAX || statement.depth > SQL_DEPTH_MAX {
        return None;
    }
    let own: &dyn Dialect = match system {
        System::Postgres => &PostgreSqlDialect {},
        System::Mysql => &MySqlDialect {},
        System::Sqlite => &SQLiteDialect {},
        System::Duckdb => &DuckDbDialect {},
        System::Sqlserver => &MsSqlDialect {},
        System::Other => &GenericDialect {},
    };
    let parsed = parse(&statement.text, own).or_else(|| parse(&statement.text, &GenericDialect {}))?;
    let mut found = Vec::new();
    for one in &parsed {
        of_statement(one, SQL_DEPTH_MAX, &mut found)?;
    }
    Some(found)
}

/// Parses a text. A panic of the parser is a parse failure. The limits apply to the parser's own tokens: the client and
/// this dialect may split the same text differently.
fn parse(text: &str, dialect: &dyn Dialect) -> Option<Vec<Parsed>> {
    let attempt = || {
        let tokens = Tokenizer::new(dialect, text).tokenize_with_location().ok()?;
        let words = tokens.iter().filter(|one| !matches!(one.token, Token::Whitespace(_))).count();
        let joins = tokens.iter().filter(|one| is_join(&one.token)).count();
        if words > SQL_TOKENS_MAX || joins > SQL_JOINS_MAX {
            return None;
        }
        let parser = Parser::new(dialect).with_recursion_limit(SQL_DEPTH_MAX * 2);
        parser.with_tokens_with_locations(tokens).parse_statements().ok()
    };
    catch_unwind(AssertUnwindSafe(attempt)).ok().flatten()
}

fn is_join(token: &Token) -> bool {
    matches!(token, Token::Word(word) if ["JOIN", "STRAIGHT_JOIN", "APPLY"]
        .iter()
        .any(|join| word.value.eq_ignore_ascii_case(join)))
}

/// Adds the changes of a statement. `None` if the statement is too deep to find them all.
fn of_statement(statement: &Parsed, depth: usize, found: &mut Vec<Change>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    if let Parsed::Query(query) = statement {
        of_query(query, depth, found)?;
    } else if let Parsed::Explain { analyze, statement, options, .. } = statement {
        let runs = *analyze || options.as_ref().is_some_and(|options| !options.is_empty());
        if runs {
            of_statement(statement, depth, found)?;
        }
    } else if let Parsed::Delete(delete) = statement {
        let (sqlparser::ast::FromTable::WithFromKeyword(from)
        | sqlparser::ast::FromTable::WithoutKeyword(from)) = &delete.from;
        let named = delete.tables.first().map(ToString::to_string);
        let all = reaches_all(delete.selection.as_ref()) && delete.limit.is_none();
        found.push(Change { verb: "delete", table: named.or_else(|| from.first().and_then(table)), all });
    } else if let Parsed::Update(update) = statement {
        let all = reaches_all(update.selection.as_ref()) && update.limit.is_none();
        found.push(Change { verb: "update", table: table(&update.table), all });
    } else if let Parsed::Insert(insert) = statement {
        found.push(Change { verb: "insert", table: Some(insert.table.to_string()), all: false });
        if let Some(source) = &insert.source {
            of_query(source, depth, found)?;
        }
    }
    Some(())
}

fn of_query(query: &Query, depth: usize, found: &mut Vec<Change>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    for table in query.with.iter().flat_map(|with| &with.cte_tables) {
        of_query(&table.query, depth, found)?;
    }
    match &*query.body {
        SetExpr::Insert(statement)
        | SetExpr::Update(statement)
        | SetExpr::Delete(statement)
        | SetExpr::Merge(statement) => of_statement(statement, depth, found),
        SetExpr::Query(query) => of_query(query, depth, found),
        SetExpr::Select(_) | SetExpr::SetOperation { .. } | SetExpr::Values(_) | SetExpr::Table(_) => {
            Some(())
        }
    }
}

fn table(from: &TableWithJoins) -> Option<String> {
    if let TableFactor::Table { name, .. } = &from.relation { Some(name.to_string()) } else { None }
}

fn reaches_all(condition: Option<&Expr>) -> bool {
    condition.is_none_or(|condition| always(condition, SQL_DEPTH_MAX))
}

/// True if a condition holds for every row by its form alone: `1=1`, `true`, `id = id`, `x OR 1`.
fn always(condition: &Expr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    if let Expr::Nested(inner) = condition {
        always(inner, depth)
    } else if let Expr::Value(value) = condition {
        !is_false(&value.value)
    } else if let Expr::UnaryOp { op: UnaryOperator::Not, expr } = condition {
        is_constant(expr, depth)
    } else if let Expr::BinaryOp { left, op, right } = condition {
        if matches!(op, BinaryOperator::Or) {
            return always(left, depth) || always(right, depth);
        }
        if matches!(op, BinaryOperator::And) {
            return always(left, depth) && always(right, depth);
        }
        is_constant(left, depth) && is_constant(right, depth)
            || matches!(op, BinaryOperator::Eq | BinaryOperator::LtEq | BinaryOperator::GtEq) && left == right
    } else {
        false
    }
}

/// Constants are not compared: the author of `1 <> 2` means every row. Too deep a comparison also means every row.
fn is_constant(value: &Expr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    if let Expr::Nested(inner) = value {
        return is_constant(inner, depth);
    }
    if let Expr::BinaryOp { left, right, .. } = value {
        return is_constant(left, depth) && is_constant(right, depth);
    }
    matches!(value, Expr::Value(_))
}

fn is_false(value: &Value) -> bool {
    if let Value::Number(number, _) = value {
        return number.trim_matches(['0', '.']).is_empty();
    }
    matches!(value, Value::Boolean(false) | Value::Null)
}
