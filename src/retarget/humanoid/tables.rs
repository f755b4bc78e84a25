//! Tables of joint names: one per convention, in the form of [`plain`](super::names::plain).

use crate::skeleton::HumanBone as B;

/// A convention of joint names.
pub(super) struct Table {
    pub name: &'static str,
    /// What stands for `~` on the left and on the right side.
    pub sides: [&'static str; 2],
    /// The spine from the hips up, all names that occur; those that are there are spread over three bones.
    pub spine: &'static [&'static str],
    /// Names of the other bones. With `~`, a row of the left side is one of the right side, too.
    pub rows: &'static [(B, &'static [&'static str])],
}

/// Fingers of names that end in a number per joint.
macro_rules! with_fingers {
    ($rows:expr; thumb $t:expr, index $i:expr, middle $m:expr, ring $r:expr, little $l:expr) => {{
        const FINGERS: [(B, &[&str]); 15] = [
            (B::LeftThumbMetacarpal, $t[0]),
            (B::LeftThumbProximal, $t[1]),
            (B::LeftThumbDistal, $t[2]),
            (B::LeftIndexProximal, $i[0]),
            (B::LeftIndexIntermediate, $i[1]),
            (B::LeftIndexDistal, $i[2]),
            (B::LeftMiddleProximal, $m[0]),
            (B::LeftMiddleIntermediate, $m[1]),
            (B::LeftMiddleDistal, $m[2]),
            (B::LeftRingProximal, $r[0]),
            (B::LeftRingIntermediate, $r[1]),
            (B::LeftRingDistal, $r[2]),
            (B::LeftLittleProximal, $l[0]),
            (B::LeftLittleIntermediate, $l[1]),
            (B::LeftLittleDistal, $l[2]),
        ];
        const BODY: &[(B, &[&str])] = $rows;
        const ALL: [(B, &[&str]); BODY.len() + 15] = {
            let mut all = [(B::Hips, &[] as &[&str]); BODY.len() + 15];
            let mut at = 0;
            while at < all.len() {
                all[at] = match at < BODY.len() {
                    true => BODY[at],
                    false => FINGERS[at - BODY.len()],
                };
                at += 1;
            }
            all
        };
        &ALL
    }};
}

/// All tables. The one that finds most bones is used; the first of equals.
pub(super) const TABLES: &[Table] = &[
    // Also the motion captures of CMU (with `LowerBack`) and LAFAN1, and most exports of MotionBuilder.
    Table {
        name: "Mixamo, CMU and LAFAN1",
        sides: ["left", "right"],
        spine: &["lowerback", "spine", "spine1", "spine2", "spine3", "chest"],
        rows: with_fingers!(&[
            (B::Hips, &["hips"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftEye, &["~eye"]),
            (B::LeftUpperLeg, &["~upleg"]),
            (B::LeftLowerLeg, &["~leg"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftToes, &["~toebase", "~toe", "~footthumb1"]),
            (B::LeftShoulder, &["~shoulder"]),
            (B::LeftUpperArm, &["~arm"]),
            (B::LeftLowerArm, &["~forearm"]),
            (B::LeftHand, &["~hand"]),
        ];
            thumb [&["~handthumb1"], &["~handthumb2"], &["~handthumb3"]],
            index [&["~handindex1"], &["~handindex2"], &["~handindex3"]],
            middle [&["~handmiddle1"], &["~handmiddle2"], &["~handmiddle3"]],
            ring [&["~handring1"], &["~handring2"], &["~handring3"]],
            little [&["~handpinky1", "~handringpinky1"], &["~handpinky2", "~handringpinky2"],
                &["~handpinky3", "~handringpinky3"]]),
    },
    // The names of the specification and of Unity's humanoid.
    Table {
        name: "VRM",
        sides: ["left", "right"],
        spine: &["spine", "chest", "upperchest"],
        rows: with_fingers!(&[
            (B::Hips, &["hips"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::Jaw, &["jaw"]),
            (B::LeftEye, &["~eye"]),
            (B::LeftUpperLeg, &["~upperleg"]),
            (B::LeftLowerLeg, &["~lowerleg"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftToes, &["~toes"]),
            (B::LeftShoulder, &["~shoulder"]),
            (B::LeftUpperArm, &["~upperarm"]),
            (B::LeftLowerArm, &["~lowerarm"]),
            (B::LeftHand, &["~hand"]),
        ];
            thumb [&["~thumbmetacarpal"], &["~thumbproximal"], &["~thumbdistal"]],
            index [&["~indexproximal"], &["~indexintermediate"], &["~indexdistal"]],
            middle [&["~middleproximal"], &["~middleintermediate"], &["~middledistal"]],
            ring [&["~ringproximal"], &["~ringintermediate"], &["~ringdistal"]],
            little [&["~littleproximal"], &["~littleintermediate"], &["~littledistal"]]),
    },
    // As VRM, but for the thumb: its three bones have the names of the other fingers.
    Table {
        name: "Unity",
        sides: ["left", "right"],
        spine: &["spine", "chest", "upperchest"],
        rows: with_fingers!(&[
            (B::Hips, &["hips"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::Jaw, &["jaw"]),
            (B::LeftEye, &["~eye"]),
            (B::LeftUpperLeg, &["~upperleg"]),
            (B::LeftLowerLeg, &["~lowerleg"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftToes, &["~toes"]),
            (B::LeftShoulder, &["~shoulder"]),
            (B::LeftUpperArm, &["~upperarm"]),
            (B::LeftLowerArm, &["~lowerarm"]),
            (B::LeftHand, &["~hand"]),
        ];
            thumb [&["~thumbproximal"], &["~thumbintermediate"], &["~thumbdistal"]],
            index [&["~indexproximal"], &["~indexintermediate"], &["~indexdistal"]],
            middle [&["~middleproximal"], &["~middleintermediate"], &["~middledistal"]],
            ring [&["~ringproximal"], &["~ringintermediate"], &["~ringdistal"]],
            little [&["~littleproximal"], &["~littleintermediate"], &["~littledistal"]]),
    },
    Table {
        name: "VRoid",
        sides: ["l", "r"],
        spine: &["jbipcspine", "jbipcchest", "jbipcupperchest"],
        rows: with_fingers!(&[
            (B::Hips, &["jbipchips"]),
            (B::Neck, &["jbipcneck"]),
            (B::Head, &["jbipchead"]),
            (B::LeftEye, &["jadj~faceeye"]),
            (B::LeftUpperLeg, &["jbip~upperleg"]),
            (B::LeftLowerLeg, &["jbip~lowerleg"]),
            (B::LeftFoot, &["jbip~foot"]),
            (B::LeftToes, &["jbip~toebase"]),
            (B::LeftShoulder, &["jbip~shoulder"]),
            (B::LeftUpperArm, &["jbip~upperarm"]),
            (B::LeftLowerArm, &["jbip~lowerarm"]),
            (B::LeftHand, &["jbip~hand"]),
        ];
            thumb [&["jbip~thumb1"], &["jbip~thumb2"], &["jbip~thumb3"]],
            index [&["jbip~index1"], &["jbip~index2"], &["jbip~index3"]],
            middle [&["jbip~middle1"], &["jbip~middle2"], &["jbip~middle3"]],
            ring [&["jbip~ring1"], &["jbip~ring2"], &["jbip~ring3"]],
            little [&["jbip~little1"], &["jbip~little2"], &["jbip~little3"]]),
    },
    Table {
        name: "Unreal",
        sides: ["l", "r"],
        spine: &["spine01", "spine02", "spine03", "spine04", "spine05"],
        rows: with_fingers!(&[
            (B::Hips, &["pelvis"]),
            (B::Neck, &["neck01", "neck"]),
            (B::Head, &["head"]),
            (B::LeftUpperLeg, &["thigh~"]),
            (B::LeftLowerLeg, &["calf~"]),
            (B::LeftFoot, &["foot~"]),
            (B::LeftToes, &["ball~", "toe~"]),
            (B::LeftShoulder, &["clavicle~"]),
            (B::LeftUpperArm, &["upperarm~"]),
            (B::LeftLowerArm, &["lowerarm~"]),
            (B::LeftHand, &["hand~"]),
        ];
            thumb [&["thumb01~"], &["thumb02~"], &["thumb03~"]],
            index [&["index01~"], &["index02~"], &["index03~"]],
            middle [&["middle01~"], &["middle02~"], &["middle03~"]],
            ring [&["ring01~"], &["ring02~"], &["ring03~"]],
            little [&["pinky01~"], &["pinky02~"], &["pinky03~"]]),
    },
    Table {
        name: "Rigify",
        sides: ["l", "r"],
        spine: &["spine001", "spine002", "spine003"],
        rows: with_fingers!(&[
            (B::Hips, &["spine", "hips"]),
            (B::Neck, &["spine004", "neck"]),
            (B::Head, &["spine006", "head"]),
            (B::Jaw, &["jaw"]),
            (B::LeftEye, &["eye~"]),
            (B::LeftUpperLeg, &["thigh~"]),
            (B::LeftLowerLeg, &["shin~"]),
            (B::LeftFoot, &["foot~"]),
            (B::LeftToes, &["toe~"]),
            (B::LeftShoulder, &["shoulder~"]),
            (B::LeftUpperArm, &["upperarm~"]),
            (B::LeftLowerArm, &["forearm~"]),
            (B::LeftHand, &["hand~"]),
        ];
            thumb [&["thumb01~"], &["thumb02~"], &["thumb03~"]],
            index [&["findex01~"], &["findex02~"], &["findex03~"]],
            middle [&["fmiddle01~"], &["fmiddle02~"], &["fmiddle03~"]],
            ring [&["fring01~"], &["fring02~"], &["fring03~"]],
            little [&["fpinky01~"], &["fpinky02~"], &["fpinky03~"]]),
    },
    // 3ds Max; `Bip01` and its number are left out.
    Table {
        name: "Biped",
        sides: ["l", "r"],
        spine: &["spine", "spine1", "spine2", "spine3", "spine4"],
        rows: with_fingers!(&[
            (B::Hips, &["pelvis"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftUpperLeg, &["~thigh"]),
            (B::LeftLowerLeg, &["~calf"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftToes, &["~toe0"]),
            (B::LeftShoulder, &["~clavicle"]),
            (B::LeftUpperArm, &["~upperarm"]),
            (B::LeftLowerArm, &["~forearm"]),
            (B::LeftHand, &["~hand"]),
        ];
            thumb [&["~finger0"], &["~finger01"], &["~finger02"]],
            index [&["~finger1"], &["~finger11"], &["~finger12"]],
            middle [&["~finger2"], &["~finger21"], &["~finger22"]],
            ring [&["~finger3"], &["~finger31"], &["~finger32"]],
            little [&["~finger4"], &["~finger41"], &["~finger42"]]),
    },
    // Poser, Daz and the conversions of CMU's captures for them.
    Table {
        name: "Poser",
        sides: ["l", "r"],
        spine: &["abdomen", "abdomen2", "chest"],
        rows: &[
            (B::Hips, &["hip"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftEye, &["~eye", "lefteye"]),
            (B::LeftUpperLeg, &["~thigh"]),
            (B::LeftLowerLeg, &["~shin"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftToes, &["~toe"]),
            (B::LeftShoulder, &["~collar"]),
            (B::LeftUpperArm, &["~shldr"]),
            (B::LeftLowerArm, &["~forearm"]),
            (B::LeftHand, &["~hand"]),
        ],
    },
    // Joints by anatomy: conversions of CMU's captures for 3ds Max, Xsens' export and others of BVH.
    Table {
        name: "3ds Max and Xsens",
        sides: ["left", "right"],
        spine: &["lowerback", "spine", "chest", "chest2", "chest3", "chest4"],
        rows: &[
            (B::Hips, &["hips", "hip"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftUpperLeg, &["~hip"]),
            (B::LeftLowerLeg, &["~knee"]),
            (B::LeftFoot, &["~ankle"]),
            (B::LeftToes, &["~toe"]),
            (B::LeftShoulder, &["~collar"]),
            (B::LeftUpperArm, &["~shoulder"]),
            (B::LeftLowerArm, &["~elbow"]),
            (B::LeftHand, &["~wrist"]),
        ],
    },
    Table {
        name: "Biovision",
        sides: ["left", "right"],
        spine: &["chest"],
        rows: &[
            (B::Hips, &["hips"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftUpperLeg, &["~upleg"]),
            (B::LeftLowerLeg, &["~lowleg"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftShoulder, &["~collar"]),
            (B::LeftUpperArm, &["~uparm"]),
            (B::LeftLowerArm, &["~lowarm"]),
            (B::LeftHand, &["~hand"]),
        ],
    },
    Table {
        name: "OptiTrack",
        sides: ["l", "r"],
        spine: &["ab", "chest"],
        rows: with_fingers!(&[
            (B::Hips, &["hip"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftUpperLeg, &["~thigh"]),
            (B::LeftLowerLeg, &["~shin"]),
            (B::LeftFoot, &["~foot"]),
            (B::LeftToes, &["~toe"]),
            (B::LeftShoulder, &["~shoulder"]),
            (B::LeftUpperArm, &["~uarm"]),
            (B::LeftLowerArm, &["~farm"]),
            (B::LeftHand, &["~hand"]),
        ];
            thumb [&["~thumb1"], &["~thumb2"], &["~thumb3"]],
            index [&["~index1"], &["~index2"], &["~index3"]],
            middle [&["~middle1"], &["~middle2"], &["~middle3"]],
            ring [&["~ring1"], &["~ring2"], &["~ring3"]],
            little [&["~pinky1"], &["~pinky2"], &["~pinky3"]]),
    },
    // VRM's names as its add-on for Blender writes them.
    Table {
        name: "VRM of Blender",
        sides: ["l", "r"],
        spine: &["spine", "chest", "upperchest"],
        rows: with_fingers!(&[
            (B::Hips, &["hips"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::Jaw, &["jaw"]),
            (B::LeftEye, &["eye~"]),
            (B::LeftUpperLeg, &["upperleg~"]),
            (B::LeftLowerLeg, &["lowerleg~"]),
            (B::LeftFoot, &["foot~"]),
            (B::LeftToes, &["toes~"]),
            (B::LeftShoulder, &["shoulder~"]),
            (B::LeftUpperArm, &["upperarm~"]),
            (B::LeftLowerArm, &["lowerarm~"]),
            (B::LeftHand, &["hand~"]),
        ];
            thumb [&["thumbmetacarpal~"], &["thumbproximal~"], &["thumbdistal~"]],
            index [&["indexproximal~"], &["indexintermediate~"], &["indexdistal~"]],
            middle [&["middleproximal~"], &["middleintermediate~"], &["middledistal~"]],
            ring [&["ringproximal~"], &["ringintermediate~"], &["ringdistal~"]],
            little [&["littleproximal~"], &["littleintermediate~"], &["littledistal~"]]),
    },
    // Khronos' sample model; the joints of its arms are counted differently on both sides.
    Table {
        name: "CesiumMan",
        sides: ["l", "r"],
        spine: &["skeletontorsojoint2", "torsojoint3"],
        rows: &[
            (B::Hips, &["skeletontorsojoint1"]),
            (B::Neck, &["skeletonneckjoint1"]),
            (B::Head, &["skeletonneckjoint2"]),
            (B::LeftUpperLeg, &["legjoint~1"]),
            (B::LeftLowerLeg, &["legjoint~2"]),
            (B::LeftFoot, &["legjoint~3"]),
            (B::LeftToes, &["legjoint~5"]),
            (B::LeftUpperArm, &["skeletonarmjointl4"]),
            (B::LeftLowerArm, &["skeletonarmjointl3"]),
            (B::LeftHand, &["skeletonarmjointl2"]),
            (B::RightUpperArm, &["skeletonarmjointr"]),
            (B::RightLowerArm, &["skeletonarmjointr2"]),
            (B::RightHand, &["skeletonarmjointr3"]),
        ],
    },
    // three.js' robot: feet hang on the root, and its `Hips` are above the belly, not above the legs.
    Table {
        name: "RobotExpressive",
        sides: ["l", "r"],
        spine: &["abdomen", "torso"],
        rows: &[
            (B::Hips, &["body"]),
            (B::Neck, &["neck"]),
            (B::Head, &["head"]),
            (B::LeftUpperLeg, &["upperleg~"]),
            (B::LeftLowerLeg, &["lowerleg~"]),
            (B::LeftFoot, &["foot~"]),
            (B::LeftShoulder, &["shoulder~"]),
            (B::LeftUpperArm, &["upperarm~"]),
            (B::LeftLowerArm, &["lowerarm~"]),
            (B::LeftHand, &["palm2~"]),
        ],
    },
    // The small figures of the sample scenes: legs of one bone, which hang on joints at the hips' sides, and hands
    // without arms. They lack too much for a humanoid; a draft has what is there.
    Table {
        name: "Greenman",
        sides: ["l", "r"],
        spine: &["bodylow", "bodyup"],
        rows: &[
            (B::Hips, &["root"]),
            (B::LeftUpperLeg, &["leg~"]),
            (B::LeftHand, &["hand~"]),
        ],
    },
];
