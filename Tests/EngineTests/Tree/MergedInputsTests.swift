import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct MergedInputsTests {
  @Test func `the newest of two to four inputs counts`() {
    replaying(0..<300) { seed in
      var random = SplitMix64(seed: seed)
      let inputs = (0..<Int.random(in: 0...4, using: &random)).map { age in
        var changes: [Bytes: Bytes?] = [:]
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          let key = Bytes(repeating: UInt8.random(in: 0..<4, using: &random), count: age % 2 + 1)
          changes[key] = random.next() % 3 == 0 ? .some(nil) : [UInt8(age), key[0]]
        }
        return (changes: changes, version: UInt32(age + 1))
      }
      var merged = MergedInputs(
        newestFirst: inputs.map { ListInput($0.changes, version: $0.version) })
      let keys = Set(inputs.flatMap(\.changes.keys)).sorted(by: <)
      for key in keys {
        let isOn = try merged.advance()
        try agree(isOn && merged.key.array() == key, "\(key) is missed")
        guard let newest = inputs.first(where: { $0.changes[key] != nil }) else { continue }
        let value = newest.changes[key] ?? nil
        try agree(merged.isRemoval == (value == nil), "\(key) is removed: \(merged.isRemoval)")
        try agree(merged.schemaVersion == newest.version, "\(key) is of another version")
        if let value { try agree(merged.value.array() == value, "\(key) has an older value") }
      }
      for _ in 0..<2 {
        let isOn = try merged.advance()
        try agree(!isOn, "an operation behind the last")
      }
    }
  }

  @Test func `a tree takes several inputs at once as one after the other`() throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    var model: [Bytes: Bytes] = [:]
    for round in 0..<5 as Range<UInt64> {
      var random = SplitMix64(seed: round)
      let inputs = (0..<3).map { age in
        var changes: [Bytes: Bytes?] = [:]
        for _ in 0..<80 {
          changes[key(random.next() % 300, length: 4)] =
            random.next() % 3 == 0 ? .some(nil) : [UInt8(age)]
        }
        return changes
      }
      for changes in inputs.reversed() {
        for (key, value) in changes { model[key] = value }
      }
      try world.merge(
        MergedInputs(newestFirst: inputs.map { ListInput($0) }))
      world.setModel(model)
      try world.verify(every: 3)
    }
  }
}
