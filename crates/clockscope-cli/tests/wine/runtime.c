/* Stands for a language's runtime on Windows: what `clockscope runtimes` starts, reads and ends.
 *
 *     runtime --version            its version
 *     runtime -B PROBE MS          a line of the protocol (crates/clockscope-runtimes/probes/README.md), read from
 *                                  QueryPerformanceCounter; leaves a child behind
 *     runtime -B PROBE 50          the same, and does not end
 *     runtime stay                 what it leaves behind
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { READS = 1000, BATCHES = 60, STEPS = 1000 };

static long long now(void)
{
    LARGE_INTEGER counts;
    QueryPerformanceCounter(&counts);
    return counts.QuadPart;
}

/* In a group and a console of its own, and with our output: what is hard to end. */
static void leave_a_child(void)
{
    char program[MAX_PATH], command[MAX_PATH + 16];
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION child;
    GetModuleFileNameA(NULL, program, sizeof program);
    snprintf(command, sizeof command, "\"%s\" stay", program);
    if (!CreateProcessA(NULL, command, NULL, NULL, TRUE, CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW, NULL, NULL, &start, &child)) exit(3);
}

static int ascending(const void *a, const void *b)
{
    long long left = *(const long long *)a, right = *(const long long *)b;
    return (left > right) - (left < right);
}

static void print_line(void)
{
    static long long readings[READS], differences[BATCHES * (READS - 1)], steps[STEPS], batch_ns[BATCHES];
    long long last = 0;
    int count = 0, seen = 0;
    LARGE_INTEGER hz;
    QueryPerformanceFrequency(&hz);
    for (int batch = 0; batch < BATCHES; batch++) {
        long long before = now();
        for (int i = 0; i < READS; i++) readings[i] = now();
        batch_ns[batch] = (now() - before) * (1000000000 / hz.QuadPart);
        for (int i = 0; i < READS; i++) {
            long long step = readings[i] - last;
            if (i > 0) differences[count++] = step;
            if ((i > 0 || batch > 0) && step != 0 && seen < STEPS) steps[seen++] = step;
            last = readings[i];
        }
    }
    qsort(differences, count, sizeof *differences, ascending);
    printf("{\"clockscope_probe\":1,\"api\":\"QueryPerformanceCounter\",\"built_on\":\"QueryPerformanceCounter\",");
    printf("\"units_per_second\":%lld,\"nominal_hz\":%lld,\"batch_reads\":%d,\"batches\":%d,", hz.QuadPart, hz.QuadPart, READS, BATCHES);
    printf("\"batch_ns\":[");
    for (int i = 0; i < BATCHES; i++) printf("%s%lld", i ? "," : "", batch_ns[i]);
    printf("],\"differences\":[");
    for (int i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && differences[i + run] == differences[i];) run++;
        printf("%s[%lld,%d]", i ? "," : "", differences[i], run);
    }
    printf("],\"steps\":[");
    for (int i = 0; i < seen; i++) printf("%s%lld", i ? "," : "", steps[i]);
    printf("]}\n");
    fflush(stdout);
}

int main(int count, char **arguments)
{
    if (count == 2 && !strcmp(arguments[1], "--version")) return puts("Python 3.99.1") < 0;
    if (count == 2 && !strcmp(arguments[1], "stay")) return Sleep(INFINITE), 0;
    if (count != 4) return 2;
    leave_a_child();
    print_line();
    if (!strcmp(arguments[3], "50")) Sleep(INFINITE);
    return 0;
}
