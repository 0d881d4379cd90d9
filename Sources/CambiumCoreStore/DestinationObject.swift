public import Cambium

/// An object that a transformer makes: it has the identity of the source, and the relations that both versions have.
public final class DestinationObject {
  private(set) var record: DynamicRecord
  private let fields: [MappedField]

  init(_ name: String, _ fields: [MappedField], of old: OldRecord) {
    var values = RecordFields()
    for field in fields where field.isTakenOver {
      if let source = field.source { values[field.name] = old.record[source] }
    }
    record = DynamicRecord(name, values)
    self.fields = fields
  }

  /// The value of a field of the newer version. One that is not set has its default.
  public subscript(name: String) -> FieldValue {
    get { record[name] }
    set { record[name] = newValue }
  }

  /// Calls `body` for each attribute: each field that is not taken over already.
  ///
  /// - Parameter body: `source` is the field's name in the older version; nil if that does not have it.
  public func enumerateAttributes(
    _ body: (_ attribute: String, _ source: String?) throws -> Void
  ) rethrows {
    for field in fields where !field.isTakenOver { try body(field.name, field.source) }
  }
}

/// A field of a newer version, and where it was before.
struct MappedField: Sendable {
  let name: String
  /// Its name in the older version; nil if that does not have it.
  let source: String?
  /// True for keys and references, which transformers do not set.
  let isTakenOver: Bool
}

/// The two versions of a mapping.
struct MappedVersions {
  let old: Schema
  let new: Schema
  /// The name in the older version, by the newer one; of records, and of fields as `Record.field`.
  private var oldNames: [String: String] = [:]

  init(old: Schema, new: Schema, changes: [SchemaDifference]) {
    self.old = old
    self.new = new
    for difference in changes {
      guard case .changed(.name, let from?, _) = difference.change,
        let record = difference.record
      else { continue }
      oldNames[difference.field.map { "\(record).\($0)" } ?? record] = from
    }
  }

  func oldName(of record: String) -> String? {
    let name = oldNames[record] ?? record
    return old.record(named: name) == nil ? nil : name
  }

  func newName(of record: String) -> String? {
    new.records.first { oldName(of: $0.name) == record }?.name
  }

  /// The fields that a transformation makes.
  func fields(from source: String, to destination: String) -> [MappedField] {
    guard let old = old.record(named: source), let new = new.record(named: destination) else {
      return []
    }
    let keys = Set(new.keyNames)
    return new.fields.filter { !$0.name.contains(".") }.map { field in
      let before = old.field(named: oldNames["\(destination).\(field.name)"] ?? field.name)
      let isTakenOver = keys.contains(field.name) || before.map { isSame($0, field) } ?? false
      return MappedField(name: field.name, source: before?.name, isTakenOver: isTakenOver)
    }
  }

  /// True if both are references of one shape to one record.
  private func isSame(_ before: FieldSchema, _ after: FieldSchema) -> Bool {
    guard let old = before.destination, let new = after.destination else { return false }
    return before.typeName == after.typeName && oldName(of: new) == old
  }
}
