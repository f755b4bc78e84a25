//! Imports between the rooms of `src` run down.
//!
//! A room is a module of the crate's root, `src/NAME/` or `src/NAME.rs`. Every use of another room counts: `use`
//! declarations with their groups, and paths that begin with `crate::` or with as many `super::` as lead to the root.
//! What is compiled for tests alone may import anything.
//!
//! To add a room, write its name into one of the lists: above all rooms that it imports, below all that import it. An
//! import that runs up is mended by moving the item to the room that it belongs to, not by moving the room.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// What plays, from top to bottom. These rooms may import those below them, and [`SHARED`].
const PLAYING: &[&str] = &["gpu", "crowd", "playback"];

/// What makes, converts and stores rigs and clips. These rooms may import those below them, and [`SHARED`]; those of
/// [`PLAYING`] do not know them.
const MAKING: &[&str] = &["import", "format", "retarget", "bake", "build", "raw"];

/// What both build on.
const SHARED: &[&str] = &[
    "runtime", "evaluate", "rig", "scene", "clip", "mesh", "skeleton", "error", "suggest", "words",
    "threads", "simd", "math",
];

/// Whether a room may import another.
fn is_down(from: &str, to: &str) -> bool {
    let rooms = |top: &'static [&str]| top.iter().chain(SHARED);
    [PLAYING, MAKING].into_iter().any(|top| {
        let mut below = rooms(top).skip_while(|&&room| room != from);
        below.any(|&room| room == to)
    })
}

/// A place in the code that names a room.
#[derive(Debug)]
struct Import {
    file: PathBuf,
    line: usize,
    from: String,
    to: String,
}

/// A module whose tokens are read.
struct Module<'a> {
    file: &'a Path,
    /// Where its child modules lie.
    folder: PathBuf,
    path: Vec<String>,
}

impl Module<'_> {
    fn child<'b>(&self, file: &'b Path, name: &str) -> Module<'b> {
        Module {
            file,
            folder: self.folder.join(name),
            path: self.path.iter().cloned().chain([name.to_owned()]).collect(),
        }
    }

    fn read_file(&self, name: &str, found: &mut Vec<Import>) {
        let files = [format!("{name}.rs"), format!("{name}/mod.rs")].map(|f| self.folder.join(f));
        let file = files.iter().find(|f| f.exists());
        let file =
            file.unwrap_or_else(|| panic!("{}: no file of `mod {name}`", self.file.display()));
        let text = std::fs::read_to_string(file).unwrap();
        self.child(file, name).read(text.parse().unwrap(), found);
    }

    fn read(&self, tokens: TokenStream, found: &mut Vec<Import>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at + 1..];
            at += 1;
            match (token.to_string().as_str(), rest) {
                ("#", [TokenTree::Group(attribute), item @ ..])
                    if is_for_tests(attribute.stream()) =>
                {
                    at += 1 + length(item);
                }
                ("mod", [TokenTree::Ident(name), TokenTree::Punct(end), ..])
                    if end.as_char() == ';' =>
                {
                    self.read_file(&name.to_string(), found);
                }
                ("mod", [TokenTree::Ident(name), TokenTree::Group(body), ..]) => {
                    let name = name.to_string();
                    self.child(self.file, &name).read(body.stream(), found);
                    at += 2;
                }
                ("crate", [a, b, path @ ..]) if is_colons(a, b) => self.add(path, found),
                ("super", path) => {
                    let mut path = path;
                    let mut up = 1;
                    while let [a, b, TokenTree::Ident(next), more @ ..] = path
                        && is_colons(a, b)
                        && next == "super"
                    {
                        (up, path, at) = (up + 1, more, at + 3);
                    }
                    if let [a, b, path @ ..] = path
                        && is_colons(a, b)
                        && up == self.path.len()
                    {
                        self.add(path, found);
                    }
                }
                _ => {
                    if let TokenTree::Group(group) = token {
                        self.read(group.stream(), found);
                    }
                }
            }
        }
    }

    /// Adds the rooms that a path from the root names: one, or those of a group.
    fn add(&self, path: &[TokenTree], found: &mut Vec<Import>) {
        let Some(from) = self.path.first() else {
            return;
        };
        match path.first() {
            Some(TokenTree::Ident(to)) if to != from => found.push(Import {
                file: self.file.to_owned(),
                line: to.span().start().line,
                from: from.clone(),
                to: to.to_string(),
            }),
            Some(TokenTree::Group(group)) => {
                let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                let paths = tokens.split(|t| t.to_string() == ",");
                paths.for_each(|path| self.add(path, found));
            }
            _ => {}
        }
    }
}

fn is_colons(a: &TokenTree, b: &TokenTree) -> bool {
    [a, b].iter().all(|t| t.to_string() == ":")
}

/// Whether an attribute is `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(attribute: TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The number of tokens of an item, a field or a statement.
fn length(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => matches!(token.to_string().as_str(), ";" | ","),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |end| end + 1)
}

/// The root module of a source text whose child modules lie in `src`.
fn read(text: &str, path: &[&str]) -> Vec<Import> {
    let root = Module {
        file: Path::new("src/lib.rs"),
        folder: "src".into(),
        path: path.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut found = Vec::new();
    root.read(text.parse().unwrap(), &mut found);
    found
}

#[test]
fn imports_between_rooms_run_down() {
    let imports = read(&std::fs::read_to_string("src/lib.rs").unwrap(), &[]);
    assert!(imports.len() > 500, "only {} imports were found", imports.len());
    let up = imports.iter().filter(|i| !is_down(&i.from, &i.to));
    let up: Vec<String> = up
        .map(|i| format!("{}:{}: `{}` imports `{}`", i.file.display(), i.line, i.from, i.to))
        .collect();
    assert!(
        up.is_empty(),
        "imports that run up, or rooms without a place in tests/rooms.rs:\n{}",
        up.join("\n")
    );
}

#[test]
fn every_form_of_an_import_is_seen() {
    let text = "
        use crate::{
            math::{Row, self},
            clip::Clip,
        };
        use crate::rig::Rig;
        use super::super::gpu::Device;
        use super::crowd;
        pub(crate) fn f(g: &crate::simd::Lanes) { vec![crate::words::are(1)]; }
        /// [`Text`](crate::text::Text)
        const TEXT: &str = \"crate::text\";
        mod inner { use super::super::super::scene::Graph; }
        #[cfg(test)]
        mod tests { use crate::import::raw; }
        #[cfg(all(test, feature = \"gltf\"))]
        use crate::import::raw;
        fn h() { crate::runtime::run() }
    ";
    let seen: Vec<_> = read(text, &["rig", "parts"]).into_iter().map(|i| (i.line, i.to)).collect();
    let want = [
        (3, "math"),
        (4, "clip"),
        (7, "gpu"),
        (9, "simd"),
        (9, "words"),
        (12, "scene"),
        (17, "runtime"),
    ];
    assert_eq!(seen, want.map(|(line, room)| (line, room.to_owned())));
    assert!(is_down("crowd", "words") && is_down("build", "raw") && !is_down("rig", "evaluate"));
    assert!(
        !is_down("playback", "build") && !is_down("build", "playback") && !is_down("rig", "raw")
    );
}
