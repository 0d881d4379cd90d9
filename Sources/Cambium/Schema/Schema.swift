/// One version of a model as a store keeps it: checked, and with the numbers that trees and rows know it by.
///
/// Numbers are given when a store first takes a version in, and are never used again for anything else, so
/// what has another name in the next version is still known. Equal fingerprints mean that what is stored
/// is the same.
public struct Schema: Hashable, Sendable {
  /// From 1.
  public let version: UInt32
  public let label: String?
  /// By number.
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

/// One record type of one version.
public struct RecordSchema: Hashable, Sendable {
  /// Never used again in the store. Its tree is named by it.
  public let number: UInt32
  public let name: String
  /// By number; the parts of composites among them.
  public let fields: [FieldSchema]
  /// In the order of the key.
  public let primaryKey: [KeyPart]
  /// Unique constraints too.
  public let indexes: [IndexSchema]
  /// What the user sets to make the fingerprint differ though nothing else does.
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

/// One field of a record.
public struct FieldSchema: Hashable, Sendable {
  /// Never used again in the record.
  public let number: UInt32
  /// Of a composite's part: with the composite's name and a dot before it.
  public let name: String
  public let type: ColumnType
  public let isOptional: Bool
  /// The number of the composite it is a part of.
  public let composite: UInt32?
  public let modifier: String?
}

/// A field in a key, and how it is ordered there.
public struct KeyPart: Hashable, Sendable {
  /// The field's number.
  public let field: UInt32
  public let isDescending: Bool
  /// Compared after Unicode's simple lowercase mapping. Only of strings, and never in a primary key.
  public let isCaseInsensitive: Bool
}

/// An index: a tree that is kept in step with its record's.
public struct IndexSchema: Hashable, Sendable {
  /// Never used again in the store. Its tree is named by it.
  public let number: UInt32
  public let name: String
  public let parts: [KeyPart]
  /// No two records have the same values in its parts, unless one of them is null.
  public let isUnique: Bool
  /// Only records that meet it are in the index; nil for all.
  public let condition: FieldCondition?
}
