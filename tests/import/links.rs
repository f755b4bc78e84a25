//! Links of the documentation: those of pages lead to files and headings that exist, and doc comments, which are
//! read on another site, have none to files.

use std::path::{Path, PathBuf};

/// Files with an extension below a folder, without build outputs and hidden folders.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let skipped = ["target", "corpus", "artifacts", "coverage"];
            if !name.starts_with('.') && !skipped.contains(&&*name) {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

/// The targets of the links and images in a text, outside blocks of code.
fn targets(text: &str) -> Vec<String> {
    let mut code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        code ^= line.trim_start().starts_with("```");
        if code {
            continue;
        }
        let after = line.split("](").skip(1);
        found.extend(after.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    found
}

/// The anchor that a heading gets on the usual sites.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// What is wrong with a link of a page.
fn broken(page: &Path, text: &str, target: &str) -> Option<String> {
    // The front page of the library's documentation has links to items.
    if ["://", "::"].iter().any(|other| target.contains(other)) {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = page.parent().unwrap_or(page).join(file);
    let other = match file {
        "" => text.to_owned(),
        _ if !path.exists() => return Some(format!("{}: {target}", page.display())),
        _ if heading.is_empty() => return None,
        _ => std::fs::read_to_string(&path).unwrap_or_default(),
    };
    let missing = !heading.is_empty() && !anchors(&other).iter().any(|a| a == heading);
    missing.then(|| format!("{}: no heading {target}", page.display()))
}

#[test]
fn links_of_pages_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = Vec::new();
    files(root, "md", &mut pages);
    let mut links = 0;
    let mut wrong = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("a readable page");
        for target in targets(&text) {
            links += 1;
            wrong.extend(broken(page, &text, &target));
        }
    }
    assert!(pages.len() > 10 && links > 30, "{links} links");
    assert_eq!(wrong, Vec::<String>::new());
    // The check itself sees what is missing.
    let page = root.join("README.md");
    for target in ["nowhere.md", "README.md#nowhere", "#nowhere"] {
        assert!(broken(&page, "# Here", target).is_some(), "{target}");
    }
    assert_eq!(broken(&page, "# Here, too", "#here-too"), None);
}

#[test]
fn doc_comments_have_no_links_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for folder in ["src", "cli/src", "render/src", "workload/src"] {
        files(&root.join(folder), "rs", &mut sources);
    }
    assert!(sources.len() > 100);
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    for source in sources {
        let text = std::fs::read_to_string(&source).expect("a readable source");
        let comments = text.lines().map(str::trim_start);
        let comments = comments.filter_map(|l| l.strip_prefix("///").or(l.strip_prefix("//!")));
        texts.push((source, comments.collect::<Vec<_>>().join("\n")));
    }
    let page = root.join("src/front_page.md");
    let text = std::fs::read_to_string(&page).expect("the front page");
    texts.push((page, text));
    let endings = [".md", ".rs", ".wgsl", ".png", ".json", ".glb", ".toml"];
    for (source, text) in texts {
        for target in targets(&text) {
            let file = target.split('#').next().unwrap_or_default();
            let local = !target.contains("://") && endings.iter().any(|e| file.ends_with(e));
            assert!(!local, "{}: {target}", source.display());
        }
    }
}
