//! Tests of field tables: every shape of file, and errors for invalid files.

use super::*;

fn read(text: &str) -> Result<FieldTable, String> {
    FieldTable::read(&[TableText { name: "t.json", text }]).map_err(|error| error.to_string())
}

#[test]
fn every_shape_is_read() {
    let check = |text: &str, name: &str, expected: (FieldType, bool, FieldArg, Level)| {
        let table = read(text).unwrap();
        let field = table.find(name).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((field.ty, field.list, field.arg, field.level), expected, "{text}");
    };
    let own = r#"{"version":1,"source":"s","fields":[{"name":"a.b","type":"string"},
        {"name":"a.list","type":"uint64","list":true},
        {"name":"a.key","type":"bool","argument":"key","level":"effect"},
        {"name":"a.at","type":"uint64","argument":"index","of":"a.list","suggested":true}]}"#;
    check(own, "a.b", (FieldType::Text, false, FieldArg::None, Level::Call));
    check(own, "a.list", (FieldType::U64, true, FieldArg::None, Level::Call));
    check(own, "a.key", (FieldType::Bool, false, FieldArg::Key, Level::Effect));
    check(own, "a.at", (FieldType::U64, false, FieldArg::Index, Level::Call));
    assert_eq!(read(own).unwrap().options(Options::default()).source, "s");
    let plain = r#"[{"name":"p.name","type":"CHARBUF"},{"name":"p.all","type":"LIST(IPADDR)"}]"#;
    check(plain, "p.name", (FieldType::Text, false, FieldArg::Optional, Level::Call));
    check(plain, "p.all", (FieldType::Ip, true, FieldArg::Optional, Level::Call));
    let falco = r#"[{"name":"c","desc":"d","event_sources":["syscall"],"fields":[
        {"name":"c.a","type":"PORT","desc":"x","is_list":true},
        {"name":"c.b","type":"ABSTIME","argument":{"required":true}},
        {"name":"c.c","type":"IPNET","argument":{"required":false}}]}]"#;
    check(falco, "c.a", (FieldType::U64, true, FieldArg::None, Level::Call));
    check(falco, "c.b", (FieldType::U64, false, FieldArg::Key, Level::Call));
    check(falco, "c.c", (FieldType::Net, false, FieldArg::Optional, Level::Call));
    check(falco, "evt.num", (FieldType::U64, false, FieldArg::None, Level::Call));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let check = |text: &str, expected: &str| {
        let error = read(text).expect_err(text);
        assert_eq!(error, format!("`t.json`: {expected}"));
    };
    let field = |entry: &str| format!(r#"{{"version":1,"fields":[{{"name":"a","type":"bool"}},{entry}]}}"#);
    check("7", "a field table is an object or a list, not a number");
    check("{}", "`version` must be 1");
    check(r#"{"version":2,"fields":[]}"#, "`version` must be 1");
    check(r#"{"version":1}"#, "`fields` is missing");
    check(r#"{"version":1,"field":[]}"#, "unknown key `field`; known are: version source plugins fields");
    check(r#"{"version":1,"fields":{}}"#, "`fields` must be a list, not an object");
    check(
        r#"{"version":1,"plugins":[{"name":"p"}],"fields":[]}"#,
        "each of `plugins` needs a `name` and a `version`",
    );
    check(&field("[]"), "field 2: must be an object, not a list");
    check(&field("{}"), "field 2: `name` is missing");
    check(&field(r#"{"name":"b"}"#), "field 2 (`b`): `type` is missing");
    check(
        &field(r#"{"name":"b","type":"float"}"#),
        "field 2 (`b`): `float` is not a type; use one of string, uint64, bool, bytebuf, ipaddr, ipnet, or a name that \
         Falco has for it",
    );
    check(
        &field(r#"{"name":"a b","type":"bool"}"#),
        "field 2 (`a b`): a name consists of letters, digits, `_`, `-` and `.`",
    );
    check(&field(r#"{"name":"a","type":"bool"}"#), "field 2 (`a`): the name is taken by an earlier field");
    check(
        &field(r#"{"name":"b","type":"bool","list":1}"#),
        "field 2 (`b`): `list` must be true or false, not a number",
    );
    check(
        &field(r#"{"name":"b","type":"bool","level":"row"}"#),
        "field 2 (`b`): `level` is call, command or effect, not `row`",
    );
    check(
        &field(r#"{"name":"b","type":"bool","argument":"any"}"#),
        "field 2 (`b`): `argument` is none, key, index or optional, not \"any\"",
    );
    check(
        &field(r#"{"name":"b","type":"bool","argument":"index","of":"a"}"#),
        "field `b`: `of` names `a`, which is no list of the same type in the table",
    );
    check(
        &field(r#"{"name":"commands","type":"bool"}"#),
        "field 2 (`commands`): `commands` holds the finer rows of an event and cannot be a field",
    );
}

#[test]
fn tables_complete_each_other() {
    let first = TableText { name: "1", text: r#"[{"name":"p.name","type":"CHARBUF"}]"# };
    let text = r#"{"version":1,"source":"s","plugins":[{"name":"c","version":"0.4.0"}],"fields":[{"name":"p.x","type":"bool"}]}"#;
    let both = FieldTable::read(&[first, TableText { name: "2", text }]).unwrap();
    assert!(both.find("p.name").is_some() && both.find("p.x").is_some());
    let options = both.options(Options::default());
    assert_eq!((options.source.as_str(), options.plugin_version), ("s", Options::default().plugin_version));
    assert_eq!(options.other_plugins, [("c".to_owned(), "0.4.0".to_owned())]);
    let own = r#"{"version":1,"source":"s","plugins":[{"name":"s","version":"7.0.0"}],"fields":[]}"#;
    assert_eq!(read(own).unwrap().options(Options::default()).plugin_version, "7.0.0");
    let other = TableText { name: "3", text: r#"{"version":1,"source":"t","fields":[]}"# };
    let error = FieldTable::read(&[TableText { name: "2", text }, other]).unwrap_err();
    assert_eq!(error.to_string(), "`3`: `source` is `t` here and another in an earlier table");
}

#[test]
fn a_written_table_reads_the_same() {
    let table = FieldTable::castellan();
    let again = read(&table.to_json().to_string()).unwrap();
    let named = |table: &FieldTable| {
        table.fields.iter().filter(|field| field.generic.is_none()).cloned().collect::<Vec<_>>()
    };
    assert_eq!(named(&again), named(&table));
}
