// Steers the machine's clock as a time daemon does: makes the same calls of adjtimex(2), one after
// the other. Usage: steer DAEMON. Prints what the kernel refuses, and exits with 1.
//
// Which fields a daemon sets is in its source: chronyd's sys_linux.c and sys_timex.c, ntpd's
// ntp_loopfilter.c, systemd-timesyncd's timesyncd-manager.c, linuxptp's clockadj.c.

#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

// One call, and how long it is waited for after that, in ms.
struct step {
    const char *daemon;
    struct timex call;
    int wait_ms;
};

#define PPM (1 << 16)
// chronyd steers by frequency alone. What 500 ppm do not reach goes into the tick, of 100 ppm a µs.
#define CHRONY(TICK, FREQ_PPM) {.modes = ADJ_TICK | ADJ_FREQUENCY, .tick = TICK, .freq = (FREQ_PPM) * PPM}
#define CHRONY_STATUS {.modes = ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS, .maxerror = 500, .esterror = 100, .status = 0}
// ntpd hands the offset over to the kernel's loop.
#define NTPD(OFFSET_NS)                                                                                    \
    {.modes = ADJ_OFFSET | ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS | ADJ_TIMECONST | ADJ_NANO,            \
     .offset = OFFSET_NS, .status = STA_PLL | STA_NANO, .constant = 3, .maxerror = 16000, .esterror = 500}
#define TIMESYNCD(OFFSET_NS)                                                                               \
    {.modes = ADJ_STATUS | ADJ_NANO | ADJ_OFFSET | ADJ_TIMECONST | ADJ_MAXERROR | ADJ_ESTERROR,            \
     .offset = OFFSET_NS, .status = STA_PLL, .constant = 1, .maxerror = 0, .esterror = 0}
// phc2sys steps the wall clock once, and then steers by frequency at each measurement.
#define PHC2SYS_STEP(SECONDS, NS)                                                                          \
    {.modes = ADJ_SETOFFSET | ADJ_NANO, .time = {.tv_sec = SECONDS, .tv_usec = NS}}
#define PHC2SYS(FREQ_PPM) {.modes = ADJ_FREQUENCY, .freq = (long)((FREQ_PPM) * PPM)}

static const struct step STEPS[] = {
    {"chronyd", CHRONY(10000, 12), 300},
    {"chronyd", CHRONY(10833, 33), 700}, // makestep was not asked for: 83,333 ppm
    {"chronyd", CHRONY_STATUS, 100},
    {"chronyd", CHRONY(9167, -33), 700},
    {"chronyd", CHRONY(10833, 33), 400},
    {"chronyd", CHRONY(10000, 12), 500},
    {"chronyd", CHRONY(10010, -400), 300},
    {"chronyd", CHRONY_STATUS, 100},
    {"chronyd", CHRONY(10000, 11), 500},
    {"ntpd", NTPD(120000000), 1200},
    {"ntpd", NTPD(-90000000), 1200},
    {"ntpd", NTPD(20000), 800},
    {"timesyncd", TIMESYNCD(390000000), 1500},
    {"timesyncd", TIMESYNCD(-250000000), 1500},
    {"timesyncd", TIMESYNCD(0), 500},
    {"phc2sys", PHC2SYS_STEP(37, 5), 300},
    {"phc2sys", PHC2SYS(500), 500},
    {"phc2sys", PHC2SYS(-500), 500},
    {"phc2sys", PHC2SYS(37.25), 125},
    {"phc2sys", PHC2SYS(36.5), 125},
    {"phc2sys", PHC2SYS(-12.75), 125},
    {"phc2sys", PHC2SYS(0.5), 500},
    // What the next daemon finds: an ordinary clock.
    {"none", {.modes = ADJ_STATUS | ADJ_OFFSET | ADJ_TICK | ADJ_FREQUENCY, .status = STA_PLL, .tick = 10000}, 100},
    {"none", {.modes = ADJ_STATUS, .status = STA_UNSYNC}, 100},
};

int main(int count, char **arguments) {
    int steps = 0;
    for (size_t at = 0; count == 2 && at < sizeof STEPS / sizeof *STEPS; at++) {
        if (strcmp(STEPS[at].daemon, arguments[1]) != 0)
            continue;
        struct timex call = STEPS[at].call;
        if (adjtimex(&call) < 0) {
            perror(arguments[1]);
            return 1;
        }
        struct timespec wait = {STEPS[at].wait_ms / 1000, STEPS[at].wait_ms % 1000 * 1000000};
        nanosleep(&wait, NULL);
        steps++;
    }
    printf("%d calls\n", steps);
    return steps == 0;
}
