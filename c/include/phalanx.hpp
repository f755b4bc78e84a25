// Phalanx for C++17: owners and views over phalanx.h, whose comments say what each call does.
//
// - A `phx::crowd`, `phx::rig`, `phx::clip` and so on owns its handle, moves, and frees it at its end.
// - Calls return `phx::status`, or `phx::result<T>` with the value: test it as a bool before `*`. Nothing throws.
// - Arrays are `phx::span`, made of arrays, vectors and std::span alike; text is `phx::text`, a std::string_view.
// - Structs of options start with their defaults: `phx::play_options o; o.speed = 2;`. Arrays of them are of the struct of
//   phalanx.h: `std::vector<phx_play_options>`, which a `phx::play_options` initialises.
// - A frame ends before its crowd and its memory do; a crowd that is in use is not freed.
#ifndef PHALANX_HPP
#define PHALANX_HPP

#include "phalanx.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

namespace phx {

using text = std::string_view;

/// Text of the library as a view.
inline text view(const phx_text &t) noexcept { return t.data == nullptr ? text() : text(t.data, t.length); }

/// The message of this thread's last failure.
inline text message() noexcept {
    const char *data = nullptr;
    size_t length = 0;
    return phx_error_message(&data, &length) == PHX_OK ? text(data, length) : text();
}

/// A pointer and a count, as std::span.
template <class T> class span {
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, size_t size) noexcept : data_(data), size_(size) {}
    template <size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    /// Of what has `data()` and `size()`: vectors, arrays, other spans. A temporary has to outlive the span.
    template <class C, class = std::enable_if_t<
                           !std::is_same_v<std::decay_t<C>, span> && (std::is_const_v<T> || std::is_lvalue_reference_v<C>) &&
                           std::is_convertible_v<std::remove_pointer_t<decltype(std::declval<C &>().data())> (*)[], T (*)[]>>>
    constexpr span(C &&container) noexcept : data_(container.data()), size_(container.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](size_t i) const noexcept { return data_[i]; }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

/// One value as a span.
template <class T> constexpr span<const T> one(const T &value) noexcept { return {&value, 1}; }

/// What a call returned; true for success.
class [[nodiscard]] status {
  public:
    constexpr status(phx_status code = PHX_OK) noexcept : code_(code) {}
    constexpr explicit operator bool() const noexcept { return code_ == PHX_OK; }
    constexpr phx_status code() const noexcept { return code_; }
    /// For those who do not go on: prints the message and ends the program, if the call has failed.
    template <class Print> void check(Print print) const {
        if (code_ != PHX_OK) {
            print(phx::message());
            std::exit(1);
        }
    }

  private:
    phx_status code_;
};

/// A value, or why there is none.
template <class T> class [[nodiscard]] result {
  public:
    result(phx_status code, T value) noexcept : status_(code), value_(std::move(value)) {}
    explicit operator bool() const noexcept { return bool(status_); }
    phx::status status() const noexcept { return status_; }
    /// The value; empty after a failure.
    T &operator*() & noexcept { return value_; }
    const T &operator*() const & noexcept { return value_; }
    T &&operator*() && noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }

  private:
    phx::status status_;
    T value_;
};

/// A struct of the header with its size set and all else 0: for what the library fills.
template <class T> struct sized : T {
    sized() noexcept : T{} { T::size = sizeof(T); }
};

/// A struct of options with its defaults.
template <class T, phx_options_kind Kind> struct options : T {
    options() noexcept : T{} {
        // It knows its own header's struct, or a caller and a library do not fit, which each call tells.
        if (phx_options_init(Kind, static_cast<T *>(this), sizeof(T)) != PHX_OK) {
            T::size = sizeof(T);
        }
    }
};

/// One struct of options as a span.
template <class T, phx_options_kind Kind> span<const T> one(const options<T, Kind> &value) noexcept { return {&value, 1}; }

using import_options = options<phx_import_options, PHX_IMPORT_OPTIONS>;
using bind_options = options<phx_bind_options, PHX_BIND_OPTIONS>;
using retarget_options = options<phx_retarget_options, PHX_RETARGET_OPTIONS>;
using bake_options = options<phx_bake_options, PHX_BAKE_OPTIONS>;
using rig_arrays = options<phx_rig_arrays, PHX_RIG_ARRAYS>;
using clip_arrays = options<phx_clip_arrays, PHX_CLIP_ARRAYS>;
using crowd_options = options<phx_crowd_options, PHX_CROWD_OPTIONS>;
using rig_options = options<phx_rig_options, PHX_RIG_OPTIONS>;
using space_options = options<phx_space_options, PHX_SPACE_OPTIONS>;
using layer_options = options<phx_layer_options, PHX_LAYER_OPTIONS>;
using play_options = options<phx_play_options, PHX_PLAY_OPTIONS>;
using cross_fade = options<phx_cross_fade, PHX_CROSS_FADE>;
using two_bone_ik = options<phx_two_bone_ik, PHX_TWO_BONE_IK>;
using aim = options<phx_aim, PHX_AIM>;
using feet = options<phx_feet, PHX_FEET>;
using springs = options<phx_springs, PHX_SPRINGS>;
using hook = options<phx_hook, PHX_HOOK>;
using frame_options = options<phx_frame_options, PHX_FRAME_OPTIONS>;
using tier = options<phx_tier, PHX_TIER>;
using tiers = options<phx_tiers, PHX_TIERS>;

/// The owner of a handle.
template <class H, phx_status (*Free)(H *)> class owner {
  public:
    owner() noexcept = default;
    explicit owner(H *handle) noexcept : handle_(handle) {}
    owner(owner &&other) noexcept : handle_(other.release()) {}
    owner &operator=(owner &&other) noexcept {
        owner last(std::move(*this));
        handle_ = other.release();
        return *this;
    }
    ~owner() {
        if (handle_ != nullptr) {
            Free(handle_);
        }
    }

    /// The handle, for calls of phalanx.h.
    H *get() const noexcept { return handle_; }
    /// Gives the handle up without freeing it.
    H *release() noexcept { return std::exchange(handle_, nullptr); }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

  protected:
    H *handle_ = nullptr;
};

namespace detail {
/// Calls a function whose last parameter is a place for a value of type T.
template <class T, class F, class... A> result<T> value(F f, A... arguments) noexcept {
    T out{};
    const phx_status code = f(arguments..., &out);
    return {code, out};
}
/// Of a struct that begins with its size.
template <class T, class F, class... A> result<T> filled(F f, A... arguments) noexcept {
    sized<T> out;
    const phx_status code = f(arguments..., static_cast<T *>(&out));
    return {code, out};
}
/// Of a new handle.
template <class O, class H, class F, class... A> result<O> made(F f, A... arguments) noexcept {
    H *handle = nullptr;
    const phx_status code = f(arguments..., &handle);
    return {code, O(handle)};
}
/// Of a list with a capacity: how many there are, of which as many as `out` holds were written.
template <class T, class F, class... A> result<size_t> listed(span<T> out, F f, A... arguments) noexcept {
    size_t count = 0;
    const phx_status code = f(arguments..., out.data(), out.size(), &count);
    return {code, count};
}
} // namespace detail

class clip : public owner<phx_clip, phx_clip_free> {
  public:
    using owner::owner;

    result<phx_clip_info> info() const noexcept { return detail::filled<phx_clip_info>(phx_clip_describe, handle_); }
    result<phx_marker> marker(uint32_t i) const noexcept { return detail::value<phx_marker>(phx_clip_marker, handle_, i); }
    result<clip> with_markers(span<const phx_marker> markers) const noexcept {
        return detail::made<clip, phx_clip>(phx_clip_with_markers, handle_, markers.data(), markers.size());
    }
    result<phx_rigid> root_motion(double from, double to, int64_t passes) const noexcept {
        return detail::value<phx_rigid>(phx_clip_root_motion, handle_, from, to, passes);
    }
};

class rig : public owner<phx_rig, phx_rig_free> {
  public:
    using owner::owner;

    static result<rig> from_file(text path, const phx_import_options *options = nullptr) noexcept {
        return detail::made<rig, phx_rig>(phx_rig_new_file, path.data(), path.size(), options);
    }
    static result<rig> from_memory(span<const uint8_t> bytes, text name = "memory",
                                   const phx_import_options *options = nullptr) noexcept {
        return detail::made<rig, phx_rig>(phx_rig_new_memory, bytes.data(), bytes.size(), name.data(), name.size(), options);
    }
    static result<rig> mannequin() noexcept { return detail::made<rig, phx_rig>(phx_rig_new_mannequin); }
    static result<rig> from_arrays(const phx_rig_arrays &arrays) noexcept {
        return detail::made<rig, phx_rig>(phx_rig_new_arrays, &arrays);
    }
    /// This rig with the meshes of a file as its next level of detail.
    result<rig> with_lod(text path, const phx_import_options *options = nullptr) const noexcept {
        return detail::made<rig, phx_rig>(phx_rig_with_lod_file, handle_, path.data(), path.size(), options);
    }

    result<phx_rig_info> info() const noexcept { return detail::filled<phx_rig_info>(phx_rig_describe, handle_); }
    result<uint32_t> joint_named(text name) const noexcept { return find(PHX_PART_JOINT, name); }
    result<uint32_t> clip_named(text name) const noexcept { return find(PHX_PART_CLIP, name); }
    result<uint32_t> channel_named(text name) const noexcept { return find(PHX_PART_CHANNEL, name); }
    result<phx_joint_info> joint(uint32_t i) const noexcept {
        return detail::filled<phx_joint_info>(phx_rig_joint, handle_, i);
    }
    status rest_models(span<phx_matrix> out) const noexcept { return phx_rig_rest_models(handle_, out.data(), out.size()); }
    result<phx_skin_info> skin(uint32_t i) const noexcept { return detail::filled<phx_skin_info>(phx_rig_skin, handle_, i); }
    result<phx::clip> clip(uint32_t i) const noexcept {
        return detail::made<phx::clip, phx_clip>(phx_rig_clip, handle_, i);
    }
    status mask_subtree(uint32_t joint, span<float> weights) const noexcept {
        return phx_rig_mask_subtree(handle_, joint, weights.data(), weights.size());
    }

    result<phx_node_info> node(uint32_t i) const noexcept { return detail::filled<phx_node_info>(phx_rig_node, handle_, i); }
    result<phx_mesh_info> mesh(uint32_t i) const noexcept { return detail::filled<phx_mesh_info>(phx_rig_mesh, handle_, i); }
    result<phx_primitive_info> primitive(uint32_t mesh, uint32_t i) const noexcept {
        return detail::filled<phx_primitive_info>(phx_rig_primitive, handle_, mesh, i);
    }
    result<phx_morph_target_info> morph_target(uint32_t mesh, uint32_t primitive, uint32_t i) const noexcept {
        return detail::filled<phx_morph_target_info>(phx_rig_morph_target, handle_, mesh, primitive, i);
    }
    result<phx_material_info> material(uint32_t i) const noexcept {
        return detail::filled<phx_material_info>(phx_rig_material, handle_, i);
    }
    result<phx_image_info> image(uint32_t i) const noexcept {
        return detail::filled<phx_image_info>(phx_rig_image, handle_, i);
    }

    result<phx::clip> make_clip(const phx_clip_arrays &arrays) const noexcept {
        return detail::made<phx::clip, phx_clip>(phx_clip_new_arrays, handle_, &arrays);
    }
    /// Differences of a clip of this rig to a frame of `reference`, or to the rest pose.
    result<phx::clip> additive(const phx::clip &clip, const phx::clip *reference = nullptr, float time = 0) const noexcept {
        const phx_clip *frame = reference == nullptr ? nullptr : reference->get();
        return detail::made<phx::clip, phx_clip>(phx_clip_new_additive, handle_, clip.get(), frame, time);
    }
    /// A clip of `source` for this rig, by the names of joints.
    result<phx::clip> bind(const rig &source, const phx::clip &clip, const phx_bind_options *options = nullptr) const noexcept {
        return detail::made<phx::clip, phx_clip>(phx_clip_new_bound, source.get(), clip.get(), handle_, options);
    }
    /// A clip of `source`, another humanoid, for this rig.
    result<phx::clip> retarget(const rig &source, const phx::clip &clip,
                               const phx_retarget_options *options = nullptr) const noexcept {
        return detail::made<phx::clip, phx_clip>(phx_clip_new_retargeted, source.get(), clip.get(), handle_, options);
    }
    /// A clip of this rig with fewer and smaller keys; `error` gets the error that was measured, in units of the model.
    result<phx::clip> bake(const phx::clip &clip, const phx_bake_options *options = nullptr,
                           float *error = nullptr) const noexcept {
        return detail::made<phx::clip, phx_clip>(phx_clip_new_baked, handle_, clip.get(), options, error);
    }

  private:
    result<uint32_t> find(phx_rig_part part, text name) const noexcept {
        return detail::value<uint32_t>(phx_rig_find, handle_, part, name.data(), name.size());
    }
};

/// The rigs of one file, with what the import reports.
class import : public owner<phx_import, phx_import_free> {
  public:
    using owner::owner;

    static result<import> from_file(text path, const phx_import_options *options = nullptr) noexcept {
        return detail::made<import, phx_import>(phx_import_new_file, path.data(), path.size(), options);
    }
    static result<import> from_memory(span<const uint8_t> bytes, text name = "memory",
                                      const phx_import_options *options = nullptr) noexcept {
        return detail::made<import, phx_import>(phx_import_new_memory, bytes.data(), bytes.size(), name.data(), name.size(),
                                                options);
    }
    result<phx_import_info> info() const noexcept { return detail::filled<phx_import_info>(phx_import_describe, handle_); }
    result<phx::rig> rig(size_t i) const noexcept { return detail::made<phx::rig, phx_rig>(phx_import_rig, handle_, i); }
};

/// A .phx file whose clips are read one by one.
class library : public owner<phx_library, phx_library_free> {
  public:
    using owner::owner;

    static result<library> from_file(text path) noexcept {
        return detail::made<library, phx_library>(phx_library_new_file, path.data(), path.size());
    }
    static result<library> from_memory(span<const uint8_t> bytes) noexcept {
        return detail::made<library, phx_library>(phx_library_new_memory, bytes.data(), bytes.size());
    }
    result<phx_library_info> info() const noexcept { return detail::filled<phx_library_info>(phx_library_describe, handle_); }
    result<phx::clip> clip(uint32_t i, const rig *layout = nullptr) const noexcept {
        const phx_rig *of = layout == nullptr ? nullptr : layout->get();
        return detail::made<phx::clip, phx_clip>(phx_library_clip, handle_, i, of);
    }
};

class pool : public owner<phx_pool, phx_pool_free> {
  public:
    using owner::owner;

    static result<pool> make(uint32_t threads = 0) noexcept { return detail::made<pool, phx_pool>(phx_pool_new, threads); }
};

/// The default tiers for a model of this longest side, in its units. Returns how many there are.
inline result<size_t> default_tiers(float side, span<phx_tier> out) noexcept {
    return detail::listed(out, phx_tiers_default, side);
}

/// The pose of a character in a hook: made of the callback's argument, and used there alone.
class pose {
  public:
    explicit pose(phx_pose *argument) noexcept : pose_(argument) {}

    result<phx_pose_info> info() const noexcept { return detail::filled<phx_pose_info>(phx_pose_describe, pose_); }
    result<phx_matrix> local(uint32_t joint) const noexcept {
        return detail::value<phx_matrix>(phx_pose_local, pose_, joint, static_cast<phx_trs *>(nullptr));
    }
    status set_local(uint32_t joint, const phx_matrix &matrix) noexcept { return phx_pose_set_local(pose_, joint, &matrix); }
    result<phx_matrix> model(uint32_t joint) const noexcept { return detail::value<phx_matrix>(phx_pose_model, pose_, joint); }
    status set_model(uint32_t joint, const phx_matrix &matrix) noexcept { return phx_pose_set_model(pose_, joint, &matrix); }

  private:
    phx_pose *pose_;
};

/// A frame whose parts the host's threads run. Its end runs those that nobody has run; no part may be running then.
class frame : public owner<phx_frame, phx_frame_end> {
  public:
    using owner::owner;

    /// Runs one part, on any thread.
    phx::status part(uint32_t i) const noexcept { return phx_frame_part(handle_, i); }
    phx::status end() noexcept {
        const phx_status code = phx_frame_end(handle_);
        if (code == PHX_OK) {
            release();
        }
        return code;
    }
    const phx_frame_stats &stats() const noexcept { return stats_; }

  private:
    friend class crowd;
    sized<phx_frame_stats> stats_;
};

/// A crowd. `who` is a character, `playable` a clip or a blend space, `layer` the index of a layer.
class crowd : public owner<phx_crowd, phx_crowd_free> {
  public:
    using owner::owner;

    static result<crowd> make(const phx_crowd_options *options = nullptr) noexcept {
        return detail::made<crowd, phx_crowd>(phx_crowd_new, options);
    }

    // Rigs, clips, blend spaces.
    result<phx_rig_id> add(const phx::rig &rig, span<const phx_layer_options> layers = {}) noexcept {
        return detail::value<phx_rig_id>(phx_crowd_add_rig, handle_, rig.get(), layers.data(), layers.size());
    }
    status remove_rig(phx_rig_id rig) noexcept { return phx_crowd_remove_rig(handle_, rig); }
    result<phx::rig> rig_of(phx_rig_id rig) const noexcept {
        return detail::made<phx::rig, phx_rig>(phx_crowd_rig, handle_, rig);
    }
    status set_rig_options(phx_rig_id rig, const phx_rig_options &options) noexcept {
        return phx_crowd_set_rig_options(handle_, rig, &options);
    }
    result<phx_clip_id> add(phx_rig_id rig, const phx::clip &clip) noexcept {
        return detail::value<phx_clip_id>(phx_crowd_add_clip, handle_, rig, clip.get());
    }
    status remove_clip(phx_clip_id clip) noexcept { return phx_crowd_remove_clip(handle_, clip); }
    result<phx::clip> clip_of(phx_clip_id clip) const noexcept {
        return detail::made<phx::clip, phx_clip>(phx_crowd_clip, handle_, clip);
    }
    result<phx_clip_id> clip_named(phx_rig_id rig, text name) const noexcept {
        return detail::value<phx_clip_id>(phx_crowd_clip_named, handle_, rig, name.data(), name.size());
    }
    result<phx_clip_id> clip_at(phx_rig_id rig, uint32_t index) const noexcept {
        return detail::value<phx_clip_id>(phx_crowd_clip_at, handle_, rig, index);
    }
    result<phx_space_id> add(phx_rig_id rig, const phx_space_options &space) noexcept {
        return detail::value<phx_space_id>(phx_crowd_add_space, handle_, rig, &space);
    }
    status remove_space(phx_space_id space) noexcept { return phx_crowd_remove_space(handle_, space); }
    result<size_t> space_points(phx_space_id space, span<phx_space_point> out) const noexcept {
        return detail::listed(out, phx_crowd_space_points, handle_, space);
    }

    // Modifiers.
    result<phx_modifier_id> add(phx_rig_id rig, const phx_two_bone_ik &definition) noexcept {
        return detail::value<phx_modifier_id>(phx_crowd_add_two_bone_ik, handle_, rig, &definition);
    }
    result<phx_modifier_id> add(phx_rig_id rig, const phx_aim &definition) noexcept {
        return detail::value<phx_modifier_id>(phx_crowd_add_aim, handle_, rig, &definition);
    }
    result<phx_modifier_id> add(phx_rig_id rig, const phx_feet &definition) noexcept {
        return detail::value<phx_modifier_id>(phx_crowd_add_feet, handle_, rig, &definition);
    }
    /// Springs; null for those of the rig's file.
    result<phx_modifier_id> add_springs(phx_rig_id rig, const phx_springs *definition = nullptr) noexcept {
        return detail::value<phx_modifier_id>(phx_crowd_add_springs, handle_, rig, definition);
    }
    result<phx_modifier_id> add(phx_rig_id rig, const phx_hook &definition) noexcept {
        return detail::value<phx_modifier_id>(phx_crowd_add_hook, handle_, rig, &definition);
    }
    status remove_modifier(phx_modifier_id modifier) noexcept { return phx_crowd_remove_modifier(handle_, modifier); }

    // Characters, time, events.
    status spawn(phx_rig_id rig, span<phx_instance> out) noexcept {
        return phx_crowd_spawn(handle_, rig, out.size(), out.data());
    }
    result<phx_instance> spawn(phx_rig_id rig) noexcept {
        return detail::value<phx_instance>(phx_crowd_spawn, handle_, rig, size_t{1});
    }
    status despawn(span<const phx_instance> who) noexcept { return phx_crowd_despawn(handle_, who.data(), who.size()); }
    result<size_t> instances(span<phx_instance> out, phx_playable playable = 0) const noexcept {
        return detail::listed(out, phx_crowd_instances, handle_, playable);
    }
    status advance(double seconds) noexcept { return phx_crowd_advance(handle_, seconds); }
    /// The events of the last step; empty if the call fails.
    span<const phx_event> events() const noexcept {
        const phx_event *data = nullptr;
        size_t count = 0;
        return phx_crowd_events(handle_, &data, &count) == PHX_OK ? span<const phx_event>(data, count) : span<const phx_event>();
    }
    result<phx_root_motion> root_motion(phx_rig_id rig) noexcept {
        return detail::filled<phx_root_motion>(phx_crowd_root_motion, handle_, rig);
    }
    result<span<const uint8_t>> snapshot() noexcept {
        const uint8_t *data = nullptr;
        size_t size = 0;
        const phx_status code = phx_crowd_snapshot(handle_, &data, &size);
        return {code, {data, size}};
    }
    status restore(span<const uint8_t> bytes) noexcept { return phx_crowd_restore(handle_, bytes.data(), bytes.size()); }
    result<phx_crowd_info> info() const noexcept { return detail::filled<phx_crowd_info>(phx_crowd_describe, handle_); }

    // Frames.
    /// Evaluates into memory of `bytes` bytes. If that is too short, `stats` says what is needed.
    status evaluate(void *memory, size_t bytes, phx_frame_stats *stats = nullptr,
                    const phx_frame_options *options = nullptr) noexcept {
        return phx_crowd_evaluate(handle_, options, memory, bytes, stats);
    }
    /// Evaluates into a vector of `phx_matrix`, which grows to what is needed.
    template <class Vector>
    result<phx_frame_stats> evaluate_into(Vector &rows, const phx_frame_options *options = nullptr) {
        sized<phx_frame_stats> stats;
        const auto size = [&] { return rows.size() * sizeof(*rows.data()); };
        phx_status code = phx_crowd_evaluate(handle_, options, rows.data(), size(), &stats);
        if (code == PHX_ERROR_SHORT) {
            rows.resize((static_cast<size_t>(stats.bytes) + sizeof(*rows.data()) - 1) / sizeof(*rows.data()));
            code = phx_crowd_evaluate(handle_, options, rows.data(), size(), &stats);
        }
        return {code, stats};
    }
    /// Begins a frame that threads of the host evaluate in parts.
    result<frame> begin(void *memory, size_t bytes, const phx_frame_options *options = nullptr) noexcept {
        frame made;
        const phx_status code = phx_frame_begin(handle_, options, memory, bytes, &made.stats_, &made.handle_);
        return {code, std::move(made)};
    }
    status set_views(span<const phx_view> views) noexcept { return phx_crowd_set_views(handle_, views.data(), views.size()); }
    status set_tiers(const phx_tiers *list) noexcept { return phx_crowd_set_tiers(handle_, list); }
    status set_budget(size_t palettes) noexcept { return phx_crowd_set_budget(handle_, palettes); }
    status set_importances(phx_rig_id rig, span<const float> importances) noexcept {
        return phx_crowd_set_importances(handle_, rig, importances.data(), importances.size());
    }

    // One character: what it plays.
    status play(phx_instance who, phx_playable playable, const phx_play_options *options = nullptr, uint32_t layer = 0) noexcept {
        return phx_instance_play(handle_, who, layer, playable, options);
    }
    status play_beside(phx_instance who, phx_playable playable, const phx_play_options *options = nullptr,
                       uint32_t layer = 0) noexcept {
        return phx_instance_add(handle_, who, layer, playable, options);
    }
    status restart(phx_instance who, phx_playable playable, const phx_play_options *options = nullptr,
                   uint32_t layer = 0) noexcept {
        return phx_instance_restart(handle_, who, layer, playable, options);
    }
    status fade_to(phx_instance who, phx_playable playable, float seconds, const phx_play_options *options = nullptr,
                   uint32_t layer = 0) noexcept {
        return phx_instance_fade_to(handle_, who, layer, playable, seconds, options);
    }
    status crossfade(phx_instance who, phx_playable from, phx_playable to, const phx_cross_fade &fade,
                     const phx_play_options *options = nullptr, uint32_t layer = 0) noexcept {
        return phx_instance_cross_fade(handle_, who, layer, from, to, &fade, options);
    }
    status fade(phx_instance who, phx_playable playable, float weight, float seconds, uint32_t layer = 0) noexcept {
        return phx_instance_fade(handle_, who, layer, playable, weight, seconds);
    }
    /// Stops an action, all of a layer (`playable` 0) or all (`layer` PHX_NONE, too).
    status stop(phx_instance who, phx_playable playable, float seconds, uint32_t layer = 0) noexcept {
        return phx_instance_stop(handle_, who, layer, playable, seconds);
    }
    status set_speed(phx_instance who, phx_playable playable, float speed, uint32_t layer = 0) noexcept {
        return phx_instance_set_speed(handle_, who, layer, playable, speed);
    }
    status set_time(phx_instance who, phx_playable playable, double time, uint32_t layer = 0) noexcept {
        return phx_instance_set_time(handle_, who, layer, playable, time);
    }
    status set_phase(phx_instance who, phx_playable playable, double phase, uint32_t layer = 0) noexcept {
        return phx_instance_set_phase(handle_, who, layer, playable, phase);
    }
    status set_paused(phx_instance who, phx_playable playable, bool paused, uint32_t layer = 0) noexcept {
        return phx_instance_set_paused(handle_, who, layer, playable, paused);
    }
    status set_loop(phx_instance who, phx_playable playable, phx_loop_mode mode, uint32_t repetitions = PHX_NONE,
                    uint32_t layer = 0) noexcept {
        return phx_instance_set_loop(handle_, who, layer, playable, mode, repetitions);
    }
    status set_at_end(phx_instance who, phx_playable playable, phx_at_end at_end, float seconds = 0, uint32_t layer = 0) noexcept {
        return phx_instance_set_at_end(handle_, who, layer, playable, at_end, seconds);
    }
    status set_parameter(phx_instance who, phx_space_id space, float x, float y = 0, uint32_t layer = 0) noexcept {
        return phx_instance_set_parameter(handle_, who, layer, space, x, y);
    }
    status fade_layer(phx_instance who, uint32_t layer, float weight, float seconds) noexcept {
        return phx_instance_fade_layer(handle_, who, layer, weight, seconds);
    }
    status set_layer_speed(phx_instance who, uint32_t layer, float speed) noexcept {
        return phx_instance_set_layer_speed(handle_, who, layer, speed);
    }
    status set_character_speed(phx_instance who, float speed) noexcept {
        return phx_instance_set_character_speed(handle_, who, speed);
    }
    status set_world(phx_instance who, const phx_matrix &world) noexcept {
        return phx_instance_set_world(handle_, who, &world);
    }

    // One character: its state.
    result<phx_instance_info> info(phx_instance who) const noexcept {
        return detail::filled<phx_instance_info>(phx_instance_describe, handle_, who);
    }
    result<phx_action_state> action(phx_instance who, phx_playable playable, uint32_t layer = 0) const noexcept {
        return detail::filled<phx_action_state>(phx_instance_action, handle_, who, layer, playable);
    }
    result<size_t> actions(phx_instance who, span<phx_playable> out, uint32_t layer = 0) const noexcept {
        return detail::listed(out, phx_instance_actions, handle_, who, layer);
    }
    result<phx_layer_state> layer(phx_instance who, uint32_t layer) const noexcept {
        return detail::filled<phx_layer_state>(phx_instance_layer, handle_, who, layer);
    }
    result<phx_bounds> bounds(phx_instance who) const noexcept {
        return detail::filled<phx_bounds>(phx_instance_bounds, handle_, who);
    }
    result<phx_matrix> model_matrix(phx_instance who, uint32_t joint) const noexcept {
        return detail::value<phx_matrix>(phx_instance_model_matrix, handle_, who, joint);
    }
    status model_matrices(phx_instance who, span<phx_matrix> out) const noexcept {
        return phx_instance_model_matrices(handle_, who, out.data(), out.size());
    }
    status channel(phx_instance who, uint32_t channel, float (&out)[4]) const noexcept {
        return phx_instance_channel(handle_, who, channel, out);
    }
    result<size_t> scalars(phx_instance who, span<float> out) const noexcept {
        return detail::listed(out, phx_instance_scalars, handle_, who);
    }
    result<phx_watched> watched(phx_instance who, phx_pose_stage stage = PHX_STAGE_AFTER) const noexcept {
        return detail::filled<phx_watched>(phx_instance_watched, handle_, who, stage);
    }

    // One character: what lies between its clips and its palette.
    status set_target(phx_instance who, phx_modifier_id modifier, const phx_target &target) noexcept {
        return phx_instance_set_target(handle_, who, modifier, &target);
    }
    result<phx_target> target(phx_instance who, phx_modifier_id modifier, float *weight = nullptr) const noexcept {
        phx_target out{};
        float now = 0;
        const phx_status code = phx_instance_target(handle_, who, modifier, &out, &now);
        if (weight != nullptr && code == PHX_OK) {
            *weight = now;
        }
        return {code, out};
    }
    status set_grounds(phx_instance who, phx_modifier_id modifier, span<const phx_ground> grounds) noexcept {
        return phx_instance_set_grounds(handle_, who, modifier, grounds.data(), grounds.size());
    }
    status fade_modifier(phx_instance who, phx_modifier_id modifier, float weight, float seconds) noexcept {
        return phx_instance_fade_modifier(handle_, who, modifier, weight, seconds);
    }
    status rest_springs(phx_instance who) noexcept { return phx_instance_rest_springs(handle_, who); }
    status set_override(phx_instance who, uint32_t joint, const phx_matrix &matrix, phx_pose_space space = PHX_SPACE_LOCAL,
                        float weight = 1) noexcept {
        return phx_instance_set_override(handle_, who, joint, &matrix, space, weight);
    }
    status clear_override(phx_instance who, uint32_t joint = PHX_NONE) noexcept {
        return phx_instance_clear_override(handle_, who, joint);
    }

    // Many characters: arrays have one element for all, or one each.
    using ids = span<const phx_instance>;

    status play(ids who, span<const phx_playable> playables, span<const phx_play_options> options = {}, uint32_t layer = 0) noexcept {
        return phx_instances_play(handle_, who.data(), who.size(), layer, playables.data(), playables.size(), options.data(),
                                  options.size());
    }
    status fade(ids who, span<const phx_playable> playables, span<const float> weights, span<const float> seconds,
                uint32_t layer = 0) noexcept {
        return phx_instances_fade(handle_, who.data(), who.size(), layer, playables.data(), playables.size(), weights.data(),
                                  weights.size(), seconds.data(), seconds.size());
    }
    status set_speeds(ids who, span<const phx_playable> playables, span<const float> speeds, uint32_t layer = 0) noexcept {
        return phx_instances_set_speeds(handle_, who.data(), who.size(), layer, playables.data(), playables.size(),
                                        speeds.data(), speeds.size());
    }
    status set_loops(ids who, span<const phx_playable> playables, phx_loop_mode mode, uint32_t repetitions = PHX_NONE,
                     uint32_t layer = 0) noexcept {
        return phx_instances_set_loops(handle_, who.data(), who.size(), layer, playables.data(), playables.size(), mode,
                                       repetitions);
    }
    status set_times(ids who, span<const phx_playable> playables, span<const double> times, uint32_t layer = 0) noexcept {
        return phx_instances_set_times(handle_, who.data(), who.size(), layer, playables.data(), playables.size(),
                                       times.data(), times.size());
    }
    status set_parameters(ids who, span<const phx_space_id> spaces, span<const phx_parameter> parameters,
                          uint32_t layer = 0) noexcept {
        return phx_instances_set_parameters(handle_, who.data(), who.size(), layer, spaces.data(), spaces.size(),
                                            parameters.data(), parameters.size());
    }
    /// Sets as many worlds as there are characters.
    status set_worlds(ids who, span<const phx_matrix> worlds, bool teleport = false) noexcept {
        return phx_instances_set_worlds(handle_, who.data(), who.size(), worlds.data(), worlds.size(), teleport);
    }
    status set_visible(ids who, span<const uint8_t> visible) noexcept {
        return phx_instances_set_visible(handle_, who.data(), who.size(), visible.data(), visible.size());
    }
    status set_scheduled(ids who, span<const uint8_t> scheduled) noexcept {
        return phx_instances_set_scheduled(handle_, who.data(), who.size(), scheduled.data(), scheduled.size());
    }
    status shown(ids who, span<phx_shown> out) const noexcept {
        return phx_instances_shown(handle_, who.data(), who.size(), out.data(), out.size());
    }

    status set_targets(phx_modifier_id modifier, ids who, span<const phx_target> targets, span<const float> weights) noexcept {
        return phx_instances_set_targets(handle_, who.data(), who.size(), modifier, targets.data(), targets.size(),
                                         weights.data(), weights.size());
    }
    status set_grounds(phx_modifier_id modifier, ids who, span<const phx_ground> grounds, span<const float> weights) noexcept {
        return phx_instances_set_grounds(handle_, who.data(), who.size(), modifier, grounds.data(), grounds.size(),
                                         weights.data(), weights.size());
    }
    /// Three numbers per foot.
    status foot_positions(phx_modifier_id modifier, ids who, span<float> out) const noexcept {
        return phx_instances_foot_positions(handle_, who.data(), who.size(), modifier, out.data(), out.size());
    }
    status set_overrides(phx_rig_id rig, span<const uint32_t> joints, ids who, span<const phx_matrix> matrices,
                         phx_pose_space space, span<const float> weights) noexcept {
        return phx_instances_set_overrides(handle_, rig, joints.data(), joints.size(), who.data(), who.size(), matrices.data(),
                                           matrices.size(), space, weights.data(), weights.size());
    }
    status set_poses(phx_rig_id rig, ids who, span<const phx_trs> poses, phx_pose_space space, span<const float> weights) noexcept {
        return phx_instances_set_poses(handle_, rig, who.data(), who.size(), poses.data(), poses.size(), space, weights.data(),
                                       weights.size());
    }
    status fade_poses(ids who, float weight, float seconds) noexcept {
        return phx_instances_fade_poses(handle_, who.data(), who.size(), weight, seconds);
    }
    status clear_poses(ids who) noexcept { return phx_instances_clear_poses(handle_, who.data(), who.size()); }
    status local_poses(phx_rig_id rig, span<const uint32_t> joints, ids who, phx_pose_stage stage,
                       span<phx_trs> out) const noexcept {
        return phx_instances_local_poses(handle_, rig, joints.data(), joints.size(), who.data(), who.size(), stage, out.data(),
                                         out.size());
    }
    status model_poses(phx_rig_id rig, span<const uint32_t> joints, ids who, phx_pose_stage stage,
                       span<phx_matrix> out) const noexcept {
        return phx_instances_model_poses(handle_, rig, joints.data(), joints.size(), who.data(), who.size(), stage, out.data(),
                                         out.size());
    }

    // Joints of all characters of a rig.
    status watch(phx_rig_id rig, span<const uint32_t> joints, phx_pose_stage stage = PHX_STAGE_AFTER) noexcept {
        return phx_crowd_watch(handle_, rig, joints.data(), joints.size(), stage);
    }
    status unwatch(phx_rig_id rig, span<const uint32_t> joints, phx_pose_stage stage = PHX_STAGE_AFTER) noexcept {
        return phx_crowd_unwatch(handle_, rig, joints.data(), joints.size(), stage);
    }

    /// What tiers did in the last frame; `frame` may be null.
    result<size_t> tier_stats(span<phx_tier_stats> out, phx_tier_frame *frame = nullptr) const noexcept {
        size_t count = 0;
        const phx_status code = phx_crowd_tier_stats(handle_, out.data(), out.size(), &count, frame);
        return {code, count};
    }
};

} // namespace phx

#endif // PHALANX_HPP
