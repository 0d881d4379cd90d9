import Glibc

/// The processor time that all threads of the process have had, in seconds.
func processorTime() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
