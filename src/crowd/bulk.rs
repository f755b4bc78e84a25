//! Calls on many instances at once, by arrays. Each call checks every handle and number before anything changes.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::options::{check, check_parameter, check_seconds, check_time};
use crate::playback::pool::Pool;
use crate::playback::{
    BlendSpaceId, InstanceId, Parameter, PlayOptions, Playable, PlaybackError as CrowdError,
    Player, RigId,
};

/// An argument of a bulk call: one value for all instances, or one value per instance.
#[derive(Clone, Copy)]
pub(super) struct Values<'a, T>(&'a [T]);

impl<'a, T: Copy> Values<'a, T> {
    pub fn new(
        what: &'static str,
        values: &'a [T],
        instances: &[InstanceId],
    ) -> Result<Self, CrowdError> {
        if values.len() == instances.len() || values.len() == 1 {
            return Ok(Self(values));
        }
        Err(CrowdError::Lengths { what, values: values.len(), instances: instances.len() })
    }

    pub fn of(self, element: usize) -> T {
        match self.0 {
            [all] => *all,
            each => each[element],
        }
    }

    /// Weights, or `None` if there are none: what has a weight then keeps it.
    pub fn weights(weights: &'a [T], instances: &[InstanceId]) -> Result<Option<Self>, CrowdError> {
        let given = (!weights.is_empty()).then(|| Self::new("weights", weights, instances));
        given.transpose()
    }

    /// Whether the value of an element has to be checked: one value for all is checked once per rig.
    pub fn differs(self, first: bool) -> bool {
        first || self.0.len() > 1
    }
}

/// Checks the weight of an element, if weights are given.
pub(super) fn check_weight(
    weights: Option<Values<'_, f32>>,
    element: usize,
) -> Result<(), CrowdError> {
    weights.map_or(Ok(()), |weights| check("weight", weights.of(element).into(), 0.0, 1.0))
}

/// The error of a call that is refused for one element.
pub(super) fn refused(element: usize, source: CrowdError) -> CrowdError {
    let source = Box::new(source);
    CrowdError::Element { element, source }
}

/// Neighbouring instances of one rig, each run with the index of its first element.
fn runs(instances: &[InstanceId]) -> impl Iterator<Item = (usize, &[InstanceId])> {
    let mut next = 0;
    instances.chunk_by(|a, b| a.rig() == b.rig()).map(move |run| {
        let first = next;
        next += run.len();
        (first, run)
    })
}

/// An element of the arrays that is being checked.
pub(super) struct Element<'a> {
    pub pool: &'a Pool,
    /// Index of the element's instance in `pool`.
    index: usize,
    /// Index in the caller's arrays.
    pub element: usize,
    /// True for the first element of a run: values that hold for all instances are checked there.
    pub first: bool,
}

/// The fields of the calls on motions.
#[derive(Clone, Copy)]
struct Plays<'a, M> {
    layer: usize,
    motions: Values<'a, M>,
}

impl<M: Copy + Into<Playable>> Plays<'_, M> {
    fn motion(self, element: usize) -> Playable {
        self.motions.of(element).into()
    }

    /// Checks that the motion plays on the layer of an element's instance.
    fn check(self, e: &Element<'_>) -> Result<(), CrowdError> {
        e.pool.check_plays(e.index, self.layer, self.motion(e.element))
    }
}

/// # Calls on many instances
///
/// Each of these calls is the call of the same name on every instance, in order, and gives the same bits. An array of
/// one value holds for all instances; otherwise it has one value per instance: other lengths are refused. A handle may be
/// listed several times, as if the single call was repeated. All is checked first: if the single call would fail for an
/// instance, the error [names it](CrowdError::Element) and nothing has changed. Neighbours of one rig are cheapest.
impl Crowd {
    /// [`spawn`](Self::spawn) of `count` instances. Appends their handles to `into`.
    ///
    /// ```
    /// use phalanx::crowd::{Crowd, PlayOptions};
    /// use phalanx::math::Affine3x4;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "gltf")] {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// let walk = crowd.clip_named(rig, "Walk")?;
    /// let mut all = Vec::new();
    /// crowd.spawn_many(rig, 100, &mut all)?;
    /// crowd.play_many(&all, 0, &[walk], &[PlayOptions::default()])?;
    /// // Every instance starts at a time of its own.
    /// let times: Vec<f64> = (0..100).map(|n| 0.01 * f64::from(n)).collect();
    /// crowd.set_times(&all, 0, &[walk], &times)?;
    /// let worlds = vec![Affine3x4::IDENTITY; 100];
    /// crowd.set_worlds(&all, &worlds)?;
    /// crowd.despawn_many(&all[50..])?;
    /// assert_eq!(crowd.instance_count(), 50);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the rig is unknown, or would have more than [`MAX_INSTANCES`](super::MAX_INSTANCES).
    pub fn spawn_many(
        &mut self,
        rig: RigId,
        count: usize,
        into: &mut Vec<InstanceId>,
    ) -> Result<(), CrowdError> {
        let pool = self.pool_mut(rig)?;
        pool.reserve(count)?;
        into.reserve(count);
        for _ in 0..count {
            let index = pool.spawn()?;
            into.push(pool.instance_id(index));
        }
        Ok(())
    }

    /// [`despawn`](Self::despawn). A handle that is listed twice is unknown the second time.
    pub fn despawn_many(&mut self, instances: &[InstanceId]) -> Result<(), CrowdError> {
        for (element, &instance) in instances.iter().enumerate() {
            let marked = self.instance_mut(instance).map(|(pool, index)| {
                // The instance counts as gone from here on, so that a second copy of the handle is not found.
                pool.set_alive(index, false);
            });
            if let Err(source) = marked {
                self.revive(&instances[..element]);
                return Err(refused(element, source));
            }
        }
        self.revive(instances);
        self.each(instances, |pool, index, _| pool.despawn(index));
        Ok(())
    }

    /// Takes back the marks that [`despawn_many`](Self::despawn_many) has set.
    fn revive(&mut self, instances: &[InstanceId]) {
        self.each(instances, |pool, index, _| pool.set_alive(index, true));
    }

    /// [`Player::play`] on one layer: of a motion for all instances, or of one each. Each fades in over the `fade_in` of
    /// its options.
    ///
    /// # Errors
    /// If an instance is unknown, the lengths do not fit, or for a reason that [`Player::play`] lists.
    pub fn play_many<M: Copy + Into<Playable>>(
        &mut self,
        instances: &[InstanceId],
        layer: usize,
        motions: &[M],
        options: &[PlayOptions],
    ) -> Result<(), CrowdError> {
        let motions = Values::new("motions", motions, instances)?;
        let options = Values::new("options", options, instances)?;
        let plays = Plays { layer, motions };
        self.check(instances, |e| {
            if motions.differs(e.first) {
                e.pool.library().check_motion(layer, plays.motion(e.element))?;
            }
            if options.differs(e.first) {
                e.pool.library().check_options(layer, &options.of(e.element))?;
            }
            Ok(())
        })?;
        self.each(instances, |pool, index, element| {
            let motion = plays.motion(element);
            Player { pool, index }.play_checked(layer, motion, &options.of(element));
        });
        Ok(())
    }

    /// [`Player::fade`]: fades the weights of actions to targets over `seconds`; 0 sets them at once.
    ///
    /// # Errors
    /// If an instance is unknown, the lengths do not fit, or for a reason that [`Player::fade`] lists.
    pub fn fade_many<M: Copy + Into<Playable>>(
        &mut self,
        instances: &[InstanceId],
        layer: usize,
        motions: &[M],
        weights: &[f32],
        seconds: &[f32],
    ) -> Result<(), CrowdError> {
        let motions = Values::new("motions", motions, instances)?;
        let weights = Values::new("weights", weights, instances)?;
        let seconds = Values::new("seconds", seconds, instances)?;
        let plays = Plays { layer, motions };
        self.check(instances, |e| {
            plays.check(e)?;
            e.pool.library().check_weight("weight", layer, weights.of(e.element))?;
            check_seconds("seconds", seconds.of(e.element))
        })?;
        self.each(instances, |pool, index, element| {
            let (weight, seconds) = (weights.of(element), seconds.of(element));
            let motion = plays.motion(element);
            let changed = pool.change(index, layer, motion, |_, state, a| {
                state.fade(a, weight, seconds);
                Ok(())
            });
            debug_assert!(changed.is_ok(), "the motion was checked");
        });
        Ok(())
    }

    /// [`Player::set_time`]: sets the times of actions, in seconds; a blend space takes a phase instead.
    ///
    /// # Errors
    /// If an instance is unknown, the lengths do not fit, or for a reason that [`Player::set_time`] lists.
    pub fn set_times<M: Copy + Into<Playable>>(
        &mut self,
        instances: &[InstanceId],
        layer: usize,
        motions: &[M],
        times: &[f64],
    ) -> Result<(), CrowdError> {
        let plays = Plays { layer, motions: Values::new("motions", motions, instances)? };
        let check = |e: &Element<'_>, time| {
            plays.check(e)?;
            check_time(time)
        };
        self.set_each(("times", times), instances, check, |pool, index, element, time| {
            let changed = pool.change(index, layer, plays.motion(element), |_, state, a| {
                state.action_mut(a).seek(time);
                Ok(())
            });
            debug_assert!(changed.is_ok(), "the motion was checked");
        })
    }

    /// [`Player::set_parameter`]: sets the parameters of blend spaces.
    ///
    /// # Errors
    /// If an instance is unknown, the lengths do not fit, or for a reason that [`Player::set_parameter`] lists.
    pub fn set_parameters<P: Copy + Into<Parameter>>(
        &mut self,
        instances: &[InstanceId],
        layer: usize,
        spaces: &[BlendSpaceId],
        values: &[P],
    ) -> Result<(), CrowdError> {
        let plays = Plays { layer, motions: Values::new("spaces", spaces, instances)? };
        let check = |e: &Element<'_>, value: P| {
            plays.check(e)?;
            check_parameter(value.into())
        };
        self.set_each(("values", values), instances, check, |pool, index, element, value| {
            let changed = pool.change(index, layer, plays.motion(element), |library, state, a| {
                state.steer(a, library, value.into());
                Ok(())
            });
            debug_assert!(changed.is_ok(), "the motion was checked");
        })
    }

    /// [`set_world`](Self::set_world): sets world transforms.
    ///
    /// # Errors
    /// If an instance is unknown, the lengths do not fit, or for a reason that [`set_world`](Self::set_world) lists.
    pub fn set_worlds(
        &mut self,
        instances: &[InstanceId],
        worlds: &[Affine3x4],
    ) -> Result<(), CrowdError> {
        self.place(instances, worlds, Pool::set_world)
    }

    /// [`teleport`](Self::teleport): sets world transforms of instances that are elsewhere at once.
    ///
    /// # Errors
    /// As for [`set_worlds`](Self::set_worlds).
    pub fn teleport_many(
        &mut self,
        instances: &[InstanceId],
        worlds: &[Affine3x4],
    ) -> Result<(), CrowdError> {
        self.place(instances, worlds, |pool, index, world| {
            pool.set_world(index, world);
            pool.rest_springs(index);
        })
    }

    fn place(
        &mut self,
        instances: &[InstanceId],
        worlds: &[Affine3x4],
        place: impl Fn(&mut Pool, usize, Affine3x4),
    ) -> Result<(), CrowdError> {
        let check = |e: &Element<'_>, world| {
            super::play::check_world(e.pool, e.pool.instance_id(e.index), &world)
        };
        let set = |pool: &mut Pool, index, _, world| place(pool, index, world);
        self.set_each(("worlds", worlds), instances, check, set)
    }

    /// [`set_scheduled`](Self::set_scheduled): which instances the next frames evaluate.
    ///
    /// # Errors
    /// If an instance is unknown, or the lengths do not fit.
    pub fn set_scheduled_many(
        &mut self,
        instances: &[InstanceId],
        scheduled: &[bool],
    ) -> Result<(), CrowdError> {
        let known = |_: &Element<'_>, _| Ok(());
        self.set_each(("scheduled", scheduled), instances, known, |pool, index, _, scheduled| {
            pool.set_scheduled(index, scheduled);
        })
    }

    /// [`set_visible`](Self::set_visible): shows or hides instances.
    ///
    /// # Errors
    /// If an instance is unknown, or the lengths do not fit.
    pub fn set_visible_many(
        &mut self,
        instances: &[InstanceId],
        visible: &[bool],
    ) -> Result<(), CrowdError> {
        let known = |_: &Element<'_>, _| Ok(());
        self.set_each(("visible", visible), instances, known, |pool, index, _, visible| {
            pool.set_visible(index, visible);
        })
    }

    /// Checks every handle and its value, then sets the values: `set` gets the pool, the instance's index, the element's
    /// number and its value.
    fn set_each<T: Copy>(
        &mut self,
        (what, values): (&'static str, &[T]),
        instances: &[InstanceId],
        check: impl Fn(&Element<'_>, T) -> Result<(), CrowdError>,
        mut set: impl FnMut(&mut Pool, usize, usize, T),
    ) -> Result<(), CrowdError> {
        let values = Values::new(what, values, instances)?;
        self.check(instances, |e| check(e, values.of(e.element)))?;
        self.each(instances, |pool, index, element| {
            set(pool, index, element, values.of(element));
        });
        Ok(())
    }

    /// Checks every handle, then calls `check` on every element. The first error is returned.
    pub(super) fn check(
        &self,
        instances: &[InstanceId],
        check: impl Fn(&Element<'_>) -> Result<(), CrowdError>,
    ) -> Result<(), CrowdError> {
        for (start, run) in runs(instances) {
            let pool = run.first().map(|&id| self.instance(id));
            let pool = pool.and_then(Result::ok).map(|(pool, _)| pool);
            for (n, &id) in run.iter().enumerate() {
                let element = start + n;
                let fail = |source| refused(element, source);
                let pool = match pool.filter(|pool| pool.state().knows(id)) {
                    Some(pool) => pool,
                    None => self.instance(id).map_err(fail)?.0,
                };
                check(&Element { pool, index: id.index(), element, first: n == 0 })
                    .map_err(fail)?;
            }
        }
        Ok(())
    }

    /// Calls `apply` with the pool, the instance's index and the element's number. Skips handles of unknown rigs.
    pub(super) fn each(
        &mut self,
        instances: &[InstanceId],
        mut apply: impl FnMut(&mut Pool, usize, usize),
    ) {
        for (start, run) in runs(instances) {
            let pool = run.first().map(|id| self.pool_mut(id.rig()));
            if let Some(Ok(pool)) = pool {
                for (n, id) in run.iter().enumerate() {
                    apply(pool, id.index(), start + n);
                }
            }
        }
    }
}
