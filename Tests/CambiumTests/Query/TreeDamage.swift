import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Changes entries of trees to others than were written.
struct TreeDamage {
  var random: SplitMix64

  private mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

  /// Changes, adds and takes out some entries.
  mutating func change(_ tree: TreeSlot, _ trees: TransactionTrees) throws {
    var entries: [(key: Bytes, value: Bytes)] = []
    let cursor = try TreeAccess.transaction(trees).cursor(in: tree)
    var isOn = try cursor.first()
    while isOn {
      entries.append((cursor.key.array(), try cursor.value().array()))
      isOn = try cursor.next()
    }
    for (key, value) in entries where number(6) == 0 {
      switch number(4) {
      case 0: _ = try trees.remove(key.rawSpan, in: tree)
      case 1:
        let changed = changed(value)
        try trees.put(key.rawSpan, changed.rawSpan, schemaVersion: 0, in: tree)
      case 2:
        let changed = changed(key)
        try trees.put(changed.rawSpan, value.rawSpan, schemaVersion: 0, in: tree)
      default:
        _ = try trees.remove(key.rawSpan, in: tree)
        let changed = changed(key)
        try trees.put(changed.rawSpan, value.rawSpan, schemaVersion: 0, in: tree)
      }
    }
  }

  private mutating func changed(_ bytes: Bytes) -> Bytes {
    var bytes = bytes
    switch number(3) {
    case 0: bytes = Array(bytes.prefix(number(bytes.count + 1)))
    case 1: bytes.append(UInt8(number(256)))
    default:
      if !bytes.isEmpty { bytes[number(bytes.count)] ^= UInt8(1 << number(8)) }
    }
    return bytes.count > 1_024 ? Array(bytes.prefix(1_024)) : bytes
  }
}
