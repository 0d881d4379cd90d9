#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A plan by which the values of one record type become keys and rows through their own `encode(to:)` and `init(from:)`.
///
/// Between the type and the bytes is one `FieldValue` for each column. Coding keys are matched to fields by the properties'
/// names, then by the stored ones.
@usableFromInline
final class CodingPlan: Sendable {
  let layout: RowLayout
  private let root: CodingNode
  private let presence: KindPresence

  /// - Throws: `.invalidDescription` for a field that no type could be encoded as.
  init(_ record: CheckedRecord, layout: RowLayout) throws(StoreError) {
    self.layout = layout
    root = try CodingNode(record, layout, levels: record.levels[...], type: record.type)
    presence = KindPresence(of: record, in: layout)
    try Self.refuseDoubleOptionals(record, layout)
  }

  /// Puts the key and the row of a record together.
  ///
  /// - Throws: `.invalidValue`, naming the field, where the type encodes itself otherwise than it is
  ///   described, and errors of `RecordPlan`.
  @usableFromInline
  func write<Subject: Record>(
    _ record: Subject, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    var values = try RecordEncoding(layout).encode(record, root)
    for column in presence.present { values[column] = .composite([:]) }
    for column in presence.markers { values[column] = .boolean(true) }
    try layout.encode(values, to: row, key: key)
  }

  /// Makes a record of its key and row.
  ///
  /// - Throws: as `write`, and `.corrupt` where the bytes are no such record.
  @usableFromInline
  func read<Subject: Record>(
    _ type: Subject.Type, key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil
  ) throws(StoreError) -> Subject {
    let layout = layout
    let values = try RowReader(key: key, row: row, layout: layout, blobs: blobs).columnValues()
    return try RecordDecoding(layout, values).decode(type, root)
  }

  /// Refuses a property that no row could hold, if reflection shows the properties. If not, encoding it does.
  private static func refuseDoubleOptionals(
    _ record: CheckedRecord, _ layout: RowLayout
  ) throws(StoreError) {
    for property in Reflection.storedProperties(of: record.type) {
      guard let wrapped = Reflection.wrapped(property.type), Reflection.wrapped(wrapped) != nil
      else { continue }
      throw .invalidDescription(
        record: record.schema.name, field: property.name, version: Int(layout.version),
        reason: "the property is an \(property.type), and a row has only one kind of nil")
    }
  }
}

// MARK: Fields

/// A field of a record or of a composite in it, as a coding key names it.
final class CodingField: Sendable {
  enum Kind: Sendable {
    case scalar
    case array
    case coded(any FieldCodec)
    case composite(CodingNode)
    /// The parent that the type contains; its fields are fields of the record.
    case parent(CodingNode)
    /// Not stored: the value that is decoded instead.
    case transient(any Sendable)
  }

  /// The Swift property; by default the coding key has its name.
  let property: String
  /// Its stored name, without the composites around it.
  let name: String
  /// For errors: the stored name, with the composites around it.
  let path: String
  /// Its place in the layout's columns; −1 if it is not stored.
  let column: Int
  let kind: Kind

  init(_ property: String, name: String, in composite: String?, column: Int, _ kind: Kind) {
    self.property = property
    self.name = name
    path = composite.map { "\($0).\(name)" } ?? name
    self.column = column
    self.kind = kind
  }
}

/// The fields of a record or of a composite in it, as coding keys name them.
final class CodingNode: Sendable {
  /// The stored name of a composite; nil of a record.
  let path: String?
  let fields: [CodingField]

  /// A node without fields.
  static let empty = CodingNode()

  private init() {
    path = nil
    fields = []
  }

  /// - Parameters:
  ///   - path: The stored name of the composite whose fields these are; nil for a record's.
  ///   - levels: Those of a type of a hierarchy, and of the parents in it; empty for the struct of a composite.
  ///   - type: Whose properties they are, if that is known. Coding keys come in their order as a rule.
  /// - Throws: `.invalidDescription` where the schema does not have a field.
  init(
    _ record: CheckedRecord, _ layout: RowLayout, in path: String? = nil,
    levels: ArraySlice<TypeLevel> = [], type: (any Any.Type)?
  ) throws(StoreError) {
    let properties = type.map { Reflection.storedProperties(of: $0) } ?? []
    let path = levels.first.map(\.composite) ?? path
    let generation = levels.first?.generation
    func isOwn(_ owner: Int) -> Bool { generation.map { $0 == owner } ?? true }
    var fields: [CodingField] = []
    if let property = levels.first?.property {
      let parent = try CodingNode(
        record, layout, levels: levels.dropFirst(), type: levels.dropFirst().first?.type)
      fields.append(CodingField(property, name: property, in: path, column: -1, .parent(parent)))
    }
    for field in record.fields
    where field.composite == path && field.role == .field && isOwn(field.generation) {
      guard let column = layout.index(named: field.name) else {
        throw .invalidDescription(
          record: record.schema.name, field: field.name, version: Int(layout.version),
          reason: "the schema does not have it")
      }
      let kind: CodingField.Kind
      switch field.type {
      case .composite:
        let type = properties.first { $0.name == field.property }?.type
        kind = .composite(
          try CodingNode(
            record, layout, in: field.name, type: type.map { Reflection.wrapped($0) ?? $0 }))
      case .array: kind = .array
      case .transformable: kind = .coded(field.codec ?? JSONCodec())
      default: kind = .scalar
      }
      let name = path.map { String(field.name.dropFirst($0.count + 1)) } ?? field.name
      fields.append(CodingField(field.property, name: name, in: path, column: column, kind))
    }
    for described in record.transients
    where described.composite == path && isOwn(described.generation) {
      let transient = described.transient
      fields.append(
        CodingField(
          transient.property, name: transient.property, in: path, column: -1,
          .transient(transient.value)))
    }
    func order(_ field: CodingField) -> Int {
      properties.firstIndex { $0.name == field.property } ?? properties.count
    }
    self.path = path
    self.fields = fields.sortedRarely { order($0) < order($1) }
  }

  /// Returns the field of a coding key: first the property of that name, then the field that is stored under it.
  ///
  /// - Parameter last: The place of the field that was asked for last. Keys come in one order as a rule, and some are asked
  ///   for twice, so that is where to look first.
  func field(_ key: String, after last: inout Int) -> CodingField? {
    for index in last..<min(last + 2, fields.count) where fields[index].property == key {
      last = index
      return fields[index]
    }
    let found =
      fields.firstIndex { $0.property == key } ?? fields.firstIndex { $0.name == key }
    guard let found else { return nil }
    last = found
    return fields[found]
  }

  /// Returns the name of a key of this node in errors.
  func path(of key: String) -> String { path.map { "\($0).\(key)" } ?? key }
}

/// A key of a coding path: a field's name.
struct FieldKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }

  /// Returns the coding path of a field.
  static func path(_ name: String?) -> [any CodingKey] {
    name?.split(separator: ".").map { FieldKey(stringValue: String($0)) } ?? []
  }
}

extension RowReader {
  /// Returns one value for each column; those of composites only say whether they are null.
  ///
  /// - Throws: `.corrupt` where the bytes are no such record.
  func columnValues() throws(StoreError) -> [FieldValue] {
    let layout = layout
    var values = [FieldValue](repeating: .null, count: layout.columns.count)
    var key = KeyReader(key, layout: layout)
    for part in layout.key.columns { values[Int(part.column)] = try key.value(part) }
    try key.finish()
    for (index, column) in layout.columns.enumerated() where !isNull(column.place) {
      switch column.place.kind {
      case .key: continue
      case .composite: values[index] = .composite([:])
      case .fixed, .variable: values[index] = try value(index)
      }
    }
    return values
  }
}

extension RecordPlan {
  /// Makes sure that a record is the same by way of its type's own `encode(to:)` and `init(from:)`.
  ///
  /// A plan passes them by. If they do more than the compiler's, the stored values would not be those that
  /// their author meant, so the first save of a type in a debug build looks. Bytes of codecs are not
  /// compared: two encodings of one value may differ.
  ///
  /// - Throws: `.invalidDescription`, naming the field.
  func checkAgreement<Subject: Record>(of record: Subject) throws(StoreError) {
    guard coding == nil else { return }
    let way = try CodingPlan(self.record, layout: layout)
    let (row, key) = (RowWriter(), KeyEncoder())
    try write(record, to: row, key: key)
    let (keyBytes, rowBytes, waiting) = (key.key.array(), row.row.array(), row.waiting)
    do throws(StoreError) {
      try way.write(record, to: row, key: key)
    } catch { throw disagreement(error) }
    try compare(keyBytes, rowBytes, key, row, "encode(to:)")
    do throws(StoreError) {
      let back = try way.read(
        Subject.self, key: keyBytes.rawSpan, row: rowBytes.rawSpan, blobs: BlobFinder(waiting))
      try write(back, to: row, key: key)
    } catch { throw disagreement(error) }
    try compare(keyBytes, rowBytes, key, row, "init(from:)")
  }

  private func compare(
    _ keyBytes: [UInt8], _ rowBytes: [UInt8], _ key: KeyEncoder, _ row: RowWriter, _ what: String
  ) throws(StoreError) {
    let layout = layout
    let planned = try RowReader(key: keyBytes.rawSpan, row: rowBytes.rawSpan, layout: layout)
    let (otherKey, otherRow) = (key.key.array(), row.row.array())
    let other = try RowReader(key: otherKey.rawSpan, row: otherRow.rawSpan, layout: layout)
    for column in layout.columns {
      let place = column.place
      var isSame = planned.isNull(place) == other.isNull(place)
      switch column.field.type {
      case .transformable, .external: break
      default: isSame = isSame && planned.hasSameBytes(as: other, column)
      }
      guard isSame else {
        throw disagreement(field: column.field.name, "by way of \(what) it is another")
      }
    }
  }

  private func disagreement(_ error: StoreError) -> StoreError {
    guard case .invalidValue(_, let field, let reason) = error else { return error }
    return disagreement(field: field, reason)
  }

  private func disagreement(field: String?, _ reason: String) -> StoreError {
    .invalidDescription(
      record: layout.record.name, field: field, version: Int(layout.version),
      reason:
        "the type does not encode and decode its properties as they are: \(reason). Let it, or let"
        + " its coding be `.codable`")
  }
}

extension RowReader {
  /// Returns true if two records have the same in a column; NaN, too, is the same as itself.
  fileprivate func hasSameBytes(as other: RowReader, _ column: Column) -> Bool {
    let index = column.place.index
    switch column.place.kind {
    case .composite: return true
    case .key: return key.compare(other.key) == 0
    case .fixed:
      let width = column.field.type.fixedWidth ?? 0
      return row.part(index, width).compare(other.row.part(index, width)) == 0
    case .variable: return bytes(index).compare(other.bytes(index)) == 0
    }
  }
}
