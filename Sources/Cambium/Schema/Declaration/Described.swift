/// Why a description cannot be, and of which of its fields.
struct DescriptionFault: Error, Hashable {
  var field: String?
  var reason: String

  init(_ reason: String, field: String? = nil) {
    self.field = field
    self.reason = reason
  }

  /// Returns the fault with a field, if it does not name one.
  func of(_ field: String) -> DescriptionFault {
    DescriptionFault(reason, field: self.field ?? field)
  }
}

/// A field of a description: what only the program knows of it beside what is stored.
struct DescribedField: Sendable {
  /// The stored name; of a composite's part, after the composite's name and a dot.
  let name: String
  /// The full name of the composite that it is a part of.
  let composite: String?
  /// The Swift property, in the record or in the composite's struct.
  let property: String
  let type: ColumnType
  let isOptional: Bool
  let modifier: String?
  /// The codec of a transformable.
  let codec: (any FieldCodec)?
  let rules: [CheckedRule]
  /// The default, of the column's type.
  let defaultValue: FieldValue?
  /// The default, of the column's type.
  let migrationDefault: FieldValue?
  /// Its own last name in the version before.
  var renamingID: String?
  /// The declaration of the reference.
  var reference: DescribedReference?
}

/// A property that is not stored, and the composite in whose struct it is.
struct DescribedTransient: Sendable {
  let composite: String?
  let transient: RecordDescription.Transient
}

/// A description taken apart and checked by itself: one version of one record.
struct DescribedRecord: Sendable {
  private(set) var name: String
  private(set) var renamingID: String?
  /// Nil for a record that was removed.
  let type: (any Record.Type)?
  private(set) var modifier: String?
  /// Composites before their parts.
  private(set) var fields: [DescribedField] = []
  private(set) var primaryKey: [KeyField] = []
  /// The indexes, including those of unique and indexed fields.
  private(set) var indexes: [RecordDescription.Index] = []
  private(set) var transients: [DescribedTransient] = []
  private(set) var validations: [RecordDescription.Validation] = []
  private(set) var declaredInverses: [InverseDeclaration] = []
  /// The inverses whose references were found.
  var inverses: [DescribedInverse] = []

  /// - Parameters:
  ///   - name: Its default stored name.
  ///   - destinations: The records that its references may lead to.
  init(
    _ description: RecordDescription, of type: (any Record.Type)?, name: String,
    among destinations: Destinations
  ) throws(DescriptionFault) {
    self.name = name
    self.type = type
    var flagged: [KeyField] = []
    var statements = Statements()
    for element in description.elements {
      switch element.kind {
      case .field(let field):
        do throws(DescriptionFault) {
          try add(field, to: nil, destinations)
        } catch { throw error.of(field.name) }
        if field.isPrimaryKey { flagged.append(.ascending(field.name)) }
      case .transient(let transient): try add(transient, to: nil)
      case .inverse(let inverse): declaredInverses.append(inverse)
      default: try add(element.kind, &statements)
      }
    }
    guard flagged.isEmpty || statements.keys.isEmpty else {
      throw DescriptionFault("its primary key is both a PrimaryKey and a field's; keep one of them")
    }
    primaryKey = statements.keys.first?.fields ?? flagged
    indexes += statements.indexes
    try refuseConstants()
  }
}

extension DescribedRecord {
  private struct Statements {
    var keys: [RecordDescription.PrimaryKey] = []
    var indexes: [RecordDescription.Index] = []
    var hasName = false
  }

  private mutating func add(
    _ statement: RecordDescription.Element.Kind, _ statements: inout Statements
  ) throws(DescriptionFault) {
    switch statement {
    case .primaryKey(let key):
      guard statements.keys.isEmpty else { throw DescriptionFault("it has two primary keys") }
      statements.keys.append(key)
    case .index(let index): statements.indexes.append(index)
    case .name(let recordName):
      guard !statements.hasName else { throw DescriptionFault("it has two names") }
      statements.hasName = true
      name = recordName.name
      renamingID = recordName.renamingID
    case .validation(let validation):
      guard let type, validation.test.subject == type else {
        throw DescriptionFault("the validation “\(validation.text)” is of another type")
      }
      validations.append(validation)
    case .modifier(let text):
      guard modifier == nil else { throw DescriptionFault("it has two modifiers") }
      modifier = text.text
    case .field, .transient, .inverse: break
    }
  }

  private mutating func add(
    _ field: Field, to composite: String?, _ destinations: Destinations
  ) throws(DescriptionFault) {
    if let reason = field.name.faultAsName { throw DescriptionFault("its name \(reason)") }
    let name = (composite.map { $0 + "." } ?? "") + field.name
    try claim(field.property, in: composite, name)
    let (type, codec) = try field.column(among: destinations)
    var rules: [CheckedRule] = []
    for rule in field.rules { rules.append(try CheckedRule(rule, for: type)) }
    let value = try field.defaultValue?.value(of: field, type, codec, rules)
    let migration = try field.migrationInfo?.defaultValue?.value(of: field, type, codec, rules)
    fields.append(
      DescribedField(
        name: name, composite: composite, property: field.property, type: type,
        isOptional: field.isOptional, modifier: field.modifier, codec: codec, rules: rules,
        defaultValue: value ?? nil, migrationDefault: migration ?? nil,
        renamingID: field.migrationInfo?.renamingID,
        reference: field.reference(in: destinations.version)))
    if field.isUnique || field.isIndexed {
      // Of an array, its elements are.
      let isArray = if case .array = type { true } else { false }
      indexes.append(
        RecordDescription.Index(
          fields: [isArray ? .elements(name) : .ascending(name)], name: nil,
          isUnique: field.isUnique, condition: nil))
    }
    if composite != nil, field.isPrimaryKey {
      throw DescriptionFault("a part of a composite is in no primary key", field: name)
    }
    if case .composite(let parts) = field.type.kind { try add(parts, to: name, destinations) }
  }

  private mutating func add(
    _ parts: RecordDescription, to composite: String, _ destinations: Destinations
  ) throws(DescriptionFault) {
    for element in parts.elements {
      switch element.kind {
      case .field(let field):
        do throws(DescriptionFault) {
          try add(field, to: composite, destinations)
        } catch { throw error.of(composite + "." + field.name) }
      case .transient(let transient): try add(transient, to: composite)
      default:
        throw DescriptionFault("a composite is of fields and transients only", field: composite)
      }
    }
  }

  private mutating func add(
    _ transient: RecordDescription.Transient, to composite: String?
  ) throws(DescriptionFault) {
    try claim(transient.property, in: composite, transient.property)
    transients.append(DescribedTransient(composite: composite, transient: transient))
  }

  /// Refuses a property that is described already.
  private func claim(
    _ property: String, in composite: String?, _ field: String
  ) throws(DescriptionFault) {
    let isClaimed =
      fields.contains { $0.composite == composite && $0.property == property }
      || transients.contains { $0.composite == composite && $0.transient.property == property }
    if isClaimed {
      throw DescriptionFault("the property \(property) is described twice", field: field)
    }
  }

  /// Refuses defaults that two records could not both have.
  private func refuseConstants() throws(DescriptionFault) {
    let unique = indexes.filter { $0.isUnique && $0.fields.count == 1 }.map { $0.fields[0].name }
    for field in fields
    where unique.contains(field.name) || primaryKey.map(\.name) == [field.name] {
      guard field.defaultValue == nil, field.migrationDefault == nil else {
        throw DescriptionFault(
          "it is unique, so there can be no default that two records would get", field: field.name)
      }
    }
  }
}

extension Field {
  fileprivate func reference(in version: Int) -> DescribedReference? {
    guard case .reference(let reference) = type.kind else { return nil }
    return DescribedReference(
      destination: reference.destination.name(in: version), deleteRule: reference.deleteRule,
      bounds: reference.bounds, isChecked: reference.isChecked)
  }
}

extension DescribedRecord {
  /// The record as if there were no others, and had been no version before.
  var alone: DescribedRecord {
    var copy = self
    copy.renamingID = nil
    copy.declaredInverses = []
    for index in fields.indices {
      copy.fields[index].renamingID = nil
      copy.fields[index].reference = nil
    }
    return copy
  }

  /// Makes the reference at a place one that may lead nowhere.
  mutating func uncheck(_ field: Int) { fields[field].reference?.isChecked = false }
}

/// All records of one version as described, and what each was in the version before.
struct DescribedVersion: Sendable {
  let version: Int
  var records: [DescribedRecord]
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

  func fault(_ record: String, _ field: String?, _ reason: String) -> StoreError {
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
