//! The property list of a service for launchd: a pure text. It must not know programs or directories. No macOS has read
//! it yet.

use std::path::Path;

use castellan_wire::DAEMON_ENVIRONMENT;

use super::definition::Definition;
use super::files::{MARK_IN_XML, Rendered};

/// Returns the label of the service.
pub(crate) fn label(definition: &Definition) -> String {
    match definition.name.strip_prefix("castellan-") {
        None => "dev.castellan.daemon".to_owned(),
        Some(hash) => format!("dev.castellan.daemon.{hash}"),
    }
}

/// Returns the file; `None` if a path has characters that a property list cannot have.
pub(crate) fn file(definition: &Definition) -> Option<Rendered> {
    let label = label(definition);
    let Definition { program, home, .. } = definition;
    let (program, dir) = (in_xml(program)?, in_xml(home.dir())?);
    let (stopped, stderr) = (in_xml(&home.stopped_marker())?, in_xml(&home.daemon_stderr())?);
    let variables: String = DAEMON_ENVIRONMENT
        .iter()
        .map(|(name, value)| format!("    <key>{name}</key>\n    <string>{value}</string>\n"))
        .collect();
    let text = format!(
        "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
{MARK_IN_XML}
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
  <key>Label</key>
  <string>{label}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
    <string>daemon</string>
    <string>--home</string>
    <string>{dir}</string>
  </array>
  <!-- Runs as long as this file does not exist: `castellan stop` writes it. -->
  <key>KeepAlive</key>
  <dict>
    <key>PathState</key>
    <dict>
      <key>{stopped}</key>
      <false/>
    </dict>
  </dict>
  <key>ThrottleInterval</key>
  <integer>1</integer>
  <!-- The daemon finishes the calls in its hands, for up to 8 s. -->
  <key>ExitTimeOut</key>
  <integer>15</integer>
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>WorkingDirectory</key>
  <string>/</string>
  <key>Umask</key>
  <integer>63</integer>
  <key>EnvironmentVariables</key>
  <dict>
{variables}  </dict>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>4096</integer>
  </dict>
  <key>StandardErrorPath</key>
  <string>{stderr}</string>
</dict>
</plist>
"
    );
    Some(Rendered { name: format!("{label}.plist"), text })
}

/// Writes a path as the text of an element.
fn in_xml(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control))?;
    Some(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(home: &str) -> Definition {
        Definition {
            name: "castellan".to_owned(),
            program: "/Users/ada/.local/bin/castellan".into(),
            home: castellan_wire::Home::new(home).unwrap(),
        }
    }

    #[test]
    fn the_agent_of_the_default_home() {
        let Rendered { name, text } = file(&definition("/Users/ada/.local/share/castellan")).unwrap();
        assert_eq!(name, "dev.castellan.daemon.plist");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_path_is_text_and_no_element() {
        let text = file(&definition("/Users/a&b/<string>")).unwrap().text;
        assert!(text.contains("<string>/Users/a&amp;b/&lt;string&gt;</string>"), "{text}");
        assert_eq!(file(&definition("/Users/a\nb")), None);
    }
}
