/* bare: the least that libmicrohttpd can do on a Unix socket, to compare the daemon with.
 *
 *   bare SOCKET BODY-FILE [THREADS]
 *
 * Answers every request with the file's bytes as application/json, with epoll and a pool of threads as the daemon has.
 */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct MHD_Response *fixed;

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state) {
    static int begun;
    (void)cls; (void)url; (void)method; (void)version; (void)data;
    if (!*state) {
        *state = &begun;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, fixed);
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: bare SOCKET BODY-FILE [THREADS]\n"), 2;
    static char body[65536];
    FILE *file = fopen(argv[2], "rb");
    if (!file) return perror(argv[2]), 1;
    size_t length = fread(body, 1, sizeof body, file);
    fclose(file);
    fixed = MHD_create_response_from_buffer(length, body, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(fixed, "Content-Type", "application/json");

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(argv[1]) >= sizeof address.sun_path) return fprintf(stderr, "the path is too long\n"), 2;
    strcpy(address.sun_path, argv[1]);
    unlink(argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) return perror(argv[1]), 1;
    unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    struct MHD_Daemon *daemon = threads > 1
        ? MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_LISTEN_SOCKET, listener,
                           MHD_OPTION_CONNECTION_LIMIT, 2048u, MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_END)
        : MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_LISTEN_SOCKET, listener,
                           MHD_OPTION_CONNECTION_LIMIT, 2048u, MHD_OPTION_END);
    if (!daemon) return fprintf(stderr, "libmicrohttpd does not start\n"), 1;
    for (;;) pause();
}
