use crate::found::Found;
#[derive(Debug, Clone, Default)]
pub struct Start {
    pub cwd: Option<String>,
    pub home: Option<String>,
    pub env: Vec<(String, String)>,
    pub complete_env: bool,
}
pub fn commands(_text: &str, _start: &Start) -> Found {
    Found::default()
}
