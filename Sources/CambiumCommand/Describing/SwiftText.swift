import Cambium

/// A version as a program would describe it.
struct SwiftText {
  private let schema: Schema

  init(_ schema: Schema) {
    self.schema = schema
  }

  var text: String {
    let label = schema.label.map { ", label: \($0.quoted)" } ?? ""
    let types = schema.records.flatMap { record in
      [record.name] + record.kinds.compactMap { record.field($0.composite)?.lastName }
    }.map { "\($0.swiftTypeName).self" }.joined(separator: ", ")
    let model = "let model = StoreModel(version: \(schema.version)\(label), records: [\(types)])\n"
    return
      (["import Cambium\nimport FoundationEssentials\n"]
      + schema.records.sorted { $0.name < $1.name }.flatMap { record in
        [type(record)] + kinds(of: nil, in: record)
      } + [model])
      .joined(separator: "\n")
  }

  /// The types of the kinds whose parent is a kind, or the record itself, each followed by those of its own kinds.
  private func kinds(of parent: FieldSchema?, in record: RecordSchema) -> [String] {
    record.kinds(of: parent?.number).compactMap { record.field($0.composite) }
      .sorted { $0.name < $1.name }.flatMap { kind in
        let name = kind.lastName.swiftTypeName
        let parentName = parent?.lastName ?? record.name
        let statements = record.swiftStatements(
          ofKind: kind, isNamed: name != kind.lastName,
          parent: (parentName.swiftTypeName, parentName.asProperty.swiftIdentifier), in: schema)
        let lines =
          [
            "struct \(name): Record\(isDestination(kind, of: record) ? ", Identifiable" : "") {",
            "  var \(parentName.asProperty.swiftName): \(parentName.swiftTypeName)",
          ] + Self.properties(of: RecordShape.fields(ofKind: kind, in: record))
          + identifier(ofKind: kind, of: record) + [
            "", "  static func recordDescription(for version: Int) -> RecordDescription {",
          ] + statements.map { "    " + $0 } + ["  }", "}", ""]
        return [lines.joined(separator: "\n")] + kinds(of: kind, in: record)
      }
  }

  private func type(_ record: RecordSchema) -> String {
    let shape = RecordShape(record)
    let name = record.name.swiftTypeName
    let identifier = identifier(of: record, shape)
    var lines = ["struct \(name): Record\(identifier == nil ? "" : ", Identifiable") {"]
    let kinds = record.kinds(of: nil).map(\.composite)
    lines += Self.properties(of: shape.fields.filter { !kinds.contains($0.number) })
    lines +=
      (identifier ?? []) + [
        "", "  static func recordDescription(for version: Int) -> RecordDescription {",
      ]
    lines += record.swiftStatements(isNamed: name != record.name, in: schema).map { "    " + $0 }
    return (lines + ["  }", "}", ""]).joined(separator: "\n")
  }

  /// Returns the code that makes a destination of references `Identifiable`: empty if its key is called `id`; nil if no reference leads to it.
  private func identifier(of record: RecordSchema, _ shape: RecordShape) -> [String]? {
    let isDestination = schema.records.contains { other in
      other.fields.contains { $0.reference?.destination == record.name }
    }
    guard isDestination, let part = record.primaryKey.first,
      let key = shape.fields.first(where: { $0.name == record.name(of: part) })
    else { return nil }
    if key.name == "id" { return [] }
    return ["  var id: \(Self.swiftType(of: key)) { \(key.name.swiftName) }"]
  }

  private func isDestination(_ kind: FieldSchema, of record: RecordSchema) -> Bool {
    schema.records.contains { other in
      other.fields.contains {
        $0.reference?.destination == record.name && $0.reference?.kind == kind.name
      }
    }
  }

  /// Returns the code that makes a kind that references lead to `Identifiable`: its key is that of the struct in it.
  private func identifier(ofKind kind: FieldSchema, of record: RecordSchema) -> [String] {
    guard isDestination(kind, of: record), let part = record.primaryKey.first,
      let key = RecordShape(record).fields.first(where: { $0.name == record.name(of: part) })
    else { return [] }
    var path: [String] = []
    var composite: FieldSchema? = kind
    while let inner = composite {
      composite = inner.composite.flatMap { record.field($0) }
      path.append((composite?.lastName ?? record.name).asProperty.swiftName)
    }
    let value = (path + [key.name.swiftName]).joined(separator: ".")
    return ["  var id: \(Self.swiftType(of: key)) { \(value) }"]
  }

  // MARK: Properties

  private static func properties(of fields: [FieldShape], indented indentation: String = "  ")
    -> [String]
  {
    fields.flatMap { field -> [String] in
      let name = field.name.swiftName
      let declaration =
        "\(indentation)var \(name): \(swiftType(of: field))\(field.isOptional ? "?" : "")"
      if case .transformable = field.type { return [declaration + "  // whatever its type is"] }
      if field.type != .composite { return [declaration] }
      return ["\(indentation)struct \(swiftType(of: field)): Codable, Sendable {"]
        + properties(of: field.parts, indented: indentation + "  ") + [
          "\(indentation)}", declaration,
        ]
    }
  }

  private static func swiftType(of field: FieldShape) -> String {
    if field.type == .composite { return field.name.swiftTypeName }
    if let destination = field.destination {
      let reference = "Reference<\(destination.swiftTypeName)>"
      return field.type.isList ? "[\(reference)]" : reference
    }
    return swiftType(field.type)
  }

  private static func swiftType(_ type: ColumnType) -> String {
    switch type {
    case .scalar(.boolean): "Bool"
    case .scalar(.int64): "Int"
    case .scalar(.uint8): "UInt8"
    case .scalar(.uint16): "UInt16"
    case .scalar(.uint32): "UInt32"
    case .scalar(.uint64): "UInt64"
    case .scalar(.uuid): "UUID"
    case .scalar(.url): "URL"
    case .scalar(.binaryData): "Data"
    // `Int8`, `Float`, `Date` and the like are named as the type is.
    case .scalar(let type): "\(type)".swiftTypeName
    case .transformable: "JSONDocument"
    case .array(let element): "[\(swiftType(.scalar(element)))]"
    case .composite: "Never"
    // Binary data is read when it is asked for; a string is one like any other.
    case .external(.binaryData, _): "Blob"
    case .external(let type, _): swiftType(.scalar(type))
    }
  }

}

extension ColumnType {
  fileprivate var isList: Bool { if case .array = self { true } else { false } }
}
