//! A remote's address, without what differs between two clones of one repository. Pure.

/// Where a repository was cloned from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remote {
    /// `host/path`.
    Host(String),
    /// A folder, as it is spelled.
    Folder(String),
}

/// Ports that need not be said.
const USUAL: [(&str, &str); 4] = [("ssh", "22"), ("https", "443"), ("http", "80"), ("git", "9418")];

/// Reads the address: user, password, scheme and a last `.git` say nothing about which
/// repository it is; `git@host:path` is `ssh://git@host/path`.
pub(super) fn parse(url: &str) -> Option<Remote> {
    let url = url.trim();
    if url.is_empty() {
        return None;
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return Some(Remote::Folder(without_end(rest).to_owned()));
        }
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let port = USUAL.iter().find(|(usual, _)| *usual == scheme).map(|(_, port)| format!(":{port}"));
        let host = port.and_then(|port| host.strip_suffix(&*port)).unwrap_or(host);
        return Some(at_host(host, path));
    }
    match url.split_once(':') {
        Some((host, path)) if !host.is_empty() && !host.contains('/') => {
            Some(at_host(host.rsplit_once('@').map_or(host, |(_, host)| host), path))
        }
        _ => Some(Remote::Folder(without_end(url).to_owned())),
    }
}

fn at_host(host: &str, path: &str) -> Remote {
    let path = without_end(path.trim_start_matches('/'));
    Remote::Host(format!("{}/{path}", host.to_ascii_lowercase()))
}

/// Without slashes and `.git` at the end.
fn without_end(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.strip_suffix(".git").filter(|rest| !rest.is_empty()).unwrap_or(path).trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_repository_are_one() {
        for url in [
            "https://github.com/o/r.git",
            "https://me:secret@GitHub.com/o/r/",
            "https://github.com:443/o/r",
            "ssh://git@github.com/o/r.git",
            "ssh://git@github.com:22/o/r.git/",
            "git@github.com:o/r.git",
            "github.com:/o/r",
            "git://github.com/o/r",
        ] {
            assert_eq!(parse(url), Some(Remote::Host("github.com/o/r".into())), "{url}");
        }
        for url in ["/srv/r", "/srv/r.git", "/srv/r/.git/", "file:///srv/r.git"] {
            assert_eq!(parse(url), Some(Remote::Folder("/srv/r".into())), "{url}");
        }
        assert_eq!(parse("../r.git"), Some(Remote::Folder("../r".into())));
        assert_eq!(parse(" "), None);
    }

    #[test]
    fn others_stay_others() {
        let base = parse("https://host/o/r");
        for url in ["https://host/o/R", "https://host:8443/o/r", "https://other/o/r", "https://host/fork/r"] {
            assert_ne!(parse(url), base, "{url}");
        }
    }
}
