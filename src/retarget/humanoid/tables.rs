//! Tables of joint names: one per convention, in the form of [`plain`](super::names::plain).

use crate::skeleton::HumanBone as B;

/// A convention of joint names. Each text but `spine` holds the names of its bones in order, separated by spaces, `-` for
/// none. Names of one bone are separated by `/`; the first that a rig has counts. `~` stands for the side, and `a|b` for
/// `a` on the left and `b` on the right side; a name with neither is not used for right bones.
pub(super) struct Table {
    pub name: &'static str,
    /// The text that replaces `~` on the left and on the right side.
    pub sides: [&'static str; 2],
    /// All names of the spine that occur, from the hips up; the joints that a rig has are spread over three bones.
    pub spine: &'static str,
    /// Hips, neck, head, jaw, eyes.
    head: &'static str,
    /// Upper leg, lower leg, foot, toes.
    leg: &'static str,
    /// Shoulder, upper arm, lower arm, hand.
    arm: &'static str,
    /// Three joints of each finger, from the thumb to the little finger, from the palm outwards.
    fingers: [&'static str; 5],
}

/// The bones of a table's texts, on the left side.
const BONES: [&[B]; 8] = [
    &[B::Hips, B::Neck, B::Head, B::Jaw, B::LeftEye],
    &[B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, B::LeftToes],
    &[B::LeftShoulder, B::LeftUpperArm, B::LeftLowerArm, B::LeftHand],
    &[B::LeftThumbMetacarpal, B::LeftThumbProximal, B::LeftThumbDistal],
    &[B::LeftIndexProximal, B::LeftIndexIntermediate, B::LeftIndexDistal],
    &[B::LeftMiddleProximal, B::LeftMiddleIntermediate, B::LeftMiddleDistal],
    &[B::LeftRingProximal, B::LeftRingIntermediate, B::LeftRingDistal],
    &[B::LeftLittleProximal, B::LeftLittleIntermediate, B::LeftLittleDistal],
];

impl Table {
    /// All bones except the spine's, with their names.
    pub fn rows(&self) -> impl Iterator<Item = (B, impl Iterator<Item = &'static str>)> {
        let [thumb, index, middle, ring, little] = self.fingers;
        let texts = [self.head, self.leg, self.arm, thumb, index, middle, ring, little];
        let rows = BONES.into_iter().zip(texts);
        let rows = rows.flat_map(|(bones, names)| bones.iter().copied().zip(names.split(' ')));
        rows.map(|(bone, names)| (bone, names.split('/')))
    }
}

/// Marks before a name whose side was removed, wherever it was.
pub(super) const SIDES: [&str; 2] = ["<", ">"];

/// VRM: the names of the specification and of Unity's humanoid.
const VRM: Table = Table {
    name: "VRM",
    sides: ["left", "right"],
    spine: "spine chest upperchest",
    head: "hips neck head jaw ~eye",
    leg: "~upperleg ~lowerleg ~foot ~toes",
    arm: "~shoulder ~upperarm ~lowerarm ~hand",
    fingers: [
        "~thumbmetacarpal ~thumbproximal ~thumbdistal",
        "~indexproximal ~indexintermediate ~indexdistal",
        "~middleproximal ~middleintermediate ~middledistal",
        "~ringproximal ~ringintermediate ~ringdistal",
        "~littleproximal ~littleintermediate ~littledistal",
    ],
};

/// All tables. The one that finds most bones is used; the first of equals.
pub(super) const TABLES: &[Table] = &[
    // The motion captures of CMU (with `LowerBack`) and LAFAN1, and most exports of MotionBuilder use these names too.
    Table {
        name: "Mixamo, CMU and LAFAN1",
        sides: ["left", "right"],
        spine: "lowerback spine spine1 spine2 spine3 chest",
        head: "hips neck head - ~eye",
        leg: "~upleg ~leg ~foot ~toebase/~toe/~footthumb1",
        arm: "~shoulder ~arm ~forearm ~hand",
        fingers: [
            "~handthumb1 ~handthumb2 ~handthumb3",
            "~handindex1 ~handindex2 ~handindex3",
            "~handmiddle1 ~handmiddle2 ~handmiddle3",
            "~handring1 ~handring2 ~handring3",
            "~handpinky1/~handringpinky1 ~handpinky2/~handringpinky2 ~handpinky3/~handringpinky3",
        ],
    },
    VRM,
    // As VRM, except for the thumb: its three bones have the names of the other fingers.
    Table {
        name: "Unity",
        fingers: [
            "~thumbproximal ~thumbintermediate ~thumbdistal",
            "~indexproximal ~indexintermediate ~indexdistal",
            "~middleproximal ~middleintermediate ~middledistal",
            "~ringproximal ~ringintermediate ~ringdistal",
            "~littleproximal ~littleintermediate ~littledistal",
        ],
        ..VRM
    },
    Table {
        name: "VRoid",
        sides: ["l", "r"],
        spine: "jbipcspine jbipcchest jbipcupperchest",
        head: "jbipchips jbipcneck jbipchead - jadj~faceeye",
        leg: "jbip~upperleg jbip~lowerleg jbip~foot jbip~toebase",
        arm: "jbip~shoulder jbip~upperarm jbip~lowerarm jbip~hand",
        fingers: [
            "jbip~thumb1 jbip~thumb2 jbip~thumb3",
            "jbip~index1 jbip~index2 jbip~index3",
            "jbip~middle1 jbip~middle2 jbip~middle3",
            "jbip~ring1 jbip~ring2 jbip~ring3",
            "jbip~little1 jbip~little2 jbip~little3",
        ],
    },
    Table {
        name: "Unreal",
        sides: ["l", "r"],
        spine: "spine01 spine02 spine03 spine04 spine05",
        head: "pelvis neck01/neck head",
        leg: "thigh~ calf~ foot~ ball~/toe~",
        arm: "clavicle~ upperarm~ lowerarm~ hand~",
        fingers: [
            "thumb01~ thumb02~ thumb03~",
            "index01~ index02~ index03~",
            "middle01~ middle02~ middle03~",
            "ring01~ ring02~ ring03~",
            "pinky01~ pinky02~ pinky03~",
        ],
    },
    Table {
        name: "Rigify",
        sides: ["l", "r"],
        spine: "spine001 spine002 spine003",
        head: "spine/hips spine004/neck spine006/head jaw eye~",
        leg: "thigh~ shin~ foot~ toe~",
        arm: "shoulder~ upperarm~ forearm~ hand~",
        fingers: [
            "thumb01~ thumb02~ thumb03~",
            "findex01~ findex02~ findex03~",
            "fmiddle01~ fmiddle02~ fmiddle03~",
            "fring01~ fring02~ fring03~",
            "fpinky01~ fpinky02~ fpinky03~",
        ],
    },
    // 3ds Max; `Bip01` and its number are left out.
    Table {
        name: "Biped",
        sides: ["l", "r"],
        spine: "spine spine0 spine1 spine2 spine3 spine4",
        head: "pelvis neck/neck1 head/head1",
        leg: "~thigh ~calf ~foot ~toe0/~toe",
        arm: "~clavicle ~upperarm ~forearm ~hand",
        fingers: [
            "~finger0 ~finger01 ~finger02",
            "~finger1 ~finger11 ~finger12",
            "~finger2 ~finger21 ~finger22",
            "~finger3 ~finger31 ~finger32",
            "~finger4 ~finger41 ~finger42",
        ],
    },
    // Poser, Daz and the conversions of CMU's captures for them.
    Table {
        name: "Poser",
        sides: ["l", "r"],
        spine: "abdomen abdomen2 chest",
        head: "hip neck head - ~eye/lefteye",
        leg: "~thigh ~shin ~foot ~toe",
        arm: "~collar ~shldr ~forearm ~hand",
        fingers: [""; 5],
    },
    // Joints by anatomy: conversions of CMU's captures for 3ds Max, Xsens' export and others of BVH.
    Table {
        name: "3ds Max and Xsens",
        sides: ["left", "right"],
        spine: "lowerback spine chest chest2 chest3 chest4",
        head: "hips/hip neck head",
        leg: "~hip ~knee ~ankle ~toe",
        arm: "~collar ~shoulder ~elbow ~wrist",
        fingers: [""; 5],
    },
    Table {
        name: "Biovision",
        sides: ["left", "right"],
        spine: "chest",
        head: "hips neck head",
        leg: "~upleg ~lowleg ~foot",
        arm: "~collar ~uparm ~lowarm ~hand",
        fingers: [""; 5],
    },
    Table {
        name: "OptiTrack",
        sides: ["l", "r"],
        spine: "ab chest",
        head: "hip neck head",
        leg: "~thigh ~shin ~foot ~toe",
        arm: "~shoulder ~uarm ~farm ~hand",
        fingers: [
            "~thumb1 ~thumb2 ~thumb3",
            "~index1 ~index2 ~index3",
            "~middle1 ~middle2 ~middle3",
            "~ring1 ~ring2 ~ring3",
            "~pinky1 ~pinky2 ~pinky3",
        ],
    },
    // VRM's names as its add-on for Blender writes them.
    Table {
        name: "VRM of Blender",
        sides: ["l", "r"],
        spine: "spine chest upperchest",
        head: "hips neck head jaw eye~",
        leg: "upperleg~ lowerleg~ foot~ toes~",
        arm: "shoulder~ upperarm~ lowerarm~ hand~",
        fingers: [
            "thumbmetacarpal~ thumbproximal~ thumbdistal~",
            "indexproximal~ indexintermediate~ indexdistal~",
            "middleproximal~ middleintermediate~ middledistal~",
            "ringproximal~ ringintermediate~ ringdistal~",
            "littleproximal~ littleintermediate~ littledistal~",
        ],
    },
    // Khronos' sample model; the joints of its two arms are numbered differently.
    Table {
        name: "CesiumMan",
        sides: ["l", "r"],
        spine: "skeletontorsojoint2 torsojoint3",
        head: "skeletontorsojoint1 skeletonneckjoint1 skeletonneckjoint2",
        leg: "legjoint~1 legjoint~2 legjoint~3 legjoint~5",
        arm: "- skeletonarmjointl4|skeletonarmjointr skeletonarmjointl3|skeletonarmjointr2 \
            skeletonarmjointl2|skeletonarmjointr3",
        fingers: [""; 5],
    },
    // three.js' robot: feet are children of the root, and its `Hips` are above the belly, not above the legs.
    Table {
        name: "RobotExpressive",
        sides: ["l", "r"],
        spine: "abdomen torso",
        head: "body neck head",
        leg: "upperleg~ lowerleg~ foot~",
        arm: "shoulder~ upperarm~ lowerarm~ palm2~",
        fingers: [""; 5],
    },
    // The small figures of the sample scenes: legs of one bone, below joints at the hips' sides, and hands without arms.
    // They lack too much for a humanoid; a draft has the bones that they have.
    Table {
        name: "Greenman",
        sides: ["l", "r"],
        spine: "bodylow bodyup",
        head: "root",
        leg: "leg~",
        arm: "- - - hand~",
        fingers: [""; 5],
    },
    // The usual words for parts of the body, in other orders and with sides anywhere: SMPL, Kinect, Second Life, Daz,
    // Character Creator, MakeHuman, Roblox, Valve, ARKit, Rokoko, Advanced Skeleton, MMD and many rigs made by hand. If a
    // word has two meanings, the other words decide: `leg` is the upper one beside `knee`, the lower one beside `thigh`.
    Table {
        name: "parts of the body",
        sides: SIDES,
        spine: "waist lowerback abdomen abdomenlower abdomenupper torso uppertorso spine spine0 \
            spine1 spine2 spine3 spine4 spine5 spine6 spine7 spine00 spine01 spine02 spine03 \
            spine04 spine05 spinea spineb spinec spinelower spinemiddle spineupper spinenavel \
            spinechest chest chest1 chest2 chest3 chest01 chest02 chestlower chestupper \
            upperchest 上半身 上半身2 上半身２",
        head: "hips/hip/pelvis/lowertorso/cog/root/腰/グルーブ/センター \
            neck/neck0/neck1/neck01/necklower/necktwist01/首 head/head1/head01/頭 jaw ~eye",
        leg: "~thigh/~thighbend/~upleg/~upperleg/~upperleg01/~uleg/~hip/~leg/~足 \
            ~shin/~calf/~lowleg/~lowerleg/~lowerleg01/~lleg/~knee/~leg/~ひざ/~膝 \
            ~ankle/~foot/~足首 ~toes/~toe/~toebase/~toe0/~ball/~foot/~つま先",
        arm: "~collar/~clavicle/~clav/~scapula/~collarbone/~shoulder/~shoulder1/~肩 \
            ~upperarm/~upperarm01/~uparm/~shldrbend/~shldr/~uarm/~arm/~shoulder/~腕 \
            ~forearm/~forearmbend/~lowerarm/~lowerarm01/~lowarm/~farm/~elbow/~ひじ/~肘 \
            ~wrist/~hand/~手首",
        fingers: [
            "~thumb1/~thumb01/~handthumb1/~thumbfinger1 ~thumb2/~thumb02/~handthumb2/~thumbfinger2 \
             ~thumb3/~thumb03/~handthumb3/~thumbfinger3",
            "~index1/~index01/~handindex1/~indexfinger1 ~index2/~index02/~handindex2/~indexfinger2 \
             ~index3/~index03/~handindex3/~indexfinger3",
            "~middle1/~middle01/~mid1/~handmiddle1/~middlefinger1 \
             ~middle2/~middle02/~mid2/~handmiddle2/~middlefinger2 \
             ~middle3/~middle03/~mid3/~handmiddle3/~middlefinger3",
            "~ring1/~ring01/~handring1/~ringfinger1 ~ring2/~ring02/~handring2/~ringfinger2 \
             ~ring3/~ring03/~handring3/~ringfinger3",
            "~pinky1/~pinky01/~handpinky1/~pinkyfinger1 ~pinky2/~pinky02/~handpinky2/~pinkyfinger2 \
             ~pinky3/~pinky03/~handpinky3/~pinkyfinger3",
        ],
    },
];
