/* Makes clock_gettime of one clock slower. To be preloaded; the environment sets what it does:
 *
 *   CLOCKSCOPE_DELAY_CLOCK=ID   the clock whose reads are delayed
 *   CLOCKSCOPE_DELAY_TURNS=N    by so many turns of an empty loop; 0 takes the same way through this library
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);

static clock_gettime_fn prompt;
static long delayed_clock = -1, turns;

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void prepare(void)
{
    prompt = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
    delayed_clock = number("CLOCKSCOPE_DELAY_CLOCK", -1);
    turns = number("CLOCKSCOPE_DELAY_TURNS", 0);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!prompt)
        prepare();
    if (clock == delayed_clock)
        for (long turn = 0; turn < turns; turn++)
            __asm__ volatile("" : "+r"(turn));
    return prompt(clock, time);
}
