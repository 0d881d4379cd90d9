/// All records of one version as described, and what each was in the version before.
struct DescribedVersion: Sendable {
  let version: Int
  let records: [DescribedRecord]
  /// By the records' names.
  private(set) var lineages: [String: Lineage] = [:]

  /// The names of a record and its fields in the version before.
  struct Lineage: Sendable {
    /// Nil for a record that is new.
    var ancestor: String?
    /// The full names of fields that were there, to the names they had.
    var fields: [String: String] = [:]
  }

  /// - Throws: `.invalidDescription` for a name that is there twice, or a renaming of what is not there.
  init(
    version: Int, records: [DescribedRecord], after previous: DescribedVersion?
  ) throws(StoreError) {
    self.version = version
    self.records = records
    var names: Set<String> = []
    for record in records where !names.insert(record.name).inserted {
      throw fault(record.name, nil, "another record is stored as \(record.name) too")
    }
    let ancestors = try ancestors(in: previous)
    for record in records {
      lineages[record.name] = try lineage(of: record, ancestors[record.name], in: previous)
    }
  }

  func record(named name: String) -> DescribedRecord? {
    records.first { $0.name == name }
  }

  private func fault(_ record: String, _ field: String?, _ reason: String) -> StoreError {
    .invalidDescription(record: record, field: field, version: version, reason: reason)
  }
}

extension DescribedVersion {
  /// Returns the name that each record had: its `renamingID` if the version before does not state the same one,
  /// else its own.
  private mutating func ancestors(
    in previous: DescribedVersion?
  ) throws(StoreError) -> [String: String] {
    var ancestors: [String: String] = [:]
    var taken: Set<String> = []
    for record in records {
      guard let old = record.renamingID,
        previous?.record(named: record.name)?.renamingID != old
      else { continue }
      guard previous?.record(named: old) != nil else {
        throw fault(record.name, nil, "its renamingID names \(old), which was not there before")
      }
      guard taken.insert(old).inserted else {
        throw fault(record.name, nil, "two records were \(old) before")
      }
      ancestors[record.name] = old
    }
    for record in records where ancestors[record.name] == nil {
      if previous?.record(named: record.name) != nil, taken.insert(record.name).inserted {
        ancestors[record.name] = record.name
      }
    }
    return ancestors
  }

  private func lineage(
    of record: DescribedRecord, _ ancestor: String?, in previous: DescribedVersion?
  ) throws(StoreError) -> Lineage {
    let old = ancestor.flatMap { previous?.record(named: $0) }
    var lineage = Lineage(ancestor: old?.name)
    let oldFields = Dictionary(
      (old?.fields ?? []).map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
    // A composite comes before its parts, so what it was is known when theirs is looked for.
    let composites = [nil] + record.fields.filter { $0.type == .composite }.map { $0.name }
    for composite in composites {
      try trace(record, partsOf: composite, among: oldFields, into: &lineage)
    }
    return lineage
  }

  /// Finds the names that the fields of one level had: a `renamingID` if the version before does not state the
  /// same one for a field of that name, else their own.
  private func trace(
    _ record: DescribedRecord, partsOf composite: String?,
    among oldFields: [String: DescribedField], into lineage: inout Lineage
  ) throws(StoreError) {
    let fields = record.fields.filter { $0.composite == composite }
    let old = composite.map { lineage.fields[$0] }
    func oldName(_ last: String) -> String? {
      switch old {
      case nil: oldFields[last] == nil ? nil : last
      case .some(let composite):
        composite.map { $0 + "." + last }.flatMap { oldFields[$0] == nil ? nil : $0 }
      }
    }
    var taken: Set<String> = []
    for field in fields {
      guard let last = field.renamingID,
        oldFields[field.name]?.renamingID != last
      else { continue }
      guard let name = oldName(last) else {
        throw fault(
          record.name, field.name, "its renamingID names \(last), which was not there before")
      }
      guard taken.insert(name).inserted else {
        throw fault(record.name, field.name, "two fields were \(name) before")
      }
      lineage.fields[field.name] = name
    }
    for field in fields where lineage.fields[field.name] == nil {
      if let name = oldName(field.lastName), taken.insert(name).inserted {
        lineage.fields[field.name] = name
      }
    }
  }
}

extension DescribedField {
  /// Its name without that of its composite.
  var lastName: String {
    guard let composite else { return name }
    return String(decoding: name.utf8.dropFirst(composite.utf8.count + 1), as: UTF8.self)
  }
}
