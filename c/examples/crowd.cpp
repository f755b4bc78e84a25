// A crowd, from a file to the rows that a shader reads: crowd [FILE]
#include <cinttypes>
#include <cstdio>
#include <phalanx.hpp>
#include <vector>

static void print(phx::text message) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
}

int main(int argc, char **argv) {
    phx::status(phx_abi_check(PHX_ABI_VERSION)).check(print);
    auto rig = argc > 1 ? phx::rig::from_file(argv[1]) : phx::rig::mannequin();
    rig.status().check(print);
    const auto info = rig->info();
    info.status().check(print);

    auto crowd = phx::crowd::make();
    crowd.status().check(print);
    const auto id = crowd->add(*rig);
    id.status().check(print);

    std::vector<phx_instance> all(500);
    crowd->spawn(*id, all).check(print);
    for (uint32_t i = 0; i < all.size() && info->clip_count > 0; i++) {
        phx::play_options options;
        options.time = i * 0.125; // seconds
        crowd->play(all[i], *crowd->clip_at(*id, i % info->clip_count), &options).check(print);
    }

    // The rows of all palettes, in memory of this program: 48 bytes each.
    std::vector<phx_matrix> rows;
    for (int frame = 0; frame < 60; frame++) {
        crowd->advance(1.0 / 60.0).check(print);
        crowd->evaluate_into(rows).status().check(print);
    }

    uint64_t hash = 0xcbf29ce484222325; // FNV-1a of all rows
    for (const unsigned char byte : phx::span(reinterpret_cast<const unsigned char *>(rows.data()), rows.size() * sizeof(phx_matrix))) {
        hash = (hash ^ byte) * 0x100000001b3;
    }
    std::printf("%zu characters of %" PRIu32 " joints, %zu rows, hash %016" PRIx64 "\n", all.size(), info->joint_count,
                rows.size(), hash);
}
