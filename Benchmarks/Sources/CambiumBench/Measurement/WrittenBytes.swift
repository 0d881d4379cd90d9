import FoundationEssentials
import Glibc

/// The bytes written so far, as the kernel counts them.
///
/// Not `write_bytes` of `/proc/self/io`: where files are cached in large folios it counts a whole folio,
/// megabytes, for each block of it that becomes dirty.
struct WrittenBytes {
  /// By this process in calls that write (`wchar` in `/proc/self/io`). Writes in maps are not in it, nor
  /// writes that the file system adds.
  let inCalls: Int
  /// To the device that a directory lies on, by any process, the file system's journal included; nil
  /// where there is no such device.
  let onDevice: Int?

  static func now(of directory: String) -> WrittenBytes {
    WrittenBytes(inCalls: callBytes(), onDevice: deviceBytes(of: directory))
  }

  static func - (one: WrittenBytes, other: WrittenBytes) -> WrittenBytes {
    WrittenBytes(
      inCalls: one.inCalls - other.inCalls,
      onDevice: one.onDevice.flatMap { one in other.onDevice.map { one - $0 } })
  }

  private static func callBytes() -> Int {
    let line = contents("/proc/self/io").split(separator: "\n").first { $0.hasPrefix("wchar:") }
    return line.flatMap { Int($0.dropFirst("wchar: ".count)) } ?? 0
  }

  /// The seventh number counts sectors of 512 bytes.
  private static func deviceBytes(of directory: String) -> Int? {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else { return nil }
    // As `gnu_dev_major` and `gnu_dev_minor` take it apart, which Swift's Glibc module does not name.
    let device = UInt64(status.st_dev)
    let major = device >> 8 & 0xfff | device >> 32 & ~0xfff
    let minor = device & 0xff | device >> 12 & ~0xff
    let numbers = contents("/sys/dev/block/\(major):\(minor)/stat").split {
      $0 == " " || $0 == "\n"
    }
    return numbers.count > 6 ? Int(numbers[6]).map { $0 * 512 } : nil
  }

  private static func contents(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }
}
