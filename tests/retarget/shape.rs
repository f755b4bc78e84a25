//! Humanoids of other tools' names, found by words and, with names that say nothing, by their shape.
//!
//! Hierarchies are those of the tools, places are made up. They are checked with several axes, units and poses.

use crate::support::*;
use glam::{DQuat, DVec3, Vec3};
use phalanx::import::{ImportOptions, import_path};
use phalanx::retarget::{HumanBone, HumanoidMap, MapOrigin, RetargetError};
use phalanx::skeleton::{Joint, NO_JOINT, Skeleton, Trs};
use phalanx_testkit::trials;

/// Bones that every humanoid here has.
const BODY: [B; 15] = [
    B::Hips,
    B::Spine,
    B::Head,
    B::LeftUpperLeg,
    B::LeftLowerLeg,
    B::LeftFoot,
    B::RightUpperLeg,
    B::RightLowerLeg,
    B::RightFoot,
    B::LeftUpperArm,
    B::LeftLowerArm,
    B::LeftHand,
    B::RightUpperArm,
    B::RightLowerArm,
    B::RightHand,
];

/// A joint of a body: name, parent, place, bone.
type Row = (String, Option<usize>, DVec3, Option<B>);

/// Reads a body: a joint a line, indented below its parent, with its place in centimetres and its bone. Lines with `~` and
/// what is below them are of both sides.
fn body(text: &str, sides: [&str; 2]) -> Vec<Row> {
    let lines: Vec<(usize, Vec<&str>)> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| (line.len() - line.trim_start().len(), line.split_whitespace().collect()))
        .collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let depth = lines[at].0;
        let sided = lines[at].1[0].contains('~');
        let more = lines[at + 1..].iter().take_while(|l| sided && l.0 > depth).count();
        for (side, word) in sides.iter().enumerate().take(1 + usize::from(sided)) {
            for (depth, words) in &lines[at..=at + more] {
                open.retain(|o| o.0 < *depth);
                let number = |n: usize| words[n].parse::<f64>().unwrap() / 100.0;
                let mirror = if side == 1 { -1.0 } else { 1.0 };
                let place = DVec3::new(mirror * number(1), number(2), number(3));
                let bone = words.get(4).map(|b| HumanBone::named(b).unwrap());
                let bone = bone.map(|b| if side == 1 { b.mirrored() } else { b });
                let name = words[0].replace('~', word);
                rows.push((name, open.last().map(|o| o.1), place, bone));
                open.push((*depth, rows.len() - 1));
            }
        }
        at += more + 1;
    }
    rows
}

/// How a body stands and is measured.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Arms hang down by this angle, radians.
    arms: f64,
    /// From y up to the body's axes.
    turn: DQuat,
    scale: f64,
}

fn skeleton(rows: &[Row], way: Way, named: bool) -> Skeleton {
    let mut places: Vec<DVec3> = rows.iter().map(|r| r.2).collect();
    for (shoulder, row) in rows.iter().enumerate() {
        let side = match row.3 {
            Some(B::LeftUpperArm) => -1.0,
            Some(B::RightUpperArm) => 1.0,
            _ => continue,
        };
        for (joint, place) in places.iter_mut().enumerate() {
            let mut up = std::iter::successors(Some(joint), |&j| rows[j].1);
            if up.any(|j| j == shoulder) {
                let from = rows[shoulder].2;
                *place = from + DQuat::from_rotation_z(side * way.arms) * (*place - from);
            }
        }
    }
    let joint = |(joint, row): (usize, &Row)| {
        let offset = places[joint] - row.1.map_or(DVec3::ZERO, |p| places[p]);
        let offset = way.turn * offset * way.scale;
        Joint {
            name: if named { row.0.clone() } else { format!("bone_{joint:03}") },
            parent: row.1,
            rest: Trs {
                translation: Vec3::from_array(offset.to_array().map(|v| v as f32)),
                ..Trs::IDENTITY
            },
        }
    };
    let joints: Vec<Joint> = rows.iter().enumerate().map(joint).collect();
    Skeleton::new(&joints, None, Vec::new()).unwrap()
}

fn ways() -> Vec<Way> {
    let z_up = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let mut ways = Vec::new();
    for arms in [0.0, 0.8, 1.35] {
        for (turn, scale) in [(DQuat::IDENTITY, 1.0), (z_up, 100.0)] {
            ways.push(Way { arms, turn, scale });
        }
    }
    ways
}

/// The bones of a map that are others than those of a body.
fn differences(rows: &[Row], map: &HumanoidMap) -> Vec<String> {
    let name = |joint: Option<usize>| joint.map_or("none", |j| rows[j].0.as_str());
    let expected = |bone| rows.iter().position(|r| r.3 == Some(bone));
    let shoulders = [B::LeftShoulder, B::RightShoulder];
    BODY.into_iter()
        .chain(shoulders)
        .filter(|&b| map.joint(b) != expected(b))
        .map(|b| format!("{b} is {}, not {}", name(map.joint(b)), name(expected(b))))
        .collect()
}

#[test]
fn bodies_of_other_tools_are_found() {
    let mut wrong = Vec::new();
    for (tool, sides, text) in TOOLS {
        let rows = body(text, sides);
        for way in ways() {
            for named in [true, false] {
                if named && tool == "nothing" {
                    continue;
                }
                let found = HumanoidMap::find(&skeleton(&rows, way, named));
                let place = format!("{tool}, named {named}, {way:?}");
                match found {
                    Err(error) => wrong.push(format!("{place}: {error}")),
                    Ok(map) => {
                        let shape = matches!(map.origin(), MapOrigin::Shape(_));
                        let differences = differences(&rows, &map);
                        if !differences.is_empty() || shape == named {
                            wrong.push(format!("{place}: {}: {differences:?}", map.origin()));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Joints of tools: sides, and the body as [`body`] reads it.
const TOOLS: [(&str, [&str; 2], &str); 15] = [
    (
        "Daz Genesis 8",
        ["l", "r"],
        "
hip 0 100 0 hips
 pelvis 0 102 0
  ~ThighBend 8 92 0 leftUpperLeg
   ~ThighTwist 8 72 0
    ~Shin 8 50 1 leftLowerLeg
     ~Foot 8 8 -2 leftFoot
      ~Metatarsals 8 4 4
       ~Toe 8 2 12
        ~BigToe 7 2 15
 abdomenLower 0 104 0 spine
  abdomenUpper 0 113 0
   chestLower 0 122 0
    ~Pectoral 7 130 8
    chestUpper 0 136 0
     ~Collar 3 146 0 leftShoulder
      ~ShldrBend 16 146 0 leftUpperArm
       ~ShldrTwist 30 146 0
        ~ForearmBend 43 146 -1 leftLowerArm
         ~ForearmTwist 55 146 -1
          ~Hand 68 146 0 leftHand
           ~Thumb1 70 145 3
            ~Thumb2 73 144 5
             ~Thumb3 76 143 6
           ~Carpal1 70 146 2
            ~Index1 77 146 2
             ~Index2 81 146 2
              ~Index3 83 146 2
           ~Carpal2 70 146 0
            ~Mid1 77 146 0
             ~Mid2 82 146 0
              ~Mid3 84 146 0
     neckLower 0 152 -1
      neckUpper 0 157 0
       head 0 162 1 head
        ~Eye 3 170 8
        upperFaceRig 0 168 4
         ~BrowInner 1 173 9
        lowerJaw 0 163 4
         tongue01 0 163 6
",
    ),
    (
        "Character Creator",
        ["L", "R"],
        "
CC_Base_BoneRoot 0 0 0
 CC_Base_Hip 0 98 0 hips
  CC_Base_Pelvis 0 97 0
   CC_Base_~_Thigh 9 94 0 leftUpperLeg
    CC_Base_~_ThighTwist01 9 90 0
     CC_Base_~_ThighTwist02 9 72 0
    CC_Base_~_Calf 9 51 1 leftLowerLeg
     CC_Base_~_CalfTwist01 9 45 1
      CC_Base_~_CalfTwist02 9 28 0
     CC_Base_~_KneeShareBone 9 51 1
     CC_Base_~_Foot 9 9 -2 leftFoot
      CC_Base_~_ToeBase 9 2 10
       CC_Base_~_BigToe1 8 2 13
  CC_Base_Waist 0 102 0 spine
   CC_Base_Spine01 0 113 0
    CC_Base_Spine02 0 130 -1
     CC_Base_NeckTwist01 0 149 -1
      CC_Base_NeckTwist02 0 154 0
       CC_Base_Head 0 159 1 head
        CC_Base_FacialBone 0 159 1
         CC_Base_JawRoot 0 162 3
         CC_Base_~_Eye 3 168 8
     CC_Base_~_Clavicle 2 145 0 leftShoulder
      CC_Base_~_Upperarm 16 145 -1 leftUpperArm
       CC_Base_~_UpperarmTwist01 20 145 -1
        CC_Base_~_UpperarmTwist02 32 145 -1
       CC_Base_~_Forearm 44 145 -2 leftLowerArm
        CC_Base_~_ForearmTwist01 50 145 -2
         CC_Base_~_ForearmTwist02 60 145 -1
        CC_Base_~_Hand 69 145 0 leftHand
         CC_Base_~_Thumb1 71 144 3
          CC_Base_~_Thumb2 74 143 5
         CC_Base_~_Index1 78 145 2
          CC_Base_~_Index2 82 145 2
         CC_Base_~_Mid1 78 145 0
          CC_Base_~_Mid2 83 145 0
     CC_Base_~_RibsTwist 7 135 3
      CC_Base_~_Breast 8 130 12
",
    ),
    (
        "MakeHuman",
        ["L", "R"],
        "
root 0 95 0 hips
 pelvis.~ 5 93 0
  upperleg01.~ 10 90 0 leftUpperLeg
   upperleg02.~ 10 74 0
    lowerleg01.~ 10 50 1 leftLowerLeg
     lowerleg02.~ 10 30 0
      foot.~ 10 8 -2 leftFoot
       toe1-1.~ 8 2 10
        toe1-2.~ 8 2 13
       toe2-1.~ 9 2 10
        toe2-2.~ 9 2 13
 spine05 0 97 0 spine
  spine04 0 106 0
   spine03 0 114 0
    spine02 0 122 0
     breast.~ 7 128 10
     spine01 0 138 -2
      neck01 0 147 -2
       neck02 0 152 -1
        neck03 0 155 0
         head 0 159 0 head
          jaw 0 160 2
          eye.~ 3 167 8
      clavicle.~ 2 143 0 leftShoulder
       shoulder01.~ 12 143 -2
        upperarm01.~ 18 143 -2 leftUpperArm
         upperarm02.~ 27 143 -2
          lowerarm01.~ 44 143 -3 leftLowerArm
           lowerarm02.~ 56 143 -1
            wrist.~ 69 143 0 leftHand
             finger1-1.~ 71 142 3
              finger1-2.~ 74 141 5
             metacarpal1.~ 71 143 2
              finger2-1.~ 78 143 2
             metacarpal2.~ 71 143 0
              finger3-1.~ 78 143 0
",
    ),
    (
        "Advanced Skeleton",
        ["L", "R"],
        "
Root_M 0 95 0 hips
 Hip_~ 9 92 0 leftUpperLeg
  HipPart1_~ 9 78 0
   HipPart2_~ 9 64 0
    Knee_~ 9 50 1 leftLowerLeg
     Ankle_~ 9 8 -2 leftFoot
      Toes_~ 9 2 11
       ToesEnd_~ 9 2 18
 Spine1_M 0 107 0 spine
  Spine2_M 0 120 0
   Chest_M 0 134 -1
    Scapula_~ 3 144 0 leftShoulder
     Shoulder_~ 17 144 0 leftUpperArm
      ShoulderPart1_~ 27 144 0
       ShoulderPart2_~ 36 144 0
        Elbow_~ 45 144 -1 leftLowerArm
         Wrist_~ 71 144 0 leftHand
          ThumbFinger1_~ 73 143 3
           ThumbFinger2_~ 76 142 5
          IndexFinger1_~ 80 144 2
           IndexFinger2_~ 84 144 2
          MiddleFinger1_~ 80 144 0
           MiddleFinger2_~ 85 144 0
    Neck_M 0 149 -1
     NeckPart1_M 0 154 0
      Head_M 0 159 1 head
       Jaw_M 0 161 3
       Eye_~ 3 168 8
       HeadEnd_M 0 178 1
",
    ),
    (
        "MMD",
        ["左", "右"],
        "
全ての親 0 0 0
 センター 0 80 0
  グルーブ 0 82 0 hips
   上半身 0 105 0 spine
    上半身2 0 118 0
     ~肩 3 140 0 leftShoulder
      ~腕 13 138 0 leftUpperArm
       ~腕捩 25 138 0
        ~ひじ 37 138 -1 leftLowerArm
         ~手捩 47 138 -1
          ~手首 58 138 0 leftHand
           ~親指０ 60 137 3
            ~親指１ 62 136 5
           ~人指１ 66 138 2
            ~人指２ 69 138 2
           ~中指１ 66 138 0
            ~中指２ 70 138 0
     首 0 142 0
      頭 0 148 0 head
       ~目 3 155 6
       ~髪1 10 160 0
        ~髪2 14 140 -4
         ~髪3 16 115 -6
          ~髪4 17 92 -8
   下半身 0 104 0
    ~足 8 90 0 leftUpperLeg
     ~ひざ 8 50 1 leftLowerLeg
      ~足首 8 9 -2 leftFoot
       ~つま先 8 1 10
    ~スカート_0_1 10 95 5
     ~スカート_0_2 14 80 8
      ~スカート_0_3 16 65 10
 ~足ＩＫ 8 9 -2
  ~つま先ＩＫ 8 1 10
",
    ),
    (
        "SMPL",
        ["L", "R"],
        "
Pelvis 0 0 0 hips
 ~_Hip 6 -9 0 leftUpperLeg
  ~_Knee 10 -47 0 leftLowerLeg
   ~_Ankle 9 -87 -3 leftFoot
    ~_Foot 12 -93 9
 Spine1 0 11 -3 spine
  Spine2 0 24 -2
   Spine3 0 29 0
    Neck 0 50 -3
     Head 1 59 2 head
    ~_Collar 8 41 -2 leftShoulder
     ~_Shoulder 19 45 -3 leftUpperArm
      ~_Elbow 45 43 -5 leftLowerArm
       ~_Wrist 71 44 -5 leftHand
        ~_Hand 79 43 -6
",
    ),
    (
        "Second Life",
        ["Left", "Right"],
        "
mPelvis 0 106 0 hips
 mSpine1 0 114 0
 mSpine2 0 106 0
 mTorso 0 114 0 spine
  mChest 0 134 -1
   mNeck 0 159 -2
    mHead 0 167 -2 head
     mSkull 0 175 -2
     mEye~ 4 174 8
     mFaceRoot 0 170 1
   mCollar~ 8 151 -4 leftShoulder
    mShoulder~ 16 151 -4 leftUpperArm
     mElbow~ 41 151 -4 leftLowerArm
      mWrist~ 61 151 -4 leftHand
       mHandMiddle1~ 71 152 -3
        mHandMiddle2~ 75 152 -3
       mHandThumb1~ 64 151 -1
        mHandThumb2~ 67 151 1
   mWingsRoot 0 134 -3
    mWing1~ 10 150 -15
     mWing2~ 30 165 -25
      mWing3~ 60 170 -40
 mHip~ 13 102 3 leftUpperLeg
  mKnee~ 8 53 3 leftLowerLeg
   mAnkle~ 8 6 0 leftFoot
    mFoot~ 8 0 11
     mToe~ 8 0 22
 mTail1 0 110 -12
  mTail2 0 110 -31
 mGroin 0 96 6
",
    ),
    (
        "Roblox",
        ["Left", "Right"],
        "
HumanoidRootPart 0 90 0
 LowerTorso 0 90 0 hips
  UpperTorso 0 105 0 spine
   Head 0 150 0 head
   ~UpperArm 30 140 0 leftUpperArm
    ~LowerArm 32 105 0 leftLowerArm
     ~Hand 32 72 0 leftHand
  ~UpperLeg 15 85 0 leftUpperLeg
   ~LowerLeg 15 48 2 leftLowerLeg
    ~Foot 15 10 0 leftFoot
",
    ),
    (
        "Valve",
        ["L", "R"],
        "
ValveBiped.Bip01_Pelvis 0 97 0 hips
 ValveBiped.Bip01_Spine 0 101 0 spine
  ValveBiped.Bip01_Spine1 0 111 0
   ValveBiped.Bip01_Spine2 0 120 0
    ValveBiped.Bip01_Spine4 0 140 0
     ValveBiped.Bip01_Neck1 0 149 0
      ValveBiped.Bip01_Head1 0 157 2 head
       ValveBiped.forward 0 165 15
     ValveBiped.Bip01_~_Clavicle 3 145 0 leftShoulder
      ValveBiped.Bip01_~_UpperArm 16 145 0 leftUpperArm
       ValveBiped.Bip01_~_Forearm 45 145 -1 leftLowerArm
        ValveBiped.Bip01_~_Hand 74 145 0 leftHand
         ValveBiped.Anim_Attachment_~H 79 143 0
         ValveBiped.Bip01_~_Finger0 76 144 3
          ValveBiped.Bip01_~_Finger01 79 143 5
         ValveBiped.Bip01_~_Finger1 84 145 2
          ValveBiped.Bip01_~_Finger11 88 145 2
       ValveBiped.Bip01_~_Bicep 30 145 0
 ValveBiped.Bip01_~_Thigh 9 96 0 leftUpperLeg
  ValveBiped.Bip01_~_Calf 9 52 1 leftLowerLeg
   ValveBiped.Bip01_~_Foot 9 10 -2 leftFoot
    ValveBiped.Bip01_~_Toe0 9 2 12
",
    ),
    (
        "ARKit",
        ["left", "right"],
        "
root 0 0 0
 hips_joint 0 95 0 hips
  ~_upLeg_joint 10 92 0 leftUpperLeg
   ~_leg_joint 10 50 1 leftLowerLeg
    ~_foot_joint 10 8 -2 leftFoot
     ~_toes_joint 10 2 11
      ~_toesEnd_joint 10 2 16
  spine_1_joint 0 102 0 spine
   spine_2_joint 0 109 0
    spine_3_joint 0 116 0
     spine_4_joint 0 123 0
      spine_5_joint 0 130 0
       spine_6_joint 0 136 0
        spine_7_joint 0 142 -1
         ~_shoulder_1_joint 5 143 0 leftShoulder
          ~_arm_joint 17 143 -1 leftUpperArm
           ~_forearm_joint 44 143 -2 leftLowerArm
            ~_hand_joint 70 143 0 leftHand
             ~_handMidStart_joint 73 143 0
              ~_handMid_1_joint 79 143 0
             ~_handThumbStart_joint 72 142 3
              ~_handThumb_1_joint 75 141 4
         neck_1_joint 0 147 -1
          neck_2_joint 0 150 0
           neck_3_joint 0 153 0
            neck_4_joint 0 156 1
             head_joint 0 160 2 head
              jaw_joint 0 162 5
              ~_eye_joint 3 168 8
              nose_joint 0 166 12
",
    ),
    (
        "Azure Kinect",
        ["LEFT", "RIGHT"],
        "
PELVIS 0 95 0 hips
 SPINE_NAVEL 0 113 0 spine
  SPINE_CHEST 0 127 -1
   NECK 0 149 -2
    HEAD 0 158 2 head
     NOSE 0 158 18
     EYE_~ 3 162 15
     EAR_~ 8 161 6
   CLAVICLE_~ 4 146 0 leftShoulder
    SHOULDER_~ 17 144 0 leftUpperArm
     ELBOW_~ 44 144 -1 leftLowerArm
      WRIST_~ 68 144 0 leftHand
       HAND_~ 76 144 0
        HANDTIP_~ 84 144 0
       THUMB_~ 72 143 5
 HIP_~ 9 94 0 leftUpperLeg
  KNEE_~ 9 52 1 leftLowerLeg
   ANKLE_~ 9 9 -2 leftFoot
    FOOT_~ 9 2 14
",
    ),
    (
        "Rokoko",
        ["Left", "Right"],
        "
Reference 0 0 0
 Hips 0 97 0 hips
  Spine 0 107 0 spine
   Spine2 0 119 0
    Spine3 0 133 -1
     Neck 0 150 -1
      Head 0 160 1 head
       HeadEnd 0 180 1
     ~Shoulder 3 145 0 leftShoulder
      ~Arm 17 145 0 leftUpperArm
       ~ForeArm 45 145 -1 leftLowerArm
        ~Hand 71 145 0 leftHand
         ~FingerEnd 81 145 0
  ~Thigh 10 95 0 leftUpperLeg
   ~Shin 10 52 1 leftLowerLeg
    ~Foot 10 9 -2 leftFoot
     ~Toe 10 2 12
      ~ToeEnd 10 2 19
",
    ),
    (
        "HumanIK",
        ["Left", "Right"],
        "
Character1_Reference 0 0 0
 Character1_Hips 0 97 0 hips
  Character1_~UpLeg 10 94 0 leftUpperLeg
   Character1_~Leg 10 51 1 leftLowerLeg
    Character1_~Foot 10 8 -2 leftFoot
     Character1_~ToeBase 10 2 12
  Character1_Spine 0 108 0 spine
   Character1_Spine1 0 121 0
    Character1_~Shoulder 4 144 0 leftShoulder
     Character1_~Arm 17 144 0 leftUpperArm
      Character1_~ForeArm 45 144 -1 leftLowerArm
       Character1_~ForeArmRoll 58 144 -1
        Character1_~Hand 71 144 0 leftHand
    Character1_Neck 0 149 0
     Character1_Head 0 159 0 head
",
    ),
    (
        "Maya by hand",
        ["l", "r"],
        "
root_jnt 0 95 0 hips
 spine_01_jnt 0 105 0 spine
  spine_02_jnt 0 118 0
   spine_03_jnt 0 132 0
    neck_01_jnt 0 148 0
     head_jnt 0 158 0 head
      jaw_jnt 0 160 3
      ~_ear_jnt 8 165 0
       ~_ear2_jnt 10 175 0
        ~_ear3_jnt 11 185 0
    ~_clavicle_jnt 3 144 0 leftShoulder
     ~_arm_jnt 17 144 0 leftUpperArm
      ~_elbow_jnt 45 144 -1 leftLowerArm
       ~_wrist_jnt 71 144 0 leftHand
        ~_weapon_jnt 78 142 0
 ~_leg_jnt 10 92 0 leftUpperLeg
  ~_knee_jnt 10 50 1 leftLowerLeg
   ~_ankle_jnt 10 8 -2 leftFoot
    ~_ball_jnt 10 2 12
 tail_01_jnt 0 92 -10
  tail_02_jnt 0 80 -25
   tail_03_jnt 0 60 -45
    tail_04_jnt 0 45 -60
",
    ),
    (
        "nothing",
        ["", ""],
        "
a 0 0 0
 b 0 96 0 hips
  c~ 10 93 0 leftUpperLeg
   d~ 10 72 1
   e~ 10 51 1 leftLowerLeg
    f~ 10 30 0
    g~ 10 9 -2 leftFoot
     h~ 10 2 12
  i~ 12 90 8
   j~ 14 75 10
    k~ 15 60 12
     l~ 15 50 12
  m 0 106 0 spine
   n 0 120 0
    o 0 133 0
     p~ 3 146 0 leftShoulder
      q~ 17 146 0 leftUpperArm
       r~ 31 146 0
       s~ 45 146 -1 leftLowerArm
        t~ 58 146 0
        u~ 71 146 0 leftHand
         v~ 74 146 2
          w~ 80 146 2
         x~ 74 146 0
          y~ 81 146 0
     z 0 150 0
      aa 0 160 0 head
       ab~ 3 168 8
       ac 0 175 -8
        ad 0 150 -16
         ae 0 125 -18
     af 0 140 -8
      ag 0 120 -12
       ah 0 100 -14
        ai 0 80 -15
 aj~ 10 9 -2
 ak~ 71 146 0
",
    ),
];

/// Quadrupeds, insects, furniture: none stands as people do.
#[test]
fn what_is_no_humanoid_is_refused() {
    for (kind, text) in [
        (
            "dog",
            "
root 0 60 -40
 ~hind 8 58 -42
  ~hind2 8 38 -35
   ~hind3 8 15 -48
    ~hind4 8 2 -42
 spine 0 62 -20
  spine2 0 62 5
   chest 0 62 25
    ~front 8 52 30
     ~front2 8 32 25
      ~front3 8 10 28
       ~front4 8 2 32
    neck 0 72 38
     head 0 85 50
      jaw 0 80 58
      ~ear 4 92 48
 tail 0 62 -50
  tail2 0 60 -65
",
        ),
        (
            "giraffe",
            "
hips 0 180 -60
 ~back 20 170 -60
  ~back2 20 95 -55
   ~back3 20 10 -62
    ~back4 20 2 -52
 spine 0 200 -20
  chest 0 220 20
   ~fore 20 180 25
    ~fore2 20 100 25
     ~fore3 20 10 25
      ~fore4 20 2 35
   neck 0 300 50
    neck2 0 400 80
     head 0 450 95
      nose 0 445 115
",
        ),
        (
            "ant",
            "
thorax 0 20 0
 ~a 8 22 8
  ~a2 20 25 16
   ~a3 28 0 22
 ~b 8 22 0
  ~b2 20 25 0
   ~b3 28 0 0
 ~c 8 22 -8
  ~c2 20 25 -16
   ~c3 28 0 -22
 head 0 20 15
  ~feeler 3 25 20
   ~feeler2 5 30 26
    ~feeler3 6 28 32
 abdomen 0 20 -20
",
        ),
        (
            "table",
            "
top 0 75 0
 ~a 60 75 30
  ~a2 60 40 30
   ~a3 60 0 30
 ~b 60 75 -30
  ~b2 60 40 -30
   ~b3 60 0 -30
 lamp 0 80 0
  lamp2 0 120 0
",
        ),
        (
            "chain",
            "
a 0 0 0
 b 0 10 0
  c 0 20 0
   d 0 30 0
    e 0 40 0
",
        ),
    ] {
        for way in ways() {
            let found = HumanoidMap::find(&skeleton(&body(text, ["l", "r"]), way, false));
            assert!(matches!(found, Err(RetargetError::NoHumanoid { .. })), "{kind}: {found:?}");
        }
    }
    for file in [
        "Fox.glb",
        "bl_rider.glb",
        "bl_manyjoints.glb",
        "bl_corners.glb",
        "greenman.glb",
        "bl_morphbones.glb",
    ] {
        if let Some(rig) = model(file) {
            for named in [true, false] {
                let found = HumanoidMap::find(&renamed(rig.skeleton(), named));
                assert!(found.is_err(), "{file}: {found:?}");
            }
        }
    }
}

/// The same joints, of names that say nothing if they are not kept.
fn renamed(skeleton: &Skeleton, named: bool) -> Skeleton {
    let joint = |(joint, &parent): (usize, &u16)| Joint {
        name: if named { skeleton.names()[joint].clone() } else { format!("bone_{joint:03}") },
        parent: (parent != NO_JOINT).then_some(usize::from(parent)),
        rest: skeleton.rest(joint),
    };
    let joints: Vec<Joint> = skeleton.parents().iter().enumerate().map(joint).collect();
    Skeleton::new(&joints, None, Vec::new()).unwrap()
}

/// Where names and shape both tell, they tell the same.
#[test]
fn shape_and_names_agree() {
    let models =
        ["pab.glb", "mannequin.glb", "bl_humanoid.glb", "CesiumMan.glb"].map(trials::model);
    let reports = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reports");
    let files = [
        "names_biovision",
        "names_cmu_3dsmax",
        "names_optitrack",
        "names_vrm_blender",
        "names_xsens_bvh",
    ]
    .map(|name| Some(reports.join(format!("{name}.bvh"))).filter(|file| file.exists()));
    let mut wrong = Vec::new();
    for path in models.into_iter().chain(files).flatten() {
        let rig = import_path(&path, &ImportOptions::default()).unwrap().rigs.swap_remove(0);
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let names = HumanoidMap::find(rig.skeleton()).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(matches!(names.origin(), MapOrigin::Names(_)), "{file}");
        match HumanoidMap::find(&renamed(rig.skeleton(), false)) {
            Err(error) => wrong.push(format!("{file}: {error}")),
            Ok(shape) => {
                let name =
                    |j: Option<usize>| j.map_or("none", |j| rig.skeleton().names()[j].as_str());
                for bone in BODY.into_iter().filter(|&b| names.joint(b) != shape.joint(b)) {
                    // Its legs hang on its spine.
                    if file == "pab.glb" && [B::Hips, B::Spine].contains(&bone) {
                        continue;
                    }
                    let [by_name, by_shape] = [&names, &shape].map(|map| name(map.joint(bone)));
                    wrong.push(format!(
                        "{file}: {bone} is {by_shape}, not {by_name}, {}",
                        shape.origin()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A rest pose in which all joints lie along one axis has no shape; another pose has.
#[test]
fn shape_is_found_in_another_pose() {
    let rows = body(TOOLS[5].2, ["L", "R"]);
    let way = ways()[0];
    let stands = skeleton(&rows, way, false);
    let pose: Vec<Trs> = (0..stands.len()).map(|j| stands.rest(j)).collect();
    // Every joint turns so that its first child lies along x.
    let flat: Vec<Joint> = (0..stands.len())
        .map(|joint| {
            let parent = stands.parents()[joint];
            let length = pose[joint].translation.length();
            Joint {
                name: format!("bone_{joint}"),
                parent: (parent != NO_JOINT).then_some(usize::from(parent)),
                rest: Trs { translation: Vec3::X * length, ..Trs::IDENTITY },
            }
        })
        .collect();
    let flat = Skeleton::new(&flat, None, Vec::new()).unwrap();
    assert!(HumanoidMap::find(&flat).is_err());
    let map = HumanoidMap::find_in_pose(&flat, &pose).unwrap();
    assert_eq!(differences(&rows, &map), Vec::<String>::new());
    assert!(map.origin().to_string().starts_with("shape, "));
    for pose in [&pose[1..], &[]] {
        assert!(HumanoidMap::find_in_pose(&flat, pose).is_err());
    }
}

/// Names that plainly say the side count more than the way a body faces.
#[test]
fn names_tell_sides_of_a_shape() {
    let text = TOOLS[14].2;
    let way = Way { turn: DQuat::from_rotation_y(std::f64::consts::PI), ..ways()[0] };
    // Feet of no toes: by its shape alone it would face z.
    let text: String =
        text.lines().filter(|l| !l.contains(" h~")).map(|l| format!("{l}\n")).collect();
    let text =
        text.replace(" 1 leftLowerLeg", " 0 leftLowerLeg").replace("-2 leftFoot", "0 leftFoot");
    let rows = body(&text, ["_L", "_R"]);
    let map = HumanoidMap::find(&skeleton(&rows, way, true)).unwrap();
    assert!(matches!(map.origin(), MapOrigin::Shape(_)));
    assert_eq!(differences(&rows, &map), Vec::<String>::new());
    let map = HumanoidMap::find(&skeleton(&rows, way, false)).unwrap();
    assert_eq!(rows[map.joint(B::LeftFoot).unwrap()].3, Some(B::RightFoot));
}

/// A hostile file has many joints of one parent, or one chain of them; both are looked at briefly.
#[test]
fn hostile_shapes_end_soon() {
    let joints = |parent: fn(usize) -> usize| {
        let joint = |j: usize| Joint {
            name: String::new(),
            parent: (j > 0).then(|| parent(j)),
            rest: Trs { translation: Vec3::new(0.0, 0.01, 0.01), ..Trs::IDENTITY },
        };
        let joints: Vec<Joint> = (0..60_000).map(joint).collect();
        Skeleton::new(&joints, None, Vec::new()).unwrap()
    };
    let start = std::time::Instant::now();
    for parent in [|_| 0, |j| j - 1, |j| j / 2, |j| j.saturating_sub(3)] as [fn(usize) -> usize; 4]
    {
        assert!(HumanoidMap::find(&joints(parent)).is_err());
    }
    assert!(start.elapsed().as_secs() < 20);
}

/// Names that do not cover the trunk, the head or the toes: the shape of the body has them.
#[test]
fn shapes_complete_what_names_leave_out() {
    let names = [
        ["Hip", "LowerSpine", "MiddleSpine", "Chest", "Neck", "Head", "~Toe"],
        ["pelvis", "stomach", "belly", "chest", "neck", "head", "~digit"],
        ["Hips", "Spine", "Spine1", "Spine2", "Neck", "Nose", "~BigToe"],
    ];
    for [hips, a, b, c, neck, head, toes] in names {
        let text = format!(
            "
{hips} 0 95 0 hips
 {a} 0 103 0 spine
  {b} 0 113 0 chest
   {c} 0 123 0 upperChest
    {neck} 0 148 0 neck
     {head} 0 156 1 head
      {head}_end 0 172 1
    ~Clavicle 3 142 0 leftShoulder
     ~UpperArm 16 143 0 leftUpperArm
      ~Forearm 44 143 -1 leftLowerArm
       ~Hand 69 143 0 leftHand
 ~Thigh 9 91 0 leftUpperLeg
  ~Shin 9 50 1 leftLowerLeg
   ~Foot 9 8 -2 leftFoot
    {toes} 9 2 11 leftToes"
        );
        for sides in [["L", "R"], ["l_", "r_"]] {
            let rows = body(&text, sides);
            for way in ways() {
                let map = HumanoidMap::find(&skeleton(&rows, way, true)).unwrap();
                assert!(matches!(map.origin(), MapOrigin::Names(_)), "{hips}: {}", map.origin());
                let found: Vec<_> = map.bones().collect();
                let all = rows.iter().enumerate().filter_map(|(j, r)| Some((r.3?, j)));
                let mut expected: Vec<_> = all.collect();
                expected.sort_by_key(|pair| B::all().position(|b| b == pair.0));
                assert_eq!(found, expected, "{hips}, {way:?}");
            }
        }
    }
}
