import Cambium

/// A version as a program would describe it.
struct SwiftText {
  private let schema: Schema

  init(_ schema: Schema) {
    self.schema = schema
  }

  var text: String {
    let label = schema.label.map { ", label: \($0.quoted)" } ?? ""
    let types = schema.records.map { "\(Self.identifier($0.name)).self" }.joined(separator: ", ")
    let model = "let model = StoreModel(version: \(schema.version)\(label), records: [\(types)])\n"
    return
      (["import Cambium\nimport FoundationEssentials\n"]
      + schema.records.sorted { $0.name < $1.name }.map { Self.type($0) } + [model])
      .joined(separator: "\n")
  }

  private static func type(_ record: RecordSchema) -> String {
    let shape = RecordShape(record)
    let name = identifier(record.name)
    var lines = ["struct \(name): Record {"]
    lines += properties(of: shape.fields)
    lines += ["", "  static func recordDescription(for version: Int) -> RecordDescription {"]
    lines += record.swiftStatements(isNamed: name != record.name).map { "    " + $0 }
    return (lines + ["  }", "}", ""]).joined(separator: "\n")
  }

  // MARK: Properties

  private static func properties(of fields: [FieldShape], indented indentation: String = "  ")
    -> [String]
  {
    fields.flatMap { field -> [String] in
      let name = identifier(field.name)
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
    if field.type == .composite {
      let name = identifier(field.name)
      return name.capitalized
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
    case .scalar(let type): "\(type)".capitalized
    case .transformable: "JSONDocument"
    case .array(let element): "[\(swiftType(.scalar(element)))]"
    case .composite: "Never"
    // Binary data is read when it is asked for; a string is one like any other.
    case .external(.binaryData, _): "Blob"
    case .external(let type, _): swiftType(.scalar(type))
    }
  }

  // MARK: Names

  /// A name as Swift takes it.
  static func identifier(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && name.first?.isNumber == false
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    return isPlain ? name : "`\(name.filter { $0 != "`" })`"
  }
}

extension String {
  /// The text with a capital first letter, and the others as they are.
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
