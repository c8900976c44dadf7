/* A host of plugins: a thread draws with a library that is loaded for it, frees all and closes the library. Then the host forks, and
 * the child ends as it should. ./unload_fork LIBRARY; three rounds. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pixelferry.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int32_t row(void *u, const pf_pixels *o, const pf_arg *a, size_t n) {
    (void)u, (void)a, (void)n;
    return memset(o->data, 9, o->row_bytes), 0;
}

static void *use(void *library) {
    pf_status (*open_pair)(const pf_frames *, pf_backend **, pf_display **, pf_kernel **, pf_link **, char **);
    pf_status (*free_link)(pf_link *), (*free_kernel)(pf_kernel *), (*free_display)(pf_display *), (*free_backend)(pf_backend *);
    *(void **)&open_pair = dlsym(library, "pf_open_pair");
    *(void **)&free_link = dlsym(library, "pf_link_free");
    *(void **)&free_kernel = dlsym(library, "pf_kernel_free");
    *(void **)&free_display = dlsym(library, "pf_display_free");
    *(void **)&free_backend = dlsym(library, "pf_backend_free");
    pf_kernel_source source = {.size = sizeof source, .name = "row", .host = row};
    pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_RGBA8, .width = 20, .height = 10};
    pf_launch launch = {&source, NULL, 0};
    pf_frames frames = {.size = sizeof frames, .surface = &surface, .launches = &launch, .launch_count = 1,
                        .backend = "cpu", .display = "memory"};
    pf_backend *b = NULL;
    pf_display *d = NULL;
    pf_kernel *k = NULL;
    pf_link *l = NULL;
    if (open_pair(&frames, &b, &d, &k, &l, NULL)) return "it does not draw";
    return free_link(l) || free_kernel(k) || free_display(d) || free_backend(b) ? "it is not freed" : NULL;
}

/* The library's threads end soon after all is free; one that has not keeps it loaded. */
static void wait_for_threads(void) {
    for (int tries = 0, threads = 9; tries < 600 && threads > 1; tries++) {
        DIR *tasks = opendir("/proc/self/task");
        threads = -2;
        while (tasks && readdir(tasks)) threads++;
        closedir(tasks), nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

int main(int argc, char **argv) {
    for (int round = 0; argc > 1 && round < 3; round++) {
        pthread_t thread;
        void *wrong = NULL;
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library || pthread_create(&thread, NULL, use, library) || pthread_join(thread, &wrong)) return 2;
        wait_for_threads();
        if (wrong || dlclose(library)) return printf("%s: %s\n", argv[1], wrong ? (char *)wrong : "it does not close"), 3;
        pid_t child = fork();
        if (child == 0) _exit(0);
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || status) return printf("the child ended with %d\n", status), 5;
    }
    return printf("forks after the library was closed\n"), 0;
}
