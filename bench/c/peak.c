/* Runs a program, its output thrown away, and prints what it took: wall seconds and peak memory in MB.
 *
 *   peak PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec start, end;
    struct rusage usage;
    int status;
    if (argc < 2)
        return fprintf(stderr, "usage: peak PROGRAM [ARGUMENT...]\n"), 2;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), 1);
        execvp(argv[1], argv + 1);
        _Exit(127);
    }
    if (wait4(child, &status, 0, &usage) < 0 || status != 0)
        return fprintf(stderr, "%s failed\n", argv[1]), 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("{\"wall_s\": %.3f, \"peak_mb\": %.1f}\n", end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9,
           usage.ru_maxrss * 1024 / 1e6);
    return 0;
}
