#[path = "golden/parse.rs"]
mod parse;
#[test]
fn go() {
    let text = std::fs::read_to_string("fixtures/golden/parse.json").unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let (mut bad, mut tagged) = (0, 0);
    for c in &cases {
        let got = parse::items(&c["input"]);
        let src = c["input"]["text"].as_str().unwrap();
        let d = harness_layers::document::Document::parse(src);
        let cat: String = d.segments().iter().map(|s| s.span.of(src)).collect();
        assert_eq!(cat, src);
        fn norm(v: &serde_json::Value) -> String { match v { serde_json::Value::Object(m) => { let mut k: Vec<_> = m.iter().map(|(k, v)| format!("{k}={}", norm(v))).collect(); k.sort(); k.join(";") } serde_json::Value::Array(a) => a.iter().map(norm).collect::<Vec<_>>().join("\n"), serde_json::Value::Number(n) => n.as_f64().unwrap().to_string(), v => v.to_string() } }
        if norm(&got) != norm(&c["expect"]) {
            if c.get("tags").is_some() { tagged += 1; if std::env::var("T").is_err() {continue} } else { bad += 1; }
            println!("== {} {:?}\n{}\n--exp", c["name"], c.get("tags"), src);
            for i in c["expect"]["items"].as_array().unwrap() { println!("  {i}"); }
            println!("--got");
            for i in got["items"].as_array().unwrap() { println!("  {i}"); }
        }
    }
    println!("BAD {bad} TAGGED {tagged}");
}
