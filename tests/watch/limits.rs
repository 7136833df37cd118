//! Where the system's events end: overflow, limits, polling; and what an idle watch costs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::scene::{HOME, Scene};
use super::world::{Watch, eventually, folder, has, history, is, known, layer, notes, put, two_notes};

fn saying(text: &str) -> String {
    layer(&[("n1", text), ("n2", "Two.")])
}

/// What a store that knows nothing yet makes of the files.
fn anew(scene: &Scene) -> String {
    let state = scene.path("anew");
    let run = |args: &[&str]| {
        let done = scene.command(args).env("LAYERS_STATE", &state).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    run(&["trust"]);
    run(&["sync"]);
    run(&["list", "--json"])
}

#[test]
fn an_overflow_of_the_queue_is_a_look_at_everything() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    if limit > 200_000 {
        println!("skipped: the queue holds {limit} events");
        return;
    }
    let scene = Scene::repo()
        .global(&layer(&[("g1", "Global."), ("g2", "Also.")]))
        .home(&saying("Use 30 s."))
        .file("app/.harness/app.md", &layer(&[("r1", "Repo."), ("r2", "Gone soon.")]));
    let scene = known(scene);
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    watch.signal("STOP");
    // Events that are equal in a row are one: two names in turn.
    let (one, other) = (folder(&scene).join("scratch1"), folder(&scene).join("scratch2"));
    for _ in 0..=limit / 4 {
        fs::write(&one, "x").unwrap();
        fs::write(&other, "x").unwrap();
    }
    put(&scene.path(HOME), &saying("Use 31 s."));
    let global = scene.read("home/.harness/harness-state.md");
    scene.write("home/.harness/harness-state.md", &global.replace("Global.", "Everywhere."));
    scene.write("app/.harness/app.md", &layer(&[("r1", "Repo.")]));
    watch.signal("CONT");
    watch.until("a rescan", |event| {
        event["event"] == "rescan" && event["why"].as_str().is_some_and(|why| why.contains("overflow"))
    });
    for id in ["n1", "g1", "r2"] {
        watch.changed(0, id);
    }
    assert_eq!(
        scene.run(&["list", "--json"]).ok(),
        anew(&scene).replace(scene.path("").to_str().unwrap(), "@/")
    );
    assert_eq!(history(&scene, "r2").len(), 1);
    for id in ["n2", "g2", "r1"] {
        assert!(history(&scene, id).is_empty());
    }
    watch.end();
}

/// `layers watch` with so many watches; once there is a file `full` in the scene, there are no
/// more to be had, and then there is a file `lowered`.
fn limited(scene: &Scene, watches: usize) -> Option<Watch> {
    const LIMIT: &str = "/proc/sys/user/max_inotify_watches";
    if !has("unshare") {
        return None;
    }
    let allowed = Command::new("unshare").args(["-Ur", "sh", "-c", &format!("echo 1 > {LIMIT}")]).output();
    let allowed = allowed.unwrap();
    if !allowed.status.success() {
        println!("skipped: no limits of our own here: {}", String::from_utf8_lossy(&allowed.stderr).trim());
        return None;
    }
    let layers = scene.command(&["watch", "--json"]);
    let script = format!(
        "echo {watches} > {LIMIT}; (until test -e \"$1/full\"; do sleep 0.05; kill -0 $$ || exit; done; \
         echo 0 > {LIMIT}; : > \"$1/lowered\") > /dev/null 2>&1 & exec \"$0\" watch --json"
    );
    let mut command = Command::new("unshare");
    command
        .args(["-Ur", "sh", "-c", &script])
        .arg(layers.get_program())
        .arg(scene.path(""))
        .current_dir(layers.get_current_dir().unwrap())
        .env_clear()
        .envs(layers.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let watch = Watch::spawn(command);
    watch.until("watching", |event| event["event"] == "watching");
    Some(watch)
}

#[test]
fn a_limit_that_is_lowered_later_is_named_once_too() {
    let scene = known(Scene::repo().home(&saying("Use 30 s.")));
    let Some(watch) = limited(&scene, 100) else { return };
    watch.barrier(&scene);
    assert!(!watch.events().iter().any(|event| event["event"] == "polling"), "{:#?}", watch.events());
    fs::write(scene.path("full"), "").unwrap();
    eventually("the limit", || scene.path("lowered").exists());
    // Two folders that were not there before.
    scene.write("app/.harness/app.md", &layer(&[("r1", "Repo.")]));
    watch.until("the layer", |event| is(event, "changed", ".harness/app.md"));
    for text in ["Repo's.", "Repo's own."] {
        let mark = watch.mark();
        put(&scene.path("app/.harness/app.md"), &layer(&[("r1", text)]));
        watch.changed(mark, "r1");
    }
    // What is watched already still is.
    let mark = watch.mark();
    put(&scene.path(HOME), &saying("Use 31 s."));
    watch.changed(mark, "n1");
    let events = watch.end();
    let told: Vec<_> = events.iter().filter(|event| event["event"] == "polling").collect();
    assert_eq!(told.len(), 1, "{events:#?}");
    assert!(told[0]["why"].as_str().unwrap().contains("max_user_watches"), "{told:?}");
}

#[test]
fn the_limit_of_watches_is_named_and_polling_goes_on() {
    for watches in [0, 1, 2] {
        let scene = known(
            Scene::repo()
                .global(&layer(&[("g1", "Global.")]))
                .home(&saying("Use 30 s."))
                .file("app/.harness/app.md", &layer(&[("r1", "Repo.")])),
        );
        let Some(watch) = limited(&scene, watches) else { return };
        let told = watch.until("polling", |event| event["event"] == "polling");
        assert!(told["why"].as_str().unwrap().contains("max_user_watches"), "{told}");
        for (path, id, text) in
            [(HOME, "n1", saying("Use 31 s.")), ("app/.harness/app.md", "r1", layer(&[("r1", "Repo's.")]))]
        {
            let mark = watch.mark();
            put(&scene.path(path), &text);
            watch.changed(mark, id);
        }
        // A layer that comes later, too.
        fs::write(folder(&scene).join("later.md"), layer(&[("l1", "Later.")])).unwrap();
        watch.until("the new layer", |event| is(event, "changed", "later.md"));
        let events = watch.end();
        let told = events.iter().filter(|event| event["event"] == "polling").count();
        assert_eq!(told, 1, "a limit is one thing to know: {events:#?}");
    }
}

#[test]
fn a_repository_is_not_watched_as_a_tree() {
    let scene = Scene::repo().file("app/.harness/app.md", &layer(&[("r1", "Repo.")]));
    for at in 0..3_000 {
        fs::create_dir_all(scene.path(&format!("app/node_modules/p{}/d{at}", at / 100))).unwrap();
    }
    let scene = known(scene);
    let watch = Watch::start(&scene, &[]);
    scene.write("app/.harness/app.md", &layer(&[("r1", "Repo's.")]));
    watch.changed(0, "r1");
    let mut watches = 0;
    for info in fs::read_dir(format!("/proc/{}/fdinfo", watch.pid())).unwrap() {
        let info = fs::read_to_string(info.unwrap().path()).unwrap_or_default();
        watches += info.lines().filter(|line| line.starts_with("inotify")).count();
    }
    assert!((1..=10).contains(&watches), "{watches}");
    watch.end();
}

#[test]
fn polling_sees_edits_of_equal_size_within_a_second() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &["--poll"]);
    watch.barrier(&scene);
    // However the looks fall, the last text is found.
    for at in 0..4 {
        scene.write(HOME, &saying(&format!("Use {at}1 s.")));
        thread::sleep(Duration::from_millis(300));
        scene.write(HOME, &saying(&format!("Use {at}2 s.")));
        let text = format!("Use {at}2 s.");
        eventually("the last text", || {
            history(&scene, "n1").last().is_some_and(|(_, held)| held.contains(&text))
        });
    }
    for name in ["new.md", "newer.md"] {
        fs::write(folder(&scene).join(name), layer(&[("x1", "New.")])).unwrap();
        watch.until("a new layer", |event| is(event, "changed", name));
    }
    let mark = watch.mark();
    fs::remove_dir_all(folder(&scene)).unwrap();
    watch.until_after(mark, "held", |event| is(event, "held", "app.md"));
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 99 s."));
    watch.changed(mark, "n1");
    assert_eq!(notes(&scene).iter().filter(|(id, _)| id == "n1").count(), 1);
    watch.end();
}

/// User and system time of a process, in ticks.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit_once(')').unwrap().1;
    rest.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
fn an_idle_watch_does_nothing() {
    if !Path::new("/proc/self/stat").exists() {
        println!("skipped: there is no /proc here");
        return;
    }
    let scene = Scene::new();
    for at in 0..100 {
        let notes: String = (0..500)
            .map(|note| format!("---\nid: p{at}n{note}\n---\n\nNote {note} of project {at}.\n\n"))
            .collect();
        scene.write(&format!("home/.harness/harness-state/p{at}.md"), &notes);
    }
    let watch = Watch::start(&scene, &[]);
    for at in 0..100 {
        watch.until("all layers", |event| is(event, "changed", &format!("/p{at}.md")));
    }
    watch.barrier(&scene);
    let before = ticks(watch.pid());
    thread::sleep(Duration::from_secs(3));
    let used = ticks(watch.pid()) - before;
    let status = fs::read_to_string(format!("/proc/{}/status", watch.pid())).unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    println!("{used} ticks in 3 s; {memory} with 100 layers of 500 notes");
    assert!(used <= 2, "{used} ticks");
    watch.end();
}
