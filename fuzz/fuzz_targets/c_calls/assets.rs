//! Version, errors, memory, rigs, meshes, imports, libraries, clips.

use crate::World;
use crate::kit::{GLB, PHX, defaults};
use crate::source::{Heap, touch};
use phalanx_c::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

const KINDS: [(phx_options_kind, usize); 21] = [
    (PHX_ALLOCATOR, size_of::<phx_allocator>()),
    (PHX_CROWD_OPTIONS, size_of::<phx_crowd_options>()),
    (PHX_RIG_OPTIONS, size_of::<phx_rig_options>()),
    (PHX_SPACE_OPTIONS, size_of::<phx_space_options>()),
    (PHX_PLAY_OPTIONS, size_of::<phx_play_options>()),
    (PHX_CROSS_FADE, size_of::<phx_cross_fade>()),
    (PHX_IMPORT_OPTIONS, size_of::<phx_import_options>()),
    (PHX_RIG_ARRAYS, size_of::<phx_rig_arrays>()),
    (PHX_CLIP_ARRAYS, size_of::<phx_clip_arrays>()),
    (PHX_BIND_OPTIONS, size_of::<phx_bind_options>()),
    (PHX_RETARGET_OPTIONS, size_of::<phx_retarget_options>()),
    (PHX_BAKE_OPTIONS, size_of::<phx_bake_options>()),
    (PHX_TWO_BONE_IK, size_of::<phx_two_bone_ik>()),
    (PHX_AIM, size_of::<phx_aim>()),
    (PHX_FEET, size_of::<phx_feet>()),
    (PHX_SPRINGS, size_of::<phx_springs>()),
    (PHX_HOOK, size_of::<phx_hook>()),
    (PHX_FRAME_OPTIONS, size_of::<phx_frame_options>()),
    (PHX_TIERS, size_of::<phx_tiers>()),
    (PHX_LAYER_OPTIONS, size_of::<phx_layer_options>()),
    (PHX_TIER, size_of::<phx_tier>()),
];

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

impl World<'_> {
    pub fn base(&mut self) {
        match self.source.below(8) {
            0 => {
                let version = self.source.index(2);
                assert_ne!(phx_version(), 0);
                assert_eq!(phx_abi_check(version) == PHX_OK, version == PHX_ABI_VERSION);
            }
            n @ (1 | 2) => {
                let (text, length) = (self.out::<*const c_char>(1), self.out::<usize>(1));
                let (at, n_at) = (text.heap.ptr_mut(), length.heap.ptr_mut());
                let known = match n {
                    1 => call!(self, phx_error_message(at, n_at), text, length),
                    _ => call!(self, phx_simd_level(at, n_at), text, length),
                };
                if known {
                    touch(text.heap.read::<*const c_char>(), length.heap.read());
                }
            }
            3 => {
                // The present set, so that nothing changes, or none.
                let (mut text, mut length) = (null(), 0);
                // SAFETY: the places are valid.
                unsafe { phx_simd_level(&mut text, &mut length) };
                if self.source.one_of(2) {
                    assert!(call!(self, phx_simd_set_level(text, length)));
                } else {
                    let name = self.text();
                    assert!(!call!(self, phx_simd_set_level(name.data, name.length)));
                }
            }
            4 => {
                // Without callbacks it is refused, as it must be here.
                let none = self.options(defaults::<phx_allocator>(PHX_ALLOCATOR));
                assert!(!call!(self, phx_allocator_set(none)));
            }
            5 if self.source.one_of(20) && self.pools.is_empty() => {
                let (threads, out) =
                    (self.source.pick(&[1, 2, 1025]), self.out::<*mut phx_pool>(1));
                if call!(self, phx_pool_new(threads, out.heap.ptr_mut()), out) {
                    self.pools.push(out.heap.read());
                }
            }
            6 if !self.pools.is_empty() => {
                let pool = self.pools[0];
                assert!(call!(self, phx_pool_free(pool)));
                self.pools.clear();
                self.dead.push(pool.cast());
            }
            _ => {
                let (kind, right) = self.source.pick(&KINDS);
                let kind = if self.source.wrong(6) { self.source.index(50) } else { kind };
                let size = match self.source.wrong(4) {
                    true => self.source.pick(&[0, 1, 7, 8, right - 1, right + 8, 300]),
                    false => right,
                };
                let out = self.out::<u8>(size);
                call!(self, phx_options_init(kind, out.heap.ptr_mut::<c_void>(), size), out);
            }
        }
    }

    pub fn rig_calls(&mut self) {
        let rig = self.rig();
        match self.source.below(10) {
            0 => {
                let own = self.rigs.pop().unwrap_or(null_mut());
                let freed = call!(self, phx_rig_free(own));
                assert!(freed, "a rig is freed");
                if !own.is_null() {
                    assert!(!call!(self, phx_rig_free(own)), "a rig is freed once");
                    self.dead.push(own.cast());
                }
                let other =
                    if self.source.one_of(2) { self.kit.freed } else { self.kit.pool.cast() };
                assert!(!call!(self, phx_rig_free(other.cast())));
            }
            1 => {
                let out = self.info::<phx_rig_info>();
                if call!(self, phx_rig_describe(rig, out.heap.ptr_mut()), out) {
                    let info: phx_rig_info = out.heap.read();
                    touch(info.name.data, info.name.length);
                    touch(info.parents, info.joint_count as usize);
                    touch(info.channels, info.channel_count as usize);
                    touch(info.scalars, info.scalar_count as usize);
                }
            }
            2 => {
                let (part, name, out) = (self.source.index(3), self.text(), self.out::<u32>(1));
                let at = out.heap.ptr_mut();
                call!(self, phx_rig_find(rig, part, name.data, name.length, at), out);
            }
            3 => {
                let (joint, out) = (self.source.index(15), self.info::<phx_joint_info>());
                if call!(self, phx_rig_joint(rig, joint, out.heap.ptr_mut()), out) {
                    let info: phx_joint_info = out.heap.read();
                    touch(info.name.data, info.name.length);
                }
            }
            4 => {
                let joints = self.source.pick(&[15, 3, 2, 47, 0]);
                let out = self.out::<phx_matrix>(joints);
                call!(self, phx_rig_rest_models(rig, out.heap.ptr_mut(), joints), out);
            }
            5 => {
                let (skin, out) = (self.source.index(2), self.info::<phx_skin_info>());
                if call!(self, phx_rig_skin(rig, skin, out.heap.ptr_mut()), out) {
                    let info: phx_skin_info = out.heap.read();
                    touch(info.joints, info.count as usize);
                    touch(info.inverse_bind, info.count as usize);
                }
            }
            6 => {
                let (clip, out) = (self.source.index(4), self.out::<*mut phx_clip>(1));
                if call!(self, phx_rig_clip(rig, clip, out.heap.ptr_mut()), out) {
                    self.clips.push(out.heap.read());
                }
            }
            7 => {
                let joints = self.source.pick(&[15, 3, 2, 47, 0]);
                let (joint, out) = (self.source.index(15), self.out::<f32>(joints));
                call!(self, phx_rig_mask_subtree(rig, joint, out.heap.ptr_mut(), joints), out);
            }
            8 if self.rigs.len() < 8 => {
                let arrays = self.rig_arrays();
                let (arrays, out) = (self.options(arrays), self.out::<*mut phx_rig>(1));
                if call!(self, phx_rig_new_arrays(arrays, out.heap.ptr_mut()), out) {
                    self.rigs.push(out.heap.read());
                }
            }
            _ if self.source.one_of(8) => {
                let (path, options) = (self.path(), self.import_options());
                let out = self.out::<*mut phx_rig>(1);
                let at = out.heap.ptr_mut();
                let (data, length) = (path.data, path.length);
                if call!(self, phx_rig_with_lod_file(rig, data, length, options, at), out) {
                    self.rigs.push(out.heap.read());
                }
            }
            _ => {}
        }
    }

    pub fn mesh_calls(&mut self) {
        let (mesh, part, rig) = (self.source.index(4), self.source.index(3), self.rig());
        let drawn = self.source.pick(&[3, 4, 4]);
        let rig = if self.source.one_of(2) { rig } else { self.kit.rigs[drawn] };
        let third = self.source.index(3);
        match self.source.below(6) {
            0 => {
                let out = self.info::<phx_node_info>();
                if call!(self, phx_rig_node(rig, mesh, out.heap.ptr_mut()), out) {
                    let info: phx_node_info = out.heap.read();
                    touch(info.name.data, info.name.length);
                    touch(info.matrix, if info.matrix.is_null() { 0 } else { 16 });
                }
            }
            1 => {
                let out = self.info::<phx_mesh_info>();
                if call!(self, phx_rig_mesh(rig, mesh, out.heap.ptr_mut()), out) {
                    let info: phx_mesh_info = out.heap.read();
                    touch(info.weights, info.weight_count as usize);
                }
            }
            2 => {
                let out = self.info::<phx_primitive_info>();
                if call!(self, phx_rig_primitive(rig, mesh, part, out.heap.ptr_mut()), out) {
                    let info: phx_primitive_info = out.heap.read();
                    let vertices = info.vertex_count as usize;
                    let streams = [(info.positions, 3), (info.normals, 3), (info.tangents, 4)];
                    let more = [(info.uvs, 2), (info.uvs1, 2), (info.colors, 4)];
                    for (data, numbers) in streams.into_iter().chain(more) {
                        touch(data, if data.is_null() { 0 } else { numbers * vertices });
                    }
                    touch(info.indices, info.index_count as usize);
                    touch(info.joints, info.influences as usize * vertices);
                    touch(info.joint_weights, info.influences as usize * vertices);
                }
            }
            3 => {
                let out = self.info::<phx_morph_target_info>();
                let at = out.heap.ptr_mut();
                call!(self, phx_rig_morph_target(rig, mesh, part, third, at), out);
            }
            4 => {
                let out = self.info::<phx_material_info>();
                if call!(self, phx_rig_material(rig, part, out.heap.ptr_mut()), out) {
                    let info: phx_material_info = out.heap.read();
                    touch(info.name.data, info.name.length);
                }
            }
            _ => {
                let out = self.info::<phx_image_info>();
                if call!(self, phx_rig_image(rig, part, out.heap.ptr_mut()), out) {
                    let info: phx_image_info = out.heap.read();
                    touch(info.data, if info.data.is_null() { 0 } else { info.size_bytes });
                }
            }
        }
    }

    /// A path: of a file that is there, or of none.
    fn path(&mut self) -> phx_text {
        const FILES: [&str; 4] =
            ["import_gltf/little.glb", "read_phx/library-3.phx", "bvh/pair", "none"];
        if self.source.wrong(3) {
            return self.text();
        }
        let path = format!("{FOLDER}/seeds/{}", self.source.pick(&FILES));
        phx_text { data: self.keep(Heap::of(path.as_bytes())).cast(), length: path.len() }
    }

    fn import_options(&mut self) -> *const phx_import_options {
        let names = if self.source.one_of(8) { self.texts(2) } else { Vec::new() };
        let (split, split_count) = self.array(&names);
        let joint = if self.source.one_of(8) { self.text() } else { phx_text::empty() };
        let source = &mut self.source;
        let options = phx_import_options {
            up_axis: source.index(2),
            root_motion: source.flag(),
            unit: if source.one_of(4) { source.f64() } else { 1.0 },
            split,
            split_count,
            root_joint: joint,
            root_axes: source.index(8),
            root_rotation: source.flag(),
            images: source.index(3),
            parent_folders: source.flag(),
            lenient: source.flag(),
            trim: source.flag(),
            memory_limit: source.pick(&[0, 1, 10_000, 1 << 24]),
            without_clips: source.flag(),
            ..defaults(PHX_IMPORT_OPTIONS)
        };
        self.options(options)
    }

    /// Bytes of a file, whole, cut or damaged, or any bytes.
    fn file(&mut self, library: bool) -> (*const u8, usize) {
        const TEXT: &[u8] =
            b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Zrotation\nEnd Site\n{\n\
OFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0\n9\n";
        const GLTF: &[u8] =
            br#"{"asset":{"version":"2.0"},"nodes":[{"name":"a"}],"scenes":[{"nodes":[0]}]}"#;
        let all = [TEXT, GLTF, TEXT, GLTF, GLB, PHX, PHX];
        let any = self.source.pick(&all);
        let mut bytes = if library { PHX } else { any }.to_vec();
        match self.source.below(4) {
            0 => bytes = self.source.bytes(64),
            1 => {
                for _ in 0..1 + self.source.below(4) {
                    let at = usize::from(self.source.u64() as u16) % bytes.len();
                    bytes[at] = self.source.byte();
                }
            }
            2 if self.source.wild => {
                let cut = usize::from(self.source.u64() as u16) % bytes.len();
                bytes.truncate(cut);
            }
            _ => {}
        }
        self.array(&bytes)
    }

    pub fn import_calls(&mut self) {
        let import = self.imports.last().copied().unwrap_or(self.kit.import);
        let import = self.handle(import);
        let library = self.libraries.last().copied().unwrap_or(self.kit.library);
        let library = self.handle(library);
        let full = self.imports.len() + self.libraries.len() + self.rigs.len() > 12;
        match self.source.below(14) {
            n @ 0..7 if !full => {
                // Files are slower than bytes.
                let (from_file, name) = (self.source.one_of(6), self.text());
                let options = self.import_options();
                let (file, path) = (self.file(n > 4), self.path());
                let (name, name_length) = (name.data, name.length);
                let ((data, size), (path, length)) = (file, (path.data, path.length));
                let import = self.out::<*mut phx_import>(1);
                let rig = self.out::<*mut phx_rig>(1);
                let library = self.out::<*mut phx_library>(1);
                let (i, r, l) = (import.heap.ptr_mut(), rig.heap.ptr_mut(), library.heap.ptr_mut());
                match (n, from_file) {
                    (0..3, true) => {
                        if call!(self, phx_import_new_file(path, length, options, i), import) {
                            self.imports.push(import.heap.read());
                        }
                    }
                    (0..3, false) => {
                        if call!(
                            self,
                            phx_import_new_memory(data, size, name, name_length, options, i),
                            import
                        ) {
                            self.imports.push(import.heap.read());
                        }
                    }
                    (3 | 4, true) => {
                        if call!(self, phx_rig_new_file(path, length, options, r), rig) {
                            self.rigs.push(rig.heap.read());
                        }
                    }
                    (3 | 4, false) => {
                        if call!(
                            self,
                            phx_rig_new_memory(data, size, name, name_length, options, r),
                            rig
                        ) {
                            self.rigs.push(rig.heap.read());
                        }
                    }
                    (_, true) => {
                        if call!(self, phx_library_new_file(path, length, l), library) {
                            self.libraries.push(library.heap.read());
                        }
                    }
                    (_, false) => {
                        if call!(self, phx_library_new_memory(data, size, l), library) {
                            self.libraries.push(library.heap.read());
                        }
                    }
                }
            }
            7 | 8 => {
                let out = self.info::<phx_import_info>();
                if call!(self, phx_import_describe(import, out.heap.ptr_mut()), out) {
                    let info: phx_import_info = out.heap.read();
                    touch(info.links, info.link_count);
                    touch(info.entries, info.entry_count);
                }
            }
            9 => {
                let index = self.source.index(2) as usize;
                let out = self.out::<*mut phx_rig>(1);
                if call!(self, phx_import_rig(import, index, out.heap.ptr_mut()), out) {
                    self.rigs.push(out.heap.read());
                }
            }
            10 => {
                let own = self.imports.pop().unwrap_or(null_mut());
                assert!(call!(self, phx_import_free(own)));
                assert!(own.is_null() || !call!(self, phx_import_free(own)));
                let own = self.libraries.pop().unwrap_or(null_mut());
                assert!(call!(self, phx_library_free(own)));
                assert!(own.is_null() || !call!(self, phx_library_free(own)));
            }
            11 => {
                let out = self.info::<phx_library_info>();
                if call!(self, phx_library_describe(library, out.heap.ptr_mut()), out) {
                    let info: phx_library_info = out.heap.read();
                    touch(info.clips, info.clip_count as usize);
                }
            }
            12 if self.source.one_of(60) && !full => {
                let out = self.out::<*mut phx_rig>(1);
                if call!(self, phx_rig_new_mannequin(out.heap.ptr_mut()), out) {
                    self.rigs.push(out.heap.read());
                }
            }
            _ => {
                let rig = if self.source.one_of(2) { null() } else { self.rig() };
                let (index, out) = (self.source.index(4), self.out::<*mut phx_clip>(1));
                if call!(self, phx_library_clip(library, index, rig, out.heap.ptr_mut()), out) {
                    self.clips.push(out.heap.read());
                }
            }
        }
    }

    pub fn clip_calls(&mut self) {
        let (clip, rig, out) = (self.clip(), self.rig(), self.out::<*mut phx_clip>(1));
        let at = out.heap.ptr_mut();
        let full = self.clips.len() > 12;
        let made = match self.source.below(12) {
            0 => {
                let own = self.clips.pop().unwrap_or(null_mut());
                assert!(call!(self, phx_clip_free(own)));
                assert!(own.is_null() || !call!(self, phx_clip_free(own)));
                false
            }
            1 => {
                let out = self.info::<phx_clip_info>();
                if call!(self, phx_clip_describe(clip, out.heap.ptr_mut()), out) {
                    let info: phx_clip_info = out.heap.read();
                    touch(info.name.data, info.name.length);
                }
                false
            }
            2 => {
                let (index, out) = (self.source.index(3), self.out::<phx_marker>(1));
                if call!(self, phx_clip_marker(clip, index, out.heap.ptr_mut()), out) {
                    let marker: phx_marker = out.heap.read();
                    touch(marker.name.data, marker.name.length);
                }
                false
            }
            3 => {
                let (from, to, out) =
                    (self.source.f64(), self.source.f64(), self.out::<phx_rigid>(1));
                let passes = match self.source.wrong(2) {
                    true => self.source.u64() as i64,
                    false => self.source.byte() as i8 as i64,
                };
                call!(self, phx_clip_root_motion(clip, from, to, passes, out.heap.ptr_mut()), out);
                false
            }
            4 if !full => {
                let (markers, count) = self.markers();
                call!(self, phx_clip_with_markers(clip, markers, count, at), out)
            }
            5 | 6 if !full => {
                let arrays = self.clip_arrays();
                let arrays = self.options(arrays);
                call!(self, phx_clip_new_arrays(rig, arrays, at), out)
            }
            7 if !full => {
                let reference = if self.source.one_of(2) { null() } else { self.clip() };
                let time = self.source.unit();
                call!(self, phx_clip_new_additive(rig, clip, reference, time, at), out)
            }
            8 if !full => {
                let options = phx_bind_options {
                    translations: self.source.index(5),
                    root_scale: self.source.f32(),
                    ..defaults(PHX_BIND_OPTIONS)
                };
                let (options, target) = (self.options(options), self.rig());
                call!(self, phx_clip_new_bound(rig, clip, target, options, at), out)
            }
            9 if !full && self.source.one_of(4) => {
                let source = &mut self.source;
                let options = phx_retarget_options {
                    source_reference: source.index(3),
                    target_reference: source.index(3),
                    alignment: source.index(3),
                    ground: source.index(3),
                    keep_scales: source.flag(),
                    mirror: source.flag(),
                    plant_feet: source.flag(),
                    plant_height: 0.05 + source.f64(),
                    plant_speed: 0.35 + source.f64(),
                    plant_fade: 0.1 + source.f64(),
                    ..defaults(PHX_RETARGET_OPTIONS)
                };
                let (options, target) = (self.options(options), self.rig());
                call!(self, phx_clip_new_retargeted(rig, clip, target, options, at), out)
            }
            10 if !full && self.source.one_of(4) => {
                let options = phx_bake_options {
                    max_error: 1e-4 + self.source.unit(),
                    shell: 0.03 + self.source.unit(),
                    scalar_error: 1e-4 + self.source.unit(),
                    ..defaults(PHX_BAKE_OPTIONS)
                };
                let (options, error) = (self.options(options), self.out::<f32>(1));
                let e = error.heap.ptr_mut();
                call!(self, phx_clip_new_baked(rig, clip, options, e, at), out, error)
            }
            _ if !full => {
                let index = self.source.index(3);
                call!(self, phx_rig_clip(rig, index, at), out)
            }
            _ => false,
        };
        if made {
            self.clips.push(out.heap.read());
        }
    }
}
