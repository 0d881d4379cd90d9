/// One stored property of a record.
public struct Field: Sendable {
  let name: String
  let type: FieldType
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
  ///   - optional: Whether it may be nil: exactly if the property is an `Optional`.
  ///   - property: The Swift property, where that has another name.
  ///   - unique: Whether no two records have the same value. Any number of them may have nil.
  ///   - indexed: Whether an index helps to find records by it. What is unique is indexed.
  ///   - default: For whoever makes a record without the type.
  ///   - validation: What a value has to meet to be stored; nil always does.
  ///   - modifier: Anything; where it changes, so does the fingerprint.
  ///   - migrationInfo: What to do about it when a store comes from the version before.
  public init(
    primaryKey: Bool = false, name: String, type: FieldType, optional: Bool = false,
    property: String? = nil, unique: Bool = false, indexed: Bool = false,
    default: FieldValue? = nil, validation: [FieldRule] = [], modifier: String? = nil,
    migrationInfo: MigrationInfo? = nil
  ) {
    self.init(
      primaryKey: primaryKey, name: name, type: type, optional: optional, property: property,
      unique: unique, indexed: indexed, defaultValue: `default`.map { FieldDefault($0) },
      validation: validation, modifier: modifier, migrationInfo: migrationInfo)
  }

  /// The same with a default that is a value of Swift's: of an enum, or of what a codec encodes.
  public init(
    primaryKey: Bool = false, name: String, type: FieldType, optional: Bool = false,
    property: String? = nil, unique: Bool = false, indexed: Bool = false,
    default: some Encodable & Sendable, validation: [FieldRule] = [], modifier: String? = nil,
    migrationInfo: MigrationInfo? = nil
  ) {
    self.init(
      primaryKey: primaryKey, name: name, type: type, optional: optional, property: property,
      unique: unique, indexed: indexed, defaultValue: FieldDefault(encodable: `default`),
      validation: validation, modifier: modifier, migrationInfo: migrationInfo)
  }

  /// A field as a lock has it: what else is said of it stands beside it there.
  init(
    name: String, type: FieldType, isOptional: Bool, defaultValue: FieldDefault?, modifier: String?,
    migrationInfo: MigrationInfo?
  ) {
    self.init(
      primaryKey: false, name: name, type: type, optional: isOptional, property: nil, unique: false,
      indexed: false, defaultValue: defaultValue, validation: [], modifier: modifier,
      migrationInfo: migrationInfo)
  }

  private init(
    primaryKey: Bool, name: String, type: FieldType, optional: Bool, property: String?,
    unique: Bool, indexed: Bool, defaultValue: FieldDefault?, validation: [FieldRule],
    modifier: String?, migrationInfo: MigrationInfo?
  ) {
    self.name = name
    self.type = type
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
