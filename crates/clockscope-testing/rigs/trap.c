/* Gives the process that preloads this a time-stamp counter with faults, for every RDTSC and RDTSCP of all its threads and
 * forked children:
 *
 *   CLOCKSCOPE_TRAP=FAULT[;FAULT]...       FAULT is KIND[:KEY=VALUE[,KEY=VALUE]...]
 *
 *   offset:ticks=N[,cpu=C]                 it is N ticks ahead; behind where N is negative
 *   drift:ppm=R[,cpu=C]                    it runs R ppm fast from the start
 *   jump:after=T,ticks=N[,cpu=C]           it steps by N ticks, once
 *   rate:after=T,ppm=R[,cpu=C]             it runs R ppm fast from then on
 *   host:after=T,ticks=N,ppm=R[,cpu=C]     both at once: a snapshot is restored, or the machine moves to another host
 *   reset:after=T[,cpu=C]                  it begins again at 0, whatever was listed before: a suspend
 *   freeze:after=T[,for=T][,cpu=C]         it stands still, for good or for that long, and goes on from where it stood
 *   hide:every=T,ticks=N[,cpu=C]           firmware takes N ticks again and again and sets the counter back by as many
 *   slow:ns=T[,cpu=C]                      its values are right, and each read takes so much longer
 *   vdso=no                                reads within the vDSO are as slow, but tell the truth
 *
 * A time T is in ns or has a unit (ns, us, ms, s) and counts from the start of the process. A fault without cpu is one of
 * all CPUs. Several faults add up.
 *
 * The counter is disabled for the process, and each read that faults is answered by a handler: 10 to 25 us a read. The
 * process is told that its counter is enabled. That setting survives exec: preload this into the program itself, with no
 * other program in front of it.
 *
 * What a read tells is a function of the true counter and the CPU alone, whose constants are set before the program runs.
 * So all threads see a fault at the same moment without sharing anything, and children inherit it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum kind { LINE, RESET, FREEZE, HIDE, SLOW };
enum key { CPU, TICKS, PPM, AFTER, FOR, EVERY, NS, KEYS };
#define BIT(key) (1u << (key))

static const char *const key_names[KEYS] = { "cpu", "ticks", "ppm", "after", "for", "every", "ns" };

/* The keys that a kind of fault needs. All may have a cpu, and freeze a length. */
static const struct {
    const char *name;
    enum kind kind;
    unsigned needs;
} kinds[] = {
    { "offset", LINE, BIT(TICKS) },
    { "drift", LINE, BIT(PPM) },
    { "jump", LINE, BIT(AFTER) | BIT(TICKS) },
    { "rate", LINE, BIT(AFTER) | BIT(PPM) },
    { "host", LINE, BIT(AFTER) | BIT(TICKS) | BIT(PPM) },
    { "reset", RESET, BIT(AFTER) },
    { "freeze", FREEZE, BIT(AFTER) },
    { "hide", HIDE, BIT(EVERY) | BIT(TICKS) },
    { "slow", SLOW, BIT(NS) },
};

/* Times are in ticks here. */
static struct fault {
    enum kind kind;
    int64_t cpu; /* -1 for all */
    int64_t ticks, ppb;
    uint64_t at; /* the true counter when it begins */
    uint64_t length, every;
} faults[16];

static unsigned fault_count;
static int vdso_is_reached = 1;
static uintptr_t vdso_start, vdso_end;
static uint64_t start;
static double ticks_per_ns;

static void permit(long how)
{
    syscall(SYS_prctl, PR_SET_TSC, how, 0, 0, 0);
}

static uint64_t read_truth(uint32_t *aux)
{
    uint32_t low, high;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(*aux)::"memory");
    return (uint64_t)high << 32 | low;
}

static void wait_until(uint64_t tick)
{
    uint32_t aux;
    while ((int64_t)(read_truth(&aux) - tick) < 0)
        ;
}

/* Linux keeps the CPU's number in the lower 12 bits. */
static int concerns(const struct fault *fault, uint32_t aux)
{
    return fault->cpu < 0 || fault->cpu == (aux & 0xfff);
}

/* Takes the time that reads of this CPU take: that of slow ones, and that in which firmware has the CPU. */
static void pause_for_faults(void)
{
    for (unsigned i = 0; i < fault_count; i++) {
        const struct fault *fault = &faults[i];
        uint32_t aux;
        uint64_t now = read_truth(&aux);
        if (!concerns(fault, aux) || now < fault->at)
            continue;
        uint64_t into = fault->kind == HIDE ? (now - fault->at) % fault->every : 0;
        if (fault->kind == SLOW)
            wait_until(now + fault->length);
        else if (fault->kind == HIDE && into < (uint64_t)fault->ticks)
            wait_until(now - into + (uint64_t)fault->ticks);
    }
}

/* How far the fault moves a counter whose true value is `truth`, in ticks. Wraps as the counter does. */
static uint64_t moved(const struct fault *fault, uint64_t truth)
{
    if (truth < fault->at)
        return 0;
    uint64_t since = truth - fault->at;
    switch (fault->kind) {
    case LINE:
        return (uint64_t)fault->ticks + (uint64_t)(int64_t)((__int128)since * fault->ppb / 1000000000);
    case FREEZE:
        return -(since < fault->length ? since : fault->length);
    case HIDE:
        /* A read right before the firmware's next turn may be answered in it: the counter stands where it was. */
        return -(since / fault->every * (uint64_t)fault->ticks
                 + (since % fault->every < (uint64_t)fault->ticks ? since % fault->every : (uint64_t)fault->ticks));
    case RESET:
    case SLOW:
        break;
    }
    return 0;
}

static uint64_t falsified(uint64_t truth, uint32_t aux)
{
    uint64_t ticks = truth;
    for (unsigned i = 0; i < fault_count; i++) {
        const struct fault *fault = &faults[i];
        if (!concerns(fault, aux))
            continue;
        if (fault->kind == RESET && truth >= fault->at)
            ticks = truth - fault->at;
        else
            ticks += moved(fault, truth);
    }
    return ticks;
}

/* Gives the default action back; whatever faulted does so again. */
static void fault_for_real(void)
{
    int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    struct sigaction action = { .sa_handler = SIG_DFL };
    real(SIGSEGV, &action, NULL);
}

/* Reads the counter for the instruction that faulted. A disabled counter is a protection fault, whose code is SI_KERNEL;
 * at any other the instruction may be what cannot be read. */
static void answer(int number, siginfo_t *info, void *context)
{
    (void)number;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    int is_protection = info->si_code == SI_KERNEL;
    int is_rdtsc = is_protection && code[0] == 0x0f && code[1] == 0x31;
    int is_rdtscp = is_protection && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
    if (!is_rdtsc && !is_rdtscp) {
        fault_for_real();
        return;
    }
    uintptr_t address = (uintptr_t)code;
    int is_vdso = address >= vdso_start && address < vdso_end;
    uint32_t aux;
    permit(PR_TSC_ENABLE);
    pause_for_faults();
    uint64_t ticks = read_truth(&aux);
    permit(PR_TSC_SIGSEGV);
    if (vdso_is_reached || !is_vdso)
        ticks = falsified(ticks, aux);
    registers[REG_RAX] = (uint32_t)ticks;
    registers[REG_RDX] = (uint32_t)(ticks >> 32);
    if (is_rdtscp)
        registers[REG_RCX] = aux;
    registers[REG_RIP] += is_rdtscp ? 3 : 2;
}

/* Nobody else may handle these faults, nor restore what was there before: a child that tries clocks would. */
sighandler_t signal(int number, sighandler_t handler)
{
    sighandler_t (*real)(int, sighandler_t) = dlsym(RTLD_NEXT, "signal");
    return number == SIGSEGV ? SIG_DFL : real(number, handler);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *former)
{
    int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    return real(number, number == SIGSEGV ? NULL : action, former);
}

/* Who asks is told that the counter is enabled. */
int prctl(int option, ...)
{
    va_list arguments;
    va_start(arguments, option);
    unsigned long a = va_arg(arguments, unsigned long), b = va_arg(arguments, unsigned long), c = va_arg(arguments, unsigned long),
                  d = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (option == PR_GET_TSC) {
        *(int *)a = PR_TSC_ENABLE;
        return 0;
    }
    return (int)syscall(SYS_prctl, option, a, b, c, d);
}

static void refuse(const char *what, const char *where)
{
    fprintf(stderr, "trap: %s in CLOCKSCOPE_TRAP at \"%s\"\n", what, where);
    _Exit(99);
}

/* A whole number. */
static int64_t number(const char *text)
{
    char *end;
    int64_t value = strtoll(text, &end, 10);
    if (end == text || *end)
        refuse("no whole number", text);
    return value;
}

/* A time in ticks. */
static uint64_t duration(const char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    char *end;
    double value = strtod(text, &end);
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && value >= 0 && value * units[i].ns < 1e18 && strcmp(end, units[i].unit) == 0)
            return (uint64_t)(value * units[i].ns * ticks_per_ns);
    refuse("no time", text);
    return 0;
}

/* ppm as ppb. A clock that loses a million ppm would stand still. */
static int64_t rate(const char *text)
{
    char *end;
    double ppb = strtod(text, &end) * 1e3;
    if (end == text || *end || !(ppb > -1e9 && ppb < 1e12))
        refuse("no rate", text);
    return (int64_t)(ppb < 0 ? ppb - 0.5 : ppb + 0.5);
}

static enum key set(struct fault *fault, const char *key, const char *value)
{
    unsigned found = 0;
    while (found < KEYS && strcmp(key, key_names[found]) != 0)
        found++;
    switch (found) {
    case CPU:
        fault->cpu = number(value);
        if (fault->cpu < 0)
            refuse("no CPU", value);
        break;
    case TICKS:
        fault->ticks = number(value);
        break;
    case PPM:
        fault->ppb = rate(value);
        break;
    case AFTER:
        fault->at = start + duration(value);
        break;
    case FOR:
    case NS:
        fault->length = duration(value);
        break;
    case EVERY:
        fault->every = duration(value);
        break;
    default:
        refuse("no such key", key);
    }
    return found;
}

/* Reads KIND:KEY=VALUE,KEY=VALUE, which is taken apart. */
static void add(char *text)
{
    char *pairs = strchr(text, ':');
    if (pairs)
        *pairs++ = 0;
    unsigned kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(text, kinds[kind].name) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds)
        refuse("no such fault", text);
    if (fault_count == sizeof faults / sizeof *faults)
        refuse("too many faults", text);
    struct fault *fault = &faults[fault_count++];
    *fault = (struct fault){ .kind = kinds[kind].kind, .cpu = -1, .at = start };
    /* For good: longer than anybody waits. */
    fault->length = UINT64_MAX;
    unsigned given = 0, optional = BIT(CPU) | (fault->kind == FREEZE ? BIT(FOR) : 0);
    for (char *pair = pairs ? strtok_r(pairs, ",", &pairs) : NULL; pair; pair = strtok_r(NULL, ",", &pairs)) {
        char *value = strchr(pair, '=');
        if (!value)
            refuse("no value", pair);
        *value++ = 0;
        given |= BIT(set(fault, pair, value));
    }
    if ((given & ~optional) != kinds[kind].needs)
        refuse("a key is missing or too many", text);
    if (fault->kind == HIDE && (fault->ticks <= 0 || (uint64_t)fault->ticks >= fault->every))
        refuse("firmware takes nothing or all", text);
    /* The firmware's first turn ends the first period. */
    fault->at += fault->every;
}

/* The true counter and CLOCK_MONOTONIC_RAW, which nobody steers, by a system call, which nothing here reaches. */
static uint64_t both(double *ns)
{
    struct timespec now;
    uint32_t aux;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
    *ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
    return read_truth(&aux);
}

static void calibrate(void)
{
    double started, now;
    start = both(&started);
    uint64_t tick;
    do
        tick = both(&now);
    while (now - started < 2e6);
    ticks_per_ns = (double)(tick - start) / (now - started);
}

static void find_vdso(void)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    if (!header)
        return;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)((const char *)header + header->e_phoff);
    vdso_start = (uintptr_t)header;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            vdso_end = vdso_start + segments[i].p_offset + segments[i].p_memsz;
}

__attribute__((constructor)) static void setup(void)
{
    const char *text = getenv("CLOCKSCOPE_TRAP");
    char *copy = strdup(text ? text : ""), *position;
    calibrate();
    find_vdso();
    for (char *item = strtok_r(copy, ";", &position); item; item = strtok_r(NULL, ";", &position)) {
        if (strcmp(item, "vdso=no") == 0)
            vdso_is_reached = 0;
        else
            add(item);
    }
    free(copy);
    int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER };
    if (real(SIGSEGV, &action, NULL) != 0 || syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) {
        perror("trap");
        _Exit(99);
    }
}
