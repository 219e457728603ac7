/* What GCC's C++ library calls of glibc after 2.28, for programs that carry that library and are to run with 2.28. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* Tells shared pointers whether they need atomic operations: always. */
char __libc_single_threaded = 0;

/* Seeds of std::random_device. */
uint32_t arc4random(void) {
  uint32_t number;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    if (errno != EINTR) abort();
  return number;
}

/* When it is `deadline` of a clock, on the clock that the older functions wait by. */
static struct timespec deadline_of(clockid_t clock, const struct timespec *deadline) {
  struct timespec here, there = *deadline;
  if (clock == CLOCK_REALTIME) return there;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &there);
  there.tv_sec += deadline->tv_sec - here.tv_sec;
  there.tv_nsec += deadline->tv_nsec - here.tv_nsec;
  if (there.tv_nsec < 0) {
    there.tv_sec -= 1;
    there.tv_nsec += 1000000000;
  } else if (there.tv_nsec >= 1000000000) {
    there.tv_sec += 1;
    there.tv_nsec -= 1000000000;
  }
  return there;
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
  const struct timespec until = deadline_of(clock, deadline);
  return pthread_cond_timedwait(condition, mutex, &until);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
  const struct timespec until = deadline_of(clock, deadline);
  return pthread_mutex_timedlock(mutex, &until);
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline) {
  const struct timespec until = deadline_of(clock, deadline);
  return pthread_rwlock_timedrdlock(lock, &until);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline) {
  const struct timespec until = deadline_of(clock, deadline);
  return pthread_rwlock_timedwrlock(lock, &until);
}
