/* Waits by each function of tools/old_glibc/newer_functions.c on both clocks: prints what ends early, late or wrongly. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int failures = 0;

static struct timespec in_20_ms(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 20000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_sec += 1;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

static void check(const char *what, int code, clockid_t clock, struct timespec deadline) {
  struct timespec now;
  clock_gettime(clock, &now);
  const double late = (double)(now.tv_sec - deadline.tv_sec) + (double)(now.tv_nsec - deadline.tv_nsec) / 1e9;
  if (code == ETIMEDOUT && late > -0.005 && late < 10) return;
  printf("%s, clock %d: code %d, %.6f s after its time\n", what, (int)clock, code, late);
  failures += 1;
}

/* In a thread of its own, because the main thread has the mutex and the lock. */
static void *wait_for_all(void *unused) {
  const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
  for (int i = 0; i < 2; ++i) {
    const clockid_t clock = clocks[i];
    struct timespec deadline = in_20_ms(clock);
    check("pthread_mutex_clocklock", pthread_mutex_clocklock(&mutex, clock, &deadline), clock, deadline);
    deadline = in_20_ms(clock);
    check("pthread_rwlock_clockrdlock", pthread_rwlock_clockrdlock(&lock, clock, &deadline), clock, deadline);
    deadline = in_20_ms(clock);
    check("pthread_rwlock_clockwrlock", pthread_rwlock_clockwrlock(&lock, clock, &deadline), clock, deadline);
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own);
    deadline = in_20_ms(clock);
    check("pthread_cond_clockwait", pthread_cond_clockwait(&condition, &own, clock, &deadline), clock, deadline);
    pthread_mutex_unlock(&own);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&lock);
  pthread_create(&thread, NULL, wait_for_all, NULL);
  pthread_join(thread, NULL);
  if (arc4random() == arc4random() && arc4random() == arc4random()) {
    puts("arc4random repeats itself");
    failures += 1;
  }
  return failures;
}
