import Glibc

/// Runs `body` in a forked child, and returns what that returned there, or -1 where there was none.
///
/// Swift hides `fork`, as its own runtime may be in the middle of something in another thread. A test
/// does this in a process of its own, and little in the child.
package func inForkedChild(_ body: () -> Int32) -> Int32 {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = unsafe dlsym(nil, "fork") else { return -1 }
  let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
  let child = fork()
  if child == 0 { _exit(body()) }
  var status: Int32 = 0
  guard child > 0, unsafe waitpid(child, &status, 0) == child, status & 0x7f == 0 else { return -1 }
  return status >> 8 & 0xff
}
