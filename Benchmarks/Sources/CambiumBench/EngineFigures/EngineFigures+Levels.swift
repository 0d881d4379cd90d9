import BenchmarkReport
import Cambium

// MARK: Levels

extension EngineFigures {
  /// Point reads, scans and counts of a store of random keys while a level lies over its tree, beside the same after a compaction
  /// that leaves none. The records are as many as it takes for a level.
  mutating func measureLevels(records: Int) throws {
    let (directory, store, tree) = try makeStore()
    let value = value
    func put(_ numbers: Range<Int>) throws {
      for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10_000) {
        try store.write(durability: .relaxed) { transaction in
          for number in start..<min(start + 10_000, numbers.upperBound) {
            let key = Self.scattered(number)
            try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree)
          }
        }
      }
    }
    try put(0..<records)
    // A part of the level replaces values.
    try put(0..<records / 10)
    try store.fold()
    let changes = try store.snapshot()[tree].levelChangeCount
    let with = try readTimes(records, store, tree)
    try store.compact()
    let without = try readTimes(records, store, tree)
    let setting = "\(Figures.grouped(records)) records, \(Figures.grouped(changes)) changes"
    for (name, path, goal) in [
      ("point reads", \ReadTimes.point, 1.25), ("scans", \.scan, 1.5),
    ] as [(String, KeyPath<ReadTimes, Double>, Double)] {
      figures.note(
        "\(name) through a level, times without", setting: setting,
        with[keyPath: path] / without[keyPath: path], .timesAsLong, durability: "read",
        goal: .atMost(goal),
        remark:
          "\(Figures.nanoseconds(with[keyPath: path])), \(Figures.nanoseconds(without[keyPath: path])) ns"
      )
    }
    figures.note(
      "counts of a range through a level", setting: setting, with.count / 1000, .microseconds,
      durability: "read", goal: .atMost(100),
      remark: "\(Figures.nanoseconds(without.count)) ns without")
    try store.close()
    try scratch.removeDirectory(directory)
  }

  /// In nanoseconds, each.
  private struct ReadTimes {
    var point = 0.0
    var scan = 0.0
    var count = 0.0
  }

  private func readTimes(
    _ records: Int, _ store: RawStore, _ tree: RawTreeName
  ) throws -> ReadTimes {
    let entries = try store.snapshot()[tree]
    var random = SplitMix64(seed: seed &+ 5)
    let (reads, counts) = (500_000, 20_000)
    var times = ReadTimes()
    times.point = try median {
      try seconds {
        for _ in 0..<reads {
          let key = Self.scattered(Int.random(in: 0..<records, using: &random))
          let found = try unsafe entries.value(for: key.span.bytes)
          precondition(found?.byteCount == value.count, "every key is there")
        }
      } / Double(reads) * 1e9
    }
    times.scan = try median {
      let cursor = entries.cursor()
      var (isOn, count) = (false, 0)
      let time = try seconds {
        isOn = try cursor.first()
        while isOn { (isOn, count) = (try cursor.next(), count + 1) }
      }
      precondition(count == records, "a scan finds all records")
      return time / Double(records) * 1e9
    }
    times.count = try median {
      try seconds {
        for _ in 0..<counts {
          let key = Self.scattered(Int.random(in: 0..<records, using: &random))
          let count = try entries.count(from: key, upTo: nil)
          precondition(count > 0, "the key is there")
        }
      } / Double(counts) * 1e9
    }
    return times
  }

  /// The key of a number: other numbers have others, in no order.
  private static func scattered(_ number: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(number))
    return key(random.next())
  }
}
