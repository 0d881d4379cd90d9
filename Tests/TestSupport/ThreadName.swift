#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Returns the name of the calling thread, as debuggers show it.
package func nameOfThread() -> String {
  var bytes = [UInt8](repeating: 0, count: 16)
  let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
  let length = unsafe max(0, read(file, &bytes, bytes.count))
  close(file)
  return String(decoding: bytes.prefix(length), as: UTF8.self).filter { $0 != "\n" }
}
