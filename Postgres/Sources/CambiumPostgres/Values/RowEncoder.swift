package import Cambium
package import FoundationEssentials

/// Turns records into rows of their table, and of those of their lists and long values.
package struct RowEncoder {
  let table: TablePlan
  /// The fields of the last record, each with its length.
  package private(set) var fields: ValueEncoder
  /// The elements of the last record's lists, each with its length.
  private(set) var lists: [[ValueEncoder]] = []
  /// The fields of its key, each with its length.
  package private(set) var key: ValueEncoder
  /// The losses of the last record, with the stored name of the field of each.
  package private(set) var losses: [(field: String?, loss: ValueLoss)] = []
  /// True to encode columns that the server computes as well.
  let includesGenerated: Bool

  /// The bytes of a part of a long value.
  package static let partSize = 256 << 10

  package init(_ table: TablePlan, dates: DateForm, includingGenerated: Bool = false) {
    self.table = table
    includesGenerated = includingGenerated
    fields = ValueEncoder(dates: dates)
    key = ValueEncoder(dates: dates)
  }

  /// The columns that are encoded, in their order.
  package var columns: [ColumnPlan] {
    table.columns.filter { $0.source != .kind && (includesGenerated || $0.generated == nil) }
  }

  /// Encodes a record, whose strings outside the row are blobs.
  ///
  /// - Parameter body: Called with each part of a long value: its identity, its number from 0, and its bytes.
  /// - Throws: errors of reading blobs, and of `body`.
  package mutating func encode(
    _ record: DynamicRecord, parts body: (UUID, Int, Data) throws -> Void
  ) throws {
    try encode(record, readsParts: true, body)
  }

  /// Encodes a record without reading its long values.
  package mutating func encode(_ record: DynamicRecord) throws {
    try encode(record, readsParts: false) { _, _, _ in }
  }

  private mutating func encode(
    _ record: DynamicRecord, readsParts: Bool, _ body: (UUID, Int, Data) throws -> Void
  ) throws {
    fields.bytes.removeAll(keepingCapacity: true)
    losses.removeAll(keepingCapacity: true)
    encodeKey(of: record)
    for column in columns {
      try append(column, of: record, readsParts: readsParts, body)
      for loss in fields.losses { losses.append((column.field, loss)) }
      fields.losses.removeAll(keepingCapacity: true)
    }
    encodeLists(of: record)
  }

  private mutating func encodeKey(of record: DynamicRecord) {
    key.bytes.removeAll(keepingCapacity: true)
    for place in table.key.indices {
      guard case .value(let path, let scalar) = table.columns[place].source else { continue }
      key.append(path.value(in: record), of: scalar)
    }
    key.losses.removeAll(keepingCapacity: true)
  }

  private mutating func append(
    _ column: ColumnPlan, of record: DynamicRecord, readsParts: Bool,
    _ body: (UUID, Int, Data) throws -> Void
  ) throws {
    switch column.source {
    case .value(let path, let scalar): fields.append(path.value(in: record), of: scalar)
    case .array(let path, let scalar): fields.append(array: path.value(in: record), of: scalar)
    case .isSet(let path):
      fields.append(.boolean(path.value(in: record) != .null), of: .boolean)
    case .short(let path, let scalar):
      if let value = try Self.short(path.value(in: record), of: scalar) {
        fields.append(value, of: scalar)
      } else {
        fields.appendNull()
      }
    case .parts(let path):
      let value = path.value(in: record)
      guard value != .null, try Self.short(value, of: scalar(at: path)) == nil else {
        return fields.appendNull()
      }
      let identity = identity(of: path)
      fields.append(.uuid(identity), of: .uuid)
      if readsParts { try Self.forEachPart(of: value) { try body(identity, $0, $1) } }
    case .kind: break
    }
  }

  private func scalar(at path: FieldPath) -> ScalarType {
    for column in table.columns {
      if case .short(path, let scalar) = column.source { return scalar }
    }
    return .binaryData
  }

  /// The value, if it fits into the row; nil if it goes into parts.
  private static func short(_ value: FieldValue, of scalar: ScalarType) throws -> FieldValue? {
    switch value {
    case .null: return .null
    case .blob(let blob):
      guard blob.count <= partSize else { return nil }
      let data = try blob.data()
      if scalar == .binaryData { return .data(data) }
      return data.contains(0) ? nil : .string(String(decoding: data, as: UTF8.self))
    case .data(let data): return data.count <= partSize ? value : nil
    case .string(let text):
      return text.utf8.count <= partSize && !text.utf8.contains(0) ? value : nil
    default: return value
    }
  }

  private static func forEachPart(of value: FieldValue, _ body: (Int, Data) throws -> Void) throws {
    let blob: Blob
    switch value {
    case .blob(let value): blob = value
    case .data(let data): blob = Blob(data)
    case .string(let text): blob = Blob(Data(text.utf8))
    default: return
    }
    let reader = try blob.reader()
    var part = Data()
    var number = 0
    while let piece = try reader.read(upTo: partSize - part.count) {
      part += piece
      guard part.count == partSize else { continue }
      try body(number, part)
      number += 1
      part = Data()
    }
    if !part.isEmpty || number == 0 { try body(number, part) }
  }

  /// The identity of a long value: the same whenever its record is moved.
  private func identity(of path: FieldPath) -> UUID {
    var name = Array(table.record.name.utf8) + [0]
    for part in path.names { name += Array(part.utf8) + [0] }
    let hash = SHA256.hash(name + key.bytes)
    return UUID(
      uuid: (
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7], hash[8], hash[9],
        hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
      ))
  }

  private mutating func encodeLists(of record: DynamicRecord) {
    lists.removeAll(keepingCapacity: true)
    for list in table.lists {
      guard case .array(let values) = list.path.value(in: record) else {
        lists.append([])
        continue
      }
      lists.append(
        values.map { value in
          var encoder = ValueEncoder(dates: fields.dates)
          encoder.append(value, of: list.scalar)
          for loss in encoder.losses { losses.append((list.field, loss)) }
          return encoder
        })
    }
  }
}
