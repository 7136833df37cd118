//! Pipes that close early.

use std::process::Stdio;

use super::scene::Scene;

#[test]
fn a_closed_pipe_is_no_error() {
    let notes: String = (0..5000).map(|at| format!("---\nid: n{at}\n---\n\nA fact.\n\n")).collect();
    let scene = Scene::new().home(&notes);
    for args in [&["list"][..], &["list", "--json"], &["render", "--model", "a/m", "--explain"], &["--help"]]
    {
        let mut command = scene.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(
            (done.status.code(), err.contains("panic"), err.contains("error")),
            (Some(0), false, false),
            "{args:?}: {err}"
        );
    }
}
