#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension RecordSchema {
  /// Returns the record's description in Swift, a line for each statement, without the parts that only a program has.
  ///
  /// - Parameters:
  ///   - isNamed: True to state the record's name; without it, the type has that name.
  ///   - schema: The version that it is a record of.
  ///   - types: The names of that version's types, if the caller has them.
  package func swiftStatements(
    isNamed: Bool, in schema: Schema, types: SwiftTypeNames? = nil
  ) -> [String] {
    SwiftDescription(self, stated: [:], version: schema, types: types)
      .statements(name: isNamed ? "RecordName(\(name.quoted))" : nil)
  }

  /// Returns the description of a kind of the record in Swift.
  ///
  /// - Parameters:
  ///   - composite: The kind's composite.
  ///   - isNamed: True to state the kind's name; without it, the type has that name.
  ///   - parent: The type of its parent, and the property that contains it.
  ///   - schema: The version that it is a record of.
  ///   - types: The names of that version's types, if the caller has them.
  package func swiftStatements(
    ofKind composite: FieldSchema, isNamed: Bool, parent: (type: String, property: String),
    in schema: Schema, types: SwiftTypeNames? = nil
  ) -> [String] {
    SwiftDescription(self, stated: [:], version: schema, types: types).statements(
      ofKind: composite, name: isNamed ? "RecordName(\(composite.lastName.quoted))" : nil, parent)
  }
}

extension LockedRecord {
  /// The record's description in Swift, without its rules.
  func swiftStatements(by indentation: String, in version: Schema) -> String {
    let description = SwiftDescription(schema, stated: fields, version: version)
    let name = "RecordName(\(name.quoted)\(argument("renamingID", renamingID?.quoted)))"
    let kinds = schema.kinds.compactMap { schema.field($0.composite) }
      .sortedRarely { $0.name.precedes($1.name) }
    return
      (description.statements(name: name)
      + kinds.flatMap { kind in
        let parent = kind.composite.flatMap { schema.field($0)?.lastName } ?? schema.name
        return ["// in the description of its kind \(kind.name.quoted)"]
          + description.statements(
            ofKind: kind, name: "RecordName(\(kind.lastName.quoted))",
            (description.types.name(of: parent), parent.asProperty.swiftIdentifier))
      }).map { indentation + $0 + "\n" }.joined()
  }
}

/// Writes the description of a record as a program would.
private struct SwiftDescription {
  let record: RecordSchema
  private let parts: [UInt32?: [FieldSchema]]
  /// The parts of fields that are in no schema.
  let stated: [String: LockedField]
  /// The version that it is a record of.
  let version: Schema
  let names: SwiftNames
  let types: SwiftTypeNames

  init(
    _ record: RecordSchema, stated: [String: LockedField], version: Schema,
    types: SwiftTypeNames? = nil
  ) {
    self.record = record
    parts = record.declaredParts
    self.stated = stated
    self.version = version
    let types = types ?? SwiftTypeNames(version)
    names = SwiftNames(record, types: types)
    self.types = types
  }

  func statements(name: String?) -> [String] {
    let part = record.primaryKey.first
    let key = record.primaryKey.count == 1 && part?.isDescending == false ? part?.field : nil
    var lines = [name].compactMap(\.self)
    if let modifier = record.modifier { lines.append("RecordModifier(\(modifier.quoted))") }
    if record.isAbstract { lines.append("Abstract()") }
    if let userInfo = record.userInfo.swift { lines.append("UserInfo(\(userInfo))") }
    lines += fields(of: nil, key)
    if key == nil { lines.append("PrimaryKey(\(swift(record.primaryKey)))") }
    return lines + indexes(of: nil) + inverses(of: nil) + [record.expirySwift].compactMap(\.self)
  }

  func statements(
    ofKind composite: FieldSchema, name: String?, _ parent: (type: String, property: String)
  ) -> [String] {
    var lines = [name].compactMap(\.self)
    if let modifier = composite.modifier { lines.append("RecordModifier(\(modifier.quoted))") }
    lines.append("Parent(\(parent.type).self, property: \(parent.property.quoted))")
    if record.kind(composite.number)?.isAbstract ?? false { lines.append("Abstract()") }
    if let userInfo = composite.userInfo.swift { lines.append("UserInfo(\(userInfo))") }
    return lines + fields(of: composite.number, nil) + indexes(of: composite)
      + inverses(of: composite.name)
  }

  /// The inverses of references that lead to a kind, or to records of any.
  private func inverses(of kind: String?) -> [String] {
    record.inverses.filter { reference(of: $0)?.reference?.kind == kind }
      .sortedRarely { $0.name.precedes($1.name) }.map(statement)
  }

  private func reference(of inverse: InverseSchema) -> FieldSchema? {
    version.record(named: inverse.related)?.field(named: inverse.reference)
  }

  /// The indexes of a kind, or of the record itself.
  private func indexes(of kind: FieldSchema?) -> [String] {
    record.indexes.filter { !record.isMade($0) && record.kind(of: $0) == kind?.number }.map {
      var index = $0
      index.condition = kind.map { index.condition?.without(kind: $0.name) } ?? index.condition
      return statement(index, in: kind)
    }
  }

  private func statement(_ inverse: InverseSchema) -> String {
    let field = reference(of: inverse)
    let owner = field?.reference?.typeName ?? record.name
    return
      "Inverse<\(types.name(of: owner)), \(types.name(of: inverse.related))>(\(inverse.name.quoted), of: \(inverse.reference.quoted)"
      + (field?.type.scalar == nil ? ", isList: true" : "")
      + argument("deleteRule", inverse.deleteRule.swift) + argument("count", inverse.bounds?.swift)
      + argument("renamingID", stated[inverse.name]?.renamingID?.quoted) + ")"
  }

  private func fields(of composite: UInt32?, _ key: UInt32?) -> [String] {
    let isKind = composite.map { record.kind($0) != nil } ?? false
    return (parts[composite] ?? []).filter {
      record.kind($0.number) == nil
        && !(isKind && $0.lastName == DescribedRecord.markerName)
    }.flatMap { field -> [String] in
      let primary = field.number == key ? "primaryKey: true, " : ""
      let begin = "Field(\(primary)name: \(field.lastName.quoted), type: "
      let end = "\(arguments(of: field)))"
      if let reference = field.reference {
        return [begin + reference.swift(field.type, types) + end]
      }
      guard field.type == .composite else { return [begin + field.type.swift + end] }
      let inner = fields(of: field.number, key).map { "  " + $0 }
      return [begin + ".composite {"] + inner + ["}" + end]
    }
  }

  private func arguments(of field: FieldSchema) -> String {
    let stated = stated[field.name]
    var storage: String?
    if case .external(_, let options) = field.type { storage = options.swift }
    let identifier = names.identifier(of: field.number)
    let property = identifier == field.lastName ? nil : identifier.quoted
    return argument("storage", storage) + (field.isOptional ? ", optional: true" : "")
      + argument("property", property)
      + argument("default", field.swiftDefault) + argument("modifier", field.modifier?.quoted)
      + argument("migrationInfo", stated?.migrationInfo)
      + argument("userInfo", field.userInfo.swift)
      + argument("derived", field.declaredDerivation(in: record)?.swift)
      + argument("generated", field.derivation?.sequence?.swift)
  }

  private func statement(_ index: IndexSchema, in kind: FieldSchema?) -> String {
    let isNamed = index.name != record.indexName(of: index.parts)
    let name = isNamed || kind != nil ? index.name.quoted : nil
    return (index.isUnique ? "Unique(" : "Index(") + swift(index.parts, in: kind)
      + argument("named", name)
      + argument("where", index.condition?.swift) + ")"
  }

  private func swift(_ parts: [KeyPart], in kind: FieldSchema? = nil) -> String {
    record.keyFields(parts).map { part in
      let name = part.name.inKind(kind).quoted
      if part.expansion != .none { return ".\(part.expansion)(\(name))" }
      if part.isCaseInsensitive {
        return ".caseInsensitive(\(name)\(part.isDescending ? ", descending: true" : ""))"
      }
      if let collation = part.collation {
        return ".collated(\(name), by: /* the collation \("\(collation)".quoted.inComment) */"
          + (part.isDescending ? ", descending: true)" : ")")
      }
      return part.isDescending ? ".descending(\(name))" : name
    }.joined(separator: ", ")
  }
}

extension RecordSchema {
  /// Returns the innermost kind that an index is only of; nil of one for all records.
  fileprivate func kind(of index: IndexSchema) -> UInt32? {
    kinds.filter { index.condition?.requires(name(of: $0)) ?? false }
      .max { name(of: $0).utf8.count < name(of: $1).utf8.count }?.composite
  }
}

extension FieldCondition {
  /// Returns the condition that is left of one of a kind.
  fileprivate func without(kind name: String) -> FieldCondition? {
    switch self {
    case .comparison(name, .notEqual, .null): return nil
    case .and(let operands):
      let left = operands.compactMap { $0.without(kind: name) }
      return left.count < 2 ? left.first : .and(left)
    default: return self
    }
  }
}

extension String {
  /// The name of a field of a kind, without those of the kind.
  fileprivate func inKind(_ kind: FieldSchema?) -> String {
    guard let kind, hasPrefix(kind.name + ".") else { return self }
    return String(dropFirst(kind.name.count + 1))
  }

  /// The name of a property for a type that is called so.
  package var asProperty: String { prefix(1).lowercased() + dropFirst() }
}

extension FieldSchema {
  /// Nil if there is none, or only a codec can make something of it.
  fileprivate var swiftDefault: String? {
    if case .transformable = type { return nil }
    return defaultValue?.swift
  }
}

extension LockedField {
  fileprivate var migrationInfo: String? {
    let stated = migrationDefault.map { (try? FieldValue(parsing: $0))?.swift ?? $0.asPlaceholder }
    let arguments = [
      choice.map { "choosing: \($0)" }, stated.map { "default: \($0)" },
      renamingID.map { "renamingID: \($0.quoted)" },
    ].compactMap(\.self)
    return arguments.isEmpty ? nil : ".init(\(arguments.joined(separator: ", ")))"
  }
}

extension ColumnType {
  fileprivate var swift: String {
    switch self {
    case .int64: ".integer"
    case .array(let element): ".array(of: \(ColumnType.scalar(element).swift))"
    case .transformable("json"): ".transformable"
    case .transformable(let codec):
      ".transformable(using: /* the codec \(codec.quoted.inComment) */)"
    case .external(let type, _): ".\(type)"
    default: ".\(self)"
    }
  }
}

extension ReferenceSchema {
  fileprivate func swift(_ type: ColumnType, _ types: SwiftTypeNames) -> String {
    ".reference\(type.scalar == nil ? "s" : "")(to: \(types.name(of: typeName)).self"
      + argument("deleteRule", deleteRule.swift) + argument("count", bounds?.swift)
      + (isChecked ? "" : ", checked: false") + ")"
  }
}

extension [String: String] {
  /// Nil if there is nothing in it.
  fileprivate var swift: String? {
    if isEmpty { return nil }
    let members = inOrder.map { "\($0.key.quoted): \($0.value.quoted)" }
    return "[" + members.joined(separator: ", ") + "]"
  }
}

extension Derivation {
  /// Nil for a sequence.
  fileprivate var swift: String? {
    if sequence != nil { return nil }
    let value = expression.map { kind == .value ? $0.quoted : "value: \($0.quoted)" }
    let arguments = [relation.map { "of: \($0.quoted)" }, field?.quoted, value].compactMap(\.self)
    return ".\(kind)" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
  }
}

extension DeleteRule {
  /// Nil for the rule that needs no words.
  fileprivate var swift: String? { self == .nullify ? nil : ".\(self)" }
}

extension RelationBounds {
  fileprivate var swift: String { "\(self)" }
}

extension String {
  /// The name of a property that is called so in Swift, between backticks if it is no plain identifier.
  package var swiftName: String { swiftIdentifier.inBackticks }

  /// The identifier as code has it: between backticks if it is no plain one.
  var inBackticks: String {
    isPlainIdentifier && !Self.swiftKeywords.contains(self) ? self : "`\(self)`"
  }

  /// The name without backticks, as `Field(property:)` has it: characters that Swift does not take between them, or
  /// that are invisible, are replaced. Names come from stores and databases that others made, and code follows them, so
  /// each Unicode scalar is looked at by itself: a backtick may be part of a `Character`.
  package var swiftIdentifier: String {
    var name = String.UnicodeScalarView()
    for scalar in unicodeScalars { name.append(scalar.isOfRawIdentifier ? scalar : "_") }
    // Spaces alone, operators, and names that begin with $ are not identifiers even between backticks.
    let isName = name.contains(where: \.properties.isAlphabetic) && name.first != "$"
    return isName ? String(name) : "_" + String(name)
  }

  private var isPlainIdentifier: Bool {
    guard let first = unicodeScalars.first, first.beginsName, self != "_" else { return false }
    return unicodeScalars.allSatisfy {
      $0.continuesName || $0.isOfRawIdentifier && $0.properties.isXIDContinue
    }
  }

  /// The name of the type of a record that is stored under this name: with a capital, so that no property is called so.
  package var swiftTypeName: String { swiftTypeIdentifier.inBackticks }

  /// The name of the type without backticks.
  var swiftTypeIdentifier: String { (prefix(1).uppercased() + dropFirst()).swiftIdentifier }

  /// Words of Swift that are likely to be names of fields.
  private static let swiftKeywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough",
    "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}

extension Unicode.Scalar {
  /// True if it may be in an identifier between backticks, and is visible there.
  fileprivate var isOfRawIdentifier: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      false
    case .spaceSeparator: self == " "
    default: self != "`" && self != "\\" && !properties.isDefaultIgnorableCodePoint
    }
  }
}

extension String {
  /// The text within a comment between `/*` and `*/`, which it does not end.
  fileprivate var inComment: String { separating("*", "/").separating("/", "*") }

  /// The text as a place for something that only a program has, which it does not end.
  package var asPlaceholder: String { "<#" + separating("#", ">") + "#>" }

  /// The text with a space wherever `second` follows on `first`.
  private func separating(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> String {
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar == second, text.last == first { text.append(" ") }
      text.append(scalar)
    }
    return String(text)
  }
}

extension BlobOptions {
  fileprivate var swift: String {
    let compression =
      switch self.compression {
      case .none: ".none"
      case .zstd(let level): ".zstd(level: \(level))"
      }
    return ".external(threshold: \(threshold), compression: \(compression)"
      + (deduplicated ? ", deduplicated: true)" : ")")
  }
}

extension FieldCondition {
  /// The condition as descriptions state it; a part that no index has, as text.
  fileprivate var swift: String {
    switch self {
    case .comparison(let field, let comparison, let value):
      ".comparison(field: \(field.quoted), .\(comparison), \(value.swift))"
    case .and(let operands): ".and([\(operands.map(\.swift).joined(separator: ", "))])"
    case .or(let operands): ".or([\(operands.map(\.swift).joined(separator: ", "))])"
    case .not(let operand): ".not(\(operand.swift))"
    default: "\(self)".asPlaceholder
    }
  }
}

extension FieldValue {
  fileprivate var swift: String {
    switch self {
    case .null: "nil"
    case .boolean, .integer, .string: literal
    case .unsigned(let value): ".unsigned(\(value))"
    case .float(let value) where value.isFinite: ".float(\(value))"
    case .double(let value) where value.isFinite: literal
    case .double(let value) where !value.isNaN: ".double(\(value < 0 ? "-" : "").infinity)"
    case .decimal(let value) where !value.isNaN:
      ".decimal(Decimal(string: \(value.reducedText.quoted)) ?? 0)"
    case .date(let value) where value.timeIntervalSinceReferenceDate.isFinite:
      ".date(Date(timeIntervalSinceReferenceDate: \(value.timeIntervalSinceReferenceDate)))"
    case .data(let value):
      ".data(Data([\(value.map { "\($0)" }.joined(separator: ", "))]))"
    // Strings become these where they are described.
    case .uuid(let value): value.uuidString.quoted
    case .url(let value): value.absoluteString.quoted
    case .array(let values): "[\(values.map(\.swift).joined(separator: ", "))]"
    default: literal.asPlaceholder
    }
  }
}

/// An argument after others; nothing if it has no value.
private func argument(_ label: String, _ value: String?) -> String {
  value.map { ", \(label): \($0)" } ?? ""
}
