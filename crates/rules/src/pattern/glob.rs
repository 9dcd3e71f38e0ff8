//! `fnmatch(3)` without flags, as Falco's `glob` uses it: `*` and `?` match `/` and leading dots too. It works on
//! bytes, as in the C locale. Time is at most pattern length times text length.

/// A compiled glob.
#[derive(Debug)]
pub(crate) struct Glob {
    /// `None` for a pattern that matches nothing (it ends in a backslash).
    tokens: Option<Box<[Token]>>,
}

#[derive(Debug, PartialEq)]
enum Token {
    Byte(u8),
    Any,
    Star,
    /// One byte of a set.
    Set(Box<[bool; 256]>),
}

impl Glob {
    pub(crate) fn new(pattern: &[u8]) -> Self {
        Self { tokens: tokens(pattern).map(Into::into) }
    }

    /// Reports whether no text matches.
    pub(crate) fn matches_nothing(&self) -> bool {
        self.tokens.is_none()
    }

    /// Reports whether every text matches.
    pub(crate) fn matches_everything(&self) -> bool {
        self.tokens.as_deref().is_some_and(|tokens| matches!(tokens, [Token::Star]))
    }

    /// Returns the runs of plain bytes: every match contains each run.
    pub(crate) fn literals(&self) -> Vec<Box<[u8]>> {
        let plain = |token: &Token| if let Token::Byte(byte) = token { Some(*byte) } else { None };
        let runs = self.tokens.as_deref().unwrap_or_default().split(|token| plain(token).is_none());
        runs.map(|run| run.iter().filter_map(plain).collect::<Box<[u8]>>())
            .filter(|run| !run.is_empty())
            .collect()
    }

    /// Reports whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let Some(tokens) = &self.tokens else { return false };
        let (mut token, mut at) = (0, 0);
        // After a mismatch, only the last star must take one byte more.
        let mut star: Option<(usize, usize)> = None;
        while let Some(byte) = text.get(at) {
            match tokens.get(token) {
                Some(Token::Star) => {
                    star = Some((token, at));
                    token += 1;
                }
                Some(found) if found.takes(*byte) => {
                    token += 1;
                    at += 1;
                }
                _ => {
                    let Some((star_token, star_at)) = star else { return false };
                    star = Some((star_token, star_at + 1));
                    token = star_token + 1;
                    at = star_at + 1;
                }
            }
        }
        tokens.iter().skip(token).all(|token| matches!(token, Token::Star))
    }
}

impl Token {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => *own == byte,
            Self::Any => true,
            Self::Star => false,
            Self::Set(set) => set.get(usize::from(byte)).copied().unwrap_or_default(),
        }
    }
}

fn tokens(pattern: &[u8]) -> Option<Vec<Token>> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        at += 1;
        tokens.push(match byte {
            b'?' => Token::Any,
            b'*' if matches!(tokens.last(), Some(Token::Star)) => continue,
            b'*' => Token::Star,
            b'\\' => {
                at += 1;
                Token::Byte(*pattern.get(at - 1)?)
            }
            b'[' => match set(pattern, at) {
                Some((set, end)) => {
                    at = end;
                    Token::Set(set)
                }
                // A bracket without its `]` is a plain byte.
                None => Token::Byte(b'['),
            },
            byte => Token::Byte(*byte),
        });
    }
    Some(tokens)
}

/// Returns the set of a bracket expression that begins at `at`, and its end.
fn set(pattern: &[u8], mut at: usize) -> Option<(Box<[bool; 256]>, usize)> {
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let first = at;
    let mut set = Box::new([false; 256]);
    loop {
        match pattern.get(at)? {
            b']' if at > first => break,
            b'[' if pattern.get(at + 1) == Some(&b':') => match class(pattern.get(at + 2..)?) {
                Some((contains, len)) => {
                    (0..=u8::MAX).filter(contains).for_each(|byte| insert(&mut set, byte, byte));
                    at += len + 4;
                    continue;
                }
                None => insert(&mut set, b'[', b'['),
            },
            _ => {
                let (low, next) = member(pattern, at)?;
                let range = pattern.get(next) == Some(&b'-')
                    && pattern.get(next + 1).is_some_and(|byte| *byte != b']');
                let (high, next) = if range { member(pattern, next + 1)? } else { (low, next) };
                insert(&mut set, low, high);
                at = next;
                continue;
            }
        }
        at += 1;
    }
    if negated {
        set.iter_mut().for_each(|member| *member = !*member);
    }
    Some((set, at + 1))
}

/// Returns one byte of a bracket expression, perhaps escaped, and the start of the next.
fn member(pattern: &[u8], at: usize) -> Option<(u8, usize)> {
    match pattern.get(at)? {
        b'\\' => Some((*pattern.get(at + 1)?, at + 2)),
        byte => Some((*byte, at + 1)),
    }
}

fn insert(set: &mut [bool; 256], low: u8, high: u8) {
    for byte in low..=high {
        if let Some(member) = set.get_mut(usize::from(byte)) {
            *member = true;
        }
    }
}

/// Reports whether a byte is in a class.
type Contains = fn(&u8) -> bool;

/// Returns the members of a named class such as `alpha:]`, and the length of its name.
fn class(rest: &[u8]) -> Option<(Contains, usize)> {
    const CLASSES: [(&str, Contains); 12] = [
        ("alnum", u8::is_ascii_alphanumeric),
        ("alpha", u8::is_ascii_alphabetic),
        ("blank", |byte| matches!(byte, b' ' | b'\t')),
        ("cntrl", u8::is_ascii_control),
        ("digit", u8::is_ascii_digit),
        ("graph", u8::is_ascii_graphic),
        ("lower", u8::is_ascii_lowercase),
        ("print", |byte| matches!(byte, b' '..=b'~')),
        ("punct", u8::is_ascii_punctuation),
        ("space", |byte| matches!(byte, b' ' | b'\t'..=b'\r')),
        ("upper", u8::is_ascii_uppercase),
        ("xdigit", u8::is_ascii_hexdigit),
    ];
    let named = |name: &str| rest.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b":]"));
    CLASSES.iter().find(|(name, _)| named(name)).map(|(name, contains)| (*contains, name.len()))
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn fnmatch_without_flags() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", ".a/b", true),
            ("?", "/", true),
            ("?", "", false),
            ("rm*", "rm -rf /", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxcxxb", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a]", "b", true),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            ("[[:digit:]][[:alpha:]]", "1x", true),
            ("[[:digit:]]", "x", false),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("a\\", "a", false),
            ("[\\]]", "]", true),
            ("?", "é", false),
        ] {
            assert_eq!(
                Glob::new(pattern.as_bytes()).matches(text.as_bytes()),
                expected,
                "{pattern} on {text}"
            );
        }
    }
}
