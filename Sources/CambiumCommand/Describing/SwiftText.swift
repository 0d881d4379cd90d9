import Cambium

/// A version as a program would describe it.
struct SwiftText {
  private let schema: Schema
  private let types: SwiftTypeNames

  init(_ schema: Schema) {
    self.schema = schema
    types = SwiftTypeNames(schema)
  }

  var text: String {
    let label = schema.label.map { ", label: \($0.quoted)" } ?? ""
    let records = schema.records.flatMap { record in
      [record.name] + record.kinds.compactMap { record.field($0.composite)?.lastName }
    }.map { "\(types.name(of: $0)).self" }.joined(separator: ", ")
    let model =
      "let model = StoreModel(version: \(schema.version)\(label), records: [\(records)])\n"
    var parts = ["import Cambium\nimport FoundationEssentials\n"]
    for record in schema.records.sorted(by: { $0.name < $1.name }) {
      let names = SwiftNames(record, types: types)
      parts.append(type(record, names))
      parts += kinds(of: nil, in: record, names)
    }
    return (parts + [model]).joined(separator: "\n")
  }

  /// The types of the kinds whose parent is a kind, or the record itself, each followed by those of its own kinds.
  private func kinds(
    of parent: FieldSchema?, in record: RecordSchema, _ names: SwiftNames
  ) -> [String] {
    record.kinds(of: parent?.number).compactMap { record.field($0.composite) }
      .sorted { $0.name < $1.name }.flatMap { kind in
        let name = types.name(of: kind.lastName)
        let parentName = parent?.lastName ?? record.name
        let statements = record.swiftStatements(
          ofKind: kind, isNamed: name != kind.lastName,
          parent: (types.name(of: parentName), parentName.asProperty.swiftIdentifier),
          in: schema, types: types)
        let lines =
          [
            "struct \(name): Record\(types.isDestination(record, kind: kind.number) ? ", Identifiable" : "") {",
            "  var \(parentName.asProperty.swiftName): \(types.name(of: parentName))",
          ] + properties(of: RecordShape.fields(ofKind: kind, in: record), names)
          + identifier(ofKind: kind, of: record, names) + [
            "", "  static func recordDescription(for version: Int) -> RecordDescription {",
          ] + statements.map { "    " + $0 } + ["  }", "}", ""]
        return [lines.joined(separator: "\n")] + kinds(of: kind, in: record, names)
      }
  }

  private func type(_ record: RecordSchema, _ names: SwiftNames) -> String {
    let shape = RecordShape(record)
    let name = types.name(of: record.name)
    let identifier = identifier(of: record, shape, names)
    var lines = ["struct \(name): Record\(identifier == nil ? "" : ", Identifiable") {"]
    let kinds = record.kinds(of: nil).map(\.composite)
    lines += properties(of: shape.fields.filter { !kinds.contains($0.number) }, names)
    lines +=
      (identifier ?? []) + [
        "", "  static func recordDescription(for version: Int) -> RecordDescription {",
      ]
    lines += record.swiftStatements(isNamed: name != record.name, in: schema, types: types)
      .map { "    " + $0 }
    return (lines + ["  }", "}", ""]).joined(separator: "\n")
  }

  /// Returns the code that makes a destination of references `Identifiable`: empty if its key is called `id`; nil if no reference leads to it.
  private func identifier(
    of record: RecordSchema, _ shape: RecordShape, _ names: SwiftNames
  ) -> [String]? {
    guard types.isDestination(record), let part = record.primaryKey.first,
      let key = shape.fields.first(where: { $0.name == record.name(of: part) })
    else { return nil }
    if names.identifier(of: key.number) == "id" { return [] }
    return ["  var id: \(swiftType(of: key, names)) { \(value(of: key, names)) }"]
  }

  /// Returns the expression for a property's value: some names would be taken for something else without `self`.
  private func value(of field: FieldShape, _ names: SwiftNames) -> String {
    let name = names.property(of: field.number)
    return Self.ambiguous.contains(name) ? "self.\(name)" : name
  }

  /// The type that each `Identifiable` type has, the value itself, accessors, and a word that an expression begins with.
  private static let ambiguous: Set<String> = [
    "ID", "_modify", "_read", "`self`", "await", "borrow", "didSet", "get", "modify", "mutate",
    "read", "set", "willSet",
  ]

  /// Returns the code that makes a kind that references lead to `Identifiable`: its key is that of the struct in it.
  private func identifier(
    ofKind kind: FieldSchema, of record: RecordSchema, _ names: SwiftNames
  ) -> [String] {
    guard types.isDestination(record, kind: kind.number), let part = record.primaryKey.first,
      let key = RecordShape(record).fields.first(where: { $0.name == record.name(of: part) })
    else { return [] }
    var path: [String] = []
    var composite: FieldSchema? = kind
    while let inner = composite {
      composite = inner.composite.flatMap { record.field($0) }
      path.append((composite?.lastName ?? record.name).asProperty.swiftName)
    }
    let value = (path + [names.property(of: key.number)]).joined(separator: ".")
    return ["  var id: \(swiftType(of: key, names)) { \(value) }"]
  }

  // MARK: Properties

  private func properties(
    of fields: [FieldShape], _ names: SwiftNames, indented indentation: String = "  "
  ) -> [String] {
    fields.flatMap { field -> [String] in
      let type = swiftType(of: field, names)
      let name = names.property(of: field.number)
      let declaration = "\(indentation)var \(name): \(type)\(field.isOptional ? "?" : "")"
      if case .transformable = field.type { return [declaration + "  // whatever its type is"] }
      if field.type != .composite { return [declaration] }
      return ["\(indentation)struct \(type): Codable, Sendable {"]
        + properties(of: field.parts, names, indented: indentation + "  ") + [
          "\(indentation)}", declaration,
        ]
    }
  }

  private func swiftType(of field: FieldShape, _ names: SwiftNames) -> String {
    if field.type == .composite { return names.type(of: field.number) }
    if let destination = field.destination {
      let reference = "Reference<\(types.name(of: destination))>"
      return field.type.isList ? "[\(reference)]" : reference
    }
    return Self.swiftType(field.type)
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
