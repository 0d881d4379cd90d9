/// All fields of a record as coding keys name them, composites within.
final class CodingTree: Sendable {
  let root: CodingNode
  let entries: [CodingEntry]

  /// - Throws: `.invalidDescription` where the schema does not have a field.
  init(_ record: CheckedRecord, _ layout: RowLayout) throws(StoreError) {
    var builder = CodingTreeBuilder(record, layout)
    root = try builder.node(record.type, path: nil)
    entries = builder.entries
  }
}

private struct CodingTreeBuilder {
  private let record: CheckedRecord
  private let layout: RowLayout
  private(set) var entries: [CodingEntry] = []

  init(_ record: CheckedRecord, _ layout: RowLayout) {
    self.record = record
    self.layout = layout
  }

  /// - Parameters:
  ///   - type: Whose fields these are. Coding keys come in the order of its properties as a rule.
  ///   - path: The stored name of the composite whose fields these are; nil for a record's.
  mutating func node(_ type: (any Any.Type)?, path: String?) throws(StoreError) -> CodingNode {
    let properties = type.map { Reflection.storedProperties(of: $0) } ?? []
    var found: [(property: String, name: String, slot: CodingSlot)] = []
    for field in record.fields where field.composite == path {
      let type = properties.first { $0.name == field.property }?.type
      let name = path.map { String(field.name.dropFirst($0.count + 1)) } ?? field.name
      found.append((field.property, name, try slot(field, type)))
    }
    for described in record.transients where described.composite == path {
      let property = described.transient.property
      found.append((property, property, slot(described.transient, path: path)))
    }
    func order(_ property: String) -> Int {
      properties.firstIndex { $0.name == property } ?? properties.count
    }
    found.sort { order($0.property) < order($1.property) }
    return CodingNode(
      path: path, properties: found.map(\.property), names: found.map(\.name),
      slots: found.map(\.slot))
  }

  private mutating func slot(
    _ field: DescribedField, _ type: (any Any.Type)?
  ) throws(StoreError) -> CodingSlot {
    guard let column = layout.index(named: field.name) else {
      throw .invalidDescription(
        record: record.schema.name, field: field.name, version: Int(layout.version),
        reason: "the schema does not have it")
    }
    let kind = try kind(field, type)
    entries.append(CodingEntry(path: field.name, kind: kind))
    var element: ScalarType?
    if case .array(let scalar) = kind { element = scalar }
    return CodingSlot(
      number: entries.count - 1, column: column, place: layout.columns[column].place,
      isOptional: field.isOptional, scalar: field.type.scalar, element: element)
  }

  private mutating func slot(_ transient: Transient, path: String?) -> CodingSlot {
    entries.append(
      CodingEntry(
        path: path.map { "\($0).\(transient.property)" } ?? transient.property,
        kind: .transient(transient.value)))
    return CodingSlot(
      number: entries.count - 1, column: -1,
      place: ColumnPlace(.composite, index: 0, nullBit: nil), isOptional: true, scalar: nil,
      element: nil)
  }

  private mutating func kind(
    _ field: DescribedField, _ type: (any Any.Type)?
  ) throws(StoreError) -> CodingEntry.Kind {
    switch field.type {
    case .composite:
      return .composite(try node(type.map { Reflection.wrapped($0) ?? $0 }, path: field.name))
    case .array(let element):
      guard let scalar = element.scalar else { break }
      return .array(scalar)
    case .transformable: return .coded(field.codec ?? JSONCodec())
    case .external(let type, _): return .external(type)
    default: break
    }
    return .scalar
  }
}
