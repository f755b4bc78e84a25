/* A crowd, from a file to the rows that a shader reads: crowd FILE */
#include <inttypes.h>
#include <phalanx.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 500, FRAMES = 60 };

/* Ends the program with the library's message if a call has failed. */
static void check(phx_status status) {
    const char *message = "";
    size_t length = 0;
    if (status != PHX_OK) {
        phx_error_message(&message, &length);
        fprintf(stderr, "error %d: %s\n", (int)status, message);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: crowd FILE\n");
        return 2;
    }
    check(phx_abi_check(PHX_ABI_VERSION));
    phx_rig *rig = NULL;
    check(phx_rig_new_file(argv[1], PHX_NUL, NULL, &rig));
    phx_rig_info info = {.size = sizeof info};
    check(phx_rig_describe(rig, &info));

    phx_crowd *crowd = NULL;
    phx_rig_id id = 0;
    check(phx_crowd_new(NULL, &crowd));
    check(phx_crowd_add_rig(crowd, rig, NULL, 0, &id));

    static phx_instance all[COUNT];
    check(phx_crowd_spawn(crowd, id, COUNT, all));
    phx_play_options options;
    check(phx_options_init(PHX_PLAY_OPTIONS, &options, sizeof options));
    for (uint32_t i = 0; i < COUNT && info.clip_count > 0; i++) {
        phx_clip_id clip = 0;
        check(phx_crowd_clip_at(crowd, id, i % info.clip_count, &clip));
        options.time = i * 0.125; /* seconds */
        check(phx_instance_play(crowd, all[i], 0, clip, &options));
    }

    /* The rows of all palettes, in memory of this program: 48 bytes each. */
    phx_matrix *rows = NULL;
    size_t bytes = 0;
    phx_frame_stats stats = {.size = sizeof stats};
    for (int frame = 0; frame < FRAMES; frame++) {
        check(phx_crowd_advance(crowd, 1.0 / 60.0));
        phx_status status = phx_crowd_evaluate(crowd, NULL, rows, bytes, &stats);
        if (status == PHX_ERROR_SHORT) { /* `stats` says how much there is to be */
            bytes = (size_t)stats.bytes;
            free(rows);
            if ((rows = malloc(bytes)) == NULL) {
                return 1;
            }
            status = phx_crowd_evaluate(crowd, NULL, rows, bytes, &stats);
        }
        check(status);
    }

    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a of all rows */
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ ((const unsigned char *)rows)[i]) * 0x100000001b3u;
    }
    printf("%d characters of %" PRIu32 " joints, %zu rows, hash %016" PRIx64 "\n", COUNT, info.joint_count,
           bytes / sizeof *rows, hash);

    free(rows);
    check(phx_crowd_free(crowd));
    check(phx_rig_free(rig));
    return 0;
}
