/* A host that looks at what the library does to its process: every line of docs/guest.md, before, while and after a backend and a
 * display are open. ./guest BACKEND DISPLAY [exit]; "exit" leaves everything open at the end. No display of OpenGL takes this context. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pixelferry.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

extern char **environ;

static const char *when = "at first";
static int wrong;

static void fails(const char *line, const char *what) {
    fprintf(stdout, "WRONG %s: %s: %s\n", when, line, what);
    wrong++;
}

/* ---- every thread that anybody starts in this process */

static const int HOSTS[] = {SIGTERM, SIGINT, SIGHUP, SIGALRM, SIGCHLD, SIGUSR1, SIGUSR2, SIGWINCH, SIGPIPE};
static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
static int started;

/* Threads that the library itself has started and that run. */
static int ours;

struct begun {
    void *(*body)(void *);
    void *argument;
    int is_ours;
};

static void *begin(void *given) {
    struct begun b = *(struct begun *)given;
    sigset_t mask;
    free(given), pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (size_t i = 0; b.is_ours && i < sizeof FAULTS / sizeof *FAULTS; i++)
        if (sigismember(&mask, FAULTS[i])) fails("signals of faults reach their thread", "a thread of ours blocks one");
    void *result = b.body(b.argument);
    if (b.is_ours) __atomic_fetch_sub(&ours, 1, __ATOMIC_RELAXED);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    sigset_t mask;
    Dl_info from = {0};
    dladdr(__builtin_return_address(0), &from);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++)
        if (!sigismember(&mask, HOSTS[i])) {
            fails("threads take none of the host's signals", from.dli_fname ? from.dli_fname : "somebody");
            break;
        }
    struct begun *b = malloc(sizeof *b);
    *b = (struct begun){body, argument, from.dli_fname && strstr(from.dli_fname, "pixelferry_capi")};
    __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
    if (b->is_ours) __atomic_fetch_add(&ours, 1, __ATOMIC_RELAXED);
    return real(thread, attributes, begin, b);
}

/* Counts threads that live and would take SIGTERM: some are started by other means than pthread_create. */
static int takers(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *e; (e = readdir(tasks));) {
        char name[300], line[200], comm[64] = "";
        unsigned long long blocked = ~0ull;
        if (e->d_name[0] == '.' || atoi(e->d_name) == getpid()) continue;
        snprintf(name, sizeof name, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(name, "r");
        if (!f) continue;
        while (fgets(line, sizeof line, f)) sscanf(line, "Name: %63[^\n]", comm), sscanf(line, "SigBlk: %llx", &blocked);
        fclose(f);
        if (!(blocked >> (SIGTERM - 1) & 1)) fails("threads take none of the host's signals", comm), count++;
    }
    closedir(tasks);
    return count;
}

/* ---- what must be as it was */

struct host {
    struct sigaction actions[65];
    sigset_t mask;
    char *environment, *locale, folder[4096], name[17];
    mode_t umask;
    int rounding, priority, dumpable, exceptions;
    unsigned control;
    struct rlimit limits[RLIMIT_NLIMITS];
    cpu_set_t cpus;
};

static struct host look(void) {
    struct host h;
    memset(&h, 0, sizeof h);
    for (int s = 1; s < 65; s++) sigaction(s, NULL, &h.actions[s]);
    pthread_sigmask(SIG_BLOCK, NULL, &h.mask);
    size_t bytes = 0;
    for (char **e = environ; *e; e++) bytes += strlen(*e) + 1;
    char *at = h.environment = calloc(1, bytes + 1);
    for (char **e = environ; *e; e++)
        /* PoCL's own, for hwloc. */
        if (strncmp(*e, "HWLOC_", 6)) at = stpcpy(at, *e), *at++ = '\n';
    h.locale = strdup(setlocale(LC_ALL, NULL));
    if (!getcwd(h.folder, sizeof h.folder)) h.folder[0] = 0;
    prctl(PR_GET_NAME, h.name);
    h.umask = umask(0), umask(h.umask);
    h.rounding = fegetround(), h.exceptions = fegetexcept();
    h.priority = getpriority(PRIO_PROCESS, 0), h.dumpable = prctl(PR_GET_DUMPABLE);
#if defined(__x86_64__)
    h.control = _mm_getcsr() & 0xffc0; /* without the flags of what happened */
#endif
    for (int i = 0; i < RLIMIT_NLIMITS; i++) getrlimit(i, &h.limits[i]);
    sched_getaffinity(0, sizeof h.cpus, &h.cpus);
    return h;
}

static void compare(const struct host *was) {
    struct host now = look();
    char text[200];
    for (int s = 1; s < 65; s++) {
        int is_fault = 0;
        for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) is_fault |= s == FAULTS[i];
        /* A driver may look at faults first; what is not its own goes on to the host's handler. */
        if (is_fault) continue;
        /* The bit is the C library's own. */
        if (now.actions[s].sa_sigaction != was->actions[s].sa_sigaction || (now.actions[s].sa_flags ^ was->actions[s].sa_flags) & ~0x04000000) {
            Dl_info by = {0};
            dladdr(*(void **)&now.actions[s].sa_sigaction, &by);
            snprintf(text, sizeof text, "signal %d has another handler, of %s", s, by.dli_fname ? by.dli_fname : "nobody");
            fails("handlers of signals", text);
        }
    }
    for (int s = 1; s < 65; s++)
        if (sigismember(&now.mask, s) != sigismember(&was->mask, s)) snprintf(text, sizeof text, "signal %d", s), fails("the caller's mask", text);
    if (strcmp(now.environment, was->environment)) fails("environment variables", now.environment);
    if (strcmp(now.locale, was->locale)) fails("the locale", now.locale);
    if (strcmp(now.folder, was->folder)) fails("the working directory", now.folder);
    if (strcmp(now.name, was->name)) fails("the thread's name", now.name);
    if (now.umask != was->umask) fails("umask", "changed");
    if (now.rounding != was->rounding || now.exceptions != was->exceptions || now.control != was->control) fails("modes of the FPU", "changed");
    if (now.priority != was->priority || now.dumpable != was->dumpable) fails("priority", "changed");
    if (memcmp(now.limits, was->limits, sizeof now.limits)) fails("limits of resources", "changed");
    if (!CPU_EQUAL(&now.cpus, &was->cpus)) fails("processors", "changed");
    free(now.environment), free(now.locale);
}

/* The host's own descriptors. */
static char hosts[4096];

/* Every other open descriptor must not reach a program that the host starts. */
static int descriptors(void) {
    DIR *all = opendir("/proc/self/fd");
    int count = 0;
    for (struct dirent *e; (e = readdir(all));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] == '.' || fd == dirfd(all)) continue;
        count++;
        if (started == 0 && fd < (int)sizeof hosts) hosts[fd] = 1;
        if (!(fd < (int)sizeof hosts && hosts[fd]) && !(fcntl(fd, F_GETFD) & FD_CLOEXEC)) {
            char name[64], to[300];
            snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
            ssize_t len = readlink(name, to, sizeof to - 1);
            to[len > 0 ? len : 0] = 0;
            fails("descriptors are closed in programs that the host starts", to);
        }
    }
    closedir(all);
    return count;
}

/* ---- what the library does */

static int32_t row(void *u, const pf_pixels *o, const pf_arg *a, size_t n) {
    (void)u, (void)a, (void)n;
    return memset(o->data, 9, o->row_bytes), 0;
}

static int32_t frame(void *k, pf_frame *f) { return pf_frame_launch(f, k, NULL, 0); }

static pf_backend *b;
static pf_display *d;
static pf_kernel *k;
static pf_link *l;

static pf_status open_all(const char *backend, const char *display) {
    pf_kernel_source source = {.size = sizeof source, .name = "row", .host = row,
        .opencl_c = "kernel void row(PF_IMAGE(uchar4, out)) { uint x = get_global_id(0), y = get_global_id(1);"
                    " if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(9)); }",
        .wgsl = "@compute @workgroup_size(8, 8) fn row(@builtin(global_invocation_id) id: vec3<u32>)"
                " { pf_store(id.xy, vec4(9.0 / 255.0)); }"};
    pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_RGBA8, .width = 200, .height = 100};
    pf_launch launch = {&source, NULL, 0};
    pf_frames frames = {.size = sizeof frames, .surface = &surface, .launches = &launch, .launch_count = 1,
                        .backend = backend, .display = display};
    return pf_open_pair(&frames, &b, &d, &k, &l, NULL);
}

static pf_status free_all(void) {
    pf_status status = pf_link_free(l);
    if (!status) status = pf_kernel_free(k);
    if (!status) status = pf_display_free(d);
    if (!status) status = pf_backend_free(b);
    return status;
}

/* Runs `body` in a forked process; 0 where it is content within its time. */
static int forked(int (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        alarm(60); /* ends it where it hangs */
        sigemptyset(&none), sigprocmask(SIG_SETMASK, &none, NULL);
        _exit(body());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *asked_backend, *asked_display;

static int draws(void) {
    int done = open_all(asked_backend, asked_display) || pf_link_frame(l, frame, k) || free_all();
    return done ? printf("in the child: %s\n", pf_last_error_message()), fflush(stdout), 1 : 0;
}

static int refuses(void) {
    /* What came along is refused, and freed; nothing hangs. */
    if (pf_link_frame(l, frame, k) != PIXELFERRY_ERROR_UNAVAILABLE || !strstr(pf_last_error_message(), "spawn")) return 1;
    if (pf_backend_finish(b) != PIXELFERRY_ERROR_UNAVAILABLE || !strstr(pf_last_error_message(), "spawn")) return 2;
    if (pf_display_finish(d) != PIXELFERRY_ERROR_UNAVAILABLE || !strstr(pf_last_error_message(), "spawn")) return 3;
    if (free_all()) return 4;
    int is_plain = !strcmp(asked_backend, "cpu") && !strcmp(asked_display, "memory");
    pf_status opened = open_all(asked_backend, asked_display);
    /* Without drivers there is nothing that did not come along. */
    if (is_plain) return opened || pf_link_frame(l, frame, k) || free_all() ? 5 : 0;
    return opened == PIXELFERRY_ERROR_UNAVAILABLE && strstr(pf_last_error_message(), "spawn") ? 0 : 6;
}

static void forks(const char *line, int (*body)(void)) {
    int code = forked(body);
    char text[100];
    snprintf(text, sizeof text, code > 128 ? "the child was ended by signal %d" : "the child ended with %d", code > 128 ? code - 128 : code);
    if (code) fails(line, text);
}

static void late(void) {
    /* Whoever's handler runs first: calls are answered. */
    pf_link_frame(l, frame, k);
}

int main(int argc, char **argv) {
    asked_backend = argc > 1 ? argv[1] : "cpu", asked_display = argc > 2 ? argv[2] : "memory";
    int said[2] = {dup(1), dup(2)};
    char file[] = "/tmp/pixelferry-guest-XXXXXX";
    for (int i = 0; i < 2; i++) fcntl(said[i], F_SETFD, FD_CLOEXEC);
    descriptors();
    setlocale(LC_ALL, "C.UTF-8");
    umask(027);
    /* The host's own wishes, which are not the defaults. */
    fesetround(FE_DOWNWARD);
    sigset_t some;
    sigemptyset(&some), sigaddset(&some, SIGUSR1), pthread_sigmask(SIG_BLOCK, &some, NULL);

    forks("a child of a process that opened nothing draws", draws);
    struct host before = look();
    int out = mkstemp(file);
    unlink(file), fcntl(out, F_SETFD, FD_CLOEXEC), fflush(stdout), dup2(out, 1), dup2(out, 2);
    pf_status opened = open_all(asked_backend, asked_display);
    pf_status drawn = opened ? opened : pf_link_frame(l, frame, k);
    off_t words = lseek(out, 0, SEEK_END);
    char text[400] = "";
    if (words && pread(out, text, sizeof text - 1, 0) < 0) text[0] = 0;
    dup2(said[0], 1), dup2(said[1], 2);
    if (drawn) return printf("%d %s\n", (int)drawn, pf_last_error_message()), printf("%s\n", pf_status_name(drawn)), 2;
    when = "while all is open";
    if (words) fails("standard output and error", text);
    compare(&before);
    descriptors();
    int deadly = takers();

    sigemptyset(&some), sigaddset(&some, SIGTERM), pthread_sigmask(SIG_BLOCK, &some, NULL); /* as event loops do when they start */
    int fd = signalfd(-1, &some, SFD_CLOEXEC);
    struct signalfd_siginfo got;
    for (int round = 0; round < 200 && !deadly; round++) {
        if (round % 10 == 0 && pf_link_frame(l, frame, k)) fails("a frame", pf_last_error_message());
        if (kill(getpid(), SIGTERM) || read(fd, &got, sizeof got) < 1) fails("signalfd", "nothing came");
    }
    pthread_sigmask(SIG_UNBLOCK, &some, NULL), close(fd);

    forks("a child only closes and refuses", refuses);
    if (pf_link_frame(l, frame, k)) fails("after a fork the parent goes on", pf_last_error_message());
    compare(&before);
    if (argc > 3) {
        atexit(late);
        printf(wrong ? "%d lines are wrong\n" : "leaves all open\n", wrong), fflush(stdout);
        exit(wrong != 0);
    }
    if (free_all()) fails("free", pf_last_error_message());
    when = "after all is free";
    compare(&before);
    descriptors();
    /* Ours end soon; a driver keeps its own. */
    for (int tries = 0; tries < 600 && __atomic_load_n(&ours, __ATOMIC_RELAXED); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    if (ours) fails("threads", "one of ours is left");
    return printf(wrong ? "%d lines are wrong\n" : "all as the page says; %d threads were started\n", wrong ? wrong : started), wrong != 0;
}
