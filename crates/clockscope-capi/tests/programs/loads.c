/* Loads the library, uses it, and unloads it, 20 times. Its path is the argument. A thread that had
 * the counter tested keeps the library until it ends, so each use has a thread of its own, which
 * ends first. Prints what is wrong, and ends with the number of such lines. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "expect.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int visit(const void *item, void *context) {
  (void)item;
  ++*(int *)context;
  return 0;
}

/* A pointer to data becomes one to a function by its bytes: ISO C has no cast for it. */
static void find(void *library, const char *name, void *function) {
  void *address = dlsym(library, name);
  EXPECT(address != NULL);
  memcpy(function, &address, sizeof address);
}

/* The latest reading. */
static uint64_t latest;

static void *use(void *library) {
  uint64_t (*now)(void);
  int (*prepare)(void), (*revalidate)(int (*)(const void *, void *), void *);
  int pieces = 0, turn;
  find(library, "clockscope_now", &now);
  find(library, "clockscope_prepare", &prepare);
  find(library, "clockscope_revalidate", &revalidate);
  EXPECT(prepare() == 0);
  for (turn = 0; turn < 20000; ++turn) {
    const uint64_t reading = now();
    /* Another copy of the clock begins by the system's. */
    EXPECT(turn == 0 || reading >= latest);
    latest = reading;
  }
  /* It starts threads, which have ended when it returns. */
  EXPECT(revalidate(visit, &pieces) >= 0 && pieces > 0);
  return NULL;
}

static void use_and_unload(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  pthread_t thread;
  if (!library) {
    printf("%s\n", dlerror());
    ++wrong;
    return;
  }
  EXPECT(pthread_create(&thread, NULL, use, library) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT(dlclose(library) == 0);
  EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

int main(int count, char **arguments) {
  const char *path = count > 1 ? arguments[1] : "";
  int turn;
  for (turn = 0; turn < 20; ++turn) {
    int status = 0;
    pid_t child;
    use_and_unload(path);
    /* Nothing that the library registered for forks, threads and ends is left behind. */
    fflush(stdout);
    child = fork();
    if (child == 0) {
      use_and_unload(path);
      return wrong;
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT(latest > 0);
  return wrong;
}
