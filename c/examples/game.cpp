// Characters of a game: gaits by speed with footsteps, a look at a passing point, feet on a step, a sword in a hand.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <phalanx.hpp>
#include <vector>

static void print(phx::text message) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
}

/// The value of a call that has to succeed.
template <class T> static T must(phx::result<T> result) {
    result.status().check(print);
    return std::move(*result);
}

static phx_text literal(phx::text text) { return {text.data(), text.size()}; }

static phx_matrix at(float x, float y, float z) { return {{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}}}; }

/// Where a point of a character is in the world: its world transform applied to the translation of a model matrix.
static std::array<float, 3> place(const phx_matrix &world, const phx_matrix &model) {
    std::array<float, 3> out{};
    for (int i = 0; i < 3; i++) {
        const float *row = world.rows[i];
        out[i] = row[0] * model.rows[0][3] + row[1] * model.rows[1][3] + row[2] * model.rows[2][3] + row[3];
    }
    return out;
}

int main() {
    constexpr uint32_t count = 24;
    const auto rig = must(phx::rig::mannequin());
    auto crowd = must(phx::crowd::make());
    const phx_rig_id id = must(crowd.add(rig));

    // Gaits with footsteps, blended by speed in metres per second.
    const auto with_steps = [&](phx::text name, float first, float second) {
        const auto clip = must(rig.clip(must(rig.clip_named(name))));
        const phx_marker steps[] = {{literal("step"), first}, {literal("step"), second}};
        return must(crowd.add(id, must(clip.with_markers(steps))));
    };
    const phx_space_point gaits[] = {{must(crowd.clip_named(id, "Idle")), {0, 0}},
                                     {with_steps("Walk", 0.25f, 0.75f), {1.4f, 0}},
                                     {with_steps("Run", 0.15f, 0.45f), {3.5f, 0}}};
    phx::space_options line;
    line.kind = PHX_BLEND_LINE;
    line.points = gaits;
    line.count = 3;
    line.following = 0.25f;
    const phx_space_id gait = must(crowd.add(id, line));

    // Neck and head look; legs reach the ground.
    const auto joint = [&](phx::text name) { return must(rig.joint_named(name)); };
    const uint32_t looking[] = {joint("Neck"), joint("Head")};
    const float shares[] = {1, 2};
    phx::aim aim;
    aim.joints = looking;
    aim.shares = shares;
    aim.count = 2;
    aim.limit = 1.25f;
    const phx_modifier_id look = must(crowd.add(id, aim));
    phx_foot soles[2] = {};
    soles[0].ankle = joint("LeftFoot");
    soles[1].ankle = joint("RightFoot");
    phx::feet legs;
    legs.pelvis = joint("Hips");
    legs.feet = soles;
    legs.count = 2;
    const phx_modifier_id feet = must(crowd.add(id, legs));

    std::vector<phx_instance> all(count);
    crowd.spawn(id, all).check(print);
    for (uint32_t i = 0; i < count; i++) {
        crowd.set_world(all[i], at(float(i % 6) * 1.5f, 0, float(i / 6) * 1.5f)).check(print);
        phx::play_options options;
        options.time = i * 0.125;
        crowd.play(all[i], gait, &options).check(print);
    }

    std::vector<phx_matrix> rows;
    size_t footsteps = 0;
    for (uint32_t frame = 0; frame < 240; frame++) {
        phx_parameter speeds[count];
        for (uint32_t i = 0; i < count; i++) {
            speeds[i] = {float((frame / 60 + i) % 4) * 1.25f, 0};
        }
        crowd.set_parameters(all, phx::one(gait), speeds).check(print);
        phx_target point{};
        point.space = PHX_TARGET_WORLD;
        point.position[0] = float(frame) * 0.0625f - 3;
        point.position[1] = 1.75f;
        point.position[2] = 8;
        const float full = 1;
        crowd.set_targets(look, all, phx::one(point), phx::one(full)).check(print);

        crowd.advance(1.0 / 60.0).check(print);
        for (const phx_event &event : crowd.events()) {
            footsteps += event.kind == PHX_EVENT_MARKER && event.leading != 0;
        }

        // The ground below every foot, as a ray of the game would find it: a step at x = 3.
        float feet_at[2 * count][3];
        crowd.foot_positions(feet, all, {&feet_at[0][0], 6 * count}).check(print);
        phx_ground grounds[2 * count];
        for (uint32_t i = 0; i < 2 * count; i++) {
            grounds[i] = {feet_at[i][0] > 3 ? 0.125f : 0.0f, {0, 1, 0}};
        }
        crowd.set_grounds(feet, all, grounds, phx::one(full)).check(print);
        must(crowd.evaluate_into(rows));
    }

    const auto sword = place(must(crowd.info(all[0])).world, must(crowd.model_matrix(all[0], joint("RightHand"))));
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a of all rows
    for (const unsigned char byte : phx::span(reinterpret_cast<const unsigned char *>(rows.data()), rows.size() * sizeof(phx_matrix))) {
        hash = (hash ^ byte) * 0x100000001b3;
    }
    std::printf("%zu footsteps, the sword at (%.3f, %.3f, %.3f), hash %016" PRIx64 "\n", footsteps, double(sword[0]),
                double(sword[1]), double(sword[2]), hash);
}
