//! Texts that come from the command line, standard input or a file.

use std::io::Read as _;
use std::path::Path;

use super::failure::{Exit, Failure};
use crate::files::{self, Found};

/// The text of a note: as given, `-` for standard input, or from a file. Line ends at its
/// end go; an empty text is no text.
pub(crate) fn content(given: Option<&str>, file: Option<&Path>) -> Result<Option<String>, Failure> {
    let text = match (given, file) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("the text is given twice, on the command line and with --file"));
        }
        (Some("-"), None) => stdin()?,
        (Some(text), None) => text.to_owned(),
        (None, Some(path)) => match files::read_text(path)? {
            Found::Content(text) => text,
            Found::Absent => {
                return Err(Failure::new(Exit::Broken, format_args!("there is no file {}", path.display())));
            }
        },
        (None, None) => return Ok(None),
    };
    let text = text.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Err(Failure::usage("the text is empty").help("say in a line or two what the note says"));
    }
    Ok(Some(text.to_owned()))
}

fn stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Broken, format_args!("cannot read standard input: {error}")))?;
    String::from_utf8(bytes).map_err(|_| Failure::usage("standard input is not UTF-8"))
}
