/// A hash of a description: equal exactly if two descriptions store the same, as far as 128 bits can tell.
///
/// It includes stored names, types, optionality, keys, indexes with their conditions, where references lead and whether
/// they are checked, what is derived and how, kinds, codecs and modifiers. It does not include versions, numbers, the order of declaration, names of
/// indexes, inverses, delete rules and bounds, defaults, validation, annotations, the options of external values, and
/// information for migrations.
public struct Fingerprint: Hashable, Sendable {
  let hash: SipHash128
}

extension Fingerprint: LosslessStringConvertible {
  /// Reads a fingerprint that is written as its description is; nil if `description` is none.
  public init?(_ description: String) {
    guard let hash = SipHash128(hexadecimal: description) else { return nil }
    self.hash = hash
  }

  /// The fingerprint as 32 hexadecimal digits.
  public var description: String { hash.description }
}

extension Schema {
  /// The fingerprint of all records.
  ///
  /// - Complexity: O(fields).
  public var fingerprint: Fingerprint {
    var bytes: [UInt8] = []
    for record in records.sortedRarely(by: { $0.name.precedes($1.name) }) {
      bytes.append(record.fingerprint.hash)
    }
    return Fingerprint(hash: SipHash128(of: bytes.rawSpan))
  }
}

extension RecordSchema {
  /// - Complexity: O(fields).
  public var fingerprint: Fingerprint {
    Fingerprint(hash: SipHash128(of: canonicalBytes.rawSpan))
  }

  /// Everything on which a fingerprint depends, in one order.
  private var canonicalBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(text: name)
    bytes.append(optionalText: modifier)
    bytes.append(integer: UInt32(fields.count))
    for field in fields.sortedRarely(by: { $0.name.precedes($1.name) }) {
      bytes.append(text: field.name)
      if let reference = field.reference {
        bytes.append(22)
        bytes.append(reference.isChecked ? 1 : 0)
        bytes.append(text: reference.destinationText)
      }
      if let derivation = field.derivation {
        bytes.append(24)
        bytes.append(derivation.kind.rawValue)
        bytes.append(optionalText: derivation.related)
        bytes.append(optionalText: derivation.reference)
        bytes.append(optionalText: derivation.source)
        if let sequence = derivation.sequence {
          bytes.append(integer: sequence.first)
          bytes.append(integer: sequence.step)
          bytes.append(sequence.hasNoGaps ? 1 : 0)
        }
        if let expression = derivation.expression {
          bytes.append(25)
          bytes.append(expression: expression) { name in
            var bytes: [UInt8] = []
            bytes.append(text: name)
            return bytes
          }
        }
      }
      bytes.append(storedType: field.type)
      bytes.append(field.isOptional ? 1 : 0)
      bytes.append(optionalText: field.modifier)
    }
    bytes.append(parts: primaryKey, field: namedField)
    bytes.append(integer: UInt32(indexes.count))
    let shapes = indexes.map { index in
      var shape: [UInt8] = []
      shape.append(index.isUnique ? 1 : 0)
      shape.append(parts: index.parts, field: namedField)
      shape.append(index.condition == nil ? 0 : 1)
      if let condition = index.condition {
        shape.append(condition: condition.canonical) { name in
          var bytes: [UInt8] = []
          bytes.append(text: name)
          return bytes
        }
      }
      return shape
    }
    for shape in shapes.sortedRarely(by: { $0.lexicographicallyPrecedes($1) }) {
      bytes.append(contentsOf: shape)
    }
    if hasKinds {
      bytes.append(23)
      bytes.append(isAbstract ? 1 : 0)
      let kinds = kinds.map { (name: name(of: $0), isAbstract: $0.isAbstract) }
      bytes.append(integer: UInt32(kinds.count))
      for kind in kinds.sortedRarely(by: { $0.name.precedes($1.name) }) {
        bytes.append(text: kind.name)
        bytes.append(kind.isAbstract ? 1 : 0)
      }
    }
    return bytes
  }

  private func namedField(_ number: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(text: field(number)?.name ?? "")
    return bytes
  }
}

extension [UInt8] {
  /// Appends the parts of a key, with the result of `field` for the number of each.
  ///
  /// - Parameter flags: The flags of each part.
  mutating func append(
    parts: [KeyPart], flags: (KeyPart) -> UInt8 = { $0.flags }, field: (UInt32) -> [UInt8]
  ) {
    append(integer: UInt32(parts.count))
    for part in parts {
      append(contentsOf: field(part.field))
      append(flags(part))
      guard let collation = part.collation else { continue }
      append(text: collation.name)
      append(text: collation.version)
    }
  }

  fileprivate mutating func append(optionalText text: String?) {
    append(text == nil ? 0 : 1)
    if let text { append(text: text) }
  }
}

extension KeyPart {
  /// The bits that the format has for everything that is declared, but for the field and the collation itself.
  var flags: UInt8 {
    let expansion: UInt8 =
      switch expansion {
      case .none: 0
      case .elements: 4
      case .words: 8
      }
    return (isDescending ? 1 : 0) | (isCaseInsensitive ? 2 : 0) | expansion
      | (collation == nil ? 0 : 16)
  }

  /// The bits that the format has for everything but the field and the collation itself.
  var storedFlags: UInt8 { flags | (flipsNullByte ? 32 : 0) }
}

extension String {
  /// Returns true if it is lower by its bytes.
  func precedes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}
