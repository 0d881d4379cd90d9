import Cambium

/// A version as a program would describe it.
struct SwiftText {
  private let schema: Schema

  init(_ schema: Schema) {
    self.schema = schema
  }

  var text: String {
    let label = schema.label.map { ", label: \(Self.quoted($0))" } ?? ""
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
    if name != record.name { lines.append("    RecordName(\(quoted(record.name)))") }
    if let modifier = record.modifier { lines.append("    RecordModifier(\(quoted(modifier)))") }
    let single = record.primaryKey.count == 1 && !(record.primaryKey.first?.isDescending ?? true)
    let key = single ? record.primaryKey.first?.field : nil
    lines += description(of: shape.fields, record, key: key, indented: "    ")
    if key == nil {
      lines.append("    PrimaryKey(\(parts(record.primaryKey, of: record)))")
    }
    lines += record.indexes.map { "    " + index($0, of: record) }
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

  // MARK: The description

  private static func description(
    of fields: [FieldShape], _ record: RecordSchema, key: UInt32?, indented indentation: String
  ) -> [String] {
    fields.flatMap { field -> [String] in
      let primary = field.number == key ? "primaryKey: true, " : ""
      let optional = field.isOptional ? ", optional: true" : ""
      let modifier =
        record.fields.first { $0.number == field.number }?.modifier
        .map { ", modifier: \(quoted($0))" } ?? ""
      let begin = "\(indentation)Field(\(primary)name: \(quoted(field.name)), type: "
      if field.type != .composite {
        return [
          begin + declaredType(field.type) + storage(of: field.type) + optional + modifier + ")"
        ]
      }
      return [begin + ".composite {"]
        + description(of: field.parts, record, key: nil, indented: indentation + "  ")
        + ["\(indentation)}\(optional)\(modifier))"]
    }
  }

  private static func declaredType(_ type: ColumnType) -> String {
    switch type {
    case .int64: ".integer"
    case .array(let element): ".array(of: \(declaredType(.scalar(element))))"
    case .transformable(let codec):
      codec == "json" ? ".transformable" : ".transformable(using: /* the codec \(quoted(codec)) */)"
    case .external(let type, _): declaredType(.scalar(type))
    default: ".\(type)"
    }
  }

  /// What is said of where values lie, where it is not in the row.
  private static func storage(of type: ColumnType) -> String {
    guard case .external(_, let options) = type else { return "" }
    let compression = options.compression == .none ? ".none" : "\(options.compression)"
    let method = compression.hasPrefix(".") ? compression : ".\(compression)"
    let deduplicated = options.deduplicated ? ", deduplicated: true" : ""
    return
      ", storage: .external(threshold: \(options.threshold), compression: \(method)\(deduplicated))"
  }

  private static func index(_ index: IndexSchema, of record: RecordSchema) -> String {
    let name = index.name == defaultName(index, of: record) ? "" : ", named: \(quoted(index.name))"
    let condition = index.condition.map { ", where: \($0.swift)" } ?? ""
    return
      "\(index.isUnique ? "Unique" : "Index")(\(parts(index.parts, of: record))\(name)\(condition))"
  }

  private static func defaultName(_ index: IndexSchema, of record: RecordSchema) -> String {
    index.parts.map { part in
      record.name(of: part) + (part.isCaseInsensitive ? " without case" : "")
        + (part.isDescending ? " descending" : "")
    }.joined(separator: ", ")
  }

  private static func parts(_ parts: [KeyPart], of record: RecordSchema) -> String {
    parts.map { part in
      let name = quoted(record.name(of: part))
      if part.isCaseInsensitive {
        return ".caseInsensitive(\(name)\(part.isDescending ? ", descending: true" : ""))"
      }
      return part.isDescending ? ".descending(\(name))" : name
    }.joined(separator: ", ")
  }

  // MARK: Names

  /// A name as Swift takes it.
  static func identifier(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && name.first?.isNumber == false
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    return isPlain ? name : "`\(name.filter { $0 != "`" })`"
  }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      quoted += scalar == "'" ? "'" : scalar.escaped(asASCII: false)
    }
    return quoted + "\""
  }
}

extension FieldCondition {
  /// The condition as descriptions write it; what they seldom have, as text.
  fileprivate var swift: String {
    switch self {
    case .comparison(let field, let comparison, let value):
      ".comparison(field: \(SwiftText.quoted(field)), .\(comparison), \(value.swift))"
    case .isIn(let field, let values):
      ".isIn(field: \(SwiftText.quoted(field)), [\(values.map(\.swift).joined(separator: ", "))])"
    case .and(let operands): ".and([\(operands.map(\.swift).joined(separator: ", "))])"
    case .or(let operands): ".or([\(operands.map(\.swift).joined(separator: ", "))])"
    case .not(let operand): ".not(\(operand.swift))"
    default: "<#\(self)#>"
    }
  }
}

extension FieldValue {
  fileprivate var swift: String {
    switch self {
    case .null: "nil"
    case .string(let text): SwiftText.quoted(text)
    case .boolean, .integer, .double: literal
    case .unsigned(let value): ".unsigned(\(value))"
    default: "<#\(literal)#>"
    }
  }
}

extension String {
  /// The text with a capital first letter, and the others as they are.
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
