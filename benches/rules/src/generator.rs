//! Synthetic rules. The same number always gives the same rules.
//!
//! [`MATCHING`] of `count` rules match the matched call, for any `count`; they are spread over the file. 60 % of the
//! others test the call's own tool, and its command by `contains`, `startswith` or `regex`. These share the words of
//! real commands (`git `, `rm -rf /`, `curl `, which the calls contain too) beside a rare word each: an index on the
//! first or the longest literal finds thousands of candidates. 39 % use the other operators (`in`, `=`, `!=`, `pmatch`,
//! `glob`, `iglob`, `icontains`, `endswith`, numbers, `exists`, `not`, nested `and`/`or`, transformers) on other
//! fields. 1 % cannot be indexed: negations and comparisons of numbers. Every fifth rule uses a macro or a list. Rare
//! words consist of syllables and a number, so no call contains a rule's word by chance.

use std::fmt::Write as _;

/// Rules that match the matched call.
pub(crate) const MATCHING: usize = 5;

const LISTS_AND_MACROS: &str = "
- list: shell_tools
  items: [Bash, PowerShell, Monitor]
- list: safe_branches
  items: [main, develop, \"release/1\"]
- macro: is_shell
  condition: tool.name in (shell_tools)
- macro: writes_file
  condition: (tool.name = Write or tool.name = Edit or tool.name in (NotebookEdit, MultiEdit))
- macro: quiet_branch
  condition: tool.input_command endswith main and not tool.input_command contains \" --force\"
";

/// Conditions that the matched call meets.
const MET: [&str; MATCHING] = [
    "is_shell and tool.input_command contains \"git push\" and tool.input_command contains --force",
    "tool.name = Bash and tool.input_command regex \"((.|\\n)* )?git +push( [^;&|]*)? +(-f|--force)([ ;&|](.|\\n)*)?\"",
    "tool.name = Bash and tool.input_command startswith \"git push --force\"",
    "tool.name in (Bash, Write) and agent.cwd pmatch (/home/*/project) and tool.input_command icontains \"GIT PUSH\"",
    "is_shell and (tool.input_command glob \"git push*main*\" or tool.file_path startswith /home) and not quiet_branch",
];

/// Returns `count` rules as the YAML of one file.
pub(crate) fn rules(count: usize) -> String {
    let mut text = LISTS_AND_MACROS.to_owned();
    let apart = (count / MATCHING).max(1);
    for number in 0..count {
        let met = MET.get(number / apart).filter(|_| number % apart == apart / 2);
        let condition = met.map_or_else(|| condition(number), |met| (*met).to_owned());
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "- rule: Synthetic rule {number}\n  desc: Rule {number} of the benchmark.\n  condition: >\n    {condition}\n  \
             output: \"rule {number} stops %tool.name in %agent.cwd: %tool.input_command\"\n  priority: WARNING\n  \
             source: coding_agent\n  tags: [coding_agent_deny, T1485]\n"
        );
    }
    text
}

/// Returns a condition that the calls do not meet.
fn condition(number: usize) -> String {
    let rare = word(number);
    let other = word(number + 1_000_003);
    if number % 100 == 99 {
        return match number / 100 % 2 {
            0 => format!("not tool.name in (shell_tools) and agent.pid > {}", number + 5),
            _ => format!(
                "agent.pid >= {} and not agent.cwd startswith /{rare}",
                4_000_000_000u64 + number as u64
            ),
        };
    }
    match number % 20 {
        0 => format!(
            "is_shell and tool.input_command contains \"git \" and tool.input_command contains {rare}"
        ),
        1 => format!("tool.name = Bash and tool.input_command contains \"rm -rf /{rare}\""),
        2 => format!(
            "tool.name = Bash and tool.input_command contains \"curl \" and tool.input_command contains {rare} and not tool.input_command contains {other}"
        ),
        3 => format!("tool.name = Bash and tool.input_command startswith \"git push {rare}\""),
        4 => format!(
            "tool.name = Bash and tool.input_command startswith \"rm -rf /{rare}\" and tool.name != Monitor"
        ),
        5 => format!(
            "is_shell and (tool.input_command startswith \"{rare} \" or tool.input_command startswith \"sudo {rare} \")"
        ),
        6 => format!("tool.name = Bash and tool.input_command regex \".*git +[a-z]+ +{rare}.*\""),
        7 => format!(
            "tool.name = Bash and tool.input_command regex \"((.|\\n)*[;&|])? *(sudo +)?{rare}( [^;&|\\n]*)? +(-f|--force)([ ;&|](.|\\n)*)?\""
        ),
        8 => format!(
            "tool.name = Bash and tool.input_command contains \"curl \" and tool.input_command regex \".*(curl|wget) .*({rare}|{other})[.](sh|py).*\""
        ),
        9 => format!(
            "tool.name = Bash and tool.input_command contains \" --{rare}=\" and (tool.input_command contains \"push\" or tool.input_command contains \"{other}\")"
        ),
        10 => format!(
            "tool.name = Bash and tool.input_command contains \"rm \" and tool.input_command contains \"/{rare}/\" and agent.permission_mode != plan"
        ),
        11 => format!(
            "tool.name = Bash and tool.input_command startswith \"curl \" and tool.input_command contains \"https://{rare}.example\""
        ),
        12 => format!("writes_file and tool.file_path startswith /srv/{rare}/"),
        13 => format!("writes_file and tool.real_file_path pmatch (/etc/{rare}, \"/home/*/{other}\")"),
        14 => format!("tool.name = Read and tool.file_path glob \"*/{rare}/*.p?m\""),
        15 => format!("is_shell and tool.input_command icontains {}", rare.to_uppercase()),
        16 => format!("tool.name in (Write, Read) and tool.file_name in ({rare}, {other}, \"{rare}.bak\")"),
        17 => {
            format!("mcp.server = {rare} and mcp.tool exists and mcp.args contains {other} and agent.pid > 1")
        }
        18 => format!(
            "(tool.name = Write or (tool.name = Edit and not agent.model = {other})) and (tool.file_path endswith .{rare} or tolower(tool.file_name) = {rare})"
        ),
        _ => format!("agent.session_id = {rare} and tool.input_command iglob \"*DROP*{other}*\""),
    }
}

/// Returns a unique word.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "za", "qu", "lo", "mi", "ver", "tox", "ny", "pra", "dju", "sel", "wu", "kha", "ost", "ib", "fen",
        "gro",
    ];
    let mut rest = number.wrapping_mul(2_654_435_761) >> 4;
    let mut word = String::new();
    for _ in 0..3 {
        word.push_str(SYLLABLES.get(rest % SYLLABLES.len()).copied().unwrap_or_default());
        rest /= SYLLABLES.len();
    }
    let _ = write!(word, "{number}");
    word
}
