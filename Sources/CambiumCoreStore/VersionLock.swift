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
  /// The lock as it is written in Swift, with a line for each entity: `"Laundry": [0x947afb37d57b5de, 0xe50e386ee53a9e5c]`.
  public var description: String {
    if words.isEmpty { return "[:]" }
    let entities = words.sorted { $0.key < $1.key }.map { name, words in
      let literals = words.map { "0x" + String($0, radix: 16) }
      return "    \"\(name)\": [\(literals.joined(separator: ", "))]"
    }
    return "[\n" + entities.joined(separator: ",\n") + "\n]"
  }
}
