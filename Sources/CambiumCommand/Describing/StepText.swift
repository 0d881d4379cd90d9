import Cambium

/// The skeleton of a step: inferred changes as remarks, and a place for those that only a program can state.
struct StepText {
  private let old: Schema
  private let new: Schema

  init(from old: Schema, to new: Schema) {
    self.old = old
    self.new = new
  }

  var text: String {
    let label = new.label.map { ", label: \($0.quoted)" } ?? ""
    var lines = ["MigrationStep(to: \(new.version)\(label)) {"]
    lines += old.differences(to: new, by: .number).map { "  // \("\($0)".inOneLine)" }
    let numbers = Set(new.records.map(\.number))
    for record in new.records {
      guard let before = old.records.first(where: { $0.number == record.number }) else {
        lines += Self.transform(into: record)
        continue
      }
      lines += Self.update(before, record)
    }
    for record in old.records where !numbers.contains(record.number) {
      lines.append(
        "  // \(record.name.inOneLine) is removed with all of its records, unless something is made of them:"
      )
      lines.append(
        "  // TransformRecords(\(record.name.quoted), into: …) { old, emit in … }")
    }
    return (lines + ["}", ""]).joined(separator: "\n")
  }

  private static func transform(into record: RecordSchema) -> [String] {
    [
      "  // \(record.name.inOneLine) is new, and empty unless something is made for it:",
      "  // TransformRecords(…, into: \(record.name.quoted)) { old, emit in … }",
    ]
  }

  /// A line for each field that may need one.
  private static func update(_ old: RecordSchema, _ new: RecordSchema) -> [String] {
    var fields: [String] = []
    for field in new.fields where field.type != .composite {
      let name = field.name.quoted
      guard let before = old.fields.first(where: { $0.number == field.number }) else {
        fields.append("    UpdateField(\(name), from: { old in \(placeholder(of: field)) })")
        continue
      }
      if case .array = before.type, case .scalar = field.type {
        fields.append("    UpdateField(\(name), choosing: .first)")
      } else if before.type != field.type {
        fields.append("    UpdateField(\(name), converting: .refuse)")
      } else if before.isOptional, !field.isOptional {
        fields.append(
          "    UpdateField(\(name), from: { old in try old[\(before.name.quoted), as: <#Swift type#>?.self] ?? \(placeholder(of: field)) })"
        )
      }
    }
    if fields.isEmpty { return [] }
    return ["  UpdateRecord(\(new.name.quoted)) {"] + fields + ["  }"]
  }

  private static func placeholder(of field: FieldSchema) -> String {
    field.isOptional ? "nil as FieldValue?" : "value of \(field.type)".inOneLine.asPlaceholder
  }
}
