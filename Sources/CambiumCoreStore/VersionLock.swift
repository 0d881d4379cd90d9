public import Cambium

/// The fingerprints of a version's entities, kept in source code: a version that was released is not changed by accident.
///
/// A fingerprint is of 128 bits, so each has two words. `SchemaLock` of the core is the better lock: it knows all versions, and
/// says what was changed.
public struct VersionLock: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  private let words: [String: [UInt64]]

  public init(dictionaryLiteral elements: (String, [UInt64])...) {
    words = Dictionary(elements) { one, _ in one }
  }

  /// The lock of a version as it is described now.
  public init(_ schema: Schema) {
    words = Dictionary(
      schema.records.map { record in
        let digits = Array("\(record.fingerprint)")
        let halves = [digits.prefix(16), digits.dropFirst(16)]
        return (record.name, halves.compactMap { UInt64(String($0), radix: 16) })
      }
    ) { one, _ in one }
  }
}

extension VersionLock: CustomStringConvertible {
  /// The lock as it is written in Swift.
  public var description: String {
    let entities = words.sorted { $0.key < $1.key }.map { name, words in
      "  \"\(name)\": [" + words.map(Self.literal).joined(separator: ", ") + "]"
    }
    return "[\n" + entities.joined(separator: ",\n") + "\n]"
  }

  /// A word in 16 digits, in groups of four: `0x0947_afb3_7d57_b5de`.
  private static func literal(of word: UInt64) -> String {
    let groups = [48, 32, 16, 0].map { shift in
      let digits = String(word >> UInt64(shift) & 0xffff, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "0x" + groups.joined(separator: "_")
  }
}
