//! The skeleton as a text tree.

use super::super::table::{shorten, width};
use super::super::text::{line, one_line, plural};
use phalanx::skeleton::Skeleton;
use unicode_width::UnicodeWidthStr;

/// Skeletons with more joints are shown compactly: a chain of single children takes one line.
const COMPACT_ABOVE: usize = 40;

/// Lines after which a tree is cut.
const MOST_LINES: usize = 160;

/// Joints of a chain that are listed before it is shortened.
const MOST_CHAIN: usize = 6;

/// Columns by which branches are indented at most, and their largest share of the width.
const MOST_INDENT: usize = 120;
const INDENT_SHARE: usize = 2;

/// The tree of all joints, roots first.
pub fn text(skeleton: &Skeleton) -> String {
    let joints = skeleton.len();
    let mut out = String::new();
    if joints == 0 {
        line(&mut out, format_args!("\nNo joints"));
        return out;
    }
    let compact = joints > COMPACT_ABOVE;
    let how = if compact { ", chains on one line" } else { "" };
    line(&mut out, format_args!("\nSkeleton: {}{how}", plural(joints, "joint")));
    // Children of every joint; the extra entry at the end holds the roots.
    let mut children = vec![Vec::new(); joints + 1];
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        children[usize::from(parent).min(joints)].push(joint);
    }
    // Joints to print, the next one last, with the branch characters before their lines.
    let mut stack = Vec::new();
    let push = |stack: &mut Vec<(usize, String, bool)>, at: usize, indent: &str| {
        for (i, &child) in children[at].iter().rev().enumerate() {
            stack.push((child, indent.to_owned(), i == 0));
        }
    };
    push(&mut stack, joints, "");
    let mut shown = 0;
    let mut lines = 0;
    while let Some((joint, indent, last)) = stack.pop() {
        if lines == MOST_LINES {
            line(
                &mut out,
                format_args!("  and {} more joints (--json prints all)", joints - shown),
            );
            return out;
        }
        let mut chain = vec![joint];
        let mut end = joint;
        while let (true, [only]) = (compact, &children[end][..]) {
            end = *only;
            chain.push(end);
        }
        shown += chain.len();
        lines += 1;
        let branch = if last { "└─ " } else { "├─ " };
        let before = 2 + indent.chars().count() + branch.chars().count();
        let room = width().saturating_sub(before);
        let names = names(skeleton, &chain, room);
        line(&mut out, format_args!("  {indent}{branch}{names}"));
        let below = if last { "   " } else { "│  " };
        let indent = if indent.chars().count() < MOST_INDENT.min(width() / INDENT_SHARE) {
            indent + below
        } else {
            indent
        };
        push(&mut stack, end, &indent);
    }
    out
}

/// The names of a chain in `room` columns: all of them, or the first ones and the last.
fn names(skeleton: &Skeleton, chain: &[usize], room: usize) -> String {
    let name = |&joint: &usize| match skeleton.names().get(joint).map(String::as_str) {
        None | Some("") => format!("(joint {joint})"),
        Some(name) => one_line(name),
    };
    if chain.len() <= MOST_CHAIN {
        let all: Vec<String> = chain.iter().map(name).collect();
        let all = all.join(" › ");
        if all.width() <= room {
            return all;
        }
    }
    let Some((last, others)) = chain.split_last().filter(|(_, others)| !others.is_empty()) else {
        return shorten(&chain.iter().map(name).collect::<String>(), room);
    };
    for heads in (1..=others.len().min(MOST_CHAIN - 2)).rev() {
        let head: Vec<String> = others[..heads].iter().map(name).collect();
        let between = match others.len() - heads {
            0 => String::new(),
            n => format!("… {n} more … › "),
        };
        let text = format!("{} › {between}{}", head.join(" › "), name(last));
        if text.width() <= room || heads == 1 {
            return shorten(&text, room);
        }
    }
    name(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::skeleton::{Joint, Trs};

    fn skeleton(parents: &[Option<usize>]) -> Skeleton {
        let joints = parents.iter().enumerate();
        let joints: Vec<Joint> = joints
            .map(|(i, &parent)| Joint { name: format!("j{i}"), parent, rest: Trs::IDENTITY })
            .collect();
        Skeleton::new(&joints, None, Vec::new()).unwrap()
    }

    #[test]
    fn small_trees_show_every_joint() {
        let tree = text(&skeleton(&[None, Some(0), Some(1), Some(0), None]));
        let expected = "
Skeleton: 5 joints
  ├─ j0
  │  ├─ j1
  │  │  └─ j2
  │  └─ j3
  └─ j4
";
        assert_eq!(tree, expected);
    }

    #[test]
    fn long_chains_are_cut_and_do_not_recurse() {
        let chain: Vec<Option<usize>> = (0..65_000usize).map(|i| i.checked_sub(1)).collect();
        let tree = text(&skeleton(&chain));
        assert!(tree.contains("j0 › j1 › j2 › j3 › … 64995 more … › j64999"), "{tree}");
        // A comb: every second joint is a leaf, and the spine continues through the others.
        let comb: Vec<Option<usize>> =
            (0..65_000usize).map(|i| i.checked_sub(1).map(|p| p / 2 * 2)).collect();
        let tree = text(&skeleton(&comb));
        assert!(tree.lines().count() <= MOST_LINES + 4);
        assert!(tree.contains("more joints"));
    }
}
