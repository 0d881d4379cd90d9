import FoundationEssentials

/// The digest of an engine's answers, in 16 bytes: the same records, in whichever order, have equal digests.
struct ItemDigest: Hashable, Sendable {
  private var sum: UInt64 = 0
  private(set) var count = 0
}

extension ItemDigest {
  /// Adds a record by all its values, of strings only the lengths: the work that each
  /// engine does within the clock.
  @inline(__always)
  mutating func add(_ item: Item) {
    var bits = Self.bits(of: item)
    bits = Self.mix(bits, UInt64(truncatingIfNeeded: item.title.utf8.count))
    bits = Self.mix(bits, UInt64(truncatingIfNeeded: item.body.utf8.count))
    bits = Self.mix(bits, UInt64(truncatingIfNeeded: item.note?.utf8.count ?? -1))
    sum &+= bits
    count += 1
  }

  /// Adds a record with every byte of its strings, outside the clock.
  mutating func addAll(of item: Item) {
    var bits = Self.bits(of: item)
    for text in [item.title, item.body, item.note ?? "\u{0}"] {
      for byte in text.utf8 { bits = Self.mix(bits, UInt64(byte)) }
    }
    sum &+= bits
    count += 1
  }

  /// Adds that there is no such record.
  mutating func addMiss() {
    sum &+= 1
  }

  @inline(__always)
  private static func bits(of item: Item) -> UInt64 {
    var bits = unsafe withUnsafeBytes(of: item.id.uuid) { bytes in
      unsafe mix(bytes.load(as: UInt64.self), bytes.load(fromByteOffset: 8, as: UInt64.self))
    }
    bits = mix(bits, item.created.timeIntervalSinceReferenceDate.bitPattern)
    bits = mix(bits, UInt64(bitPattern: Int64(item.count)))
    bits = mix(bits, item.weight.bitPattern)
    return mix(bits, item.isDone ? 1 : 0)
  }

  @inline(__always)
  private static func mix(_ bits: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = (bits ^ word) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ (mixed >> 29)
  }
}
