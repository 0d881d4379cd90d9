/// One version of a model as a store keeps it: checked, and with the numbers by which trees and rows identify its parts.
///
/// Numbers are assigned when a store first receives a version, and are never reused, so records and fields are recognized
/// when they are renamed. Equal fingerprints mean that the same is stored.
public struct Schema: Hashable, Sendable {
  /// The version, counted from 1.
  public let version: UInt32
  public let label: String?
  /// The records, by number.
  public let records: [RecordSchema]
  /// Above every number that a record or an index of the store ever had.
  let nextNumber: UInt32

  /// - Parameter nextNumber: Nil for the lowest that can be.
  init(version: UInt32, label: String?, records: [RecordSchema], nextNumber: UInt32? = nil) {
    self.version = version
    self.label = label
    self.records = records
    let numbers = records.flatMap { [$0.number] + $0.indexes.map(\.number) }
    self.nextNumber = nextNumber ?? (numbers.max() ?? 0) + 1
  }
}

/// A record type of one version.
public struct RecordSchema: Hashable, Sendable {
  /// Its number, by which its tree is named. Never reused in the store.
  public let number: UInt32
  public let name: String
  /// The fields, by number, including the parts of composites.
  public let fields: [FieldSchema]
  /// The fields of the primary key, in its order.
  public let primaryKey: [KeyPart]
  /// The indexes, including unique constraints.
  public let indexes: [IndexSchema]
  /// A text of the user's that is part of the fingerprint.
  public let modifier: String?
  /// Above every number that a field of the record ever had.
  let nextField: UInt32

  /// - Parameter nextField: Nil for the lowest that can be.
  init(
    number: UInt32, name: String, fields: [FieldSchema], primaryKey: [KeyPart],
    indexes: [IndexSchema], modifier: String?, nextField: UInt32? = nil
  ) {
    self.number = number
    self.name = name
    self.fields = fields
    self.primaryKey = primaryKey
    self.indexes = indexes
    self.modifier = modifier
    self.nextField = nextField ?? (fields.map(\.number).max() ?? 0) + 1
  }
}

/// A field of a record.
public struct FieldSchema: Hashable, Sendable {
  /// Its number. Never reused in the record.
  public let number: UInt32
  /// The stored name; of a composite's part, after the composite's name and a dot.
  public let name: String
  public let type: ColumnType
  public let isOptional: Bool
  /// The number of the composite of which it is a part.
  public let composite: UInt32?
  public let modifier: String?
}

/// A field in a key, and its order there.
public struct KeyPart: Hashable, Sendable {
  /// The field's number.
  public let field: UInt32
  public let isDescending: Bool
  /// True if strings are compared after Unicode's simple lowercase mapping. Never in a primary key.
  public let isCaseInsensitive: Bool
}

/// An index: a tree that is updated with its record's.
public struct IndexSchema: Hashable, Sendable {
  /// Its number, by which its tree is named. Never reused in the store.
  public let number: UInt32
  public let name: String
  public let parts: [KeyPart]
  /// True if no two records may have the same values in its parts, unless one of the values is null.
  public let isUnique: Bool
  /// The condition of the records in the index; nil for all records.
  public let condition: FieldCondition?
}
