import CMalloc
import FoundationEssentials
import Glibc

/// This process's memory as the kernel counts it, in bytes. Zero if there is no `/proc`.
enum ProcessMemory {
  /// Not backed by a file: the memory that a process has requested.
  static var anonymous: Int { status("RssAnon") }

  /// The most that was resident since `restartPeak`. Pages of mapped files count.
  static var peakResident: Int { status("VmHWM") }

  /// Gives freed memory back to the kernel, so that no engine reuses memory of another, and begins
  /// a new peak. Where the kernel cannot do that, the peak is that of the whole run.
  static func restartPeak() {
    malloc_trim(0)
    guard let file = unsafe fopen("/proc/self/clear_refs", "w") else { return }
    unsafe fputs("5", file)
    unsafe fclose(file)
  }

  private static func status(_ field: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
      return 0
    }
    for line in text.utf8.split(separator: UInt8(ascii: "\n"))
    where line.starts(with: "\(field):".utf8) {
      return 1024 * line.reduce(0) { (48...57).contains($1) ? $0 * 10 + Int($1) - 48 : $0 }
    }
    return 0
  }
}
