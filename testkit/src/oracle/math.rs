//! Vectors, quaternions (xyzw) and 4×4 column-major matrices as plain arrays of f64.

pub type Vec3 = [f64; 3];
pub type Quat = [f64; 4];
pub type Mat4 = [f64; 16];

pub const IDENTITY: Mat4 =
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
pub const NO_ROTATION: Quat = [0.0, 0.0, 0.0, 1.0];

pub fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a * (1.0 - t) + b * t
}

pub fn dot(a: Quat, b: Quat) -> f64 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

/// The unit quaternion; the identity for a quaternion of length 0.
pub fn normalize(q: Quat) -> Quat {
    let length = dot(q, q).sqrt();
    if length > 0.0 { q.map(|c| c / length) } else { NO_ROTATION }
}

pub fn conjugate([x, y, z, w]: Quat) -> Quat {
    [-x, -y, -z, w]
}

/// Hamilton product: first `b`, then `a`.
pub fn product([ax, ay, az, aw]: Quat, [bx, by, bz, bw]: Quat) -> Quat {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Shortest-path slerp of unit quaternions (appendix C.4).
pub fn slerp(a: Quat, b: Quat, t: f64) -> Quat {
    let d = dot(a, b);
    let sign = if d < 0.0 { -1.0 } else { 1.0 };
    let angle = d.abs().min(1.0).acos();
    let sine = angle.sin();
    // Below this angle sin(x)/x is 1 to the last bit, and the division would approach 0/0.
    let (wa, wb) = if sine < 1e-9 {
        (1.0 - t, t)
    } else {
        ((angle * (1.0 - t)).sin() / sine, (angle * t).sin() / sine)
    };
    normalize(std::array::from_fn(|i| wa * a[i] + wb * sign * b[i]))
}

/// Lerp of quaternions on the hemisphere of `a`, normalised.
pub fn nlerp(a: Quat, b: Quat, t: f64) -> Quat {
    let sign = if dot(a, b) < 0.0 { -1.0 } else { 1.0 };
    normalize(std::array::from_fn(|i| a[i] * (1.0 - t) + b[i] * sign * t))
}

/// Column-vector product: first `b`, then `a`.
pub fn mul(a: &Mat4, b: &Mat4) -> Mat4 {
    std::array::from_fn(|i| {
        let (column, row) = (i / 4, i % 4);
        (0..4).map(|k| a[k * 4 + row] * b[column * 4 + k]).sum()
    })
}

/// Translation × rotation × scale (3.5.3, transformations).
pub fn from_trs(t: Vec3, r: Quat, s: Vec3) -> Mat4 {
    let [x, y, z, w] = r;
    let columns = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
        [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
        [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let mut m = IDENTITY;
    for c in 0..3 {
        for row in 0..3 {
            m[c * 4 + row] = columns[c][row] * s[c];
        }
        m[12 + c] = t[c];
    }
    m
}

pub fn transform_point(m: &Mat4, p: Vec3) -> Vec3 {
    std::array::from_fn(|row| m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row])
}
