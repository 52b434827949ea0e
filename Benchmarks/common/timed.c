/* timed: runs commands one after another and says what they took.
 *
 *   timed COMMAND [ARGUMENT…] [::: COMMAND …]…      -> seconds, processor seconds, peak KiB of the largest
 *
 * A small program on purpose: a process that is started inherits the peak memory of the one that starts it.
 * Ends with the first exit status that is not 0. What the commands print on standard output is thrown away.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int count, char **words) {
    struct timespec begin, end;
    struct rusage usage;
    double processor = 0;
    long peak = 0;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int word = 1; word < count;) {
        char **command = words + word;
        while (word < count && strcmp(words[word], ":::")) word++;
        words[word++] = NULL;
        pid_t child;
        int status;
        if (posix_spawn(&child, command[0], &files, NULL, command, environ) || wait4(child, &status, 0, &usage) < 0) {
            perror(command[0]);
            return 127;
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status)) return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
        processor += seconds(usage.ru_utime) + seconds(usage.ru_stime);
        if (usage.ru_maxrss > peak) peak = usage.ru_maxrss;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f %.6f %ld\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9, processor, peak);
    return 0;
}
