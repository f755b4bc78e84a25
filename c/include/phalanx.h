// Phalanx: skeletal animation for crowds. docs/c.md is the guide; phalanx.hpp has owners and views for C++17.
// This file is made from the library's sources.
//
// Rules of all functions
//
// Status     A function returns PHX_OK (0) or an error. phx_error_message has a sentence about the last error of the
//            calling thread. A call that fails has changed nothing and written nothing, but for what its comment says.
//            No call throws or exits. Faults of the library are caught and become PHX_ERROR_INTERNAL; each prints a line
//            to standard error. Where the system has no memory left, the process ends.
// Handles    phx_rig *, phx_clip *, phx_crowd * and so on belong to the caller, who frees each with its _free (a phx_frame
//            with phx_frame_end). What a crowd was given stays alive in the crowd. Null, freed handles and those of another
//            kind are errors, also when freed twice; freeing null is nothing. Some 32 bytes of each freed handle stay, but
//            for frames: their handles serve again after 64 others.
// Ids        phx_instance, phx_clip_id and so on are numbers of 64 bits, to copy, compare and store; 0 is none. Ids of what
//            is gone, or of another crowd, are errors.
// Structs    of options and of results begin with `size`. The caller sets it to sizeof before a call, so that programs that
//            were built with an older header fit a newer library; a size that is unknown is an error.
//            phx_options_init sets all options to their defaults; null options are the defaults, too. Structs without
//            `size` are values and elements of arrays; they stay as they are while PHX_ABI_VERSION does.
// Text       is UTF-8 with a length in bytes; PHX_NUL as the length means that a NUL ends it. Text from the library has no
//            NUL, unless it is said.
// Arrays     have a pointer and a count; null is allowed for a count of 0. One that is shorter than its call needs is
//            PHX_ERROR_SHORT, with both numbers in the message, and nothing is written to it. Booleans in structs are
//            uint32_t, in arrays uint8_t; all but 0 is true. Enumerations are uint32_t with the constants below.
// Views      are pointers into the library's memory. They stay as long as the comment of their function or struct says.
// Threads    Calls with different handles may run side by side, and so may calls to which a handle is const. A call that
//            changes a handle needs it alone: what meets it there is PHX_ERROR_BUSY, and so is a call from its own hook.
//            Freeing a handle while another thread begins to use it is the caller's fault.
// Global     are the threads of crowds without a pool, the instruction set, and the allocator, if one is set.
// Units      Lengths are the rig's: metres for glTF. Seconds, radians. Matrices are three rows of four, for column vectors;
//            quaternions are x, y, z, w; right-handed; y is up, unless a file is imported otherwise.
// Undefined  is what no library can check: a pointer that is none, an array shorter than its count, memory that another
//            thread changes during the call, a struct with less than `size` bytes, a view that is used too late.

#ifndef PHALANX_H
#define PHALANX_H

#include <stddef.h>
#include <stdint.h>
// As the length of text: it ends at its NUL.
#define PHX_NUL SIZE_MAX

// The version of this ABI. It changes when callers must be compiled again, and `phx_abi_check` compares it.
#define PHX_ABI_VERSION 1

// As an index of an optional thing: there is none. As a count of passes: without end.
#define PHX_NONE UINT32_MAX

// The age of matrices that come from no frame.
#define PHX_NEVER UINT64_MAX

// An animation of one skeleton. It does not change, and crowds share it.
typedef struct phx_clip phx_clip;

// A crowd: rigs, their clips, and the characters that play them.
typedef struct phx_crowd phx_crowd;

// A frame whose parts the caller runs, on threads of its own.
typedef struct phx_frame phx_frame;

// The rigs of a file, how they are attached to each other, and what the import had to change.
typedef struct phx_import phx_import;

// An open .phx file, whose clips are read when they are asked for.
typedef struct phx_library phx_library;

// Threads of the library that crowds share.
typedef struct phx_pool phx_pool;

// The pose of a character in a hook: after its clips, its overrides, and the modifiers before the hook. It is valid
// during the callback, on the callback's thread.
typedef struct phx_pose phx_pose;

// What a file of one character becomes: skeleton, skins, clips, meshes. It does not change, and crowds share it.
typedef struct phx_rig phx_rig;

// What a call returned: 0, or why nothing was done.
typedef int32_t phx_status;

// Where big blocks come from. See `phx_allocator_set`. The callbacks make no call of this library.
typedef struct phx_allocator {
    // The size of this struct.
    size_t size;
    // Passed to both calls.
    void *user;
    // `size` bytes at a multiple of `align`, a power of two; null if there is no memory. Any thread may call it.
    void *(*allocate)(void *user, size_t size, size_t align);
    // Frees what `allocate` returned for this size and alignment.
    void (*free)(void *user, void *block, size_t size, size_t align);
} phx_allocator;

// A struct of options, for `phx_options_init`.
typedef uint32_t phx_options_kind;

// Text of the library: UTF-8, `length` bytes, without a NUL behind it. How long it stays is said where it is returned.
typedef struct phx_text {
    // The bytes.
    const char *data;
    // The number of bytes.
    size_t length;
} phx_text;

// A user channel: a named value that clips animate beside the joints.
typedef struct phx_channel_info {
    // The name, which no other channel of the rig has.
    struct phx_text name;
    // How many numbers a value has, 1 to 4.
    uint32_t components;
    // Flag: the value is a rotation, a quaternion x, y, z, w.
    uint32_t is_rotation;
    // The value while no clip animates the channel; numbers beyond `components` are 0.
    float rest[4];
} phx_channel_info;

// A scalar: a morph weight, or one number of a user channel.
typedef struct phx_scalar_info {
    // The name, such as: Face.weights[3], or that of the channel with .x to .w behind.
    struct phx_text name;
    // The value while no clip animates it.
    float rest;
} phx_scalar_info;

// What a rig holds. The views stay until this handle of the rig is freed.
typedef struct phx_rig_info {
    // The size of this struct.
    size_t size;
    // The name: that of the rig's file.
    struct phx_text name;
    // The number of joints, for `phx_rig_joint`.
    uint32_t joint_count;
    // The number of skins, for `phx_rig_skin`: those of the file, then one for rigid meshes if there are any.
    uint32_t skin_count;
    // The number of clips, for `phx_rig_clip`.
    uint32_t clip_count;
    // The number of nodes of the file, for `phx_rig_node`.
    uint32_t node_count;
    // The number of meshes, for `phx_rig_mesh`.
    uint32_t mesh_count;
    // The number of materials, for `phx_rig_material`.
    uint32_t material_count;
    // The number of images, for `phx_rig_image`.
    uint32_t image_count;
    // The rows of a character's palette: one for each joint of each skin.
    uint32_t palette_length;
    // The number of levels of detail, at least 1.
    uint32_t lod_count;
    // The number of user channels.
    uint32_t channel_count;
    // The number of scalars.
    uint32_t scalar_count;
    // The parent of each joint, which comes before it; 0xFFFF for a root.
    const uint16_t *parents;
    // The user channels.
    const struct phx_channel_info *channels;
    // The scalars: the morph weights of all nodes, then the numbers of the user channels.
    const struct phx_scalar_info *scalars;
    // Equal for skeletons with the same joints, rest pose and scalars.
    uint64_t structure_hash;
    // Equal for skeletons with the same order of joints in memory. Clips of rigs with both hashes equal fit each
    // other as they are; clips of rigs with the same structure are converted when a crowd gets them.
    uint64_t layout_hash;
} phx_rig_info;

// A part of a rig that has names.
typedef uint32_t phx_rig_part;

// Translation, rotation (a quaternion x, y, z, w) and scale: applied in the order scale, rotation, translation.
typedef struct phx_trs {
    // Units of the model.
    float translation[3];
    // x, y, z, w; of any length above 0.
    float rotation[4];
    // A factor per axis.
    float scale[3];
} phx_trs;

// A joint. The views stay until this handle of the rig is freed.
typedef struct phx_joint_info {
    // The size of this struct.
    size_t size;
    // The name; it may be empty, and other joints may have it.
    struct phx_text name;
    // The joint above, of a smaller index; PHX_NONE for a root.
    uint32_t parent;
    // The rest pose, relative to the parent.
    struct phx_trs rest;
} phx_joint_info;

// An affine transform: three rows of four, for column vectors; the fourth row is (0, 0, 0, 1). The layout of a palette
// row, 48 bytes.
typedef struct phx_matrix {
    // The rows; `rows[i][3]` is the translation.
    float rows[3][4];
} phx_matrix;

// A skin. The views stay until this handle of the rig is freed.
typedef struct phx_skin_info {
    // The size of this struct.
    size_t size;
    // The name; it may be empty.
    struct phx_text name;
    // The joint of each slot; 0xFFFF for a slot that stays at the origin of the model.
    const uint16_t *joints;
    // The inverse bind matrix of each slot: from mesh space to the joint's.
    const struct phx_matrix *inverse_bind;
    // The number of slots.
    uint32_t count;
    // The row of the first slot in a character's palette.
    uint32_t first_row;
} phx_skin_info;

// The axis that points up in what an import makes.
typedef uint32_t phx_up_axis;

// What an import does with images.
typedef uint32_t phx_images;

// Settings of an import. `phx_options_init` with PHX_IMPORT_OPTIONS sets the defaults.
//
// A .phx file holds a finished rig: of these settings only `images` and `without_clips` apply to it.
typedef struct phx_import_options {
    // The size of this struct.
    size_t size;
    // The up axis of the result. Default: PHX_UP_Y.
    phx_up_axis up_axis;
    // Flag: clips get root motion. The travel of the root joint leaves the poses and moves characters instead.
    // Default: 0.
    uint32_t root_motion;
    // Metres per unit of a BVH file, which states none: 0.01 for centimetres. Finite, above 0. Default: 1.
    double unit;
    // Nodes, by name or by index in the file, whose subtrees become rigs of their own. Default: none.
    const struct phx_text *split;
    // The number of texts at `split`.
    size_t split_count;
    // The joint of the root motion, by name, path or index. Default: empty, the first joint that travels.
    struct phx_text root_joint;
    // The axes of the root motion: bits 1 for x, 2 for y, 4 for z. Default: 0, the two horizontal axes.
    uint32_t root_axes;
    // Flag: the root motion has the rotation about the up axis too. Default: 0.
    uint32_t root_rotation;
    // What becomes of images. Default: PHX_IMAGES_ENCODED.
    phx_images images;
    // Flag: files that a file refers to may lie outside its folder. Default: 0.
    uint32_t parent_folders;
    // Flag: files that require an unsupported extension are read as far as possible; the report says what is missing.
    // Default: 0, they are refused.
    uint32_t lenient;
    // Flag: clips that begin late are cut, so that they begin at 0 s. Default: 0.
    uint32_t trim;
    // Limit on the memory of the import, bytes. Default: 0, a limit that grows with the size of the file.
    uint64_t memory_limit;
    // Flag: the rig of a .phx file has no clips; a `phx_library` reads them one by one. Default: 0.
    uint32_t without_clips;
} phx_import_options;

// A skin of `phx_rig_arrays`: the joints that move a mesh, each with a row of the palette.
typedef struct phx_skin_arrays {
    // The name; it may be empty.
    struct phx_text name;
    // The joint of each slot.
    const uint32_t *joints;
    // The inverse bind matrix of each slot: from mesh space to the joint's. Null: the inverses of the rest pose.
    const struct phx_matrix *inverse_bind;
    // The number of slots.
    size_t count;
} phx_skin_arrays;

// Channels of a joint, in tracks of clips that are made from arrays.
typedef uint32_t phx_channel;

// How a track goes from key to key.
typedef uint32_t phx_interpolation;

// The keys of one channel of one joint.
typedef struct phx_track {
    // The joint. It has at most one track of each channel.
    uint32_t joint;
    // What the track moves.
    phx_channel channel;
    // How it goes from key to key.
    phx_interpolation interpolation;
    // The time of each key, seconds, from 0 on, increasing.
    const float *times;
    // The number of keys, at least 1.
    size_t key_count;
    // The values, key after key: 3 or, of rotations, 4 numbers each; three times as many with PHX_CUBIC.
    const float *values;
    // The number of numbers at `values`.
    size_t value_count;
} phx_track;

// A named time of a clip, such as a footstep.
typedef struct phx_marker {
    // The name; several markers may have it.
    struct phx_text name;
    // Seconds, from 0 to the clip's duration.
    float time;
} phx_marker;

// A clip as arrays. `phx_options_init` with PHX_CLIP_ARRAYS sets all to none.
typedef struct phx_clip_arrays {
    // The size of this struct.
    size_t size;
    // The name; it may be empty.
    struct phx_text name;
    // Seconds; keys beyond it are not reached. Default: 0, the time of the last key.
    float duration;
    // The tracks. Joints without any stay in their rest pose.
    const struct phx_track *tracks;
    // The number of tracks.
    size_t track_count;
    // Markers, in any order.
    const struct phx_marker *markers;
    // The number of markers.
    size_t marker_count;
} phx_clip_arrays;

// A rig as arrays, for characters that come from no file. `phx_options_init` with PHX_RIG_ARRAYS sets all to none.
typedef struct phx_rig_arrays {
    // The size of this struct.
    size_t size;
    // The name, for messages.
    struct phx_text name;
    // The number of joints.
    size_t joint_count;
    // The name of each joint. Null: joint 0, joint 1 and so on.
    const struct phx_text *joint_names;
    // The parent of each joint, which must come before it; PHX_NONE for a root.
    const uint32_t *parents;
    // The rest pose of each joint, relative to its parent.
    const struct phx_trs *rest;
    // The skins.
    const struct phx_skin_arrays *skins;
    // The number of skins.
    size_t skin_count;
    // The clips. Each states its size, and all the same.
    const struct phx_clip_arrays *clips;
    // The number of clips.
    size_t clip_count;
} phx_rig_arrays;

// A node of a rig's file. The views stay until this handle of the rig is freed.
typedef struct phx_node_info {
    // The size of this struct.
    size_t size;
    // The name; it may be empty.
    struct phx_text name;
    // The node above; PHX_NONE for a root.
    uint32_t parent;
    // The joint that the node is; PHX_NONE: it is none, and stays as it is relative to the joint above.
    uint32_t joint;
    // The rest transform, relative to the node above.
    struct phx_trs local;
    // The 16 numbers of the node's matrix, column after column, of which `local` is the decomposition; null: it has
    // none.
    const float *matrix;
    // The first scalar of the rig that is a morph weight of the node's mesh.
    uint32_t first_morph;
    // The number of these scalars.
    uint32_t morph_count;
} phx_node_info;

// A mesh at a node. The views stay until this handle of the rig is freed.
typedef struct phx_mesh_info {
    // The size of this struct.
    size_t size;
    // The name; it may be empty.
    struct phx_text name;
    // The node that the mesh is at. In model space it lies where the skin, or the slot, puts it.
    uint32_t node;
    // The skin whose slots its influences refer to.
    uint32_t skin;
    // The slot of the skin that moves all of a rigid mesh; PHX_NONE: its vertices have influences.
    uint32_t rigid_slot;
    // The level of detail; 0 is the finest.
    uint32_t lod;
    // The number of primitives, for `phx_rig_primitive`.
    uint32_t primitive_count;
    // The number of default weights.
    uint32_t weight_count;
    // The default weights of the mesh's morph targets.
    const float *weights;
} phx_mesh_info;

// A part of a mesh that is drawn with one material, in mesh space: a stream of numbers per vertex each, null where
// the file has none. The views stay until this handle of the rig is freed.
typedef struct phx_primitive_info {
    // The size of this struct.
    size_t size;
    // The number of vertices.
    uint32_t vertex_count;
    // The number of indices, three per triangle; 0 for points and lines.
    uint32_t index_count;
    // The number of influences of each vertex, a multiple of 4 in imported rigs; 0 in rigid meshes.
    uint32_t influences;
    // The number of morph targets, for `phx_rig_morph_target`.
    uint32_t target_count;
    // The material, for `phx_rig_material`; PHX_NONE: the default of glTF.
    uint32_t material;
    // 3 per vertex.
    const float *positions;
    // 3 per vertex: unit normals.
    const float *normals;
    // 4 per vertex: unit tangents, and the sign of the bitangent.
    const float *tangents;
    // 2 per vertex: the first set of texture coordinates.
    const float *uvs;
    // 2 per vertex: the second set, if the material uses it.
    const float *uvs1;
    // 4 per vertex: linear red, green, blue, alpha.
    const float *colors;
    // Triangles.
    const uint32_t *indices;
    // `influences` per vertex: slots of the mesh's skin.
    const uint16_t *joints;
    // `influences` per vertex: the weight of each slot.
    const float *joint_weights;
} phx_primitive_info;

// What a morph target adds to each vertex, times its weight. The views stay until this handle of the rig is freed.
typedef struct phx_morph_target_info {
    // The size of this struct.
    size_t size;
    // 3 per vertex, or null: positions do not change.
    const float *positions;
    // 3 per vertex, or null: normals do not change.
    const float *normals;
    // 3 per vertex, or null: tangents do not change.
    const float *tangents;
} phx_morph_target_info;

// How a material uses the alpha of its base colour.
typedef uint32_t phx_alpha_mode;

// How a texture continues beyond 0 to 1.
typedef uint32_t phx_wrap;

// A filter between texels or mip levels. PHX_NONE: the renderer chooses; of mip levels, there are none.
typedef uint32_t phx_filter;

// The use of an image by a material.
typedef struct phx_texture_info {
    // The image, for `phx_rig_image`; PHX_NONE: no texture, and the rest has no meaning.
    uint32_t image;
    // The set of texture coordinates: 0 for `uvs`, 1 for `uvs1`.
    uint32_t tex_coord;
    // Moves the coordinates, last.
    float offset[2];
    // Turns them, after the scale: radians, counter-clockwise in the image.
    float rotation;
    // Scales them, first.
    float scale[2];
    // Beyond 0 to 1 along u.
    phx_wrap wrap_u;
    // Beyond 0 to 1 along v.
    phx_wrap wrap_v;
    // The filter where a texel covers several pixels.
    phx_filter mag_filter;
    // The filter where a pixel covers several texels.
    phx_filter min_filter;
    // The filter between mip levels.
    phx_filter mip_filter;
} phx_texture_info;

// A material by the metallic-roughness model of glTF 2.0. Factors are linear; base colour and emissive textures are
// sRGB, the others linear. The name stays until this handle of the rig is freed.
typedef struct phx_material_info {
    // The size of this struct.
    size_t size;
    // The name; it may be empty.
    struct phx_text name;
    // Red, green, blue, alpha.
    float base_color[4];
    // Emitted red, green, blue, from 0 on; it may exceed 1.
    float emissive[3];
    // 0 to 1.
    float metallic;
    // 0 to 1.
    float roughness;
    // The factor of the x and y of normals of the texture.
    float normal_scale;
    // The share of the occlusion that applies, 0 to 1.
    float occlusion_strength;
    // The use of alpha.
    phx_alpha_mode alpha_mode;
    // With PHX_ALPHA_MASK: the least alpha that is drawn.
    float alpha_cutoff;
    // Flag: back faces are drawn.
    uint32_t double_sided;
    // Flag: the base colour is shown without light.
    uint32_t unlit;
    // Multiplies the base colour.
    struct phx_texture_info base_color_texture;
    // Multiplies metallic by its blue and roughness by its green.
    struct phx_texture_info metallic_roughness_texture;
    // Normals in tangent space.
    struct phx_texture_info normal_texture;
    // The share of ambient light that arrives, in its red.
    struct phx_texture_info occlusion_texture;
    // Multiplies the emitted light.
    struct phx_texture_info emissive_texture;
} phx_material_info;

// An image. The views stay until this handle of the rig is freed.
typedef struct phx_image_info {
    // The size of this struct.
    size_t size;
    // The type of the bytes, such as image/png; empty for pixels, and for an image that was left out.
    struct phx_text mime;
    // The bytes of the image's file; of pixels, red, green, blue and alpha with 8 bits each, from the top row down.
    // Null for an image that was left out.
    const uint8_t *data;
    // The number of bytes.
    size_t size_bytes;
    // The width of pixels; 0 for the bytes of a file.
    uint32_t width;
    // The height of pixels; 0 for the bytes of a file.
    uint32_t height;
} phx_image_info;

// A rig of an import that is attached to a node of another.
typedef struct phx_rig_link {
    // The attached rig, by its index in the import.
    uint32_t child;
    // The rig that it is attached to.
    uint32_t parent;
    // The node of that rig, for `phx_rig_node`; PHX_NONE: it was at the root.
    uint32_t node;
} phx_rig_link;

// How grave an entry of a report is.
typedef uint32_t phx_severity;

// What an import repaired, left out or noticed.
typedef struct phx_report_entry {
    // How grave it is.
    phx_severity severity;
    // The place in the file, such as: animation 0, channel 2.
    struct phx_text place;
    // What was found and done.
    struct phx_text message;
} phx_report_entry;

// What an import holds. The views stay until the import is freed.
typedef struct phx_import_info {
    // The size of this struct.
    size_t size;
    // The number of rigs, at least 1.
    size_t rig_count;
    // How rigs are attached to each other.
    const struct phx_rig_link *links;
    // The number of links.
    size_t link_count;
    // The report, in the order of the findings.
    const struct phx_report_entry *entries;
    // The number of entries.
    size_t entry_count;
} phx_import_info;

// A clip of a library, as the file's table has it.
typedef struct phx_library_entry {
    // The name; it may be empty.
    struct phx_text name;
    // Seconds.
    float duration;
    // Flag: the clip is coded, and reading it takes longer.
    uint32_t coded;
    // The size in the file.
    uint64_t bytes;
} phx_library_entry;

// What a library holds. The views stay until the library is freed.
typedef struct phx_library_info {
    // The size of this struct.
    size_t size;
    // The clips, in the order of the file.
    const struct phx_library_entry *clips;
    // The number of clips.
    uint32_t clip_count;
    // The size of the file.
    uint64_t bytes;
} phx_library_info;

// What a clip holds. The views stay until this handle of the clip is freed.
typedef struct phx_clip_info {
    // The size of this struct.
    size_t size;
    // The name; it may be empty.
    struct phx_text name;
    // Seconds; 0 for a single pose.
    float duration;
    // Flag: the clip holds differences, for additive layers.
    uint32_t additive;
    // The number of markers, for `phx_clip_marker`.
    uint32_t marker_count;
    // The number of keys of all timelines.
    uint32_t key_count;
    // The joint whose travel became root motion; PHX_NONE: the clip has none.
    uint32_t root_joint;
    // The size in memory.
    uint64_t bytes;
    // Equal clips have equal numbers.
    uint64_t content_hash;
} phx_clip_info;

// A rotation, then a translation, in double precision.
typedef struct phx_rigid {
    // x, y, z, w.
    double rotation[4];
    // Units of the model.
    double translation[3];
} phx_rigid;

// Where translations of joints below the hips come from when a clip is bound.
typedef uint32_t phx_translations;

// Settings of `phx_clip_new_bound`. `phx_options_init` with PHX_BIND_OPTIONS sets the defaults.
typedef struct phx_bind_options {
    // The size of this struct.
    size_t size;
    // Where translations come from, but for the root's. Default: PHX_TRANSLATIONS_SAME_OFFSET.
    phx_translations translations;
    // The factor of the root's translations. Default: 0, the ratio of the heights of the hips.
    float root_scale;
} phx_bind_options;

// The pose in which two characters stand alike.
typedef uint32_t phx_reference;

// Which bones of the target's reference pose are turned into the directions of the source's.
typedef uint32_t phx_alignment;

// The height at which the source stands.
typedef uint32_t phx_ground_level;

// Settings of `phx_clip_new_retargeted`. `phx_options_init` with PHX_RETARGET_OPTIONS sets the defaults.
typedef struct phx_retarget_options {
    // The size of this struct.
    size_t size;
    // The source's reference pose. Default: PHX_REFERENCE_REST.
    phx_reference source_reference;
    // The target's reference pose. Default: PHX_REFERENCE_REST.
    phx_reference target_reference;
    // The bones that are aligned. Default: PHX_ALIGN_LIMBS.
    phx_alignment alignment;
    // The ground on which the source stands. Default: PHX_GROUND_AUTO.
    phx_ground_level ground;
    // Flag: animated scales are kept. Default: 1.
    uint32_t keep_scales;
    // Flag: left and right are swapped. Default: 0.
    uint32_t mirror;
    // Flag: feet that stand in the source do not slide in the target; the legs bend. Default: 0.
    uint32_t plant_feet;
    // The greatest height of a foot that stands, above its lowest: a share of the height of the source's hips. Above
    // 0. Default: 0.05.
    double plant_height;
    // The greatest speed of a foot that stands, heights of the source's hips per second. Above 0. Default: 0.35.
    double plant_speed;
    // The time over which a correction comes and goes, seconds. Above 0. Default: 0.1.
    double plant_fade;
} phx_retarget_options;

// Settings of `phx_clip_new_baked`. Each number is finite and above 0. `phx_options_init` with PHX_BAKE_OPTIONS sets
// the defaults.
typedef struct phx_bake_options {
    // The size of this struct.
    size_t size;
    // The greatest displacement of points on a joint's shell, units of the model. Default: 0.0001.
    float max_error;
    // The distance of the shell from the joint, units of the model. Default: 0.03.
    float shell;
    // The greatest error of scalars, relative to their range or to 1, whichever is larger. Default: 0.0001.
    float scalar_error;
} phx_bake_options;

// Options of `phx_crowd_new`.
typedef struct phx_crowd_options {
    // The size of this struct.
    size_t size;
    // A number within 1 to 1,023 that all ids of the crowd contain, so that crowds refuse each other's. Crowds with the
    // same tag that make the same calls give the same ids, in every run. Default 0: random.
    uint32_t tag;
    // The threads that advance and evaluate the crowd. Default null: those of the process.
    const struct phx_pool *pool;
} phx_crowd_options;

// Counts of a crowd.
typedef struct phx_crowd_info {
    // The size of this struct.
    size_t size;
    // The characters that are alive, of all rigs.
    uint64_t instance_count;
    // The actions so far that others have evicted, as their layer was full.
    uint64_t evicted;
    // The events that the last step left out: an action fires at most 64 in a step.
    uint64_t dropped_events;
    // Memory of inertial fades and evicted actions that decay now, in bytes.
    uint64_t inertial_bytes;
    // The inertial fades so far that began as ordinary ones, and the evicted actions that ended at once, as that memory
    // was used up.
    uint64_t inertial_refused;
} phx_crowd_info;

// What fills in where the weights of a layer's actions sum to less than 1.
typedef uint32_t phx_fill;

// A layer of a rig in a crowd: what its instances play is blended in layers, from the first up. `phx_options_init` with
// PHX_LAYER_OPTIONS sets the defaults.
typedef struct phx_layer_options {
    // The size of this struct.
    size_t size;
    // Not 0: the layer adds additive clips to the layers below. Default 0: it blends over them.
    uint32_t additive;
    // What fills in on a layer that blends. Default `PHX_FILL_REST`.
    phx_fill fill;
    // A weight within 0 to 1 for each joint: how far the layer reaches. Default null: 1 for all.
    const float *mask;
    // The number of joints, if there is a mask.
    size_t mask_count;
} phx_layer_options;

// A rig of a crowd. 0 is none. Ids are numbers for arrays and files; those of removed things are refused.
typedef uint64_t phx_rig_id;

// Kinds of events: a sum of `PHX_EVENTS_MARKERS` and the others.
typedef uint32_t phx_event_kinds;

// Options of a rig's characters. Snapshots do not contain the first two.
typedef struct phx_rig_options {
    // The size of this struct.
    size_t size;
    // The kinds that `phx_crowd_events` has. Others cost nothing. Default 15: all.
    phx_event_kinds events;
    // Not 0: every step computes root motion, for `phx_crowd_root_motion`, if the rig has any. Default 1.
    uint32_t track_root_motion;
    // Not 0: root motion moves the characters in the world. Default 0.
    uint32_t apply_root_motion;
} phx_rig_options;

// A clip of a rig of a crowd.
typedef uint64_t phx_clip_id;

// How the clips of a blend space are chosen.
typedef uint32_t phx_blend_kind;

// A value of a blend space's axes; on a line `y` is not used.
typedef struct phx_parameter {
    // The first axis.
    float x;
    // The second axis.
    float y;
} phx_parameter;

// A clip of a blend space.
typedef struct phx_space_point {
    // The clip.
    phx_clip_id clip;
    // The parameter at which the clip plays alone. Kinds that measure it do not read it.
    struct phx_parameter at;
} phx_space_point;

// Where the middle joint of a chain of two bones points.
typedef uint32_t phx_pole;

// How the end of a chain of two bones is turned if its target says nothing about it.
typedef uint32_t phx_end_rotation;

// Bends two bones so that their end reaches a target: a leg, an arm. Joints are indices of the rig.
typedef struct phx_two_bone_ik {
    // The size of this struct.
    size_t size;
    // The joint that reaches the target. Default `PHX_NONE`, which is refused.
    uint32_t end;
    // The joint that bends, above `end`. Default `PHX_NONE`: the parent of `end`.
    uint32_t middle;
    // The joint at the root of the chain, above the middle joint. Default `PHX_NONE`: the parent of the middle joint.
    uint32_t upper;
    // Where the middle joint points. Default `PHX_POLE_ANIMATED`.
    phx_pole pole;
    // The direction of `PHX_POLE_DIRECTION`, in model space, of any length.
    float pole_direction[3];
    // The joint of `PHX_POLE_JOINT`. Default `PHX_NONE`, which that refuses.
    uint32_t pole_joint;
    // The axis of the bend of a straight chain, in model space in the rest pose: the upper bone turns about it towards
    // the lower one by the right-hand rule. Default (0, 0, 0): that of the bend in the rest pose.
    float axis[3];
    // The share of the length over which the chain slows down before it is straight, in [0, 0.999]. Default 0.
    float soft;
    // The largest factor on both lengths if the target is out of reach, in [1, 10]. Default 1.
    float stretch;
    // Turns the plane of the bend about the line from the upper joint to the target, radians, within ±2π. Default 0.
    float twist;
    // How the end is turned if the target says nothing about it. Default `PHX_END_ROTATION_KEEP`.
    phx_end_rotation end_rotation;
    // The axis of the end, in its space, that is turned to the target's normal. Default (0, 0, 0): the axis along model
    // y in the rest pose.
    float normal_axis[3];
} phx_two_bone_ik;

// A foot of `phx_feet`.
typedef struct phx_foot {
    // The joint of the ankle.
    uint32_t ankle;
    // The leg; its `end`, `end_rotation` and `normal_axis` are not used. Null: the ankle, its parent and its
    // grandparent.
    const struct phx_two_bone_ik *leg;
    // The marker at which clips put the foot down. Empty, with `up`: the foot is down by its height.
    struct phx_text down;
    // The marker at which clips lift the foot.
    struct phx_text up;
} phx_foot;

// Feet that stand on the host's ground: slopes, stairs, rough land.
typedef struct phx_feet {
    // The size of this struct.
    size_t size;
    // The joint that moves with the lowest foot: the pelvis, above all legs. Default `PHX_NONE`, which is refused.
    uint32_t pelvis;
    // The feet, at most 8.
    const struct phx_foot *feet;
    // The number of feet.
    size_t count;
    // The farthest that the pelvis sinks or rises, as a share of the shortest leg's length, in [0, 1]. Default 0.5.
    float reach;
    // The greatest angle by which a sole is turned to the ground, radians, in [0, π/2]. Default π/6.
    float tilt;
} phx_feet;

// A blend space: clips in step that a parameter blends, at most three at once.
typedef struct phx_space_options {
    // The size of this struct.
    size_t size;
    // How clips are chosen. Default `PHX_BLEND_LINE`.
    phx_blend_kind kind;
    // Seconds in which the parameter follows a new value, smoothly. Default 0: at once.
    float following;
    // The clips: of a line at ascending parameters, of a plane at least three and not all on one line. Default null.
    const struct phx_space_point *points;
    // The number of clips: at least 1, in a plane 3 to 64. Default 0, which is refused.
    size_t count;
    // For kinds that measure, and clips without root motion: a `phx_feet`, or null. Default null: such clips stand.
    const struct phx_feet *measured_by;
} phx_space_options;

// A blend space of a rig of a crowd.
typedef uint64_t phx_space_id;

// A character of a crowd.
typedef uint64_t phx_instance;

// What an action plays: a `phx_clip_id` or a `phx_space_id`.
typedef uint64_t phx_playable;

// What an event is about.
typedef uint32_t phx_event_kind;

// An event of an action.
typedef struct phx_event {
    // The character.
    phx_instance instance;
    // The clip; of a blend space the one with the marker, for other kinds the one of the greatest weight.
    phx_clip_id clip;
    // The layer of the action.
    uint32_t layer;
    // What happened.
    phx_event_kind kind;
    // The index of the marker, for `phx_clip_marker`; 0 for other kinds.
    uint32_t marker;
    // Clip time, in seconds.
    float time;
    // The weight of the clip in the pose when the step began.
    float weight;
    // 1 if the clip had the greatest weight of its layer's clips with markers, else 0. So of clips that play in step, one
    // leads: play a footstep's sound for it alone.
    uint32_t leading;
} phx_event;

// The movements of a rig's characters in the last step, each in the space of its root before the step.
typedef struct phx_root_motion {
    // The size of this struct.
    size_t size;
    // The characters that play clips with root motion.
    const phx_instance *instances;
    // x, y, z for each, in units of the model.
    const float *translations;
    // A unit quaternion x, y, z, w for each.
    const float *rotations;
    // The number of characters.
    size_t count;
} phx_root_motion;

// What happens at the ends of a clip.
typedef uint32_t phx_loop_mode;

// What an action does after its last pass.
typedef uint32_t phx_at_end;

// How an action plays its clip or blend space. `phx_options_init` with `PHX_PLAY_OPTIONS` sets the defaults, which a null
// pointer stands for, too.
typedef struct phx_play_options {
    // The size of this struct.
    size_t size;
    // Factor on time, within ±1e6; below 0 plays backwards. Default 1.
    float speed;
    // What happens at the ends of the clip. Default `PHX_LOOP_REPEAT`.
    phx_loop_mode loop_mode;
    // Passes over the clip, at least 1; `PHX_NONE` for no end. In a ping-pong, forwards and backwards count as one pass
    // each; `PHX_LOOP_ONCE` is always one. Default `PHX_NONE`.
    uint32_t repetitions;
    // What happens after the last pass. Default `PHX_END_HOLD`.
    phx_at_end at_end;
    // For `PHX_END_FADE_OUT`: seconds of the fade, 0 to 1e9, which ends with the last pass. Default 0.
    float end_seconds;
    // Start: seconds for a clip, passes for a blend space; within ±1e9, mapped by the loop mode. Default 0.
    double time;
    // Weight to play at, 0 to 1; on additive layers −1 to 1. Default 1.
    float weight;
    // Seconds until the weight is reached, 0 to 1e9. Default 0.
    float fade_in;
    // Start value of a blend space's parameter, within ±1e9; a clip has none. Default 0, 0.
    struct phx_parameter parameter;
} phx_play_options;

// How a crossfade hides the change.
typedef uint32_t phx_fade_kind;

// At which time the second action of a crossfade starts.
typedef uint32_t phx_sync;

// A crossfade from one action to another. `phx_options_init` with `PHX_CROSS_FADE` sets the defaults, which a null pointer
// stands for, too.
typedef struct phx_cross_fade {
    // The size of this struct.
    size_t size;
    // Duration of the fade in seconds, 0 to 1e9. Default 0.
    float seconds;
    // How the change is hidden. Default `PHX_FADE_BLEND`.
    phx_fade_kind kind;
    // Nonzero: both speeds change over the fade, from that of the first clip to that of the second, so that strides in
    // phase stay in phase. Default 0.
    uint32_t warp;
    // At which time the second action starts. Default `PHX_SYNC_NONE`.
    phx_sync sync;
    // For `PHX_SYNC_MARKERS`: the names that count; null with a count of 0 for all that both clips have. Default null.
    const struct phx_text *markers;
    // The number of names. Default 0.
    size_t marker_count;
} phx_cross_fade;

// An axis-aligned box.
typedef struct phx_box {
    // The least corner; above `max` in an empty box.
    float min[3];
    // The greatest corner.
    float max[3];
} phx_box;

// Where a character's meshes are, in model space.
typedef struct phx_bounds {
    // The size of this struct. Set it before the call.
    size_t size;
    // The box around the deformed meshes as they are now, for morph weights from 0 to 1. Empty if the rig draws nothing.
    struct phx_box box;
    // Center of a sphere that holds the meshes in every pose of what plays.
    float center[3];
    // Radius of the sphere; below 0 if the rig draws nothing, or no sphere holds it.
    float radius;
} phx_bounds;

// The palette that a character shows in the last frame: `from + (to − from) · factor`, number by number. After a frame
// that was refused with PHX_ERROR_SHORT it is of that one, whose rows are nowhere, until the next frame is written.
typedef struct phx_shown {
    // Nonzero if the frame has a palette of it; else the character was hidden, out of the picture, or not there, and all
    // other fields are 0, `detail` is `PHX_NONE`.
    uint32_t in_picture;
    // First row of the earlier palette in the frame's memory.
    uint32_t from;
    // First row of the later palette; `from` unless the character is interpolated.
    uint32_t to;
    // Rows of either palette.
    uint32_t row_count;
    // Weight of the later palette, 0 to 1.
    float factor;
    // Which detail of the rig the rows are of; `PHX_NONE` for the full rig.
    uint32_t detail;
    // Nonzero if other characters may show the same palette.
    uint32_t shared;
    // Nonzero if the character had these rows in the frame before, too: for motion vectors, in memory that keeps two
    // frames.
    uint32_t stayed;
} phx_shown;

// A character.
typedef struct phx_instance_info {
    // The size of this struct. Set it before the call.
    size_t size;
    // Its rig.
    phx_rig_id rig;
    // Its index among those of the rig, which a later one may have again.
    uint32_t index;
    // The layers of the rig.
    uint32_t layer_count;
    // Nonzero unless it is hidden.
    uint32_t visible;
    // Nonzero if frames evaluate it; else it keeps its palette.
    uint32_t scheduled;
    // Its tier in the last frame; `PHX_NONE` if it was out of the picture, or the crowd has no tiers.
    uint32_t tier;
    // Factor on the speeds of its layers.
    float speed;
    // Model space to world space.
    struct phx_matrix world;
    // Weight of the pose that the host has set; −1 if it has set none.
    float pose_weight;
    // What the last frame shows.
    struct phx_shown shown;
} phx_instance_info;

// An action: a clip or a blend space that plays on a layer.
typedef struct phx_action_state {
    // The size of this struct. Set it before the call.
    size_t size;
    // What plays.
    phx_playable playable;
    // Seconds, from 0 to the clip's duration; for a blend space, the fraction of a pass.
    double time;
    // Passes that are over: whole, below 0 after playing backwards past the start.
    double loops;
    // Seconds until the running fade ends; 0 without one.
    double fade_left;
    // Present weight.
    float weight;
    // Weight at the end of the running fade; the present one without a fade.
    float target;
    // The action's factor on time.
    float speed;
    // What happens at the ends of the clip. A single pass is `PHX_LOOP_ONCE`, unless it is of a ping-pong.
    phx_loop_mode loop_mode;
    // Passes over the clip; `PHX_NONE` for no end, and with `PHX_LOOP_ONCE`.
    uint32_t repetitions;
    // What happens after the last pass.
    phx_at_end at_end;
    // Seconds of `PHX_END_FADE_OUT`; else 0.
    float end_seconds;
    // Nonzero for a blend space.
    uint32_t has_parameter;
    // The blend space's present parameter, within its ends.
    struct phx_parameter parameter;
    // Nonzero if the action is paused.
    uint32_t paused;
    // Nonzero if it stops at the end of its fade.
    uint32_t fading_out;
    // Nonzero if it holds the end of its last pass; backwards, the start of its first.
    uint32_t finished;
} phx_action_state;

// A layer of a character.
typedef struct phx_layer_state {
    // The size of this struct. Set it before the call.
    size_t size;
    // Seconds until the running fade of the layer ends; 0 without one.
    double fade_left;
    // Present weight.
    float weight;
    // Weight at the end of the running fade; the present one without a fade.
    float target;
    // Factor on the speeds of the layer's actions.
    float speed;
    // Its actions, those that fade out among them.
    uint32_t action_count;
} phx_layer_state;

// A modifier of a rig of a crowd.
typedef uint64_t phx_modifier_id;

// The space of a target.
typedef uint32_t phx_target_space;

// The target of a character's modifier. All zeros are the origin of the world.
typedef struct phx_target {
    // The space of the other fields.
    phx_target_space space;
    // The joint of `PHX_TARGET_JOINT`.
    uint32_t joint;
    // The position that the end reaches, or that is looked at.
    float position[3];
    // Not 0 if `rotation` is given.
    uint32_t has_rotation;
    // The rotation of the end joint: x, y, z, w, of any length above 0.
    float rotation[4];
    // Not 0 if `normal` is given.
    uint32_t has_normal;
    // The direction to which `phx_two_bone_ik::normal_axis` is turned, if there is no rotation; for an aim, the
    // direction for its `up_axis`.
    float normal[3];
} phx_target;

// The ground below a foot, in the world.
typedef struct phx_ground {
    // Height along y.
    float height;
    // Direction away from the ground, of any length above 0.
    float normal[3];
} phx_ground;

// The space of matrices and poses.
typedef uint32_t phx_pose_space;

// Which pose is meant.
typedef uint32_t phx_pose_stage;

// Turns a joint, or a chain of joints, so that the last one looks at a target: eyes, a head with neck and spine.
typedef struct phx_aim {
    // The size of this struct.
    size_t size;
    // The joints that turn, each below the one before; the last one looks. At most 16.
    const uint32_t *joints;
    // The share of each joint in the turn, in [0, 1000], that of the last joint above 0. Default null: equal shares.
    const float *shares;
    // The number of joints.
    size_t count;
    // The axis of the last joint, in its space, that is pointed at the target. Default (0, 0, 0): the axis along model z
    // in the rest pose.
    float forward[3];
    // The direction of model space to which `up_axis` is turned, unless the target has a normal. Default (0, 0, 0):
    // none; the joint keeps its animated roll.
    float up[3];
    // The axis of the last joint, in its space, that is turned up. Default (0, 0, 0): the axis along model y in the rest
    // pose; if that is forward, the axis against model z.
    float up_axis[3];
    // The largest angle between the look and the animated forward axis, radians, in [0, π]. Default π.
    float limit;
    // The share of the limit over which the look slows down before it, in [0, 1]. Default 0.
    float soft;
    // The greatest angular speed of the look, radians per second. Default infinite.
    float speed;
} phx_aim;

// The host's own code in the evaluation of a pose, which a frame calls: `phx_frame_options`. A rig has one at most.
typedef struct phx_hook {
    // The size of this struct.
    size_t size;
    // The joints that the hook may set. Default null: all. Null with a count above 0 is PHX_ERROR_NULL.
    const uint32_t *joints;
    // The number of joints.
    size_t count;
    // By how much the hook moves vertices at most beyond where turns of its joints take them, in units of the model:
    // bounds are wider by this. Default 0.
    float reach;
} phx_hook;

// A pose in a hook.
typedef struct phx_pose_info {
    // The size of this struct.
    size_t size;
    // The number of joints.
    uint32_t joint_count;
    // The present weight of the hook, above 0. It is for the hook to use.
    float weight;
} phx_pose_info;

// A joint of a chain. Its tail, a point that hangs on it, is what moves; the joint turns towards it.
typedef struct phx_spring_joint {
    // Index of the joint.
    uint32_t joint;
    // Not 0 if `tail` is given. Otherwise the tail is the place of the chain's next joint in the rest pose; a last joint
    // without a tail does not swing.
    uint32_t has_tail;
    // The tail in the space of the joint.
    float tail[3];
    // Radius of the tail against colliders, in units of the model.
    float radius;
    // The way towards where it is animated that a step adds to the tail, per second of the step, in units of the world.
    // VRM's default is 1.
    float stiffness;
    // The way that a step adds to the tail by gravity and wind, per second of the step, in the world and its units.
    float gravity[3];
    // The share of its speed that the tail loses in a step of 1/60 s, in [0, 1]. VRM's default is 0.5.
    float drag;
} phx_spring_joint;

// A chain of joints, each below the one before; joints between them are as animated.
typedef struct phx_spring_chain {
    // The joints. A joint is in one chain at most.
    const struct phx_spring_joint *joints;
    // The number of joints.
    size_t joint_count;
    // Indices of the colliders that the chain does not pass.
    const uint32_t *colliders;
    // The number of these colliders.
    size_t collider_count;
    // A joint whose movement, with that of the character, does not make the chain swing. `PHX_NONE`: none.
    uint32_t center;
} phx_spring_chain;

// The shape of a collider, in the space of its joint.
typedef uint32_t phx_collider_shape;

// A body that chains do not pass.
typedef struct phx_spring_collider {
    // Index of the joint that it hangs on.
    uint32_t joint;
    // What `a` and `b` mean.
    phx_collider_shape shape;
    // An end of the capsule, or a point of the plane.
    float a[3];
    // The other end, or the normal of the plane, of any length.
    float b[3];
    // The radius of the capsule; it scales with the joint.
    float radius;
} phx_spring_collider;

// Chains of joints that swing: hair, tails, clothes.
typedef struct phx_springs {
    // The size of this struct.
    size_t size;
    // The chains.
    const struct phx_spring_chain *chains;
    // The number of chains.
    size_t chain_count;
    // Bodies that chains do not pass, at most 1,024.
    const struct phx_spring_collider *colliders;
    // The number of colliders.
    size_t collider_count;
    // The farthest that a character moves in a step of 1/60 s, in units of the world: beyond, chains start again at
    // rest. Above 0. Default 2.
    float teleport;
} phx_springs;

// The watched joints of a character: views that stay until the next call that changes the crowd.
typedef struct phx_watched {
    // The size of this struct.
    size_t size;
    // The joints, ascending.
    const uint16_t *joints;
    // Their model matrices, in the same order: joint space to model space.
    const struct phx_matrix *models;
    // The number of joints; 0 before the first frame after `phx_crowd_watch`.
    size_t count;
    // The number of frames since the one that the matrices come from: 0 for the last frame. `PHX_NEVER`: they come from
    // none, and are identities if the character was not evaluated since its joints are watched.
    uint64_t age;
    // 1 if the character has not changed since it was evaluated, else 0.
    uint32_t current;
} phx_watched;

// How a palette's matrices are written.
typedef uint32_t phx_row_format;

// A hook: changes the pose of a character by `phx_pose_set_local` and `phx_pose_set_model`. Once per evaluated character
// and frame, in any order, on several threads at the same time. `seconds` is the crowd's time since the hook was called
// for the character last; 0 for the first time. Every call with the crowd is PHX_ERROR_BUSY. It must not throw.
typedef void (*phx_hook_call)(void *user, phx_instance who, struct phx_pose *pose, double seconds);

// How a frame is written. `phx_options_init` with `PHX_FRAME_OPTIONS` sets the defaults.
typedef struct phx_frame_options {
    // The size of this struct.
    size_t size;
    // How matrices are written. Default `PHX_ROWS_3X4`.
    phx_row_format format;
    // Every palette starts at a multiple of this many rows, at most 65,536; 0 and 1 are no alignment. Default 0.
    uint32_t align;
    // Not 0 if the memory still has all rows of this crowd's last frame, in the same format: characters that are not
    // scheduled, and palettes that tiers hold, are then not written again. Otherwise all palettes are written. Default 0.
    uint32_t keep;
    // At most this many parts, for `phx_frame_begin`; 0 is 1. A part is never empty, so there may be fewer. Default 0.
    uint32_t parts;
    // Called for every evaluated character whose weight of its rig's hook (`phx_crowd_add_hook`) is above 0. Default
    // null: hooks are not called.
    phx_hook_call hook;
    // Passed to `hook`. Several threads pass it at the same time.
    void *user;
} phx_frame_options;

// Counts of a frame.
typedef struct phx_frame_stats {
    // The size of this struct.
    size_t size;
    // Rows of the frame, with padding.
    uint64_t rows;
    // Bytes of memory for these rows in the format of the options.
    uint64_t bytes;
    // Palettes that are evaluated.
    uint64_t instances;
    // Palettes that stay as in the last frame.
    uint64_t carried;
    // Parts of the frame, of `phx_frame_begin`; 0 of `phx_crowd_evaluate`.
    uint32_t parts;
} phx_frame_stats;

// How characters of a range of heights on screen are evaluated. `phx_options_init` with PHX_TIER sets the defaults.
typedef struct phx_tier {
    // The size of this struct.
    size_t size;
    // The least height on screen, pixels, in [0, 1e6]. Default 0.
    float height;
    // Frames from one update to the next: 1, 2, 4, 8 or 16. Default 1.
    uint32_t rate;
    // Not 0 if rows are interpolated between updates (`phx_shown::factor`); otherwise they are held. Default 0.
    uint32_t interpolate;
    // The error within which characters share palettes, in units of the model; 0, the default: each has a palette
    // of its own.
    float shared_error;
    // The level of detail whose palettes characters have; `PHX_NONE`: the full rig. A level that a rig lacks counts as
    // its last. Default `PHX_NONE`.
    uint32_t level;
    // Names or paths of joints that are at rest though meshes of the level use them, such as fingers. With `PHX_NONE`
    // the level is 0. Default null: none.
    const struct phx_text *leave_out;
    // The number of these names.
    size_t leave_out_count;
    // Not 0 if springs swing. Default 1.
    uint32_t springs;
} phx_tier;

// The tiers of a crowd.
typedef struct phx_tiers {
    // The size of this struct.
    size_t size;
    // The tiers by descending height, at most 16, all with the `size` of the first; below the last height a character is
    // out of the picture. Default null: those of `phx_tiers_default` for people.
    const struct phx_tier *tiers;
    // The number of tiers.
    size_t count;
    // A character changes its tier when its height is beyond the tier's by this share, in [0, 1]. Default 0.1.
    float hysteresis;
    // The most frames that a character waits for the budget, at least 1. Default 32.
    uint32_t max_age;
    // The tier of characters that are seen in maps of shadows only. Default `PHX_NONE`: their height there decides.
    uint32_t shadows;
} phx_tiers;

// A camera: a picture of the frame, or the map of a shadow.
typedef struct phx_view {
    // World space to clip space, projection times view, column by column. Any convention of depth will do.
    float clip_from_world[16];
    // Height of the picture in pixels, above 0.
    float height;
    // Not 0 for the map of a shadow.
    uint32_t shadows;
} phx_view;

// A tier in the last frame.
typedef struct phx_tier_stats {
    // Characters in the tier.
    uint64_t instances;
    // Those that show a shared palette.
    uint64_t shared;
    // Those that were evaluated into palettes of their own.
    uint64_t evaluated;
    // Those that kept the palettes of an earlier frame.
    uint64_t held;
    // Those that were due and wait for the budget.
    uint64_t waiting;
    // The largest number of frames since the last update of a palette that is not shared.
    uint64_t oldest;
    // Nanoseconds of the threads that evaluated the tier's palettes, summed.
    uint64_t nanoseconds;
} phx_tier_stats;

// The last frame of a crowd with tiers.
typedef struct phx_tier_frame {
    // The size of this struct.
    size_t size;
    // Visible characters that are out of the picture.
    uint64_t out;
    // Shared palettes that the memory holds.
    uint64_t shared_palettes;
    // Those that were evaluated in this frame.
    uint64_t shared_evaluated;
    // Nanoseconds for them.
    uint64_t shared_nanoseconds;
    // Evaluations beyond the budget, which the frame had to make.
    uint64_t beyond_budget;
} phx_tier_frame;

// Success.
#define PHX_OK 0

// A pointer is null that must not be.
#define PHX_ERROR_NULL 1

// A handle was freed, or is of another kind.
#define PHX_ERROR_HANDLE 2

// An id is stale, or of another crowd or rig.
#define PHX_ERROR_ID 3

// A number is out of range, not finite, or none of the values of its enumeration.
#define PHX_ERROR_VALUE 4

// The size that a struct states is unknown.
#define PHX_ERROR_STRUCT_SIZE 5

// An array is too short; nothing was written to it.
#define PHX_ERROR_SHORT 6

// Another call uses the handle: of another thread, or the one that has called back.
#define PHX_ERROR_BUSY 7

// A file cannot be read.
#define PHX_ERROR_FILE 8

// The content of a file, of bytes or of arrays is refused.
#define PHX_ERROR_DATA 9

// There is no such name, index, layer or action.
#define PHX_ERROR_NOT_FOUND 10

// The call does not fit the present state: a clip plays, there are no tiers.
#define PHX_ERROR_STATE 11

// A count, a size or memory is beyond a limit.
#define PHX_ERROR_LIMIT 12

// A version is unknown: of this ABI, or of a file.
#define PHX_ERROR_VERSION 13

// Text is not UTF-8.
#define PHX_ERROR_UTF8 14

// This machine or this build cannot do it.
#define PHX_ERROR_UNSUPPORTED 15

// A fault of this library, which was caught.
#define PHX_ERROR_INTERNAL 16

// One pass.
#define PHX_LOOP_ONCE 0

// From the start again.
#define PHX_LOOP_REPEAT 1

// Forwards and backwards in turns.
#define PHX_LOOP_PING_PONG 2

// It holds the last pose.
#define PHX_END_HOLD 0

// It stops.
#define PHX_END_STOP 1

// It fades out within seconds that are given beside.
#define PHX_END_FADE_OUT 2

// The animation: blended clips, before overrides and modifiers.
#define PHX_STAGE_BEFORE 0

// What is shown: after overrides and modifiers.
#define PHX_STAGE_AFTER 1

// Relative to the parent joint.
#define PHX_SPACE_LOCAL 0

// Relative to the character.
#define PHX_SPACE_MODEL 1

// The world, in which `phx_instance_set_world` places the character.
#define PHX_SPACE_WORLD 2

// Three numbers per key.
#define PHX_CHANNEL_TRANSLATION 0

// Four numbers per key: a quaternion x, y, z, w.
#define PHX_CHANNEL_ROTATION 1

// Three numbers per key.
#define PHX_CHANNEL_SCALE 2

// `phx_allocator`
#define PHX_ALLOCATOR 0

// `phx_crowd_options`
#define PHX_CROWD_OPTIONS 20

// `phx_rig_options`
#define PHX_RIG_OPTIONS 21

// `phx_space_options`
#define PHX_SPACE_OPTIONS 22

// `phx_layer_options`
#define PHX_LAYER_OPTIONS 23

// `phx_play_options`
#define PHX_PLAY_OPTIONS 30

// `phx_cross_fade`
#define PHX_CROSS_FADE 31

// `phx_import_options`
#define PHX_IMPORT_OPTIONS 1

// `phx_rig_arrays`
#define PHX_RIG_ARRAYS 2

// `phx_clip_arrays`
#define PHX_CLIP_ARRAYS 3

// `phx_bind_options`
#define PHX_BIND_OPTIONS 4

// `phx_retarget_options`
#define PHX_RETARGET_OPTIONS 5

// `phx_bake_options`
#define PHX_BAKE_OPTIONS 6

// `phx_two_bone_ik`
#define PHX_TWO_BONE_IK 40

// `phx_aim`
#define PHX_AIM 41

// `phx_feet`
#define PHX_FEET 42

// `phx_springs`
#define PHX_SPRINGS 43

// `phx_hook`
#define PHX_HOOK 44

// `phx_frame_options`
#define PHX_FRAME_OPTIONS 45

// `phx_tiers`
#define PHX_TIERS 46

// `phx_tier`
#define PHX_TIER 47

// A joint: by its name or, where several have it, a path such as LeftArm/Hand.
#define PHX_PART_JOINT 0

// A clip: the first with the name.
#define PHX_PART_CLIP 1

// A user channel.
#define PHX_PART_CHANNEL 2

// It is repeated.
#define PHX_WRAP_REPEAT 0

// The texels of the edge go on.
#define PHX_WRAP_CLAMP 1

// It and its mirror image take turns.
#define PHX_WRAP_MIRROR 2

// The nearest.
#define PHX_FILTER_NEAREST 0

// Linear between the nearest.
#define PHX_FILTER_LINEAR 1

// Not at all: it is opaque.
#define PHX_ALPHA_OPAQUE 0

// It is drawn, opaque, where alpha is at least the cutoff.
#define PHX_ALPHA_MASK 1

// It is blended over what lies behind.
#define PHX_ALPHA_BLEND 2

// Nothing was changed.
#define PHX_NOTE 0

// A value was repaired.
#define PHX_REPAIRED 1

// Something of the file is not in the result.
#define PHX_DROPPED 2

// Y, as in glTF.
#define PHX_UP_Y 0

// Z; files are turned to it.
#define PHX_UP_Z 1

// They are left out.
#define PHX_IMAGES_SKIP 0

// They keep the bytes of their file: PNG, JPEG, WebP or another format.
#define PHX_IMAGES_ENCODED 1

// They become pixels. This build of the library has no decoders: PHX_ERROR_UNSUPPORTED.
#define PHX_IMAGES_DECODED 2

// Straight; rotations on the shortest arc.
#define PHX_LINEAR 0

// A key's value stays until the next key.
#define PHX_STEP 1

// Cubic Hermite splines: each key has an in-tangent, a value and an out-tangent, as in glTF.
#define PHX_CUBIC 2

// From the clip where both rest poses have the same offset, else from the rest pose of the target.
#define PHX_TRANSLATIONS_SAME_OFFSET 0

// From the rest pose of the target: bones keep their lengths.
#define PHX_TRANSLATIONS_SKELETON 1

// From the clip.
#define PHX_TRANSLATIONS_ANIMATION 2

// From the clip, scaled by the ratio of the lengths of the bones.
#define PHX_TRANSLATIONS_ANIMATION_SCALED 3

// From the rest pose of the target, moved as the clip moves the joint from its own rest pose.
#define PHX_TRANSLATIONS_ANIMATION_RELATIVE 4

// None: both reference poses are alike.
#define PHX_ALIGN_NONE 0

// Arms and legs.
#define PHX_ALIGN_LIMBS 1

// Arms, legs and fingers.
#define PHX_ALIGN_LIMBS_AND_FINGERS 2

// The reference pose's lowest foot or the origin, as the clip shows.
#define PHX_GROUND_AUTO 0

// The lowest foot of the reference pose.
#define PHX_GROUND_REFERENCE 1

// Height 0.
#define PHX_GROUND_ORIGIN 2

// The rest pose, which must stand.
#define PHX_REFERENCE_REST 0

// The pose in which the rig's skins were bound.
#define PHX_REFERENCE_BIND 1

// The rest pose, the bind pose or a frame of the rig's clips: the first of them that stands.
#define PHX_REFERENCE_FOUND 2

// The rest pose.
#define PHX_FILL_REST 0

// The layers below.
#define PHX_FILL_BELOW 1

// `PHX_EVENT_MARKER`
#define PHX_EVENTS_MARKERS 1

// `PHX_EVENT_LOOPED`
#define PHX_EVENTS_LOOPS 2

// `PHX_EVENT_FINISHED`
#define PHX_EVENTS_FINISHES 4

// `PHX_EVENT_STOPPED`
#define PHX_EVENTS_STOPS 8

// By one parameter: the two neighbours of its value, by linear weights.
#define PHX_BLEND_LINE 0

// By two parameters: the corners of the triangle of clips that their point lies in.
#define PHX_BLEND_PLANE 1

// By the speed at which clips travel, in metres per second; the library measures where each lies.
#define PHX_BLEND_BY_SPEED 2

// By the velocity at which clips travel, x and z in metres per second; the library measures where each lies.
#define PHX_BLEND_BY_VELOCITY 3

// A marker of a clip was passed.
#define PHX_EVENT_MARKER 0

// A pass over a clip ended and another began.
#define PHX_EVENT_LOOPED 1

// The last pass ended.
#define PHX_EVENT_FINISHED 2

// The action left its layer in the step: its fade-out ended, or its last pass if it stops there.
#define PHX_EVENT_STOPPED 3

// Both actions play, and their weights change linearly.
#define PHX_FADE_BLEND 0

// The second action plays alone at once; the offset of the pose that was shown, with its velocity, decays over the fade.
// One clip is evaluated.
#define PHX_FADE_INERTIAL 1

// At its own.
#define PHX_SYNC_NONE 0

// At the same fraction of its duration as the first.
#define PHX_SYNC_PHASE 1

// In step with the first between markers of the same names, such as foot contacts.
#define PHX_SYNC_MARKERS 2

// As it was animated.
#define PHX_POLE_ANIMATED 0

// In a direction of model space.
#define PHX_POLE_DIRECTION 1

// To another joint.
#define PHX_POLE_JOINT 2

// With its parent.
#define PHX_END_ROTATION_FOLLOW 0

// In the model as it was animated.
#define PHX_END_ROTATION_KEEP 1

// The world, in which the character is placed.
#define PHX_TARGET_WORLD 0

// The character's model.
#define PHX_TARGET_MODEL 1

// A joint of the character, as the modifiers before have left it.
#define PHX_TARGET_JOINT 2

// A capsule from `a` to `b`, or a sphere if both are one place; tails stay outside.
#define PHX_COLLIDER_OUTSIDE 0

// The same shape; tails stay inside.
#define PHX_COLLIDER_INSIDE 1

// All that is behind a plane through `a` with the normal `b`; tails stay on the normal's side.
#define PHX_COLLIDER_PLANE 2

// `phx_matrix`, 48 bytes: three rows of four.
#define PHX_ROWS_3X4 0

// 64 bytes: four columns of four, the fourth row being (0, 0, 0, 1). One multiplies it by column vectors.
#define PHX_COLUMNS_4X4 1





#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library: major × 2^16 + minor × 2^8 + patch.
uint32_t phx_version(void);

// Compares the ABI that the caller was compiled with, its `PHX_ABI_VERSION`, to this library's.
//
// PHX_ERROR_VERSION: they differ; make no other call.
phx_status phx_abi_check(uint32_t version);

// The message of the last call of this thread that failed: a sentence in English, with a NUL behind it. Empty if none
// has. It stays until the next call of this thread that fails.
phx_status phx_error_message(const char **text, size_t *length);

// The instruction set that all crowds use: "portable", "sse4.2", "avx2", "avx512", "neon" or "wasm128". The name stays.
phx_status phx_simd_level(const char **text, size_t *length);

// Sets the instruction set of all crowds, for comparisons: by default it is this machine's best. Poses differ between
// sets in their last bits; what plays does not.
//
// PHX_ERROR_UNSUPPORTED: no such set, or none of this machine's.
phx_status phx_simd_set_level(const char *name, size_t length);

// Takes all blocks of memory of 64 KiB and more from two callbacks of the host, for the whole process and for good.
// Smaller blocks come from the system. Call it before any other function.
//
// The callbacks make no call of this library. If `allocate` returns null, and the library cannot go on without the
// memory, it ends the process.
//
// PHX_ERROR_NULL: a callback is missing. PHX_ERROR_STATE: a big block came from the system already, or callbacks are
// set.
phx_status phx_allocator_set(const struct phx_allocator *allocator);

// A pool of this many threads; 0 for one per processor core. Without a pool crowds use one that the process has, with a
// thread per core, which starts when it is first needed.
//
// PHX_ERROR_LIMIT: the system refuses the threads, or more than 1,024 are asked for.
phx_status phx_pool_new(uint32_t threads, struct phx_pool **out);

// Frees a pool. Its threads end when no crowd has it. Null is nothing to free.
phx_status phx_pool_free(struct phx_pool *pool);

// Sets a struct of options to its defaults: `size` is the caller's `sizeof` of it.
//
// PHX_ERROR_STRUCT_SIZE: the library knows no such size of it. PHX_ERROR_VALUE: there is no such kind.
phx_status phx_options_init(phx_options_kind kind, void *options, size_t size);

// Frees a rig's handle, and with it the views of the rig. Crowds and clips that have the rig keep it. Null is nothing
// to free.
phx_status phx_rig_free(struct phx_rig *rig);

// Tells what a rig holds.
phx_status phx_rig_describe(const struct phx_rig *rig, struct phx_rig_info *out);

// The index of a joint, clip or user channel, by name.
//
// PHX_ERROR_NOT_FOUND: none has the name, or several joints have it; the message suggests others.
phx_status phx_rig_find(const struct phx_rig *rig,
                        phx_rig_part part,
                        const char *name,
                        size_t name_length,
                        uint32_t *out);

// Tells of a joint.
//
// PHX_ERROR_NOT_FOUND: there is no joint of this index.
phx_status phx_rig_joint(const struct phx_rig *rig, uint32_t joint, struct phx_joint_info *out);

// The rest pose as matrices in model space, one per joint. `count` is the room at `out`.
//
// PHX_ERROR_SHORT: there is room for fewer than the rig has joints.
phx_status phx_rig_rest_models(const struct phx_rig *rig, struct phx_matrix *out, size_t count);

// Tells of a skin.
//
// PHX_ERROR_NOT_FOUND: there is no skin of this index.
phx_status phx_rig_skin(const struct phx_rig *rig, uint32_t skin, struct phx_skin_info *out);

// A clip of a rig, as a handle of its own.
//
// PHX_ERROR_NOT_FOUND: there is no clip of this index.
phx_status phx_rig_clip(const struct phx_rig *rig, uint32_t index, struct phx_clip **out);

// Weights for the mask of a layer: 1 for a joint and all below it, 0 for the others. `count` is the room at
// `weights`.
//
// PHX_ERROR_NOT_FOUND: there is no joint of this index. PHX_ERROR_SHORT: there is room for fewer than the rig has
// joints.
phx_status phx_rig_mask_subtree(const struct phx_rig *rig, uint32_t joint, float *weights, size_t count);

// A new rig with the meshes of another file as its next, coarser level of detail. The file's skinned meshes are
// matched to the rig's joints by name; its bind pose must be the rig's. `options` may be null; they must be those of
// the rig's import.
//
// PHX_ERROR_DATA: the file has no skinned mesh, a joint that the rig lacks, or another bind pose. Other errors are
// those of `phx_import_new_file`.
phx_status phx_rig_with_lod_file(const struct phx_rig *rig,
                                 const char *path,
                                 size_t path_length,
                                 const struct phx_import_options *options,
                                 struct phx_rig **out);

// A rig of the caller's arrays: joints, skins, clips, no meshes. All is copied. Joints keep their indices. Rotations
// of the rest pose may have any length above 0.
//
// PHX_ERROR_DATA: a parent does not come before its joint, a track has the wrong number of values, times do not
// increase. PHX_ERROR_NOT_FOUND: a skin or a track refers to a joint that is not there. PHX_ERROR_VALUE: a number is
// not finite or beyond its limit. PHX_ERROR_LIMIT: more than 65,535 joints.
phx_status phx_rig_new_arrays(const struct phx_rig_arrays *arrays, struct phx_rig **out);

// Tells of a node.
//
// PHX_ERROR_NOT_FOUND: there is no node of this index.
phx_status phx_rig_node(const struct phx_rig *rig, uint32_t node, struct phx_node_info *out);

// Tells of a mesh. Meshes are listed in the order of their nodes, the finest level of detail first.
//
// PHX_ERROR_NOT_FOUND: there is no mesh of this index.
phx_status phx_rig_mesh(const struct phx_rig *rig, uint32_t mesh, struct phx_mesh_info *out);

// Tells of a primitive of a mesh.
//
// PHX_ERROR_NOT_FOUND: there is no mesh or primitive of this index.
phx_status phx_rig_primitive(const struct phx_rig *rig,
                             uint32_t mesh,
                             uint32_t primitive,
                             struct phx_primitive_info *out);

// Tells of a morph target of a primitive.
//
// PHX_ERROR_NOT_FOUND: there is no mesh, primitive or target of this index.
phx_status phx_rig_morph_target(const struct phx_rig *rig,
                                uint32_t mesh,
                                uint32_t primitive,
                                uint32_t target,
                                struct phx_morph_target_info *out);

// Tells of a material.
//
// PHX_ERROR_NOT_FOUND: there is no material of this index.
phx_status phx_rig_material(const struct phx_rig *rig, uint32_t material, struct phx_material_info *out);

// Tells of an image. Images keep their index even where the import has left them out.
//
// PHX_ERROR_NOT_FOUND: there is no image of this index.
phx_status phx_rig_image(const struct phx_rig *rig, uint32_t image, struct phx_image_info *out);

// Imports a file: glTF (.gltf or .glb), BVH, or the rig of a .phx file. Its content says which it is. If a file of
// markers lies beside a model, such as fox.events.json beside fox.glb, its clips get them.
//
// `options` may be null. A file becomes one rig, unless the options split it.
//
// PHX_ERROR_FILE: the file cannot be read. PHX_ERROR_DATA: it is refused, and the message says where.
// PHX_ERROR_LIMIT: it needs more memory than allowed. PHX_ERROR_NOT_FOUND: it has no such root joint.
// PHX_ERROR_UNSUPPORTED: it requires an extension that is not read, or images were to be decoded. PHX_ERROR_VERSION:
// the .phx file is of another version.
phx_status phx_import_new_file(const char *path,
                               size_t path_length,
                               const struct phx_import_options *options,
                               struct phx_import **out);

// Imports a file that lies in memory: glTF that refers to no other files, BVH, or .phx. The bytes are not used after
// the call. `name` is the file's name in messages; it also names the clip of a BVH file.
//
// Errors are those of `phx_import_new_file`.
phx_status phx_import_new_memory(const uint8_t *data,
                                 size_t size,
                                 const char *name,
                                 size_t name_length,
                                 const struct phx_import_options *options,
                                 struct phx_import **out);

// Frees an import. Its rigs that were taken stay. Null is nothing to free.
phx_status phx_import_free(struct phx_import *import);

// Tells what an import holds.
phx_status phx_import_describe(const struct phx_import *import, struct phx_import_info *out);

// A rig of an import, as a handle of its own.
//
// PHX_ERROR_NOT_FOUND: there is no rig of this index.
phx_status phx_import_rig(const struct phx_import *import, size_t index, struct phx_rig **out);

// The rig of a file: `phx_import_new_file` for files that become one rig, without the report.
//
// PHX_ERROR_DATA: the file is refused, or the options split it into several rigs. Other errors are those of
// `phx_import_new_file`.
phx_status phx_rig_new_file(const char *path,
                            size_t path_length,
                            const struct phx_import_options *options,
                            struct phx_rig **out);

// The rig of a file that lies in memory: `phx_import_new_memory` for files that become one rig, without the report.
//
// Errors are those of `phx_rig_new_file`.
phx_status phx_rig_new_memory(const uint8_t *data,
                              size_t size,
                              const char *name,
                              size_t name_length,
                              const struct phx_import_options *options,
                              struct phx_rig **out);

// The character that is built into the library, for first steps without files: 47 joints, eleven clips, among them
// "Idle", "Walk" and "Run", three levels of detail. Metres, Y up; it faces +Z.
phx_status phx_rig_new_mannequin(struct phx_rig **out);

// Opens a .phx file and keeps it open. Only its tables are read. The file must not change while it is open: then
// clips are refused.
//
// PHX_ERROR_FILE: the file cannot be read. PHX_ERROR_DATA: it is no .phx file or is damaged. PHX_ERROR_VERSION: it is
// of another version.
phx_status phx_library_new_file(const char *path, size_t path_length, struct phx_library **out);

// Opens a .phx file that lies in memory. The bytes are copied.
//
// Errors are those of `phx_library_new_file`.
phx_status phx_library_new_memory(const uint8_t *data, size_t size, struct phx_library **out);

// Frees a library and closes its file. Clips that were read stay. Null is nothing to free.
phx_status phx_library_free(struct phx_library *library);

// Tells what a library holds.
phx_status phx_library_describe(const struct phx_library *library, struct phx_library_info *out);

// Reads a clip. For a rig it comes in the order of joints that the rig has in memory, so that a crowd takes it as it
// is; for null in that of the file. Threads may read from one library at the same time.
//
// PHX_ERROR_NOT_FOUND: there is no clip of this index. PHX_ERROR_DATA: the clip is damaged, or is of another skeleton
// than the rig. PHX_ERROR_FILE: the file cannot be read.
phx_status phx_library_clip(const struct phx_library *library,
                            uint32_t index,
                            const struct phx_rig *rig,
                            struct phx_clip **out);

// Frees a clip's handle. Crowds and rigs that have the clip keep it. Null is nothing to free.
phx_status phx_clip_free(struct phx_clip *clip);

// Tells what a clip holds.
phx_status phx_clip_describe(const struct phx_clip *clip, struct phx_clip_info *out);

// A marker of a clip; they are sorted by time. Its name stays until this handle of the clip is freed.
//
// PHX_ERROR_NOT_FOUND: there is no marker of this index.
phx_status phx_clip_marker(const struct phx_clip *clip, uint32_t index, struct phx_marker *out);

// A copy of a clip with these markers in place of its own. `count` of 0 leaves none.
//
// PHX_ERROR_VALUE: a marker lies outside the clip. PHX_ERROR_LIMIT: more than 65,535 markers.
phx_status phx_clip_with_markers(const struct phx_clip *clip,
                                 const struct phx_marker *markers,
                                 size_t count,
                                 struct phx_clip **out);

// The root motion of a clip between two of its times, seconds, in the space of the root at `from`. `passes` is how
// often playback goes from the end to the start in between, below 0 in reverse; 0 for clips that play once. Times
// outside the clip count as its ends.
//
// PHX_ERROR_STATE: the clip has no root motion. PHX_ERROR_VALUE: a time is not finite.
phx_status phx_clip_root_motion(const struct phx_clip *clip,
                                double from,
                                double to,
                                int64_t passes,
                                struct phx_rigid *out);

// A clip of a rig's skeleton from tracks of keys. All is copied.
//
// PHX_ERROR_DATA: a track has the wrong number of values, its times do not increase, or two tracks move the same.
// PHX_ERROR_NOT_FOUND: the rig has no joint of a track. PHX_ERROR_VALUE: a number is not finite or beyond its limit,
// or a marker lies outside the clip.
phx_status phx_clip_new_arrays(const struct phx_rig *rig, const struct phx_clip_arrays *arrays, struct phx_clip **out);

// An additive clip: the differences of a clip to a pose, for an additive layer. The pose is that of `reference` at
// `time`, seconds, or for null the rest pose. The result does not depend on other clips of the rig.
//
// PHX_ERROR_DATA: a clip is of another skeleton, is additive already, or `time` lies outside of the reference.
// PHX_ERROR_VALUE: `time` is not finite.
phx_status phx_clip_new_additive(const struct phx_rig *rig,
                                 const struct phx_clip *clip,
                                 const struct phx_clip *reference,
                                 float time,
                                 struct phx_clip **out);

// A clip of one rig for another rig whose joints have the same names. `options` may be null. For humanoids with other
// names or proportions there is `phx_clip_new_retargeted`; clips of an equal skeleton need neither.
//
// PHX_ERROR_DATA: the rigs have no joint in common, or the clip is not of the source or is additive. PHX_ERROR_VALUE:
// an option is out of range.
phx_status phx_clip_new_bound(const struct phx_rig *source,
                              const struct phx_clip *clip,
                              const struct phx_rig *target,
                              const struct phx_bind_options *options,
                              struct phx_clip **out);

// A clip of one humanoid for another of other names, proportions and rest pose. The bones are those that the rigs'
// files state (VRM), else found by common names or by the shape of the skeleton. `options` may be null.
//
// With `mirror`, and the same rig as source and target, it swaps the sides of a clip.
//
// PHX_ERROR_DATA: a rig is no humanoid, its reference pose lies, or the clip is not of the source or is additive.
// PHX_ERROR_VALUE: an option is out of range.
phx_status phx_clip_new_retargeted(const struct phx_rig *source,
                                   const struct phx_clip *clip,
                                   const struct phx_rig *target,
                                   const struct phx_retarget_options *options,
                                   struct phx_clip **out);

// A clip with fewer and smaller keys, within bounds of error. It may take seconds. `options` may be null. `error`,
// which may be null too, receives the greatest displacement at any time, units of the model.
//
// PHX_ERROR_DATA: the clip is of another skeleton. PHX_ERROR_VALUE: an option is out of range, or the clip is too large.
phx_status phx_clip_new_baked(const struct phx_rig *rig,
                              const struct phx_clip *clip,
                              const struct phx_bake_options *options,
                              float *error,
                              struct phx_clip **out);

// An empty crowd. Null options are the defaults. The crowd keeps its threads after `phx_pool_free`.
//
// PHX_ERROR_VALUE: the tag is beyond 1,023.
phx_status phx_crowd_new(const struct phx_crowd_options *options, struct phx_crowd **out);

// Frees a crowd with all that it lends. Rigs and clips have handles of their own. Null is nothing to free.
phx_status phx_crowd_free(struct phx_crowd *crowd);

// Counts of a crowd.
phx_status phx_crowd_describe(const struct phx_crowd *crowd, struct phx_crowd_info *out);

// Adds a rig. Its instances have the given layers, all with the `size` of the first; `layer_count` 0 is one layer with the
// defaults. The crowd keeps what it needs of the rig after `phx_rig_free`.
//
// PHX_ERROR_DATA: a mask has not one weight per joint, each within 0 to 1. PHX_ERROR_LIMIT: more than 16 layers, or too
// many rigs or clips. PHX_ERROR_VALUE: there is no such fill. PHX_ERROR_STRUCT_SIZE: the library knows no such
// size, or a layer states another than the first.
phx_status phx_crowd_add_rig(struct phx_crowd *crowd,
                             const struct phx_rig *rig,
                             const struct phx_layer_options *layers,
                             size_t layer_count,
                             phx_rig_id *out);

// Removes a rig of which no character is alive. Its id and those of its clips become stale.
//
// PHX_ERROR_STATE: characters of it are alive.
phx_status phx_crowd_remove_rig(struct phx_crowd *crowd, phx_rig_id rig);

// A new handle of a rig in a crowd, for `phx_rig_free`.
phx_status phx_crowd_rig(const struct phx_crowd *crowd, phx_rig_id rig, struct phx_rig **out);

// Sets all options of a rig's characters, of those alive and of later ones. Null options are the defaults.
//
// PHX_ERROR_STATE: root motion shall be applied, and no clip of the rig has any. PHX_ERROR_VALUE: there are no such
// events.
phx_status phx_crowd_set_rig_options(struct phx_crowd *crowd, phx_rig_id rig, const struct phx_rig_options *options);

// Adds a clip to a rig of a crowd: one of another file, or made at run time. The crowd keeps it after `phx_clip_free`.
//
// PHX_ERROR_DATA: the clip is of another skeleton; the message names the first joint that differs. PHX_ERROR_LIMIT:
// too many clips, or too much memory.
phx_status phx_crowd_add_clip(struct phx_crowd *crowd, phx_rig_id rig, const struct phx_clip *clip, phx_clip_id *out);

// Removes a clip that nothing plays, also one of the rig's file; its id becomes stale.
//
// PHX_ERROR_STATE: an action plays it, or a blend space has it. `phx_crowd_instances` tells who plays it.
phx_status phx_crowd_remove_clip(struct phx_crowd *crowd, phx_clip_id clip);

// A new handle of a clip in a crowd, for `phx_clip_free`. It has the lane order of its rig.
phx_status phx_crowd_clip(const struct phx_crowd *crowd, phx_clip_id clip, struct phx_clip **out);

// The first clip of a rig in a crowd with this name.
//
// PHX_ERROR_NOT_FOUND: there is none; the message names similar ones.
phx_status phx_crowd_clip_named(const struct phx_crowd *crowd,
                                phx_rig_id rig,
                                const char *name,
                                size_t name_length,
                                phx_clip_id *out);

// A clip of a rig in a crowd by its index: those of the rig's file come first, in the file's order.
//
// PHX_ERROR_NOT_FOUND: there is none, or it was removed.
phx_status phx_crowd_clip_at(const struct phx_crowd *crowd, phx_rig_id rig, uint32_t index, phx_clip_id *out);

// Adds a blend space of a rig's clips. Any of its characters can play it, each at a parameter of its own.
//
// PHX_ERROR_ID: a clip is not of this rig. PHX_ERROR_VALUE: no clips, additive clips beside others, parameters of a line
// that do not ascend, points of a plane that coincide or lie on one line, a number out of range, or kinds that measure
// clips that last no time or do not travel. PHX_ERROR_LIMIT: too many clips.
phx_status phx_crowd_add_space(struct phx_crowd *crowd,
                               phx_rig_id rig,
                               const struct phx_space_options *options,
                               phx_space_id *out);

// Removes a blend space that no action plays; its id becomes stale.
//
// PHX_ERROR_STATE: an action plays it.
phx_status phx_crowd_remove_space(struct phx_crowd *crowd, phx_space_id space);

// The clips of a blend space with their parameters, which some kinds have measured; in ascending order for one
// parameter. `count` is their number. With `out` null and `capacity` 0, only `count` is written.
//
// PHX_ERROR_SHORT: there are more than `capacity`; `count` is written, and no point.
phx_status phx_crowd_space_points(const struct phx_crowd *crowd,
                                  phx_space_id space,
                                  struct phx_space_point *out,
                                  size_t capacity,
                                  size_t *count);

// Adds `count` characters of a rig and writes their ids. They are in the rest pose, at the origin, visible, at speed 1.
//
// PHX_ERROR_LIMIT: a rig has at most 2^20 characters.
phx_status phx_crowd_spawn(struct phx_crowd *crowd, phx_rig_id rig, size_t count, phx_instance *out);

// Removes characters; their ids become stale.
//
// PHX_ERROR_ID: an id is unknown, or listed twice; the message has its place.
phx_status phx_crowd_despawn(struct phx_crowd *crowd, const phx_instance *instances, size_t count);

// The characters that are alive, in the order of rigs, then of indices: all for `playable` 0, else those that play this
// blend space or this clip, alone or in a blend space. `count` is their number. With `out` null and `capacity` 0, only
// `count` is written.
//
// PHX_ERROR_SHORT: there are more than `capacity`; `count` is written, and no id.
phx_status phx_crowd_instances(const struct phx_crowd *crowd,
                               phx_playable playable,
                               phx_instance *out,
                               size_t capacity,
                               size_t *count);

// Advances all characters by `seconds`: their times, and their fades by the absolute value. It replaces the events and
// the root motion of the last step. It runs on the crowd's threads.
//
// PHX_ERROR_VALUE: the seconds are not finite, or beyond 1,000,000,000.
phx_status phx_crowd_advance(struct phx_crowd *crowd, double seconds);

// The events of the last step, by the order of `phx_crowd_instances`, then by layer, then by age of the action, oldest
// first, then by time. They stay until the next `phx_crowd_advance` or `phx_crowd_restore`.
phx_status phx_crowd_events(const struct phx_crowd *crowd, const struct phx_event **out, size_t *count);

// The movements of a rig's characters in the last step. The arrays stay until the next call of this function,
// `phx_crowd_advance`, `phx_crowd_restore` or `phx_crowd_remove_rig`.
phx_status phx_crowd_root_motion(struct phx_crowd *crowd, phx_rig_id rig, struct phx_root_motion *out);

// Takes a snapshot: what plays with times, weights and fades, transforms, overrides, targets and ids. Of rigs and clips
// it has hashes. The bytes stay until the next call of this function or `phx_crowd_free`.
phx_status phx_crowd_snapshot(struct phx_crowd *crowd, const uint8_t **data, size_t *size);

// Restores a snapshot, which may come from anywhere. The same calls then give the same playback, events and ids, every
// time. Of another crowd that the same calls have built, this one takes over the tag, so that its ids are valid here,
// and ids that this one gave before are stale: keep the ids with the snapshot. Characters that were spawned after the
// snapshot are gone; clips and blend spaces that were added after it stay. There are no events until the next step.
//
// PHX_ERROR_DATA: the bytes are no snapshot, or the crowd's rigs, clips, blend spaces or modifiers are others.
// PHX_ERROR_VERSION: they are a snapshot of another version of the library.
phx_status phx_crowd_restore(struct phx_crowd *crowd, const uint8_t *data, size_t size);

// Plays a clip or a blend space alone on a layer: the others of the layer fade out over `options->fade_in`. What plays
// already goes on from its time, with the options' speed, loop mode, end and weight; so the call may be made every frame.
// If the layer is full, the action of the lowest weight is evicted.
//
// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_VALUE: the clip is additive and the layer is not, or the reverse;
// or a number of the options is out of range.
phx_status phx_instance_play(struct phx_crowd *crowd,
                             phx_instance who,
                             uint32_t layer,
                             phx_playable playable,
                             const struct phx_play_options *options);

// Plays a clip or a blend space beside the others of a layer, which do not change. What plays already goes on.
//
// PHX_ERROR_LIMIT: the layer is full: it plays 4 others. Else as `phx_instance_play`.
phx_status phx_instance_add(struct phx_crowd *crowd,
                            phx_instance who,
                            uint32_t layer,
                            phx_playable playable,
                            const struct phx_play_options *options);

// As `phx_instance_play`, but starts at `options->time`, also what plays already.
phx_status phx_instance_restart(struct phx_crowd *crowd,
                                phx_instance who,
                                uint32_t layer,
                                phx_playable playable,
                                const struct phx_play_options *options);

// As `phx_instance_play`, over `seconds` instead of `options->fade_in`, which must be valid all the same.
phx_status phx_instance_fade_to(struct phx_crowd *crowd,
                                phx_instance who,
                                uint32_t layer,
                                phx_playable playable,
                                float seconds,
                                const struct phx_play_options *options);

// Fades the action of `from` out and stops it, and fades `to` in over the same seconds; other actions of the layer do not
// change. `PHX_FADE_INERTIAL` stops all others at once. A sync sets the time of `to` even if it plays already.
//
// PHX_ERROR_NOT_FOUND: there is no such layer, or `from` does not play on it. PHX_ERROR_VALUE: as `phx_instance_play`, or
// the clips share no markers to be in step by.
phx_status phx_instance_cross_fade(struct phx_crowd *crowd,
                                   phx_instance who,
                                   uint32_t layer,
                                   phx_playable from,
                                   phx_playable to,
                                   const struct phx_cross_fade *fade,
                                   const struct phx_play_options *options);

// Fades the weight of an action to `weight` over `seconds`, 0 to 1e9; 0 sets it at once. The weight is 0 to 1, on additive
// layers −1 to 1; at 0 the action goes on.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: a number is out of range.
phx_status phx_instance_fade(struct phx_crowd *crowd,
                             phx_instance who,
                             uint32_t layer,
                             phx_playable playable,
                             float weight,
                             float seconds);

// Fades an action out over `seconds`, 0 to 1e9, and then stops it; 0 stops it at once. The layer `PHX_NONE` is all layers,
// the playable 0 all actions.
//
// PHX_ERROR_NOT_FOUND: there is no such layer, or the playable plays on none of those meant. PHX_ERROR_VALUE: the seconds
// are out of range.
phx_status phx_instance_stop(struct phx_crowd *crowd,
                             phx_instance who,
                             uint32_t layer,
                             phx_playable playable,
                             float seconds);

// Reads the bounds of a character. The box is of the present pose, which is evaluated. The sphere is found without: it
// holds until the character is given other clips, weights or overrides.
phx_status phx_instance_bounds(const struct phx_crowd *crowd, phx_instance who, struct phx_bounds *out);

// The model matrix of a joint as it is now: joint space to model space. The character is evaluated.
//
// PHX_ERROR_NOT_FOUND: there is no such joint.
phx_status phx_instance_model_matrix(const struct phx_crowd *crowd,
                                     phx_instance who,
                                     uint32_t joint,
                                     struct phx_matrix *out);

// The model matrices of all joints as they are now: joint space to model space. The character is evaluated. `count` is the
// room of `out`.
//
// PHX_ERROR_SHORT: the rig has more joints than there is room for.
phx_status phx_instance_model_matrices(const struct phx_crowd *crowd,
                                       phx_instance who,
                                       struct phx_matrix *out,
                                       size_t count);

// The value of a user channel as it is now: `channel` is its index in the rig. `out` has room for 4 numbers; those beyond
// the channel's become 0. Scalars are evaluated, joints are not.
//
// PHX_ERROR_NOT_FOUND: there is no such channel.
phx_status phx_instance_channel(const struct phx_crowd *crowd,
                                phx_instance who,
                                uint32_t channel,
                                float *out);

// All scalars of a character as they are now, in the rig's order: morph weights, then the numbers of user channels. Joints
// are not evaluated. `count` gets the number also if there is too little room; with `out` null and a capacity of 0 the call
// only counts.
//
// PHX_ERROR_SHORT: the rig has more scalars than there is room for.
phx_status phx_instance_scalars(const struct phx_crowd *crowd,
                                phx_instance who,
                                float *out,
                                size_t capacity,
                                size_t *count);

// Sets the speed of an action: a factor on its time, within ±1e6. It ends the warp of a crossfade.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: the speed is out of range.
phx_status phx_instance_set_speed(struct phx_crowd *crowd,
                                  phx_instance who,
                                  uint32_t layer,
                                  phx_playable playable,
                                  float speed);

// Sets the time of an action, within ±1e9: seconds for a clip, passes for a blend space. No events fire for the time
// between.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: the time is out of range.
phx_status phx_instance_set_time(struct phx_crowd *crowd,
                                 phx_instance who,
                                 uint32_t layer,
                                 phx_playable playable,
                                 double time);

// Sets the time of an action in passes: 0 is the start of the clip, 1 its end. No events fire for the time between.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: the time is not within ±1e9 seconds.
phx_status phx_instance_set_phase(struct phx_crowd *crowd,
                                  phx_instance who,
                                  uint32_t layer,
                                  phx_playable playable,
                                  double phase);

// Pauses an action, or resumes it for 0. A paused action keeps its weight, and its fades go on.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer.
phx_status phx_instance_set_paused(struct phx_crowd *crowd,
                                   phx_instance who,
                                   uint32_t layer,
                                   phx_playable playable,
                                   uint32_t paused);

// Sets the loop mode of an action and the number of its passes, at least 1; `PHX_NONE` for no end. If either changes, the
// action goes on from its time, in its first pass.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: there is no such mode, or 0 passes.
phx_status phx_instance_set_loop(struct phx_crowd *crowd,
                                 phx_instance who,
                                 uint32_t layer,
                                 phx_playable playable,
                                 phx_loop_mode mode,
                                 uint32_t repetitions);

// Sets what an action does after its last pass; `seconds`, 0 to 1e9, are those of `PHX_END_FADE_OUT`.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: there is no such behaviour, or the seconds are out
// of range.
phx_status phx_instance_set_at_end(struct phx_crowd *crowd,
                                   phx_instance who,
                                   uint32_t layer,
                                   phx_playable playable,
                                   phx_at_end at_end,
                                   float seconds);

// Sets the parameter of a blend space that plays: `x` and `y` within ±1e9, `y` without effect on a line. Beyond the ends
// of the space its nearest value counts. A space that follows its parameter gets there with time.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: a number is out of range.
phx_status phx_instance_set_parameter(struct phx_crowd *crowd,
                                      phx_instance who,
                                      uint32_t layer,
                                      phx_space_id space,
                                      float x,
                                      float y);

// Fades the weight of a layer to `weight`, 0 to 1, on additive layers −1 to 1, over `seconds`, 0 to 1e9; 0 sets it at once.
//
// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_VALUE: a number is out of range.
phx_status phx_instance_fade_layer(struct phx_crowd *crowd,
                                   phx_instance who,
                                   uint32_t layer,
                                   float weight,
                                   float seconds);

// Sets the speed of a layer: a factor on the speeds of its actions, within ±1e6.
//
// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_VALUE: the speed is out of range.
phx_status phx_instance_set_layer_speed(struct phx_crowd *crowd, phx_instance who, uint32_t layer, float speed);

// Sets the speed of a character: a factor on the speeds of its layers, within ±1e6. At 0 it stands still, and its fades
// wait; at any other speed fades take their seconds.
//
// PHX_ERROR_VALUE: the speed is out of range.
phx_status phx_instance_set_character_speed(struct phx_crowd *crowd,
                                            phx_instance who,
                                            float speed);

// Sets the world transform of a character: model space to world space. Its palette does not change.
// `phx_instances_set_worlds` can also put characters elsewhere at once, with springs at rest.
//
// PHX_ERROR_VALUE: a number is not finite, or beyond ±1e15.
phx_status phx_instance_set_world(struct phx_crowd *crowd, phx_instance who, const struct phx_matrix *world);

// Reads where a character is and what the last frame shows of it. Nothing is evaluated.
phx_status phx_instance_describe(const struct phx_crowd *crowd, phx_instance who, struct phx_instance_info *out);

// Reads the state of an action.
//
// PHX_ERROR_NOT_FOUND: it does not play on the layer.
phx_status phx_instance_action(const struct phx_crowd *crowd,
                               phx_instance who,
                               uint32_t layer,
                               phx_playable playable,
                               struct phx_action_state *out);

// What plays on a layer, oldest first: the order in which it is blended. `count` gets the number also if there is too
// little room; with `out` null and a capacity of 0 the call only counts. A layer plays at most 4.
//
// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_SHORT: more play than there is room for.
phx_status phx_instance_actions(const struct phx_crowd *crowd,
                                phx_instance who,
                                uint32_t layer,
                                phx_playable *out,
                                size_t capacity,
                                size_t *count);

// Reads a layer of a character.
//
// PHX_ERROR_NOT_FOUND: there is no such layer.
phx_status phx_instance_layer(const struct phx_crowd *crowd,
                              phx_instance who,
                              uint32_t layer,
                              struct phx_layer_state *out);

// `phx_instance_play` for many characters: a playable and options for all, or one each; options null with a count of 0 are
// the defaults.
//
// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
// that is refused.
phx_status phx_instances_play(struct phx_crowd *crowd,
                              const phx_instance *who,
                              size_t count,
                              uint32_t layer,
                              const phx_playable *playables,
                              size_t playable_count,
                              const struct phx_play_options *options,
                              size_t option_count);

// `phx_instance_fade` for many characters: a playable, a weight and seconds for all, or one each.
//
// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
// that is refused.
phx_status phx_instances_fade(struct phx_crowd *crowd,
                              const phx_instance *who,
                              size_t count,
                              uint32_t layer,
                              const phx_playable *playables,
                              size_t playable_count,
                              const float *weights,
                              size_t weight_count,
                              const float *seconds,
                              size_t second_count);

// `phx_instance_set_speed` for many characters: a playable and a speed for all, or one each.
//
// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
// that is refused.
phx_status phx_instances_set_speeds(struct phx_crowd *crowd,
                                    const phx_instance *who,
                                    size_t count,
                                    uint32_t layer,
                                    const phx_playable *playables,
                                    size_t playable_count,
                                    const float *speeds,
                                    size_t speed_count);

// `phx_instance_set_loop` for many characters: a playable for all, or one each; a mode and a number of passes for all.
//
// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
// that is refused.
phx_status phx_instances_set_loops(struct phx_crowd *crowd,
                                   const phx_instance *who,
                                   size_t count,
                                   uint32_t layer,
                                   const phx_playable *playables,
                                   size_t playable_count,
                                   phx_loop_mode mode,
                                   uint32_t repetitions);

// `phx_instance_set_time` for many characters: a playable and a time for all, or one each.
//
// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
// that is refused.
phx_status phx_instances_set_times(struct phx_crowd *crowd,
                                   const phx_instance *who,
                                   size_t count,
                                   uint32_t layer,
                                   const phx_playable *playables,
                                   size_t playable_count,
                                   const double *times,
                                   size_t time_count);

// `phx_instance_set_parameter` for many characters: a blend space and a parameter for all, or one each.
//
// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
// that is refused.
phx_status phx_instances_set_parameters(struct phx_crowd *crowd,
                                        const phx_instance *who,
                                        size_t count,
                                        uint32_t layer,
                                        const phx_space_id *spaces,
                                        size_t space_count,
                                        const struct phx_parameter *parameters,
                                        size_t parameter_count);

// Sets the world transforms of many characters: one each. With `teleport` nonzero they are elsewhere at once, and their
// springs start at rest.
//
// PHX_ERROR_SHORT: there are fewer transforms than characters. PHX_ERROR_VALUE: there are more, or a number is not finite
// or beyond ±1e15; the message names the first that is refused.
phx_status phx_instances_set_worlds(struct phx_crowd *crowd,
                                    const phx_instance *who,
                                    size_t count,
                                    const struct phx_matrix *worlds,
                                    size_t world_count,
                                    uint32_t teleport);

// Shows or hides characters: a byte each, nonzero to show it. A hidden one goes on in time, is not evaluated and has no
// palette.
//
// PHX_ERROR_SHORT: there are fewer bytes than characters. PHX_ERROR_VALUE: there are more.
phx_status phx_instances_set_visible(struct phx_crowd *crowd,
                                     const phx_instance *who,
                                     size_t count,
                                     const uint8_t *visible,
                                     size_t visible_count);

// Sets which characters the next frames evaluate: a byte each, nonzero to evaluate it. The others keep their palettes,
// which costs nothing; their time, events and root motion go on. One without a palette is evaluated in any case.
//
// PHX_ERROR_SHORT: there are fewer bytes than characters. PHX_ERROR_VALUE: there are more.
phx_status phx_instances_set_scheduled(struct phx_crowd *crowd,
                                       const phx_instance *who,
                                       size_t count,
                                       const uint8_t *scheduled,
                                       size_t scheduled_count);

// What the last frame shows of many characters: one each. It holds until the next frame. After a frame
// that was refused with PHX_ERROR_SHORT it is of that one, whose rows are nowhere, until the next frame is written.
//
// PHX_ERROR_SHORT: there is room for fewer than `count`.
phx_status phx_instances_shown(const struct phx_crowd *crowd,
                               const phx_instance *who,
                               size_t count,
                               struct phx_shown *out,
                               size_t out_count);

// Sets the targets of a modifier and its weights for many characters: one value for all, or one for each. Without
// weights (null, 0) weights and their fades stay.
//
// PHX_ERROR_VALUE: an array has another length, or a target or weight is refused; the message names the element.
phx_status phx_instances_set_targets(struct phx_crowd *crowd,
                                     const phx_instance *who,
                                     size_t count,
                                     phx_modifier_id modifier,
                                     const struct phx_target *targets,
                                     size_t target_count,
                                     const float *weights,
                                     size_t weight_count);

// Sets the grounds of a modifier of feet and its weights for many characters. `grounds` has one ground per foot of the
// first character, then of the second, and so on. Weights are as for `phx_instances_set_targets`.
//
// PHX_ERROR_VALUE: an array has another length, the modifier has no feet, or a ground or weight is refused.
phx_status phx_instances_set_grounds(struct phx_crowd *crowd,
                                     const phx_instance *who,
                                     size_t count,
                                     phx_modifier_id modifier,
                                     const struct phx_ground *grounds,
                                     size_t ground_count,
                                     const float *weights,
                                     size_t weight_count);

// The world positions of the feet of a modifier: as animated in the last frame, moved by the present world transforms.
// `out` has room for `out_count` numbers, three per foot of the first character, then of the second, and so on.
//
// PHX_ERROR_SHORT: there is room for fewer. PHX_ERROR_VALUE: the modifier has no feet.
phx_status phx_instances_foot_positions(const struct phx_crowd *crowd,
                                        const phx_instance *who,
                                        size_t count,
                                        phx_modifier_id modifier,
                                        float *out,
                                        size_t out_count);

// Overrides the same joints of many characters, as `phx_instance_set_override` does. `joints` ascend. `matrices` has one
// matrix per joint of the first character, then of the second, and so on; `weights` one value for all characters or one
// for each.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the joints do not ascend, an array has another length,
// or a matrix or weight is refused.
phx_status phx_instances_set_overrides(struct phx_crowd *crowd,
                                       phx_rig_id rig,
                                       const uint32_t *joints,
                                       size_t joint_count,
                                       const phx_instance *who,
                                       size_t count,
                                       const struct phx_matrix *matrices,
                                       size_t matrix_count,
                                       phx_pose_space space,
                                       const float *weights,
                                       size_t weight_count);

// Gives many characters whole poses, for example of ragdolls, from the next frame on. `poses` has one transform per
// joint of the rig for the first character, then for the second, and so on. Each is blended with the animation by a
// weight, 0 at first; overrides and modifiers come after it. `weights` has one value for all characters or one for each;
// without weights (null, 0) they stay. Poses in world space go with the characters when they are moved.
//
// PHX_ERROR_VALUE: an array has another length, or a pose or weight is refused; the message names the element.
phx_status phx_instances_set_poses(struct phx_crowd *crowd,
                                   phx_rig_id rig,
                                   const phx_instance *who,
                                   size_t count,
                                   const struct phx_trs *poses,
                                   size_t pose_count,
                                   phx_pose_space space,
                                   const float *weights,
                                   size_t weight_count);

// Fades the weights of many characters' poses to `weight`, in [0, 1], over `seconds`; 0 sets them.
//
// PHX_ERROR_STATE: a character has no pose. PHX_ERROR_VALUE: a number is out of range.
phx_status phx_instances_fade_poses(struct phx_crowd *crowd,
                                    const phx_instance *who,
                                    size_t count,
                                    float weight,
                                    float seconds);

// Removes the poses of many characters: their clips animate them again.
phx_status phx_instances_clear_poses(struct phx_crowd *crowd, const phx_instance *who, size_t count);

// The local transforms of the same joints of many characters of a rig, now: relative to their parents, without shear.
// `out` has room for `out_count` transforms, one per joint of the first character, then of the second, and so on. The
// characters are evaluated by this call, without hooks. Joints are in any order.
//
// PHX_ERROR_SHORT: there is room for fewer. PHX_ERROR_NOT_FOUND: there is no such joint.
phx_status phx_instances_local_poses(const struct phx_crowd *crowd,
                                     phx_rig_id rig,
                                     const uint32_t *joints,
                                     size_t joint_count,
                                     const phx_instance *who,
                                     size_t count,
                                     phx_pose_stage stage,
                                     struct phx_trs *out,
                                     size_t out_count);

// The model matrices of the same joints of many characters of a rig, now: joint space to model space. As
// `phx_instances_local_poses`.
phx_status phx_instances_model_poses(const struct phx_crowd *crowd,
                                     phx_rig_id rig,
                                     const uint32_t *joints,
                                     size_t joint_count,
                                     const phx_instance *who,
                                     size_t count,
                                     phx_pose_stage stage,
                                     struct phx_matrix *out,
                                     size_t out_count);

// Adds inverse kinematics of two bones to a rig of a crowd. Its characters then can have targets and weights for it;
// while a weight is 0, as it is at first, the modifier changes nothing and costs nothing. Modifiers run in the order in
// which they were added; one that was removed leaves its place to the next. A rig has at most 63.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is out of range, the joints are no chain, or
// the chain is straight in the rest pose and has neither axis nor pole.
phx_status phx_crowd_add_two_bone_ik(struct phx_crowd *crowd,
                                     phx_rig_id rig,
                                     const struct phx_two_bone_ik *definition,
                                     phx_modifier_id *out);

// Adds an aim to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is out of range, there are no joints, or one is
// not below the one before.
phx_status phx_crowd_add_aim(struct phx_crowd *crowd,
                             phx_rig_id rig,
                             const struct phx_aim *definition,
                             phx_modifier_id *out);

// Adds feet to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does. In each frame read where the feet are by
// `phx_instances_foot_positions`, find the ground there, and set it by `phx_instances_set_grounds`.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is out of range, a leg is not below the pelvis
// or shares joints with another, or a foot has one marker.
phx_status phx_crowd_add_feet(struct phx_crowd *crowd,
                              phx_rig_id rig,
                              const struct phx_feet *definition,
                              phx_modifier_id *out);

// Adds a hook to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does: a callback that frames are evaluated with is
// called for the characters whose weight of it is above 0. Null is a hook that may set all joints.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the reach is out of range, or the rig has a hook.
phx_status phx_crowd_add_hook(struct phx_crowd *crowd,
                              phx_rig_id rig,
                              const struct phx_hook *definition,
                              phx_modifier_id *out);

// Removes a modifier with its targets and weights; its id becomes stale.
phx_status phx_crowd_remove_modifier(struct phx_crowd *crowd, phx_modifier_id modifier);

// Sets the target of a character's modifier, from the next frame on. Its weight, 0 at first, is set by
// `phx_instance_fade_modifier`.
//
// PHX_ERROR_NOT_FOUND: the target's joint is unknown. PHX_ERROR_VALUE: a number is not finite or too large, a rotation
// or normal has no length, the space is unknown, or the modifier takes no targets.
phx_status phx_instance_set_target(struct phx_crowd *crowd,
                                   phx_instance who,
                                   phx_modifier_id modifier,
                                   const struct phx_target *target);

// The target of a character's modifier, and its present weight. Before a target is set it is the origin of the model.
// Either output may be null.
phx_status phx_instance_target(const struct phx_crowd *crowd,
                               phx_instance who,
                               phx_modifier_id modifier,
                               struct phx_target *target,
                               float *weight);

// Sets the ground of each foot of a modifier of feet, from the next frame on.
//
// PHX_ERROR_VALUE: there is not one ground per foot, the modifier has no feet, a number is not finite or too large, or
// a normal has no length.
phx_status phx_instance_set_grounds(struct phx_crowd *crowd,
                                    phx_instance who,
                                    phx_modifier_id modifier,
                                    const struct phx_ground *grounds,
                                    size_t count);

// Fades the weight of a character's modifier to `weight`, in [0, 1], over `seconds`; 0 sets it. At first it is 0.
//
// PHX_ERROR_VALUE: a number is out of range.
phx_status phx_instance_fade_modifier(struct phx_crowd *crowd,
                                      phx_instance who,
                                      phx_modifier_id modifier,
                                      float weight,
                                      float seconds);

// Puts all springs of a character at rest, for example after a cut.
phx_status phx_instance_rest_springs(struct phx_crowd *crowd, phx_instance who);

// Overrides a joint of a character from the next frame on: a matrix in local, model or world space, blended with the
// animation by a weight in [0, 1]. One in world space goes with the character when it is moved.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is not finite or too large, the weight is out
// of range, or the space is unknown.
phx_status phx_instance_set_override(struct phx_crowd *crowd,
                                     phx_instance who,
                                     uint32_t joint,
                                     const struct phx_matrix *matrix,
                                     phx_pose_space space,
                                     float weight);

// Removes the override of a joint, or all overrides of the character for `PHX_NONE`.
//
// PHX_ERROR_NOT_FOUND: there is no such joint.
phx_status phx_instance_clear_override(struct phx_crowd *crowd, phx_instance who, uint32_t joint);

// How many joints a pose has, and the weight of the hook.
//
// PHX_ERROR_STATE, of all functions of poses: the pose is not that of the callback that runs on this thread.
phx_status phx_pose_describe(const struct phx_pose *pose, struct phx_pose_info *out);

// The local transform of a joint, relative to its parent: without shear, and as a matrix. Either output may be null.
//
// PHX_ERROR_NOT_FOUND: there is no such joint.
phx_status phx_pose_local(const struct phx_pose *pose, uint32_t joint, struct phx_trs *trs, struct phx_matrix *matrix);

// Sets the local matrix of a joint. Joints below it move. Later calls, modifiers and the palette see it.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the joint is not one of the hook's, or a number is not
// finite or beyond its limit.
phx_status phx_pose_set_local(struct phx_pose *pose, uint32_t joint, const struct phx_matrix *matrix);

// The model matrix of a joint: joint space to model space.
//
// PHX_ERROR_NOT_FOUND: there is no such joint.
phx_status phx_pose_model(const struct phx_pose *pose, uint32_t joint, struct phx_matrix *out);

// Sets the model matrix of a joint, by its local matrix. Joints below it move.
//
// Errors are those of `phx_pose_set_local`, and PHX_ERROR_STATE: the model matrix of the joint's parent has no inverse.
phx_status phx_pose_set_model(struct phx_pose *pose, uint32_t joint, const struct phx_matrix *matrix);

// Adds springs to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does; null for those of the rig's file. They have no
// targets. Frames step them, on a grid of 1/60 s of the crowd's time.
//
// PHX_ERROR_VALUE: there are no chains, joints or numbers that the rig refuses, or an unknown shape.
phx_status phx_crowd_add_springs(struct phx_crowd *crowd,
                                 phx_rig_id rig,
                                 const struct phx_springs *definition,
                                 phx_modifier_id *out);

// Watches joints of all characters of a rig: every frame keeps their model matrices, before or after overrides and
// modifiers, for `phx_instance_watched`. Calls are counted: a joint is watched until `phx_crowd_unwatch` was called as
// often.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the stage is unknown.
phx_status phx_crowd_watch(struct phx_crowd *crowd,
                           phx_rig_id rig,
                           const uint32_t *joints,
                           size_t count,
                           phx_pose_stage stage);

// Takes back one `phx_crowd_watch` of these joints. Joints that are not watched are ignored.
//
// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the stage is unknown.
phx_status phx_crowd_unwatch(struct phx_crowd *crowd,
                             phx_rig_id rig,
                             const uint32_t *joints,
                             size_t count,
                             phx_pose_stage stage);

// The watched joints of a character, from its last evaluation.
//
// PHX_ERROR_VALUE: the stage is unknown.
phx_status phx_instance_watched(const struct phx_crowd *crowd,
                                phx_instance who,
                                phx_pose_stage stage,
                                struct phx_watched *out);

// Evaluates all visible characters that are due and writes their palettes to the caller's memory, on the crowd's
// threads. `phx_instance_describe` and `phx_instances_shown` say which rows a character has.
//
// `memory` is aligned to 4 bytes and may be uninitialised. In `PHX_COLUMNS_4X4` it is only written, so mapped memory of
// a graphics API will do. In `PHX_ROWS_3X4` palettes are evaluated in place, and watched joints read them once more.
// Rows that no character has, such as padding, are not written. `out`, which may be null, gets the counts.
//
// PHX_ERROR_SHORT: the memory is too small. Nothing was written but `out`, which says in `bytes` what is needed, and
// the next frame is written whole; null with 0 bytes asks for the size. The frame counts as scheduled: what
// `phx_instances_shown` says is about it, whose rows are nowhere, until the next one is written. PHX_ERROR_VALUE: the
// format is unknown, the alignment too large, the memory not aligned. PHX_ERROR_BUSY: another call, a frame in parts, or
// the call that has called back a hook uses the crowd.
phx_status phx_crowd_evaluate(struct phx_crowd *crowd,
                              const struct phx_frame_options *options,
                              void *memory,
                              size_t bytes,
                              struct phx_frame_stats *out);

// Starts a frame that is written in parts, for job systems: `phx_frame_part` runs a part on the calling thread,
// `phx_frame_end` ends the frame. The rows are bit for bit those of `phx_crowd_evaluate`. `out->parts` says how many
// parts there are; `out` may be null. Watched joints are evaluated here, without hooks.
//
// Until the end the memory stays the frame's, and every other call with the crowd is PHX_ERROR_BUSY.
//
// Errors are those of `phx_crowd_evaluate`; no frame is started then, but one that is refused with PHX_ERROR_SHORT counts
// as scheduled, as it does there.
phx_status phx_frame_begin(struct phx_crowd *crowd,
                           const struct phx_frame_options *options,
                           void *memory,
                           size_t bytes,
                           struct phx_frame_stats *out,
                           struct phx_frame **frame);

// Runs one part of a frame on the calling thread. Different threads may run different parts at the same time, in any
// order; each part is run once.
//
// PHX_ERROR_NOT_FOUND: there is no such part. PHX_ERROR_STATE: the part was run, or is running. PHX_ERROR_HANDLE: the
// frame has ended. PHX_ERROR_BUSY: another thread is ending it.
phx_status phx_frame_part(struct phx_frame *frame, uint32_t index);

// Ends a frame: runs the parts that were not run, on the calling thread, and releases crowd and memory. The handle is
// freed. Null is nothing to end.
//
// PHX_ERROR_BUSY: a part is running on another thread; the frame has not ended.
phx_status phx_frame_end(struct phx_frame *frame);

// Turns tiers on, changes them, or turns them off for null. Times, fades, events and root motion do not depend on
// tiers. The next frame is written whole. If a tier shares palettes, this call measures the clips that play, and calls
// that start clips measure them: some milliseconds per minute of a clip, once.
//
// PHX_ERROR_VALUE: a number is out of range, or the heights do not descend; the message names the tier.
// PHX_ERROR_STRUCT_SIZE: the library knows no such size, or a tier states another than the first.
phx_status phx_crowd_set_tiers(struct phx_crowd *crowd, const struct phx_tiers *tiers);

// The default tiers, for models of this size: the longest side of the box around the rest pose, in units of the model,
// such as 1.8 for people in metres. `out` has room for `capacity` structs of this library's size, which need not state it:
// the call sets the `size` of each that it writes. `count` is how many there are, also after PHX_ERROR_SHORT. Null `out`
// with capacity 0 only counts.
//
// PHX_ERROR_SHORT: there is room for fewer. PHX_ERROR_VALUE: the size is not finite and above 0.
phx_status phx_tiers_default(float size,
                             struct phx_tier *out,
                             size_t capacity,
                             size_t *count);

// Sets the cameras of the next frames. A character has the greatest of its heights in the pictures; maps of shadows
// count for those that no picture gives a tier. With an array of no cameras (not null, 0) nothing is in the picture;
// null takes all cameras back: without importances all visible characters then are in the picture, as at first.
//
// PHX_ERROR_STATE: there are no tiers. PHX_ERROR_VALUE: a number is not finite, or a height not above 0.
phx_status phx_crowd_set_views(struct phx_crowd *crowd, const struct phx_view *views, size_t count);

// Sets how many palettes a frame evaluates at most; `SIZE_MAX` for all that are due. What a frame must evaluate comes
// first, whatever the budget is: characters that are new, that a call has changed, or that have waited too long.
//
// PHX_ERROR_STATE: there are no tiers.
phx_status phx_crowd_set_budget(struct phx_crowd *crowd, size_t palettes);

// Sets the importances of a rig's characters in the next frames, by their `phx_instance_info::index`: heights in pixels,
// at least 0. The greater of it and of the height in the views decides. None (null, 0) takes all back. Importances
// without views have characters of other rigs out of the picture.
//
// PHX_ERROR_STATE: there are no tiers. PHX_ERROR_VALUE: an importance is NaN or negative, or the count is neither 0 nor
// the largest number of characters of the rig that were alive at once; the message names it.
phx_status phx_crowd_set_importances(struct phx_crowd *crowd,
                                     phx_rig_id rig,
                                     const float *importances,
                                     size_t count);

// Counts of the last frame, by tier and in all. `count` is the number of tiers, also after PHX_ERROR_SHORT, and 0 before
// the first frame. Null `out`
// with capacity 0 only counts; null `frame` is not wanted.
//
// PHX_ERROR_STATE: there are no tiers. PHX_ERROR_SHORT: there is room for fewer.
phx_status phx_crowd_tier_stats(const struct phx_crowd *crowd,
                                struct phx_tier_stats *out,
                                size_t capacity,
                                size_t *count,
                                struct phx_tier_frame *frame);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PHALANX_H */
