/* Gives some CPUs a time-stamp counter that is ahead of the others', for every RDTSC and RDTSCP of the process that preloads
 * this, those of the vDSO included:
 *
 *   CLOCKSCOPE_SKEW=CPU:TICKS[,CPU:TICKS]...
 *
 * The counter is disabled for the process, and each read that faults is answered by a handler: 10 to 25 us a read. The
 * process is told that its counter is enabled.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define CPUS 1024

static int64_t skew[CPUS];

static void permit(long how)
{
    syscall(SYS_prctl, PR_SET_TSC, how, 0, 0, 0);
}

/* Reads the counter for the instruction that faulted. */
static void answer(int number, siginfo_t *info, void *context)
{
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    int is_rdtsc = code[0] == 0x0f && code[1] == 0x31;
    int is_rdtscp = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
    if (!is_rdtsc && !is_rdtscp) {
        fprintf(stderr, "skew: fault %d at an instruction that reads no counter\n", number);
        _exit(99);
    }
    uint32_t low, high, aux;
    permit(PR_TSC_ENABLE);
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
    permit(PR_TSC_SIGSEGV);
    /* Linux keeps the CPU's number in the lower 12 bits. */
    unsigned cpu = aux & 0xfff;
    uint64_t ticks = ((uint64_t)high << 32 | low) + (uint64_t)(cpu < CPUS ? skew[cpu] : 0);
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
    va_list rest;
    va_start(rest, option);
    unsigned long a = va_arg(rest, unsigned long), b = va_arg(rest, unsigned long), c = va_arg(rest, unsigned long),
                  d = va_arg(rest, unsigned long);
    va_end(rest);
    if (option == PR_GET_TSC) {
        *(int *)a = PR_TSC_ENABLE;
        return 0;
    }
    return (int)syscall(SYS_prctl, option, a, b, c, d);
}

__attribute__((constructor)) static void setup(void)
{
    const char *text = getenv("CLOCKSCOPE_SKEW");
    while (text && *text) {
        char *rest;
        long cpu = strtol(text, &rest, 10);
        if (*rest != ':' || cpu < 0 || cpu >= CPUS)
            _Exit(99);
        skew[cpu] = strtoll(rest + 1, &rest, 10);
        text = *rest == ',' ? rest + 1 : NULL;
    }
    int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER };
    if (real(SIGSEGV, &action, NULL) != 0 || syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) {
        perror("skew");
        _Exit(99);
    }
}
