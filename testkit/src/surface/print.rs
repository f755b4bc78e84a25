//! Syntax trees as short text.

use super::sources::is_public;
use syn::{Attribute, Field, Fields, FnArg, GenericParam, Generics, Item, Signature, Variant};

/// Tokens with the spaces that rustfmt would leave. Paths within the crate keep their last segment: a signature reads
/// the same however its file imports a type.
pub fn compact(tokens: impl quote::ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let words = words(&text);
    let next = |i: usize| words.get(i + 1).copied().unwrap_or_default();
    let is_word = |w: &str| w.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'');
    let mut out = String::new();
    let mut last = "";
    let mut i = 0;
    while i < words.len() {
        if matches!(words[i], "crate" | "super" | "self") {
            while next(i) == "::" {
                i += 2;
            }
        }
        let word = words[i];
        let trailing = word == "," && matches!(next(i), ">" | ")" | "]" | "");
        if !trailing {
            let spaced = match (last, word) {
                ("", _) => false,
                ("->" | "=" | "+" | "," | ":" | ";", _) | (_, "->" | "=" | "+") => true,
                ("mut", "[" | "(") => true,
                (_, "[" | "(") => last.starts_with('\''),
                _ => is_word(word) && (is_word(last) || matches!(last, ">" | ")" | "]")),
            };
            if spaced {
                out.push(' ');
            }
            out += word;
            last = word;
        }
        i += 1;
    }
    out
}

/// Names, lifetimes and numbers as one word each, `::` and `->` as one, and each other sign as its own.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("::") || rest.starts_with("->") {
            2
        } else if of_word(first) || first == '\'' {
            let tail = &rest[first.len_utf8()..];
            first.len_utf8() + tail.find(|c| !of_word(c)).unwrap_or(tail.len())
        } else {
            first.len_utf8()
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// What an item is, with its name within its room.
pub fn headline(item: &Item, path: &[String]) -> String {
    let (last, modules) = path.split_last().expect("a name");
    let prefix: String = modules.iter().skip(1).map(|m| format!("{m}::")).collect();
    let name = format!("{prefix}{last}");
    let typed = |kind: &str, of: &Generics, rest: String| {
        format!("{kind} {name}{}{rest}{}", params(of), bounds(of))
    };
    match item {
        Item::Struct(i) => {
            typed("struct", &i.generics, fields(&i.fields, false, is_open(&i.attrs)))
        }
        Item::Enum(i) => {
            let variant =
                |v: &Variant| v.ident.to_string() + &fields(&v.fields, true, is_open(&v.attrs));
            let variants = i.variants.iter().map(variant).collect();
            typed("enum", &i.generics, braced(variants, is_open(&i.attrs)))
        }
        Item::Union(i) => typed("union", &i.generics, String::new()),
        Item::Trait(i) if i.supertraits.is_empty() => typed("trait", &i.generics, String::new()),
        Item::Trait(i) => typed("trait", &i.generics, format!(": {}", compact(&i.supertraits))),
        Item::Type(i) => typed("type", &i.generics, format!(" = {}", compact(&i.ty))),
        Item::Const(i) => format!("const {name}: {}", compact(&i.ty)),
        Item::Static(i) => format!("static {name}: {}", compact(&i.ty)),
        Item::Fn(i) => signature(&i.sig, &prefix),
        other => unreachable!("{} has no name", compact(other)),
    }
}

/// A function's name, the types of its parameters and of its result.
pub fn signature(sig: &Signature, prefix: &str) -> String {
    let constness = if sig.constness.is_some() { "const " } else { "" };
    let unsafety = if sig.unsafety.is_some() { "unsafe " } else { "" };
    let asyncness = if sig.asyncness.is_some() { "async " } else { "" };
    let inputs: Vec<_> = sig.inputs.iter().map(input).collect();
    let (inputs, output) = (inputs.join(", "), prefixed(compact(&sig.output)));
    let (name, params, bounds) = (&sig.ident, params(&sig.generics), bounds(&sig.generics));
    format!("{constness}{asyncness}{unsafety}fn {prefix}{name}{params}({inputs}){output}{bounds}")
}

fn input(input: &FnArg) -> String {
    match input {
        FnArg::Typed(typed) => compact(&typed.ty),
        FnArg::Receiver(receiver) if receiver.reference.is_some() => compact(receiver),
        FnArg::Receiver(receiver) if receiver.colon_token.is_some() => {
            format!("self: {}", compact(&receiver.ty))
        }
        FnArg::Receiver(_) => "self".into(),
    }
}

/// Parameters in angle brackets, without their defaults.
fn params(generics: &Generics) -> String {
    let param = |param: &GenericParam| match param {
        GenericParam::Type(t) if t.bounds.is_empty() => t.ident.to_string(),
        GenericParam::Type(t) => format!("{}: {}", t.ident, compact(&t.bounds)),
        other => compact(other),
    };
    let params: Vec<_> = generics.params.iter().map(param).collect();
    if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) }
}

/// The `where` clause, with a space before it.
fn bounds(generics: &Generics) -> String {
    prefixed(generics.where_clause.as_ref().map(compact).unwrap_or_default())
}

fn prefixed(text: String) -> String {
    if text.is_empty() { text } else { format!(" {text}") }
}

/// The public fields of a struct or all fields of a variant, with their types.
fn fields(fields: &Fields, all: bool, open: bool) -> String {
    let public: Vec<_> = fields.iter().filter(|f| all || is_public(&f.vis)).collect();
    let open = open || public.len() < fields.len();
    match fields {
        _ if public.is_empty() => String::new(),
        Fields::Unnamed(_) => {
            let types: Vec<_> = public.iter().map(|f| compact(&f.ty)).collect();
            format!("({}{})", types.join(", "), if open { ", .." } else { "" })
        }
        _ => {
            let field = |f: &&Field| Some(format!("{}: {}", f.ident.as_ref()?, compact(&f.ty)));
            braced(public.iter().filter_map(field).collect(), open)
        }
    }
}

/// Fields or variants in braces; `..` stands for others.
fn braced(mut names: Vec<String>, open: bool) -> String {
    if open {
        names.push("..".into());
    }
    format!(" {{ {} }}", names.join(", "))
}

fn is_open(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|a| a.path().is_ident("non_exhaustive"))
}
