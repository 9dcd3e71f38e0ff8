//! The keys of the table `review` → [`ReviewSettings`]. It must not read the key file.

use castellan_policy::{ReviewProvider, ReviewSettings};
use castellan_review::{Endpoint, Program, Roots};

use super::{count, flag, parsed, text, texts, word};
use crate::config::merge::Settled;
use crate::limits::REVIEW_TIME_MS_MAX;

/// Returns the settings about reviews. Returns an error if they make no reviewer. Without a provider, the other keys may
/// stay.
pub(super) fn settings(settled: &Settled) -> Result<ReviewSettings, String> {
    let settings = ReviewSettings {
        provider: parsed(settled, "review.provider")?,
        url: text(settled, "review.url"),
        model: text(settled, "review.model"),
        key_file: text(settled, "review.key_file"),
        command: texts(settled, "review.command"),
        time_ms: count(settled, "review.time_ms").unwrap_or_default(),
        per_hour: count(settled, "review.per_hour").unwrap_or_default(),
        tokens_per_day: count(settled, "review.tokens_per_day").unwrap_or_default(),
        opaque: word(settled, "review.opaque") == Some("review"),
        with_host: flag(settled, "review.with_host").unwrap_or_default(),
    };
    if settings.time_ms > REVIEW_TIME_MS_MAX {
        return Err(format!(
            "`review.time_ms` is {}: write at most {REVIEW_TIME_MS_MAX}, because the agent's hook does not wait longer",
            settings.time_ms
        ));
    }
    match settings.provider {
        ReviewProvider::Off => {}
        ReviewProvider::OpenAi | ReviewProvider::Anthropic => check_endpoint(&settings)?,
        ReviewProvider::Command => check_program(&settings)?,
    }
    Ok(settings)
}

fn check_endpoint(settings: &ReviewSettings) -> Result<(), String> {
    let ReviewSettings { provider, url, model, key_file, command, .. } = settings;
    let provider = provider.as_str();
    for (name, value) in [("url", url), ("model", model)] {
        if value.is_empty() {
            return Err(format!("`review.provider` is `{provider}`: it needs `review.{name}`"));
        }
    }
    if !command.is_empty() {
        return Err(format!(
            "`review.provider` is `{provider}`, and `review.command` is set: remove it, or write the provider `command`"
        ));
    }
    if !key_file.is_empty() && !key_file.starts_with('/') {
        return Err(format!("`review.key_file` is `{key_file}`: write an absolute path"));
    }
    Endpoint::new(url, model, None, Roots::default()).map(drop).map_err(|why| format!("`review.url`: {why}"))
}

fn check_program(settings: &ReviewSettings) -> Result<(), String> {
    let ReviewSettings { url, model, key_file, command, .. } = settings;
    for (name, value) in [("url", url), ("model", model), ("key_file", key_file)] {
        if !value.is_empty() {
            return Err(format!(
                "`review.provider` is `command`, and `review.{name}` is set: remove it, or write the provider of an \
                 endpoint"
            ));
        }
    }
    if command.is_empty() {
        return Err("`review.provider` is `command`: it needs `review.command`".to_owned());
    }
    let argv = command.iter().map(Into::into).collect();
    Program::new(argv, Vec::new()).map(drop).map_err(|why| format!("`review.command`: {why}"))
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn settings_that_make_no_reviewer_are_errors() {
        const HTTP: &str = "provider = \"openai\"\nurl = \"http://127.0.0.1:1/v1\"\n";
        const COMMAND: &str = "provider = \"command\"\ncommand = [\"/r\", \"a b\"]\n";
        let check = |keys: &str, expected: &str| {
            let read = Config::parse(&format!("version = 1\n[review]\n{keys}"));
            match read {
                Ok(config) => assert_eq!(config.settings.review.provider.as_str(), expected, "{keys}"),
                Err(why) => assert!(!expected.is_empty() && why.contains(expected), "{keys}: {why}"),
            }
        };
        check("", "off");
        check("provider = \"off\"\nurl = \"x\"\n", "off");
        check(&format!("{HTTP}model = \"m\"\n"), "openai");
        check(COMMAND, "command");
        check(
            "provider = \"anthropic\"\nurl = \"https://a.example\"\nmodel = \"m\"\nkey_file = \"/k\"\n",
            "anthropic",
        );
        check("provider = \"openai\"\nmodel = \"m\"\n", "it needs `review.url`");
        check(HTTP, "it needs `review.model`");
        check(&format!("{HTTP}model = \"m\"\ncommand = [\"/r\"]\n"), "`review.command` is set");
        check(&format!("{HTTP}model = \"m\"\nkey_file = \"k\"\n"), "write an absolute path");
        check("provider = \"openai\"\nurl = \"http://a.example\"\nmodel = \"m\"\n", "`review.url`: ");
        check("provider = \"command\"\n", "it needs `review.command`");
        check("provider = \"command\"\ncommand = [\"r\"]\n", "`review.command`: ");
        check(&format!("{COMMAND}url = \"http://127.0.0.1\"\n"), "`review.url` is set");
        check(&format!("{COMMAND}key_file = \"/k\"\n"), "`review.key_file` is set");
        check(&format!("{COMMAND}time_ms = 5000\n"), "command");
        check(&format!("{COMMAND}time_ms = 5001\n"), "write at most 5000");
        check("provider = \"other\"\n", "other");
    }

    #[test]
    fn the_highest_layer_decides_about_the_whole_command() {
        use std::path::Path;

        use castellan_event::Layer;

        use crate::config::LayerText;

        let of = |organisation: &str, user: &str| {
            let text = |layer, text| LayerText { layer, file: Path::new("c"), text };
            let layers = [text(Layer::Organisation, organisation), text(Layer::User, user)];
            Config::of(&layers).unwrap().settings.review
        };
        let organisation = "version = 1\n[review]\nprovider = \"command\"\ncommand = [\"/o\", \"1\"]\n";
        let user = "version = 1\n[review]\nprovider = \"command\"\ncommand = [\"/u\", \"2\"]\n";
        assert_eq!(of(organisation, user).command, ["/o", "1"]);
        assert_eq!(of("version = 1\n", user).command, ["/u", "2"]);
        // A locked key that the organisation does not set stays empty.
        let locked = "version = 1\nlocked = [\"review.provider\", \"review.command\"]\n";
        let locked = of(locked, user);
        assert_eq!((locked.is_on(), locked.command), (false, Vec::new()));
    }
}
