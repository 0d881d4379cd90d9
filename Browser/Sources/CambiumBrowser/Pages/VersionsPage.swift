import Cambium

/// The versions that the store has had: one, or two side by side with their differences.
struct VersionsPage {
  private let schemas: [Schema]
  private let old: Schema?
  private let new: Schema

  /// - Throws: `PageFault` if there is no such version.
  init(_ schemas: [Schema], _ request: BrowserRequest) throws {
    self.schemas = schemas
    guard let newest = schemas.last else {
      throw PageFault(404, "No program has put a model into the store yet.")
    }
    func version(_ name: String) throws -> Schema? {
      guard let text = request.value(name) else { return nil }
      guard let found = schemas.first(where: { "\($0.version)" == text }) else {
        throw PageFault(404, "The store never had version \(text).")
      }
      return found
    }
    new = try version("new") ?? newest
    let number = new.version
    old = try version("old") ?? schemas.last { $0.version < number }
  }

  var page: Page {
    let title = old.map { "Version \($0.version) → \(new.version)" } ?? "Version \(new.version)"
    return Page(title, new.label.map { "“\($0)”" } ?? "") {
      if schemas.count > 1 { choice }
      if let old {
        let differences = old.differences(to: new, by: .number)
        element(.h2, Figures.count(differences.count, "difference"))
        element(.ul) { for difference in differences { element(.li, "\(difference)") } }
        let renamings = Renamings(differences)
        for record in new.records {
          side(record, beside: old.record(named: renamings.oldName(of: record.name)), renamings)
        }
        for record in old.records where !renamings.isKept(record.name, in: new) {
          removed(record)
        }
      } else {
        for record in new.records { side(record, beside: nil, nil) }
      }
    }
  }

  /// The versions, each with a link that compares it with the one before.
  private var choice: HTML {
    element(.nav, [.kind: "pager", .label: "Versions"]) {
      for (place, schema) in schemas.enumerated() {
        let label = schema.label.map { " “\($0)”" } ?? ""
        element(
          .a, schema.version == new.version ? [.current: "page"] : [:],
          to: Address(.versions, ["new": "\(schema.version)"])
            .with("old", place > 0 ? "\(schemas[place - 1].version)" : nil),
          "\(schema.version)\(label)")
      }
    }
  }

  /// The fields of a record, beside those of the older version if the record was there.
  private func side(
    _ record: RecordSchema, beside older: RecordSchema?, _ renamings: Renamings?
  ) -> HTML {
    element(.section) {
      element(.h3) {
        record.name + " "
        if renamings != nil, older == nil { element(.small, [.kind: "added"], "new") }
        if let older, older.name != record.name { element(.small, "was \(older.name)") }
      }
      if let renamings, let older {
        compared(record, older, renamings)
      } else {
        textTable(
          ["field", "type"],
          record.fields.map { [HTML($0.name), HTML(text(of: $0, in: record))] })
      }
    }
  }

  private func compared(
    _ record: RecordSchema, _ older: RecordSchema, _ renamings: Renamings
  ) -> HTML {
    let pairs = record.fields.map { field in
      (older.field(named: renamings.oldName(of: field.name, in: record.name)), Optional(field))
    }
    let kept = Set(pairs.compactMap(\.0?.name))
    let gone = older.fields.filter { !kept.contains($0.name) }.map {
      (Optional($0), FieldSchema?.none)
    }
    return element(.div, [.kind: "scroll"]) {
      element(.table, [.kind: "versions"]) {
        element(.thead) {
          element(.tr) {
            for title in [old?.title ?? "", new.title] {
              element(.th, [.colspan: "2", .scope: "colgroup"], title)
            }
          }
        }
        element(.tbody) {
          for (before, after) in pairs + gone { row(before, older, after, record) }
        }
      }
    }
  }

  private func row(
    _ before: FieldSchema?, _ older: RecordSchema, _ after: FieldSchema?, _ record: RecordSchema
  ) -> HTML {
    let texts = (before.map { text(of: $0, in: older) }, after.map { text(of: $0, in: record) })
    let kind =
      before == nil
      ? "added"
      : after == nil
        ? "removed" : texts.0 != texts.1 || before?.name != after?.name ? "changed" : "same"
    return element(.tr, [.kind: kind]) {
      element(.td, before?.name ?? "")
      element(.td, texts.0 ?? "")
      element(.td, after?.name ?? "")
      element(.td, texts.1 ?? "")
    }
  }

  private func removed(_ record: RecordSchema) -> HTML {
    element(.section) {
      element(.h3) {
        record.name + " "
        element(.small, [.kind: "removed"], "removed")
      }
    }
  }

  /// The type of a field, and its part in the key.
  private func text(of field: FieldSchema, in record: RecordSchema) -> String {
    field.typeText + (record.keyNames.contains(field.name) ? ", key" : "")
      + (field.defaultValue.map { ", default \($0.literal)" } ?? "")
  }
}

extension Schema {
  fileprivate var title: String { "version \(version)" + (label.map { " “\($0)”" } ?? "") }
}

/// The records and fields that have other names in the newer of two versions.
private struct Renamings {
  private var records: [String: String] = [:]
  private var fields: [Field: String] = [:]

  private struct Field: Hashable {
    let record: String
    let name: String
  }

  init(_ differences: [SchemaDifference]) {
    for difference in differences {
      guard case .changed(.name, let old?, _) = difference.change, let record = difference.record
      else { continue }
      if let field = difference.field {
        fields[Field(record: record, name: field)] = old
      } else {
        records[record] = old
      }
    }
  }

  func oldName(of record: String) -> String { records[record] ?? record }

  func oldName(of field: String, in record: String) -> String {
    fields[Field(record: record, name: field)] ?? field
  }

  /// Returns true if a record of the older version is in the newer one.
  func isKept(_ old: String, in new: Schema) -> Bool {
    new.records.contains { oldName(of: $0.name) == old }
  }
}
