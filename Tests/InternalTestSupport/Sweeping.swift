import Glibc
import TestSupport

@testable import Cambium

/// Which seeds a test goes through: other ones in each round of soaking.
enum Seeds {
  /// `CAMBIUM_SOAK`: the number of the round. Without it the seeds are always the same.
  static let round =
    UInt64(unsafe getenv("CAMBIUM_SOAK").map { unsafe String(cString: $0) } ?? "") ?? 0

  /// The size of a random test: enough for each run, or as much as a round of soaking has time for.
  static func count(_ each: Int, soaking: Int, debug: Int) -> Int {
    scaled(round > 0 ? soaking : each, debug: debug)
  }

  /// The first of `count` seeds, for part `shard` of a test.
  static func range(_ count: Int, shard: Int) -> Range<UInt64> {
    let first = round * 1_000_000 + UInt64(shard) * 10_000 + 1
    return first..<first + UInt64(count)
  }
}

/// Adds up the counts of a test's parts, which run side by side, and says them when all are there.
final class Tally: @unchecked Sendable {
  private let lock = ThreadLock()
  private var missing: Int
  private var findings = Findings()

  init(parts: Int) {
    missing = parts
  }

  /// The line to print, when this was the last part.
  func add(_ part: Findings, _ describe: (Findings) -> String) {
    lock.lock()
    defer { lock.unlock() }
    findings.add(part)
    missing -= 1
    if missing == 0 { print(describe(findings)) }
  }
}

extension Int {
  /// With commas, as one reads it.
  var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
