/// One version of a model as a store keeps it: checked, and with the numbers by which trees and rows identify its parts.
///
/// Numbers are assigned when a store first receives a version, and are never reused, so records and fields are recognized
/// when they are renamed. Equal fingerprints mean that the same is stored.
public struct Schema: Hashable, Sendable {
  /// The version, counted from 1.
  public var version: Int { Int(storedVersion) }
  /// The version as keys and rows have it.
  var storedVersion: UInt32
  /// The label of the version; nil if it has none.
  public internal(set) var label: String?
  /// The records, by number.
  public internal(set) var records: [RecordSchema] {
    didSet { recordNames.renew(for: records.count) }
  }
  private var recordNames = NameTable()
  /// Above every number that a record or an index of the store ever had.
  var nextNumber: UInt32

  /// - Parameter nextNumber: Nil for the lowest that can be.
  init(version: UInt32, label: String?, records: [RecordSchema], nextNumber: UInt32? = nil) {
    storedVersion = version
    self.label = label
    self.records = records
    let numbers = records.flatMap { [$0.number] + $0.indexes.map(\.number) }
    self.nextNumber = nextNumber ?? (numbers.max() ?? 0) + 1
  }
}

/// A record type of one version.
public struct RecordSchema: Hashable, Sendable {
  /// Its number, by which its tree is named. Never reused in the store.
  package internal(set) var number: UInt32
  /// The stored name.
  public internal(set) var name: String
  /// The fields, by number, including the parts of composites.
  public internal(set) var fields: [FieldSchema] { didSet { fieldNames.renew(for: fields.count) } }
  private var fieldNames = NameTable()
  /// The numbers of the fields in the order in which they were declared when the store received the version.
  var order: [UInt32]
  /// The fields of the primary key, in its order.
  package internal(set) var primaryKey: [KeyPart]
  /// The indexes, including unique constraints.
  package internal(set) var indexes: [IndexSchema]
  /// A text of the user's that is part of the fingerprint.
  package internal(set) var modifier: String?
  /// The annotations of the record, by their names: see `RecordDescription.UserInfo`. Those of a kind are with its composite.
  package internal(set) var userInfo: [String: String] = [:]
  /// When records expire; nil if they do not.
  package internal(set) var expiry: ExpirySchema? = nil
  /// The kinds of the record, by the numbers of their composites: at most one of those with one parent is there.
  package internal(set) var kinds: [KindSchema] = []
  /// True if each record is of a kind.
  public internal(set) var isAbstract = false
  /// The other ends of references that lead here, by number.
  package internal(set) var inverses: [InverseSchema] = []
  /// Above every number that a field or an inverse of the record ever had.
  var nextField: UInt32

  /// - Parameters:
  ///   - order: Nil if the fields were declared in the order of their numbers.
  ///   - nextField: Nil for the lowest that can be.
  init(
    number: UInt32, name: String, fields: [FieldSchema], order: [UInt32]? = nil,
    primaryKey: [KeyPart], indexes: [IndexSchema], modifier: String?, nextField: UInt32? = nil
  ) {
    self.number = number
    self.name = name
    self.fields = fields
    self.order = order ?? fields.map(\.number)
    self.primaryKey = primaryKey
    self.indexes = indexes
    self.modifier = modifier
    self.nextField = nextField ?? (fields.map(\.number).max() ?? 0) + 1
  }
}

/// A field of a record.
public struct FieldSchema: Hashable, Sendable {
  /// Its number. Never reused in the record.
  package internal(set) var number: UInt32
  /// The stored name; of a composite's part, after the composite's name and a dot.
  public internal(set) var name: String
  /// The type of its values.
  package internal(set) var type: ColumnType
  /// True if its values may be null.
  public internal(set) var isOptional: Bool
  /// The number of the composite of which it is a part; `nil` if it is a part of none.
  package internal(set) var composite: UInt32?
  /// A text of the program's that is part of the fingerprint.
  package internal(set) var modifier: String?
  /// The reference; `nil` if the field is none.
  package internal(set) var reference: ReferenceSchema? = nil
  /// How the store computes its values; `nil` if programs give them.
  package internal(set) var derivation: DerivationSchema? = nil
  /// The annotations of the field, by their names: see `Field`.
  package internal(set) var userInfo: [String: String] = [:]
  /// The value of records that are created without their Swift type and do not name the field; `nil` if there is none.
  package internal(set) var defaultValue: FieldValue? = nil
}

extension FieldSchema {
  /// The type of its values as it is declared: `int64`, `array(of: string)`.
  public var typeName: String { "\(type)" }

  /// The name without that of the composite.
  package var lastName: String {
    name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(name[name.index(after: $0)...]) }
      ?? name
  }
}

/// A field in a key, and its order there.
package struct KeyPart: Hashable, Sendable {
  /// The field's number.
  package internal(set) var field: UInt32
  /// True if higher values come first.
  package internal(set) var isDescending: Bool
  /// True if strings are compared after Unicode's simple lowercase mapping. Never in a primary key.
  package internal(set) var isCaseInsensitive: Bool
  /// One entry for a record, for each element, or for each word. `.none` in a primary key.
  package internal(set) var expansion: Expansion = .none
  /// True if a byte before the value says whether it is null although the field cannot be null, or if there is none although it
  /// can be: the index is of an older version, in which that was otherwise. Never in a primary key.
  package internal(set) var flipsNullByte = false
  /// The collation by which strings are sorted; `nil` for the order of their bytes. Never in a primary key.
  package internal(set) var collation: Collation? = nil

  /// The values that a part of an index makes of a field's value: a record has an entry for each.
  package enum Expansion: Hashable, Sendable {
    /// The value itself.
    case none
    /// Each different element of an array.
    case elements
    /// Each different word of a string.
    case words
  }
}

/// An index: a tree that is updated with its record's.
package struct IndexSchema: Hashable, Sendable {
  /// Its number, by which its tree is named. Never reused in the store.
  package internal(set) var number: UInt32
  /// The name: that of the declaration, or the names of its parts.
  package internal(set) var name: String
  /// The parts, in their order.
  package internal(set) var parts: [KeyPart]
  /// True if no two records may have the same values in its parts, unless one of the values is null.
  package internal(set) var isUnique: Bool
  /// The condition of the records in the index; nil for all records.
  package internal(set) var condition: FieldCondition?
}

extension Schema {
  /// - Complexity: O(1); the first time, O(records).
  public func record(named name: String) -> RecordSchema? {
    place(ofRecord: name).map { records[$0] }
  }

  /// The place of a record among all.
  func place(ofRecord name: String) -> Int? { recordNames.place(of: name, in: records) { $0.name } }

  /// - Complexity: O(log records).
  func record(number: UInt32) -> RecordSchema? { records.first(number: number) { $0.number } }
}

extension RecordSchema {
  /// - Parameter name: The stored name; of a composite's part, after the composite's name and a dot.
  /// - Complexity: O(1); the first time, O(fields).
  public func field(named name: String) -> FieldSchema? {
    fieldNames.place(of: name, in: fields) { $0.name }.map { fields[$0] }
  }

  /// Returns the index with a name; nil if there is none.
  package func index(named name: String) -> IndexSchema? {
    indexes.first { $0.name == name }
  }

  /// The fields in the order of their declaration.
  ///
  /// - Complexity: O(fields × log fields).
  package var declaredFields: [FieldSchema] {
    let declared = order.compactMap { field($0) }
    // A record that was changed by hand may have other fields; none may be missing.
    return declared.count == fields.count ? declared : fields
  }

  /// The fields in the order of their declaration, by the numbers of the composites that they are parts of.
  ///
  /// - Complexity: O(fields × log fields).
  var declaredParts: [UInt32?: [FieldSchema]] {
    Dictionary(grouping: declaredFields, by: \.composite)
  }

  /// The stored names of the fields of the primary key, in its order.
  public var keyNames: [String] { primaryKey.map { name(of: $0) } }

  /// Returns the stored name of the field of a key's part.
  package func name(of part: KeyPart) -> String { field(part.field)?.name ?? "" }

  /// The record without its inverses, and without the indexes that references may have made.
  var withoutMadeIndexes: RecordSchema {
    var record = self
    record.inverses = []
    record.indexes.removeAll { isMade($0) }
    return record
  }

  /// Adds the references and derivations of a description of the record alone, to compare them with those that a store
  /// has. The description does not say that the other end leaves a reference unchecked.
  mutating func addRelations(
    of described: DescribedRecord, as stored: RecordSchema, in schema: Schema
  ) {
    for index in fields.indices {
      guard let field = described.field(named: fields[index].name) else {
        continue
      }
      let composite = stored.field(named: fields[index].name)?.composite
      fields[index].derivation = try? field.derivation?.schema(of: composite, in: stored)
      fields[index].derivation?.number(in: schema, of: stored)
      guard let reference = field.reference else { continue }
      let known = stored.field(named: fields[index].name)?.reference
      fields[index].reference = ReferenceSchema(
        record: known?.record ?? 0, destination: reference.destination,
        composite: known?.composite, kind: reference.kind,
        isChecked: reference.isChecked && known?.isChecked ?? true,
        deleteRule: .nullify, bounds: nil)
    }
  }

  /// The parts of a key as they are declared, by the names of their fields.
  func keyFields(_ parts: [KeyPart]) -> [KeyField] {
    parts.map { part in
      KeyField(
        name: name(of: part), isDescending: part.isDescending,
        isCaseInsensitive: part.isCaseInsensitive, expansion: part.expansion,
        collation: part.collation)
    }
  }

  /// Returns the field with a number; nil if there is none.
  ///
  /// - Complexity: O(log fields).
  package func field(_ number: UInt32) -> FieldSchema? { fields.field(number) }

  /// Returns true if a record may have no value for a field: for itself, or for the composite it is a part of.
  func canBeNull(_ field: FieldSchema) -> Bool {
    var field = field
    while !field.isOptional {
      // A composite's name is shorter than its part's, so this ends.
      guard let composite = field.composite.flatMap({ self.field($0) }) else { return false }
      field = composite
    }
    return true
  }

  /// The numbers of the composites that a field is a part of, the innermost first.
  func composites(_ field: FieldSchema) -> [UInt32] {
    var numbers: [UInt32] = []
    var field = field
    while let number = field.composite, let composite = self.field(number) {
      numbers.append(number)
      field = composite
    }
    return numbers
  }
}

extension [FieldSchema] {
  /// The fields in ascending order of their numbers.
  var inOrderOfNumbers: [FieldSchema] { sortedRarely { $0.number < $1.number } }

  /// The field with a number, by which they ascend.
  ///
  /// - Complexity: O(log count).
  func field(_ number: UInt32) -> FieldSchema? { first(number: number) { $0.number } }
}

extension Schema {
  /// Returns the schema with the options of external values that another one has, which describes the same.
  func writing(as other: Schema) -> Schema {
    var schema = self
    for (place, record) in records.enumerated() {
      guard let new = other.record(number: record.number) else { continue }
      for (column, field) in record.fields.enumerated() {
        guard let now = new.field(field.number), now.type.stored == field.type.stored else {
          continue
        }
        schema.records[place].fields[column].type = now.type
      }
    }
    return schema
  }

  /// Returns the schema with the annotations, defaults and expiries that another one has, which describes the same.
  func annotated(as other: Schema) -> Schema {
    var schema = self
    for (place, record) in records.enumerated() {
      guard let new = other.record(number: record.number) else { continue }
      schema.records[place].userInfo = new.userInfo
      schema.records[place].expiry = new.expiry
      for (column, field) in record.fields.enumerated() {
        let now = new.field(field.number)
        schema.records[place].fields[column].userInfo = now?.userInfo ?? [:]
        schema.records[place].fields[column].defaultValue = now?.defaultValue
      }
    }
    return schema
  }

  /// Returns the schema with the rules, bounds and other ends of references that another one has, which describes the
  /// same.
  func relating(as other: Schema) -> Schema {
    var schema = self
    for (place, record) in records.enumerated() {
      guard let new = other.record(number: record.number) else { continue }
      schema.records[place].inverses = new.inverses
      schema.records[place].nextField = max(record.nextField, new.nextField)
      for (column, field) in record.fields.enumerated() {
        guard let reference = new.field(field.number)?.reference,
          reference.leads(as: field.reference)
        else { continue }
        schema.records[place].fields[column].reference?.deleteRule = reference.deleteRule
        schema.records[place].fields[column].reference?.bounds = reference.bounds
      }
    }
    return schema
  }
}

extension BlobOptions {
  /// Why there can be no such options; nil if there can.
  var fault: String? {
    guard (0...StoreError.Limit.valueLength.bound / 2).contains(threshold) else {
      return "a threshold is 0 to \(StoreError.Limit.valueLength.bound / 2) bytes"
    }
    if case .zstd(let level) = compression, !BlobCompression.levels.contains(level) {
      return "the levels of zstd are \(BlobCompression.levels.lowerBound) to"
        + " \(BlobCompression.levels.upperBound)"
    }
    return nil
  }
}
