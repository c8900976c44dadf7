/* A host of plugins that loads the library, uses it on a thread that ends, frees everything and unloads it, again and again: neither
 * threads nor mappings grow. `unload LIBRARY BACKEND`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pixelferry.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 12, SETTLED = 3 };
static const char *library, *backend;
static pf_status (*launch)(pf_frame *, pf_kernel *, const pf_arg *, size_t);

static int threads(void) {
    int count = -2;
    DIR *tasks = opendir("/proc/self/task");
    while (readdir(tasks)) count++;
    closedir(tasks);
    return count;
}

/* Mappings of files: what was loaded, whatever an allocator does. */
static int mappings(void) {
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        for (const char *at = line; *at; at++)
            if (*at == '/') { count++; break; }
    fclose(maps);
    return count;
}

static int32_t nines(void *user, const pf_pixels *out, const pf_arg *args, size_t count) {
    (void)user, (void)args, (void)count;
    for (size_t at = 0; at < out->row_bytes; at++) ((unsigned char *)out->data)[at] = 9;
    return 0;
}
static int32_t frame(void *kernel, pf_frame *next) { return launch(next, kernel, NULL, 0); }

static void *once(void *result) {
    int *status = result;
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return puts(dlerror()), *status = 1, NULL;
/* As POSIX writes it: ISO C converts no pointers to functions. */
#define GET(name) __typeof__(&name) p_##name; *(void **)&p_##name = dlsym(loaded, #name)
    GET(pf_open_pair);
    GET(pf_link_frame);
    GET(pf_link_free);
    GET(pf_kernel_free);
    GET(pf_display_free);
    GET(pf_backend_free);
    GET(pf_last_error_message);
    GET(pf_status_name);
    *(void **)&launch = dlsym(loaded, "pf_frame_launch");
    pf_kernel_source source = {.size = sizeof source, .name = "row", .host = nines};
    source.wgsl = "@compute @workgroup_size(8, 8) fn row(@builtin(global_invocation_id) id: vec3<u32>) {"
                  "pf_store(id.xy, vec4(9.0 / 255.0)); }";
    source.opencl_c = "__kernel void row(PF_IMAGE(uchar4, out)) { uint x = get_global_id(0), y = get_global_id(1);"
                      "if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(9)); }";
    pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_RGBA8, .width = 200, .height = 100};
    pf_launch launches = {&source, NULL, 0};
    pf_frames frames = {.size = sizeof frames, .surface = &surface, .launches = &launches, .launch_count = 1};
    frames.backend = backend, frames.display = "memory";
    pf_backend *computes = NULL;
    pf_display *shows = NULL;
    pf_kernel *kernel = NULL;
    pf_link *link = NULL;
    pf_status failed = p_pf_open_pair(&frames, &computes, &shows, &kernel, &link, NULL);
    if (!failed) failed = p_pf_link_frame(link, frame, kernel);
    if (failed) printf("%s: %s\n", p_pf_status_name(failed), p_pf_last_error_message()), *status = 1;
    p_pf_link_free(link), p_pf_kernel_free(kernel), p_pf_display_free(shows), p_pf_backend_free(computes);
    dlclose(loaded);
    return NULL;
}

int main(int argc, char **argv) {
    int failed = 0, kept[2] = {0, 0};
    if (argc != 3) return 2;
    library = argv[1], backend = argv[2];
    for (int round = 1; round <= ROUNDS && !failed; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, once, &failed);
        pthread_join(thread, NULL);
        /* The thread's destructors put off the end of what it closed; the next one to close it ends it. */
        void *still = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
        if (still) dlclose(still);
        if (round == SETTLED) usleep(500000), kept[0] = threads(), kept[1] = mappings();
    }
    /* Threads that the last handle let go of may take a while to end. */
    for (int waited = 0; threads() > kept[0] && waited < 300; waited++) usleep(100000);
    int now[2] = {threads(), mappings()};
    printf("threads %d, then %d; mappings %d, then %d\n", kept[0], now[0], kept[1], now[1]);
    if (!failed && now[0] <= kept[0] && now[1] <= kept[1]) puts("nothing grows");
    return failed;
}
