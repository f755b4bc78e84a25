use super::{difference, page};

/// The listing of a crate of these files, without what stands above the rooms.
fn listing(files: &[(&str, &str)]) -> String {
    let files = files.iter().map(|(path, text)| (path.to_string(), text.to_string()));
    let page = page("krate", "", &files.collect());
    let start = page.find("\n## ").unwrap_or(page.len());
    page[start..].replace("\n```text\n", "").replace("```\n", "")
}

fn counts(files: &[(&str, &str)]) -> String {
    let files = files.iter().map(|(path, text)| (path.to_string(), text.to_string()));
    let page = page("krate", "", &files.collect());
    page.lines().find(|l| l.starts_with("| in all")).unwrap().to_owned()
}

#[test]
fn items_of_private_modules_stand_at_their_public_paths() {
    let files = [
        ("lib.rs", "pub mod a; pub mod b;"),
        (
            "a/mod.rs",
            "mod deep; pub use deep::{Thing, Hidden as Shown}; pub(crate) use deep::Inner;",
        ),
        (
            "a/deep.rs",
            "pub struct Thing { pub x: u8, y: u8 } pub struct Hidden(u8); pub struct Inner; struct Own;",
        ),
        ("b.rs", "pub use crate::a::Thing as Other; pub use super::a::Thing;"),
    ];
    assert_eq!(
        listing(&files),
        "\n## a\nstruct Shown\nstruct Thing { x: u8, .. } also b::Other, b::Thing\n"
    );
}

#[test]
fn globs_bring_public_names_alone() {
    let files = [
        (
            "lib.rs",
            "pub mod a; mod b { pub fn f(mut x: &mut [crate::a::T]) {} fn own() {} pub(super) fn near() {} }",
        ),
        ("a.rs", "pub struct T; pub use crate::b::*; pub use self::*;"),
    ];
    assert_eq!(listing(&files), "\n## a\nstruct T\nfn f(&mut [T])\n");
}

#[test]
fn a_function_is_told_from_the_module_of_its_name() {
    let files = [("lib.rs", "pub mod a { mod bind { pub fn bind() {} } pub use bind::bind; }")];
    assert_eq!(listing(&files), "\n## a\nfn bind()\n");
}

#[test]
fn methods_are_found_in_every_file_and_by_module() {
    let files = [
        ("lib.rs", "pub mod a; mod far; mod twin;"),
        ("a.rs", "pub struct T<'a, N: Copy = u8>(&'a N); impl<'a, N: Copy> T<'a, N> { pub fn b(self) {} fn own() {} }"),
        (
            "far.rs",
            "use crate::a::T as Renamed;
             impl<'a> Renamed<'a, u8> {
                 pub const fn a(&mut self, p: &'a dyn Fn(&str) -> bool) -> Option<std::vec::Vec<[f32; 3]>> where u8: Copy,
                 { None }
                 pub const C: u8 = 1;
             }
             impl std::fmt::Debug for Renamed<'_, u8> {}",
        ),
        ("twin.rs", "struct T; impl T { pub fn no() {} }"),
    ];
    assert_eq!(
        listing(&files),
        "\n## a\nstruct T<'a, N: Copy>\n    const C: u8\n    \
         const fn a(&mut self, &'a dyn Fn(&str) -> bool) -> Option<std::vec::Vec<[f32; 3]>> where u8: Copy\n    \
         fn b(self)\n    impl Debug\n"
    );
}

#[test]
fn features_are_marked_where_they_begin() {
    let files = [
        (
            "lib.rs",
            "#[cfg(feature = \"x\")] pub mod a; pub mod b; #[cfg(not(feature = \"x\"))] pub mod c;",
        ),
        (
            "a.rs",
            "#[cfg(feature = \"x\")] pub struct A; #[cfg(all(feature = \"y\", unix))] pub fn f() {}",
        ),
        (
            "b.rs",
            "pub enum E { P, Q } #[cfg(feature = \"x\")] impl E { pub fn g() {} #[cfg(test)] pub fn t() {} }",
        ),
    ];
    assert_eq!(
        listing(&files),
        "\n## a [x]\nstruct A\nfn f() [unix] [y]\n\n## b\nenum E { P, Q }\n    fn g() [x]\n"
    );
}

#[test]
fn tests_and_hidden_items_are_left_out() {
    let text = "pub mod a { #[cfg(test)] pub struct T; #[doc(hidden)] pub struct H; #[cfg(test)] mod tests; \
                pub struct S; impl S { #[doc(hidden)] pub fn h() {} } }";
    assert_eq!(listing(&[("lib.rs", text)]), "\n## a\nstruct S\n");
}

#[test]
fn counts_tell_errors_methods_functions_and_constants() {
    let text = "pub mod a {
        #[derive(Debug, thiserror::Error)] #[non_exhaustive] pub enum E { A }
        pub struct F; impl std::error::Error for F {}
        pub trait P: Send { fn p(&self); } impl P for F { fn p(&self) {} }
        trait Own {} impl Own for F {}
        pub type I = u8; pub const C: u8 = 1; impl F { pub const D: u8 = 1; pub fn g() {} } pub fn f() {} }";
    let files = [("lib.rs", text)];
    assert_eq!(counts(&files), "| in all | 4 | 2 | 2 | 1 | 2 |");
    assert_eq!(
        listing(&files),
        "\n## a\nerror enum E { A, .. }\nerror struct F\n    const D: u8\n    fn g()\n    impl Error, P\n\
         type I = u8\ntrait P: Send\n    fn p(&self)\nfn f()\nconst C: u8\n"
    );
}

#[test]
fn fields_and_variants_have_their_types() {
    let text = "pub mod a { pub struct S<'a> { pub names: &'a [Option<u8>], pub(crate) own: u8 }
        pub enum E { Unit, Two(u8, crate::a::S<'static>), Named { n: [f32; 3] } } }";
    assert_eq!(
        listing(&[("lib.rs", text)]),
        "\n## a\nenum E { Unit, Two(u8, S<'static>), Named { n: [f32; 3] } }\n\
         struct S<'a> { names: &'a [Option<u8>], .. }\n"
    );
}

#[test]
#[should_panic = "a: make! makes public items"]
fn macros_that_make_public_items_are_refused() {
    let text = "pub mod a { macro_rules! own { ($n:ident) => { pub(crate) fn $n() {} } }
        macro_rules! make { ($n:ident) => { impl $n { pub fn f() {} } } } }";
    listing(&[("lib.rs", text)]);
}

#[test]
fn things_of_other_crates_are_named_by_their_crate() {
    let files = [(
        "lib.rs",
        "pub use glam; pub mod a { mod b { pub use bytes::Bytes as B; } pub use b::B as Shared; }",
    )];
    assert_eq!(listing(&files), "\n## krate\nuse glam\n\n## a\nuse bytes::Bytes as Shared\n");
}

#[test]
fn long_lines_go_on_in_the_next() {
    let variants: Vec<_> = (100..200).map(|i| format!("V{i}")).collect();
    let listing =
        listing(&[("lib.rs", &format!("pub mod a {{ pub enum E {{ {} }} }}", variants.join(",")))]);
    assert!(listing.lines().all(|l| l.len() <= super::COLUMNS));
    assert_eq!(listing.lines().filter(|l| l.starts_with("        V")).count(), 3);
}

#[test]
fn a_difference_names_the_lines_of_one_page_alone() {
    assert_eq!(difference("a\nb", "a\nb"), None);
    assert_eq!(difference("a\nb\nc", "a\nc\nd").unwrap(), "- b\n+ d\n");
    assert!(difference("a\nb", "b\na").is_some());
}
