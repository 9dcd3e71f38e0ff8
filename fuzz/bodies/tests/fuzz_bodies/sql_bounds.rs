//! Hostile SQL on a small stack: nesting in every way of the grammar, up to the limits and over them.

use castellan_fuzz_bodies::sql;

const STACK_BYTES: usize = 1024 * 1024;

/// The repeated text, and its closer.
const NESTS: [(&str, &str); 46] = [
    ("(", ")"),
    ("((", "))"),
    ("(SELECT ", ")"),
    ("(SELECT (", "))"),
    ("CASE WHEN ", " THEN 1 END"),
    ("CASE ", " WHEN 1 THEN 1 END"),
    ("NOT ", ""),
    ("- ", ""),
    ("+ ", ""),
    ("~ ", ""),
    ("1+", ""),
    ("1 OR ", ""),
    ("a.", ""),
    ("f(", ")"),
    ("f(a => ", ")"),
    ("CAST(", " AS INT)"),
    ("TRY_CAST(", " AS INT)"),
    ("EXISTS (SELECT ", ")"),
    ("INTERVAL ", ""),
    ("ARRAY[", "]"),
    ("[", "]"),
    ("{a: ", "}"),
    ("MAP {a: ", "}"),
    ("STRUCT(", ")"),
    ("x -> ", ""),
    ("1 IN (", ")"),
    ("1 BETWEEN ", " AND 1"),
    ("SUBSTRING(", " FROM 1)"),
    ("EXTRACT(year FROM ", ")"),
    ("POSITION(", " IN 'a')"),
    ("COALESCE((", "))"),
    ("1::", ""),
    ("a[", "]"),
    ("PRIOR ", ""),
    ("ROW(", ")"),
    ("(1, ", ")"),
    ("DATE ", ""),
    ("1 UNION SELECT ", ""),
    ("1 FROM (SELECT ", ") x"),
    ("* FROM ((", "))"),
    ("* FROM a JOIN (", ")"),
    ("JOIN ", ""),
    ("a JOIN ", ""),
    ("1 FROM a WHERE (", ")"),
    ("1 LIKE ", ""),
    ("CONVERT(", ", INT)"),
];

/// The starts of statements.
const STARTS: [&str; 5] =
    ["SELECT ", "EXPLAIN SELECT ", "DELETE FROM a WHERE ", "CREATE TABLE a (b ", "SELECT * FROM "];

#[test]
fn nothing_overflows_the_stack() {
    let all = || {
        for start in STARTS {
            for (open, close) in NESTS {
                for times in [12, 990] {
                    sql(format!("{start}{}1{}", open.repeat(times), close.repeat(times)).as_bytes());
                }
                sql(format!("{start}{}", open.repeat(300)).as_bytes());
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(all).unwrap().join().unwrap();
}
