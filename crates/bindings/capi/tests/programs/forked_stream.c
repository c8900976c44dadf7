/* A process with both sides of a stream that forks: each call in the child is refused with what to do, what it frees changes nothing,
 * and the parent goes on. */
#define _POSIX_C_SOURCE 200809L
#include <pixelferry.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE = 16 };

static int failed(pf_status status) {
    if (status == PIXELFERRY_OK) return 0;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), pf_last_error_message());
    return 1;
}

static int not_refused(pf_status status) {
    const char *said = pf_last_error_message();
    if (status == PIXELFERRY_ERROR_UNAVAILABLE && said && strstr(said, "spawn")) return 0;
    fprintf(stderr, "%s: %s\n", pf_status_name(status), said ? said : "");
    return 1;
}

static int32_t fill(void *user, pf_frame *frame) {
    uint8_t pixels[SIDE * SIDE];
    memset(pixels, *(int *)user, sizeof pixels);
    return pf_frame_write(frame, pixels, sizeof pixels, 0) != PIXELFERRY_OK;
}

static int publish(pf_link *link, int value) {
    pf_shown *shown = NULL;
    if (failed(pf_link_frame(link, fill, &value)) || failed(pf_link_show(link, &shown))) return 1;
    int wrong = failed(pf_stream_publish(shown, NULL));
    return failed(pf_shown_release(shown)) || wrong;
}

static int take(pf_subscriber *subscriber, int value) {
    uint8_t pixels[SIDE * SIDE];
    uint32_t next = PIXELFERRY_NEXT_NOTHING;
    if (failed(pf_subscriber_next(subscriber, 60000, &next)) || next != PIXELFERRY_NEXT_FRAME) return 1;
    return failed(pf_subscriber_read(subscriber, pixels, sizeof pixels, 0)) || pixels[0] != value || pixels[SIDE * SIDE - 1] != value;
}

int main(int count, char **words) {
    pf_backend *backend = NULL;
    pf_display *stream = NULL;
    pf_link *link = NULL;
    pf_shown *shown = NULL;
    pf_subscriber *subscriber = NULL;
    pf_surface surface = {.size = sizeof surface, .format = PIXELFERRY_FORMAT_R8, .width = SIDE, .height = SIDE};
    surface.unwritten = PIXELFERRY_LOAD_OVERWRITE;
    if (count != 2 || failed(pf_backend_open("cpu", NULL, 0, &backend)) ||
        failed(pf_stream_open(backend, words[1], NULL, &stream)) ||
        failed(pf_link_open(backend, stream, &surface, NULL, &link)) ||
        failed(pf_subscriber_open(backend, words[1], &subscriber)) || publish(link, 1) || take(subscriber, 1) ||
        failed(pf_link_show(link, &shown)))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        uint8_t pixels[SIDE * SIDE];
        uint32_t next;
        pf_stream_frame frame = {.size = sizeof frame};
        pf_memory *memory = NULL;
        int wrong = not_refused(pf_stream_publish(shown, NULL)) || not_refused(pf_subscriber_next(subscriber, 0, &next)) ||
                    not_refused(pf_subscriber_frame(subscriber, &frame)) ||
                    not_refused(pf_subscriber_read(subscriber, pixels, sizeof pixels, 0)) ||
                    not_refused(pf_subscriber_memory(subscriber, &memory));
        pf_shown_release(shown);
        pf_subscriber_free(subscriber);
        pf_link_free(link);
        pf_display_free(stream);
        _exit(wrong);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
    uint32_t subscribers = 0;
    if (failed(pf_shown_release(shown)) || publish(link, 2) || take(subscriber, 2) ||
        failed(pf_stream_subscribers(stream, &subscribers, NULL)) || subscribers != 1)
        return 1;
    pf_subscriber_free(subscriber);
    pf_link_free(link);
    pf_display_free(stream);
    pf_backend_free(backend);
    printf("the parent goes on\n");
    return 0;
}
