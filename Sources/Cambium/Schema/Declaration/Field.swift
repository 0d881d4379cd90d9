/// One stored property of a record.
public struct Field: Sendable {
  let name: String
  let type: FieldType
  let storage: FieldStorage
  let property: String
  let isPrimaryKey: Bool
  let isOptional: Bool
  let isUnique: Bool
  let isIndexed: Bool
  let defaultValue: FieldDefault?
  let rules: [FieldRule]
  let modifier: String?
  let migrationInfo: MigrationInfo?

  /// - Parameters:
  ///   - primaryKey: Whether it is the primary key, or a part of it in the order of declaration.
  ///   - name: What it is stored as; without a dot.
  ///   - type: What it is stored as.
  ///   - storage: Whether long values lie outside the row.
  ///   - optional: Whether it may be nil: exactly if the property is an `Optional`.
  ///   - property: The Swift property, where that has another name.
  ///   - unique: Whether no two records have the same value. Any number of them may have nil.
  ///   - indexed: Whether an index helps to find records by it. What is unique is indexed.
  ///   - default: The value of records that are saved without the Swift type and do not name the field.
  ///   - validation: What a value has to meet to be stored; nil always does.
  ///   - modifier: Anything; where it changes, so does the fingerprint.
  ///   - migrationInfo: What to do about it when a store comes from the version before.
  public init(
    primaryKey: Bool = false, name: String, type: FieldType, storage: FieldStorage = .inline,
    optional: Bool = false, property: String? = nil, unique: Bool = false, indexed: Bool = false,
    default: FieldValue? = nil, validation: [FieldRule] = [], modifier: String? = nil,
    migrationInfo: MigrationInfo? = nil
  ) {
    self.init(
      primaryKey: primaryKey, name: name, type: type, storage: storage, optional: optional,
      property: property, unique: unique, indexed: indexed,
      defaultValue: `default`.map { FieldDefault($0) },
      validation: validation, modifier: modifier, migrationInfo: migrationInfo)
  }

  /// The same with a default that is a value of Swift's: of an enum, or of what a codec encodes.
  public init(
    primaryKey: Bool = false, name: String, type: FieldType, storage: FieldStorage = .inline,
    optional: Bool = false, property: String? = nil, unique: Bool = false, indexed: Bool = false,
    default: some Encodable & Sendable, validation: [FieldRule] = [], modifier: String? = nil,
    migrationInfo: MigrationInfo? = nil
  ) {
    self.init(
      primaryKey: primaryKey, name: name, type: type, storage: storage, optional: optional,
      property: property, unique: unique, indexed: indexed,
      defaultValue: FieldDefault(encodable: `default`),
      validation: validation, modifier: modifier, migrationInfo: migrationInfo)
  }

  /// A field as a lock has it: what else is said of it stands beside it there.
  init(
    name: String, type: FieldType, storage: FieldStorage, isOptional: Bool,
    defaultValue: FieldDefault?, modifier: String?, migrationInfo: MigrationInfo?
  ) {
    self.init(
      primaryKey: false, name: name, type: type, storage: storage, optional: isOptional,
      property: nil, unique: false,
      indexed: false, defaultValue: defaultValue, validation: [], modifier: modifier,
      migrationInfo: migrationInfo)
  }

  private init(
    primaryKey: Bool, name: String, type: FieldType, storage: FieldStorage, optional: Bool,
    property: String?, unique: Bool, indexed: Bool, defaultValue: FieldDefault?,
    validation: [FieldRule],
    modifier: String?, migrationInfo: MigrationInfo?
  ) {
    self.name = name
    self.type = type
    self.storage = storage
    self.property = property ?? name
    isPrimaryKey = primaryKey
    isOptional = optional
    isUnique = unique
    isIndexed = indexed
    self.defaultValue = defaultValue
    rules = validation
    self.modifier = modifier
    self.migrationInfo = migrationInfo
  }
}

/// Where the values of a field lie.
public struct FieldStorage: Hashable, Sendable {
  /// Nil where they are always in the row.
  let options: BlobOptions?

  /// In the row, however long they are.
  public static let inline = FieldStorage(options: nil)

  /// In the row where they are short; where they are longer than the threshold, outside of it, compressed: fetching
  /// the record does not read them where the property is a `Blob`. For binary data and strings.
  ///
  /// What is said here counts for values that are written from now on, and may change without a new version of the
  /// model.
  ///
  /// - Parameters:
  ///   - threshold: The most bytes of a value that stays in the row.
  ///   - deduplicated: Whether a value that is stored already is stored once.
  public static func external(
    threshold: Int = 4096, compression: BlobCompression = .zstd(level: 1),
    deduplicated: Bool = false
  ) -> FieldStorage {
    FieldStorage(
      options: BlobOptions(
        threshold: threshold, compression: compression, deduplicated: deduplicated))
  }
}
