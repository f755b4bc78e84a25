//! The modules of a crate, read from its files, and what names in them stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, ItemImpl, ItemMacro, Meta, Token, UseTree, Visibility};

/// Texts by path from the folder of `lib.rs`, with `/` between names.
pub type Files = BTreeMap<String, String>;

/// Conditions under which an item exists: features by name, anything else as it is written.
pub type Marks = BTreeSet<String>;

/// All files below `folder`.
pub fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let parts: Vec<_> = path.strip_prefix(folder).unwrap().iter().collect();
                let parts: Vec<_> = parts.iter().map(|p| p.to_str().unwrap()).collect();
                files.insert(parts.join("/"), std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// Index into [`Sources::modules`].
    Module(usize),
    /// Index into [`Sources::items`].
    Item(usize),
    /// The path of something in another crate.
    External(String),
}

#[derive(Default)]
pub struct Module {
    pub path: Vec<String>,
    parent: usize,
    public: bool,
    marks: Marks,
    names: Vec<Name>,
    pub impls: Vec<(ItemImpl, Marks)>,
}

/// A name that an item, a module or a `use` declares. A glob's is `*`.
struct Name {
    ident: String,
    public: bool,
    marks: Marks,
    meaning: Meaning,
}

enum Meaning {
    Target(Target),
    Use(Vec<String>),
}

pub struct Declared {
    pub item: Item,
    pub module: usize,
    marks: Marks,
    public: bool,
}

#[derive(Default)]
pub struct Sources {
    pub modules: Vec<Module>,
    pub items: Vec<Declared>,
}

impl Sources {
    /// Reads `lib.rs` and the files of its modules; what exists in tests alone is left out.
    pub fn new(files: &Files) -> Self {
        let mut sources = Self::default();
        let root = parse(files, "lib.rs").expect("no lib.rs");
        sources.add(files, Module::default(), root);
        sources
    }

    fn add(&mut self, files: &Files, module: Module, items: Vec<Item>) {
        let this = self.modules.len();
        let (path, above) = (module.path.clone(), module.marks.clone());
        self.modules.push(module);
        for item in items {
            refuse_macro(&item, &path);
            let Some((ident, attrs, vis)) = head(&item) else {
                continue;
            };
            let Some(own) = conditions(attrs) else {
                continue;
            };
            let marks = &own | &above;
            let public = vis.is_some_and(is_public) && !is_hidden(attrs);
            let mut meanings = Vec::new();
            match item {
                Item::Use(item) => flatten(&item.tree, &mut Vec::new(), &mut meanings),
                Item::Impl(item) => self.modules[this].impls.push((item, marks.clone())),
                Item::Mod(item) => {
                    let path = [&path[..], std::slice::from_ref(&ident)].concat();
                    let items = item.content.map(|(_, items)| items).unwrap_or_else(|| {
                        let file = path.join("/");
                        let parsed = parse(files, &format!("{file}.rs"));
                        let parsed = parsed.or_else(|| parse(files, &format!("{file}/mod.rs")));
                        parsed.unwrap_or_else(|| panic!("no file of module {file}"))
                    });
                    meanings.push((ident, Meaning::Target(Target::Module(self.modules.len()))));
                    let (parent, marks) = (this, marks.clone());
                    let module = Module { path, parent, public, marks, ..Module::default() };
                    self.add(files, module, items);
                }
                item => {
                    meanings.push((ident, Meaning::Target(Target::Item(self.items.len()))));
                    let (module, marks) = (this, marks.clone());
                    self.items.push(Declared { item, module, marks, public });
                }
            }
            let name = |(ident, meaning)| Name { ident, public, marks: marks.clone(), meaning };
            self.modules[this].names.extend(meanings.into_iter().map(name));
        }
    }

    /// What a path stands for where `module` writes it: in each namespace at most one, told apart by the caller.
    pub fn resolve(&self, module: usize, path: &[String]) -> BTreeSet<Target> {
        self.resolve_guarded(module, path, &mut Vec::new())
    }

    fn resolve_guarded(
        &self,
        module: usize,
        path: &[String],
        open: &mut Vec<(usize, String)>,
    ) -> BTreeSet<Target> {
        let Some((first, rest)) = path.split_first() else {
            return BTreeSet::new();
        };
        let mut found = match first.as_str() {
            "crate" => [Target::Module(0)].into(),
            "self" => [Target::Module(module)].into(),
            "super" => [Target::Module(self.modules[module].parent)].into(),
            name if open.contains(&(module, name.to_owned())) => BTreeSet::new(),
            name => match self.lookup(module, name, open) {
                found if found.is_empty() => return [Target::External(path.join("::"))].into(),
                found => found,
            },
        };
        for segment in rest {
            let mut within = |target: &Target| match target {
                Target::Module(m) if segment == "super" => {
                    [Target::Module(self.modules[*m].parent)].into()
                }
                Target::Module(m) => self.lookup(*m, segment, open),
                Target::Item(_) => BTreeSet::new(),
                Target::External(path) => [Target::External(format!("{path}::{segment}"))].into(),
            };
            found = found.iter().map(&mut within).fold(BTreeSet::new(), |a, b| &a | &b);
        }
        found
    }

    /// What a module calls by a name: what it declares and imports, else what its globs bring. `open` holds the names
    /// being looked up, since a `use` may begin with the name that it declares.
    fn lookup(
        &self,
        module: usize,
        name: &str,
        open: &mut Vec<(usize, String)>,
    ) -> BTreeSet<Target> {
        let key = (module, name.to_owned());
        if open.contains(&key) {
            return BTreeSet::new();
        }
        open.push(key);
        let mut found = BTreeSet::new();
        for declared in self.modules[module].names.iter().filter(|n| n.ident == name) {
            match &declared.meaning {
                Meaning::Target(target) => drop(found.insert(target.clone())),
                Meaning::Use(path) => found.extend(self.resolve_guarded(module, path, open)),
            }
        }
        if found.is_empty() {
            for from in self.globs(module, |_| true, open) {
                found.extend(self.lookup(from, name, open));
            }
        }
        open.pop();
        found
    }

    /// The modules whose names a module's globs bring.
    fn globs(
        &self,
        module: usize,
        taken: fn(&Name) -> bool,
        open: &mut Vec<(usize, String)>,
    ) -> Vec<usize> {
        let mut modules = Vec::new();
        for glob in self.modules[module].names.iter().filter(|n| n.ident == "*" && taken(n)) {
            if let Meaning::Use(path) = &glob.meaning {
                let targets = self.resolve_guarded(module, path, open);
                modules.extend(targets.into_iter().filter_map(|target| match target {
                    Target::Module(m) => Some(m),
                    _ => None,
                }));
            }
        }
        modules
    }

    /// The public names of a module, with what they stand for and the conditions of both.
    pub fn exports(&self, module: usize) -> Vec<(String, Target, Marks)> {
        let mut exports = Vec::new();
        let mut modules = vec![module];
        let mut i = 0;
        while i < modules.len() {
            let module = modules[i];
            for name in self.modules[module].names.iter().filter(|n| n.public && n.ident != "*") {
                let targets = match &name.meaning {
                    Meaning::Target(target) => [target.clone()].into(),
                    Meaning::Use(path) => self.resolve(module, path),
                };
                for target in targets {
                    let (public, marks) = match &target {
                        Target::Module(m) => (self.modules[*m].public, &self.modules[*m].marks),
                        Target::Item(i) => (self.items[*i].public, &self.items[*i].marks),
                        Target::External(_) => (true, &name.marks),
                    };
                    if public {
                        exports.push((name.ident.clone(), target.clone(), marks | &name.marks));
                    }
                }
            }
            for from in self.globs(module, |n| n.public, &mut Vec::new()) {
                if !modules.contains(&from) {
                    modules.push(from);
                }
            }
            i += 1;
        }
        exports
    }
}

fn parse(files: &Files, path: &str) -> Option<Vec<Item>> {
    let text = files.get(path)?;
    let file = syn::parse_file(text).unwrap_or_else(|e| panic!("{path}: {e}"));
    Some(file.items)
}

/// Fails on a macro with a bare `pub` in its body: it makes public items, which the listing would lack.
fn refuse_macro(item: &Item, module: &[String]) {
    let Item::Macro(ItemMacro { ident: Some(name), mac, .. }) = item else { return };
    let text = super::print::compact(&mac.tokens).replace("pub(", "");
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let at = module.join("::");
    assert!(words.all(|word| word != "pub"), "{at}: {name}! makes public items; write them out");
}

/// The name of an item, its attributes and its visibility; those of an `impl` and a `use` have no name.
fn head(item: &Item) -> Option<(String, &[Attribute], Option<&Visibility>)> {
    let (ident, attrs, vis) = match item {
        Item::Const(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Enum(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Fn(i) => (i.sig.ident.to_string(), &i.attrs, &i.vis),
        Item::Mod(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Static(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Struct(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Trait(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Type(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Union(i) => (i.ident.to_string(), &i.attrs, &i.vis),
        Item::Use(i) => (String::new(), &i.attrs, &i.vis),
        Item::Impl(i) => return Some((String::new(), &i.attrs, None)),
        _ => return None,
    };
    Some((ident, attrs, Some(vis)))
}

/// The names that a `use` declares, with their paths.
fn flatten(tree: &UseTree, path: &mut Vec<String>, uses: &mut Vec<(String, Meaning)>) {
    let (name, last) = match tree {
        UseTree::Name(name) => (&name.ident, &name.ident),
        UseTree::Rename(rename) => (&rename.rename, &rename.ident),
        UseTree::Glob(_) => return uses.push(("*".into(), Meaning::Use(path.clone()))),
        UseTree::Group(group) => {
            return group.items.iter().for_each(|tree| flatten(tree, path, uses));
        }
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            flatten(&step.tree, path, uses);
            path.pop();
            return;
        }
    };
    let mut path = path.clone();
    // `a::{self}` is `a`.
    if last != "self" {
        path.push(last.to_string());
    }
    let name = if name == "self" { path.last().cloned() } else { Some(name.to_string()) };
    uses.push((name.unwrap_or_default(), Meaning::Use(path)));
}

pub fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

pub fn is_hidden(attrs: &[Attribute]) -> bool {
    let docs = attrs.iter().filter(|a| a.path().is_ident("doc"));
    docs.filter_map(|a| a.parse_args::<Meta>().ok()).any(|m| m.path().is_ident("hidden"))
}

/// The conditions of an item with all features on; `None` if it does not exist then outside of tests.
pub fn conditions(attrs: &[Attribute]) -> Option<Marks> {
    let mut marks = Marks::new();
    for attr in attrs.iter().filter(|a| a.path().is_ident("cfg")) {
        let meta = attr.parse_args().unwrap_or_else(|e| panic!("cfg: {e}"));
        marks.extend(condition(&meta)?);
    }
    Some(marks)
}

fn condition(meta: &Meta) -> Option<Marks> {
    let within = |list: &syn::MetaList| {
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        list.parse_args_with(parser).unwrap_or_else(|e| panic!("cfg: {e}"))
    };
    match meta {
        Meta::Path(path) if path.is_ident("test") || path.is_ident("doctest") => None,
        Meta::NameValue(pair) if pair.path.is_ident("feature") => {
            Some([super::print::compact(&pair.value).trim_matches('"').to_owned()].into())
        }
        Meta::List(list) if list.path.is_ident("all") => {
            within(list).iter().map(condition).try_fold(Marks::new(), |all, one| Some(&all | &one?))
        }
        Meta::List(list) if list.path.is_ident("not") => match condition(within(list).first()?) {
            None => Some(Marks::new()),
            Some(_) if super::print::compact(list).contains("feature") => None,
            Some(_) => Some([super::print::compact(list)].into()),
        },
        other => Some([super::print::compact(other)].into()),
    }
}
