//! What public paths lead to, with its members from every file.

use super::print::{compact, headline, signature};
use super::sources::{Marks, Sources, Target, conditions, is_hidden, is_public};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, ImplItem, Item, ItemImpl, TraitItem, Type};

/// Kinds of entries, in the order of the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Type,
    Function,
    Constant,
    /// What another crate declares.
    External,
}

pub struct Entry {
    pub class: Class,
    pub is_error: bool,
    pub text: String,
    /// The shortest path first, and among equals one through the room that declares it.
    pub paths: Vec<Vec<String>>,
    pub marks: Marks,
    pub members: Vec<Member>,
    pub traits: BTreeSet<String>,
}

/// A method or an associated constant. They are sorted by name, whatever file they stand in.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub is_method: bool,
    ident: String,
    pub text: String,
    /// Conditions beyond those of the type.
    pub marks: Marks,
}

pub fn entries(sources: &Sources) -> Vec<Entry> {
    let mut found = reached(sources);
    let known: BTreeSet<_> = found.keys().cloned().collect();
    for (index, module) in sources.modules.iter().enumerate() {
        for (block, marks) in &module.impls {
            let Type::Path(of) = unreferenced(&block.self_ty) else {
                continue;
            };
            let of = sources.resolve(index, &segments(&of.path)).into_iter();
            let mut types = of.filter(|t| class(sources, t) == Class::Type);
            let Some(entry) = types.next().and_then(|t| found.get_mut(&t)) else {
                continue;
            };
            let beyond = marks - &entry.marks;
            let Some((_, path, _)) = &block.trait_ else {
                let members = block.items.iter().filter_map(|item| member(item, &beyond));
                entry.members.extend(members);
                continue;
            };
            // A trait of the crate that no public path leads to is of no use outside.
            let of = sources.resolve(index, &segments(path));
            if of.is_disjoint(&known) && !of.iter().all(|t| matches!(t, Target::External(_))) {
                continue;
            }
            entry.traits.insert(trait_line(block, path, &beyond));
        }
    }
    for (target, entry) in &mut found {
        entry.members.sort();
        entry.text = match target {
            Target::Item(i) => {
                let item = &sources.items[*i].item;
                entry.is_error = entry.traits.contains("Error") || derives_error(item);
                let error = if entry.is_error { "error " } else { "" };
                error.to_owned() + &headline(item, &entry.paths[0])
            }
            Target::External(of)
                if of.rsplit("::").next() == entry.paths[0].last().map(String::as_str) =>
            {
                format!("use {of}")
            }
            Target::External(of) => {
                format!("use {of} as {}", entry.paths[0].last().expect("a name"))
            }
            Target::Module(_) => unreachable!("modules are no entries"),
        };
    }
    found.into_values().collect()
}

/// Walks the public modules from the root.
fn reached(sources: &Sources) -> BTreeMap<Target, Entry> {
    let mut found: BTreeMap<Target, Entry> = BTreeMap::new();
    let mut open = vec![(0, Vec::new(), Marks::new(), vec![0])];
    while let Some((module, path, marks, above)) = open.pop() {
        for (ident, target, own) in sources.exports(module) {
            let path = [&path[..], &[ident]].concat();
            let marks = &marks | &own;
            match target {
                Target::Module(m) if above.contains(&m) => {}
                Target::Module(m) => open.push((m, path, marks, [&above[..], &[m]].concat())),
                target => {
                    let new = || entry(sources, &target, &marks);
                    let entry = found.entry(target.clone()).or_insert_with(new);
                    entry.marks = &entry.marks & &marks;
                    entry.paths.push(path);
                }
            }
        }
    }
    for (target, entry) in &mut found {
        let home = match target {
            Target::Item(i) => sources.modules[sources.items[*i].module].path.first(),
            _ => None,
        };
        let rank = |p: &Vec<String>| (p.len(), p.first() != home, p.clone());
        entry.paths.sort_by_key(rank);
        entry.paths.dedup();
    }
    found
}

fn entry(sources: &Sources, target: &Target, marks: &Marks) -> Entry {
    let members = match target {
        Target::Item(i) => match &sources.items[*i].item {
            Item::Trait(of) => of.items.iter().filter_map(required).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    Entry {
        class: class(sources, target),
        is_error: false,
        text: String::new(),
        paths: Vec::new(),
        marks: marks.clone(),
        members,
        traits: BTreeSet::new(),
    }
}

fn class(sources: &Sources, target: &Target) -> Class {
    match target {
        Target::Item(i) => match sources.items[*i].item {
            Item::Fn(_) => Class::Function,
            Item::Const(_) | Item::Static(_) => Class::Constant,
            _ => Class::Type,
        },
        _ => Class::External,
    }
}

/// A method of a trait.
fn required(item: &TraitItem) -> Option<Member> {
    let TraitItem::Fn(f) = item else { return None };
    let marks = conditions(&f.attrs)?;
    Some(Member {
        is_method: true,
        ident: f.sig.ident.to_string(),
        text: signature(&f.sig, ""),
        marks,
    })
}

fn member(item: &ImplItem, beyond: &Marks) -> Option<Member> {
    let (vis, attrs, ident, text) = match item {
        ImplItem::Fn(f) => (&f.vis, &f.attrs, f.sig.ident.to_string(), signature(&f.sig, "")),
        ImplItem::Const(c) => {
            let text = format!("const {}: {}", c.ident, compact(&c.ty));
            (&c.vis, &c.attrs, c.ident.to_string(), text)
        }
        _ => return None,
    };
    let marks = &conditions(attrs)? | beyond;
    let is_method = matches!(item, ImplItem::Fn(_));
    let public = is_public(vis) && !is_hidden(attrs);
    public.then_some(Member { is_method, ident, text, marks })
}

fn trait_line(block: &ItemImpl, path: &syn::Path, marks: &Marks) -> String {
    let name = compact(path.segments.last());
    let by_reference = matches!(&*block.self_ty, Type::Reference(_));
    let of = if by_reference { " for &" } else { "" };
    name + of + &super::marked(marks)
}

/// Errors implement `std::error::Error`, by hand or by thiserror's derive.
fn derives_error(item: &Item) -> bool {
    let attrs: &[Attribute] = match item {
        Item::Enum(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        _ => return false,
    };
    let derives = attrs.iter().filter(|a| a.path().is_ident("derive"));
    derives.filter_map(|a| a.meta.require_list().ok()).any(|list| {
        let names = compact(&list.tokens);
        names.split(", ").any(|name| name.rsplit("::").next() == Some("Error"))
    })
}

fn unreferenced(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => unreferenced(&reference.elem),
        ty => ty,
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|s| s.ident.to_string()).collect()
}
