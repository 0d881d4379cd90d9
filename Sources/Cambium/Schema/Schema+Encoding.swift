#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The bytes of a schema, as the tree `schema` has them under its version: its fingerprint, then elements.
// An element that this version does not know is passed over, or refuses the schema, as its flag says.
//
//     0             16
//     ┌─────────────┬────────┬────────┬─ ─     element: kind u16, flags u16, length u32, payload
//     │ fingerprint │element │element │
//     └─────────────┴────────┴────────┴─ ─

/// The kinds of elements.
enum SchemaElement: UInt16, CaseIterable {
  case label = 1
  case nextNumber = 2
  case record = 3
  case modifier = 4
  case field = 5
  case primaryKey = 6
  case index = 7
  case condition = 8
  case reference = 9
  case inverse = 10
  case kinds = 11
  case userInfo = 12
  case derivation = 13
  case referenceKind = 15
  case defaultValue = 16
  case expiry = 17
  case expression = 18

  /// The flag of an element without which the rest must not be used.
  static let mustUnderstand: UInt16 = 1

  /// The flags that it is written with: annotations, defaults and expiries change nothing for those that do not know them.
  var flags: UInt16 {
    switch self {
    case .userInfo, .defaultValue, .expiry: 0
    default: Self.mustUnderstand
    }
  }
}

extension Schema {
  /// The name of the tree that holds the schemas of all versions that the store ever had.
  static let treeName = TreeNames.schemas

  /// The key of a version in that tree.
  static func key(of version: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.append(integer: version.byteSwapped)
    return key
  }

  /// The bytes that a store keeps, once the code that reads them has accepted them.
  ///
  /// - Complexity: O(fields).
  /// - Throws: `.unsound`.
  func published() throws(StoreError) -> [UInt8] {
    let bytes = encoded()
    let place = StoreError.CorruptPlace.entry(tree: Self.treeName, key: Self.key(of: storedVersion))
    let found: Schema
    do throws(StoreError) {
      found = try Schema(decoding: bytes.rawSpan, version: storedVersion, path: "")
    } catch {
      throw PublicationCheck.refusal(error, at: place, .schemaContents)
    }
    try PublicationCheck.expect(found.encoded(), toBe: bytes, at: place, .schemaContents)
    return bytes
  }

  /// - Complexity: O(fields).
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(fingerprint.hash)
    if let label { bytes.appendElement(.label) { $0.append(contentsOf: label.utf8) } }
    bytes.appendElement(.nextNumber) { $0.append(integer: nextNumber) }
    for record in records {
      bytes.appendElement(.record) { record.encode(to: &$0) }
    }
    return bytes
  }
}

extension RecordSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(integer: nextField)
    bytes.append(text: name)
    bytes.appendModifier(modifier)
    for field in declaredFields {
      bytes.appendElement(.field) { field.encode(to: &$0) }
    }
    bytes.appendElement(.primaryKey) { bytes in
      bytes.append(parts: primaryKey, flags: \.storedFlags) { $0.littleEndianBytes }
    }
    for index in indexes {
      bytes.appendElement(.index) { encode(index, to: &$0) }
    }
    for inverse in inverses {
      bytes.appendElement(.inverse) { inverse.encode(to: &$0) }
    }
    if hasKinds { bytes.appendElement(.kinds) { encodeKinds(to: &$0) } }
    bytes.appendUserInfo(userInfo)
    guard let expiry else { return }
    bytes.appendElement(.expiry) { bytes in
      bytes.append(integer: expiry.field)
      bytes.append(integer: expiry.milliseconds)
    }
  }

  private func encodeKinds(to bytes: inout [UInt8]) {
    bytes.append(isAbstract ? 1 : 0)
    bytes.append(integer: UInt32(kinds.count))
    for kind in kinds {
      bytes.append(integer: kind.composite)
      bytes.append(kind.isAbstract ? 1 : 0)
    }
  }

  private func encode(_ index: IndexSchema, to bytes: inout [UInt8]) {
    bytes.append(integer: index.number)
    bytes.append(index.isUnique ? 1 : 0)
    bytes.append(text: index.name)
    bytes.append(parts: index.parts, flags: \.storedFlags) { $0.littleEndianBytes }
    guard let condition = index.condition else { return }
    bytes.appendElement(.condition) { bytes in
      bytes.append(condition: condition) { name in
        (field(named: name)?.number ?? 0).littleEndianBytes
      }
    }
  }
}

extension FieldSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(integer: composite ?? 0)
    bytes.append(isOptional ? 1 : 0)
    bytes.append(type: type)
    bytes.append(text: name)
    bytes.appendModifier(modifier)
    if let reference { bytes.appendElement(.reference) { reference.encode(to: &$0) } }
    if let kind = reference?.composite {
      bytes.appendElement(.referenceKind) { $0.append(integer: kind) }
    }
    bytes.appendUserInfo(userInfo)
    if let derivation { bytes.appendElement(.derivation) { derivation.encode(to: &$0) } }
    if let expression = derivation?.numberedExpression {
      bytes.appendElement(.expression) {
        $0.append(expression: expression) { $0.littleEndianBytes }
      }
    }
    if let defaultValue { bytes.appendElement(.defaultValue) { $0.append(value: defaultValue) } }
  }
}

extension DerivationSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(kind.rawValue)
    bytes.append(integer: relatedNumber)
    bytes.append(integer: referenceNumber)
    bytes.append(integer: sourceNumber)
    guard let sequence else { return }
    bytes.append(integer: sequence.first)
    bytes.append(integer: sequence.step)
    bytes.append(sequence.hasNoGaps ? 1 : 0)
  }
}

extension ReferenceSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: record)
    bytes.append(isChecked ? 1 : 0)
    bytes.append(deleteRule.code)
    bytes.append(bounds: bounds)
  }
}

extension InverseSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(integer: record)
    bytes.append(integer: field)
    bytes.append(deleteRule.code)
    bytes.append(bounds: bounds)
    bytes.append(text: name)
  }
}

extension [String: String] {
  /// Annotations in the order of the bytes of their names.
  package var inOrder: [(key: String, value: String)] {
    sortedRarely { $0.key.precedes($1.key) }.map { (key: $0.key, value: $0.value) }
  }
}

extension UInt32 {
  fileprivate var littleEndianBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: self)
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func appendElement(
    _ kind: SchemaElement, _ encode: (inout [UInt8]) -> Void
  ) {
    var payload: [UInt8] = []
    encode(&payload)
    append(integer: kind.rawValue)
    append(integer: kind.flags)
    append(integer: UInt32(payload.count))
    append(contentsOf: payload)
  }

  /// Appends the least and the most; for no upper bound, 0.
  fileprivate mutating func append(bounds: RelationBounds?) {
    append(integer: UInt32(clamping: bounds?.least ?? 0))
    append(integer: UInt32(clamping: bounds?.most ?? 0))
  }

  fileprivate mutating func appendUserInfo(_ userInfo: [String: String]) {
    if userInfo.isEmpty { return }
    appendElement(.userInfo) { bytes in
      bytes.append(integer: UInt32(userInfo.count))
      for (name, value) in userInfo.inOrder {
        bytes.append(text: name)
        bytes.append(text: value)
      }
    }
  }

  fileprivate mutating func appendModifier(_ modifier: String?) {
    if let modifier { appendElement(.modifier) { $0.append(contentsOf: modifier.utf8) } }
  }
}

// The parts that schemas are written with, in the store and under fingerprints: types, values and conditions, each
// after a number that says what follows. `FORMAT.md` has the tables.

extension [UInt8] {
  /// Appends a string after its length, a `u32`.
  mutating func append(text: String) {
    append(integer: UInt32(text.utf8.count))
    append(contentsOf: text.utf8)
  }

  mutating func append(type: ColumnType) {
    append(type.code)
    switch type {
    case .transformable(let codec): append(text: codec)
    case .array(let element): append(element.rawValue)
    case .external(let type, let options):
      append(type.rawValue)
      append(options: options)
    default: break
    }
  }

  /// Appends the parts of a type that rows depend on: of an external one not where values go that are yet to be
  /// written.
  mutating func append(storedType type: ColumnType) {
    guard case .external(let type, _) = type else { return append(type: type) }
    append(UInt8(21))
    append(type.rawValue)
  }

  /// Appends where values of an external column go that are yet to be written.
  private mutating func append(options: BlobOptions) {
    append(integer: UInt32(clamping: options.threshold))
    switch options.compression {
    case .none: append(integer: Int16.min)
    case .zstd(let level): append(integer: Int16(clamping: level))
    }
    append(options.deduplicated ? 1 : 0)
  }

  /// Appends a condition, with the result of `field` for the name of each field in it.
  mutating func append(condition: FieldCondition, field: (String) -> [UInt8]) {
    switch condition {
    case .comparison(let name, let comparison, let value):
      append(1)
      append(contentsOf: field(name))
      append(comparison.code)
      append(value: value)
    case .and(let operands): append(2, operands, field)
    case .or(let operands): append(3, operands, field)
    case .not(let operand):
      append(4)
      append(condition: operand, field: field)
    case .isIn, .isInQuery, .match, .contains, .any, .computed, .kind:
      preconditionFailure("a stored condition has only comparisons")
    }
  }

  private mutating func append(
    _ code: UInt8, _ operands: [FieldCondition], _ field: (String) -> [UInt8]
  ) {
    append(code)
    append(integer: UInt32(operands.count))
    for operand in operands { append(condition: operand, field: field) }
  }

  mutating func append(value: FieldValue) {
    switch value {
    case .null: append(0)
    case .boolean(let value): append(contentsOf: [1, value ? 1 : 0])
    case .integer(let value): append(2, integer: value)
    case .unsigned(let value): append(3, integer: value)
    case .float(let value): append(4, integer: value.bitPattern)
    case .double(let value): append(5, integer: value.bitPattern)
    case .decimal(let value): append(6, text: value.reducedText)
    case .string(let value): append(7, text: value)
    case .date(let value):
      append(8, integer: value.timeIntervalSinceReferenceDate.bitPattern)
    case .data(let value):
      append(9, integer: UInt32(value.count))
      append(contentsOf: value)
    case .uuid(let value):
      append(10)
      append(contentsOf: value.bytes)
    case .url(let value): append(11, text: value.absoluteString)
    case .array(let values):
      append(12, integer: UInt32(values.count))
      for value in values { append(value: value) }
    case .composite, .blob:
      preconditionFailure("neither conditions nor defaults have composites and blobs")
    }
  }

  private mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(
    _ code: UInt8, integer value: Value
  ) {
    append(code)
    append(integer: value)
  }

  private mutating func append(_ code: UInt8, text: String) {
    append(code)
    append(text: text)
  }
}

extension ColumnType {
  /// Its number in the format.
  var code: UInt8 {
    switch self {
    case .scalar(let type): type.rawValue
    case .transformable: 18
    case .array: 19
    case .composite: 20
    case .external: 21
    }
  }
}

extension FieldComparison {
  /// Its number in the format.
  var code: UInt8 {
    switch self {
    case .equal: 1
    case .notEqual: 2
    case .less: 3
    case .lessOrEqual: 4
    case .greater: 5
    case .greaterOrEqual: 6
    }
  }
}

extension Decimal {
  /// Its digits, without zeros at the end of a fraction.
  var reducedText: String {
    var text = description
    guard text.contains(".") else { return text }
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text
  }
}

extension UUID {
  fileprivate var bytes: [UInt8] {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    return [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
  }
}
