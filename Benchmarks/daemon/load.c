/* load: keeps connections to a Unix socket busy with HTTP/1.1 requests, and says how long the answers took.
 *
 *   load SOCKET CONNECTIONS SECONDS RATE SERVER-PID EXPECTED REQUEST-FILE…
 *
 * Each connection sends its next request when the answer to the last is complete; after a 503 it rests for 100 ms first,
 * as a client should. The files, each the bytes of a whole request, take turns. With a RATE above 0 so many requests a
 * second are due, and a latency counts from the moment the request was due, so that a server that stands still cannot
 * hide it. An answer counts when its status is 200 and EXPECTED is in its body; 503 is counted as overloaded, anything
 * else, a time-out of 30 s and a broken connection as an error. What comes in the first 0.3 seconds is not counted. One
 * thread, epoll.
 *
 * Prints one JSON object: rate (good answers a second), p50 to p99.9 (microseconds, of good answers), errors,
 * overloaded, the part of a processor that this program used (near 1: it was the limit, not the server), the server's processor
 * time for an answer and its peak memory. Exit status 1 when there were errors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (1 << 16)
#define WARM_UP 300000000ull
#define TIME_OUT 30000000000ull
#define REST 100000000ull
#define FINE 64 /* parts of each doubling in the histogram: 1.6 % wide */

struct request {
    char *bytes;
    size_t size;
};

struct connection {
    int socket, waits, rests;
    uint64_t since;
    size_t filled;
    char answer[ANSWER_MAX + 1];
};

static const char *path, *expected;
static struct request *requests;
static int request_count, next_request, queue;
static struct connection *connections, **idle, **resting; /* `resting` is a ring: who began first wakes first */
static int connection_count, idle_count, counts;
static size_t rest_begin, rest_end;
static double rate;
static uint64_t good, overloaded, errors, histogram[64 * FINE];

static void fail(const char *what) {
    perror(what);
    exit(3);
}

static uint64_t clock_of(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time)) return 0;
    return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

static uint64_t now(void) { return clock_of(CLOCK_MONOTONIC); }

/* -- latencies -------------------------------------------------------------------------------------------------- */

static unsigned bucket(uint64_t value) {
    unsigned power = 63 - (unsigned)__builtin_clzll(value | FINE);
    unsigned shift = power - 6;
    return (shift << 6) + (unsigned)(value >> shift);
}

static double middle(unsigned index) {
    unsigned shift = index < 2 * FINE ? 0 : (index >> 6) - 1;
    return ((double)(index - (shift << 6)) + 0.5) * (double)(1ull << shift);
}

/* The latency in microseconds that the given part of the answers did not exceed. */
static double quantile(double part) {
    uint64_t seen = 0, wanted = (uint64_t)(part * (double)good + 0.5);
    for (unsigned index = 0; index < 64 * FINE; index++) {
        seen += histogram[index];
        if (histogram[index] && seen >= wanted) return middle(index) / 1000;
    }
    return 0;
}

/* -- connections ------------------------------------------------------------------------------------------------ */

static void dial(struct connection *connection) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    connection->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0 || connect(connection->socket, (struct sockaddr *)&address, sizeof address)) fail(path);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(queue, EPOLL_CTL_ADD, connection->socket, &event)) fail("epoll_ctl");
    connection->waits = 0, connection->filled = 0;
}

static void start_again(struct connection *connection) {
    if (counts) errors++;
    close(connection->socket);
    dial(connection);
}

/* A request is far smaller than a socket's buffer, and there is one at a time: it is sent whole, or the other side is
 * gone. */
static void ask(struct connection *connection, uint64_t since) {
    struct request *request = &requests[next_request];
    next_request = (next_request + 1) % request_count;
    while (send(connection->socket, request->bytes, request->size, MSG_NOSIGNAL) != (ssize_t)request->size)
        start_again(connection);
    connection->waits = 1, connection->since = since, connection->filled = 0;
}

/* The size of the answer's head and body, 0 when more has to come, -1 when it cannot be understood. */
static ssize_t answer_size(struct connection *connection) {
    connection->answer[connection->filled] = 0;
    char *end = strstr(connection->answer, "\r\n\r\n");
    if (!end) return connection->filled < ANSWER_MAX ? 0 : -1;
    char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    if (!length || length > end) return -1;
    size_t size = (size_t)(end + 4 - connection->answer) + strtoull(length + 17, NULL, 10);
    if (size > ANSWER_MAX || connection->filled > size) return -1;
    return connection->filled < size ? 0 : (ssize_t)size;
}

/* Takes what has come; 1 when an answer is complete. */
static int take(struct connection *connection) {
    size_t room = ANSWER_MAX - connection->filled;
    ssize_t got = recv(connection->socket, connection->answer + connection->filled, room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    connection->filled += got > 0 ? (size_t)got : 0;
    ssize_t size = got > 0 && connection->waits ? answer_size(connection) : -1;
    int waited = connection->waits;
    if (size < 0) start_again(connection);
    if (size <= 0) return size < 0 && waited;
    connection->waits = 0;
    connection->rests = !strncmp(connection->answer, "HTTP/1.1 503", 12);
    if (!counts) return 1;
    if (!strncmp(connection->answer, "HTTP/1.1 200", 12) && strstr(connection->answer, expected)) {
        good++;
        histogram[bucket(now() - connection->since)]++;
    } else if (connection->rests) {
        overloaded++;
    } else if (!errors++) {
        fprintf(stderr, "load: unexpected: %.300s\n", connection->answer);
    }
    return 1;
}

static void read_request(const char *name, struct request *request) {
    FILE *file = fopen(name, "rb");
    if (!file) fail(name);
    request->bytes = malloc(ANSWER_MAX);
    request->size = fread(request->bytes, 1, ANSWER_MAX, file);
    fclose(file);
}

static long peak_kib(int process) {
    char name[64], line[256];
    long peak = 0;
    snprintf(name, sizeof name, "/proc/%d/status", process);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %ld", &peak) != 1) {}
    if (file) fclose(file);
    return peak;
}

/* -- the load --------------------------------------------------------------------------------------------------- */

/* What a connection does that has nothing to wait for. */
static void go_on(struct connection *connection) {
    if (rate > 0) {
        idle[idle_count++] = connection;
    } else if (!connection->rests) {
        ask(connection, now());
    } else {
        connection->since = now();
        resting[rest_end++ % (size_t)connection_count] = connection;
    }
}

static void wake_rested(uint64_t moment) {
    while (rest_begin < rest_end && resting[rest_begin % (size_t)connection_count]->since + REST <= moment)
        ask(resting[rest_begin++ % (size_t)connection_count], now());
}

/* Asks what is due with a rate; the time until the next is due, at most 20 ms. */
static struct timespec ask_due(uint64_t begin, uint64_t moment) {
    static uint64_t due;
    struct timespec patience = {0, 20000000};
    while (rate > 0 && idle_count) {
        uint64_t next = begin + (uint64_t)((double)due * (1e9 / rate));
        if (next > moment) {
            if (next - moment < 20000000) patience.tv_nsec = (long)(next - moment);
            break;
        }
        ask(idle[--idle_count], next);
        due++;
    }
    return patience;
}

static void give_up_late(uint64_t moment) {
    for (int index = 0; index < connection_count; index++) {
        if (!connections[index].waits || moment < connections[index].since + TIME_OUT) continue;
        start_again(&connections[index]);
        go_on(&connections[index]);
    }
}

static void report(double took, double own, double served, double peak) {
    double answers = (double)(good + overloaded + errors);
    printf("{\"connections\":%d,\"rate\":%.1f,", connection_count, (double)good / took);
    printf("\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p99.9\":%.1f,", quantile(0.5), quantile(0.9), quantile(0.99), quantile(0.999));
    printf("\"answers\":%.0f,\"overloaded\":%.0f,\"errors\":%.0f,", answers, (double)overloaded, (double)errors);
    printf("\"ownProcessor\":%.2f,\"serverMicroseconds\":%.2f,\"serverPeakMiB\":%.1f}\n", own / took,
           answers > 0 ? served * 1e6 / answers : 0, peak);
}

int main(int count, char **words) {
    static const char usage[] = "usage: load SOCKET CONNECTIONS SECONDS RATE SERVER-PID EXPECTED REQUEST-FILE...\n";
    if (count < 8) return fputs(usage, stderr), 2;
    path = words[1], connection_count = atoi(words[2]), rate = atof(words[4]), expected = words[6];
    double seconds = atof(words[3]);
    int server = atoi(words[5]);
    clockid_t server_clock;
    if (connection_count < 1 || seconds <= 0 || clock_getcpuclockid(server, &server_clock)) return fputs(usage, stderr), 2;
    request_count = count - 7;
    requests = calloc((size_t)request_count, sizeof *requests);
    for (int index = 0; index < request_count; index++) read_request(words[7 + index], &requests[index]);
    queue = epoll_create1(EPOLL_CLOEXEC);
    connections = calloc((size_t)connection_count, sizeof *connections);
    idle = calloc((size_t)connection_count, sizeof *idle);
    resting = calloc((size_t)connection_count, sizeof *resting);
    for (int index = 0; index < connection_count; index++) dial(&connections[index]);

    uint64_t begin = now(), counted_from = begin + WARM_UP, end = counted_from + (uint64_t)(seconds * 1e9), looked = begin;
    uint64_t own = 0, served = 0;
    for (int index = 0; index < connection_count; index++) go_on(&connections[index]);
    for (uint64_t moment = begin; moment < end; moment = now()) {
        if (!counts && moment >= counted_from)
            counts = 1, own = clock_of(CLOCK_PROCESS_CPUTIME_ID), served = clock_of(server_clock);
        struct timespec patience = ask_due(begin, moment);
        struct epoll_event events[256];
        int ready = epoll_pwait2(queue, events, 256, &patience, NULL);
        for (int index = 0; index < ready; index++)
            if (take(events[index].data.ptr)) go_on(events[index].data.ptr);
        wake_rested(moment);
        if (moment - looked < 1000000000ull) continue;
        looked = moment;
        give_up_late(moment);
    }
    report((double)(now() - counted_from) / 1e9, (double)(clock_of(CLOCK_PROCESS_CPUTIME_ID) - own) / 1e9,
           (double)(clock_of(server_clock) - served) / 1e9, (double)peak_kib(server) / 1024);
    return errors ? 1 : 0;
}
