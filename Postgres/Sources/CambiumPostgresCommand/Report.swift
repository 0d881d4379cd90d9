import ArgumentParser
import CambiumPostgres
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The output of the command.
enum Report {
  /// A line on the error output.
  static func error(_ text: String) { write(text + "\n", to: 2) }

  /// A line of JSON on the output, at once.
  static func line(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let bytes = try? encoder.encode(value) else { return }
    write(String(decoding: bytes, as: UTF8.self) + "\n", to: 1)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        #if canImport(Glibc)
          unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
          unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
          unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
      }
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }

  /// Runs `body`; lists the differences if it finds some, and ends with the status for them.
  static func differences<Result>(json: Bool, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch MoveError.different(let found) {
      show(found, json: json)
      throw ExitCode(10)
    }
  }

  static func show(_ found: Verification, json: Bool) {
    if json { return line(found) }
    for range in found.ranges {
      let place = range.first.map { "from \($0) to \(range.last ?? $0)" } ?? "without records"
      print("\(range.record) \(place): \(range.differenceCount) differ")
    }
    for difference in found.differences {
      print("  \(difference.record) \(difference.key): \(difference.kind.rawValue)")
    }
    if found.sequence != found.movedSequence {
      print(
        "The database has commit \(found.movedSequence), and the store commit \(found.sequence).")
    }
    if found.pendingCount > 0 {
      print("\(found.pendingCount) records that commits since have changed were left out.")
    }
    print("\(found.recordCount) records compared, \(found.differenceCount) differ.")
  }
}
