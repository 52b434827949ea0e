#define _GNU_SOURCE
#include "nsh_tool.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MAXIMUM_OPTIONS 64

static int argument_count;
static char *const *argument_values;

/* The C library hands a constructor what it hands to main. */
__attribute__((constructor)) static void remember_arguments(int count, char **values) {
    argument_count = count;
    argument_values = values;
}

int nsh_argument_count(void) { return argument_count; }

const char *nsh_argument(int index) { return index < argument_count ? argument_values[index] : 0; }

struct nsh_option_found nsh_next_option(
    int argc, char *const *argv, const char *letters, const struct nsh_option *options, int count, int restart) {
    struct option table[MAXIMUM_OPTIONS + 1];
    struct nsh_option_found found = {-1, -1, 0, 0, 0};
    memset(table, 0, sizeof table);
    for (int i = 0; i < count && i < MAXIMUM_OPTIONS; i++) {
        table[i].name = options[i].name;
        table[i].has_arg = options[i].takes_value ? required_argument : no_argument;
        table[i].val = options[i].letter;
    }
    opterr = 0;
    if (restart) optind = 0;
    found.token = optind == 0 ? 1 : optind;
    found.letter = getopt_long(argc, argv, letters, table, &found.index);
    found.next = optind;
    found.value = found.letter == -1 ? 0 : optarg;
    return found;
}

static int fill(sigset_t *set, const int *signals, int count) {
    sigemptyset(set);
    for (int i = 0; i < count; i++)
        if (sigaddset(set, signals[i]) != 0) return -errno;
    return 0;
}

int nsh_signal_descriptor(const int *signals, int count) {
    sigset_t set;
    int failed = fill(&set, signals, count);
    if (failed) return failed;
    failed = pthread_sigmask(SIG_BLOCK, &set, 0);
    if (failed) return -failed;
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int nsh_unblock_signals(const int *signals, int count) {
    sigset_t set;
    int failed = fill(&set, signals, count);
    return failed ? failed : -pthread_sigmask(SIG_UNBLOCK, &set, 0);
}

static _Atomic int interruption;

static void remember(int number) { interruption = number; }

void nsh_remember_interruption(void) {
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction action, before;
        /* One that is ignored, as under nohup, stays ignored. */
        if (sigaction(signals[i], 0, &before) != 0 || before.sa_handler == SIG_IGN) continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = remember;
        /* Not SA_RESTART: a read that waits must end. */
        action.sa_flags = (int)SA_RESETHAND;
        sigaction(signals[i], &action, 0);
    }
}

int nsh_interruption(void) { return interruption; }

int nsh_terminal_columns(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}
