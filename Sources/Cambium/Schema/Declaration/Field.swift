#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A stored property of a record.
///
/// ```swift
/// Field("title", indexed: true)
/// ```
///
/// Its type, and whether it is optional, are those of the property, unless the description states a type.
public struct Field: Sendable {
  let name: String
  private(set) var type: FieldType
  let storage: FieldStorage
  let property: String
  let isPrimaryKey: Bool
  /// Nil if the property says it.
  private(set) var statedOptional: Bool?
  let isUnique: Bool
  let isIndexed: Bool
  var defaultValue: FieldDefault?
  let rules: [FieldRule]
  let modifier: String?
  var migrationInfo: MigrationInfo?
  let userInfo: [String: String]
  let derivation: Derivation?
  let generation: Generation?

  var isOptional: Bool { statedOptional ?? false }

  /// Creates a field that has the type of its property.
  ///
  /// ```swift
  /// struct Book: Record {
  ///   var isbn: String
  ///   var title: String
  ///   var price: Decimal?
  ///   var author: Reference<Author>
  ///
  ///   static func recordDescription(for version: Int) -> RecordDescription {
  ///     Field("isbn", primaryKey: true)     // a string
  ///     Field("title", indexed: true)       // a string
  ///     Field("price")                      // a decimal number, optional
  ///     Field("author")                     // a reference to an Author
  ///   }
  /// }
  /// ```
  ///
  /// Properties of these types need no `type`: numbers, `Bool`, `String`, `Date`, `UUID`, `URL`, `Decimal`, `Data` and `Blob`;
  /// enums that are a `RecordStringEnum` or a `RecordIntegerEnum`; `Reference`s; arrays and sets of such values, but for blobs;
  /// and optionals of all of them. For others the program chooses: `.composite` or `.transformable`.
  ///
  /// State a type as well
  /// - in a version in which the field had another type than the property has today, or which has a field without a property;
  /// - for a reference with a delete rule, a count, or without a check;
  /// - for a property that holds the bare key of another record;
  /// - in a description that no Swift type stands for.
  ///
  /// If a version describes a field under a name that a later one changes by a `renamingID`, the type is that of the
  /// property with the later name, and 18 further descriptions are made to find it.
  ///
  /// A field without a property, or whose property has no type of a column, is refused with
  /// `StoreError.invalidDescription` when the model is checked; so is one of a struct without reflection metadata.
  ///
  /// - Parameters:
  ///   - name: The stored name, without a dot.
  ///   - primaryKey: True for the primary key, or for each part of it in the order of declaration.
  ///   - type: The stored type. If nil, that of the property.
  ///   - storage: Keeps long values in the row, or outside of it.
  ///   - optional: True if the property is an `Optional`. If nil, the property says it; a field with a stated type is then not
  ///     optional.
  ///   - property: The name of the Swift property, if it is not the stored name. Not needed if a later version renames the
  ///     field, by a `renamingID`, to one with a property of its name.
  ///   - unique: True if no two records may have the same value. Any number of them may have nil.
  ///   - indexed: True to keep an index, by which records are found and sorted. Unique fields are indexed anyway.
  ///   - default: The value of records that are created without the Swift type and do not name the field. It is kept in the
  ///     schema and is in no fingerprint. A migration to the version uses it if no `migrationInfo` states one.
  ///   - validation: The rules that a value must meet to be stored; nil always does.
  ///   - modifier: Any text; if it changes, so does the fingerprint.
  ///   - migrationInfo: The name or the default of the field when a store is migrated from the version before, or which
  ///     element is kept of a former list.
  ///   - userInfo: Annotations of the program's own, such as `["unit": "kg"]`, which are in no fingerprint.
  ///   - derivation: How the store computes the values; nil if the program gives them.
  ///   - generation: How the store gives a value to a record that has none; nil if the program gives all values.
  public init(
    _ name: String, primaryKey: Bool = false, type: FieldType? = nil,
    storage: FieldStorage = .inline, optional: Bool? = nil, property: String? = nil,
    unique: Bool = false, indexed: Bool = false, default: FieldValue? = nil,
    validation: [FieldRule] = [], modifier: String? = nil, migrationInfo: MigrationInfo? = nil,
    userInfo: [String: String] = [:], derived derivation: Derivation? = nil,
    generated generation: Generation? = nil
  ) {
    self.init(
      primaryKey: primaryKey, name: name, type: type ?? FieldType(kind: .inferred),
      storage: storage, optional: optional ?? false, property: property, unique: unique,
      indexed: indexed, default: `default`, validation: validation, modifier: modifier,
      migrationInfo: migrationInfo, userInfo: userInfo, derived: derivation, generated: generation)
    if type == nil { statedOptional = optional }
  }

  /// Creates a field that has the type of its property, and a default that is a Swift value: of an enum, or of a type that a
  /// codec encodes.
  ///
  /// ```swift
  /// Field("state", default: OrderState.open)
  /// ```
  public init(
    _ name: String, primaryKey: Bool = false, type: FieldType? = nil,
    storage: FieldStorage = .inline, optional: Bool? = nil, property: String? = nil,
    unique: Bool = false, indexed: Bool = false, default: some Encodable & Sendable,
    validation: [FieldRule] = [], modifier: String? = nil, migrationInfo: MigrationInfo? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.init(
      name, primaryKey: primaryKey, type: type, storage: storage, optional: optional,
      property: property, unique: unique, indexed: indexed, validation: validation,
      modifier: modifier, migrationInfo: migrationInfo, userInfo: userInfo)
    defaultValue = FieldDefault(encodable: `default`)
  }

  /// Creates a field whose type and optionality are stated, whatever its property is. They have to be the property's in the
  /// model's own version.
  ///
  /// - Parameters:
  ///   - primaryKey: True for the primary key, or for each part of it in the order of declaration.
  ///   - name: The stored name, without a dot.
  ///   - type: The stored type.
  ///   - storage: Keeps long values in the row, or outside of it.
  ///   - optional: True exactly if the property is an `Optional`.
  ///   - property: The name of the Swift property, if it is not the stored name. Not needed if a later version renames the
  ///     field, by a `renamingID`, to one with a property of its name.
  ///   - unique: True if no two records may have the same value. Any number of them may have nil.
  ///   - indexed: True to keep an index, by which records are found and sorted. Unique fields are indexed anyway.
  ///   - default: The value of records that are created without the Swift type and do not name the field, by your program or
  ///     by a tool such as `cambium put`. It is kept in the schema and is in no fingerprint, so a program with another default
  ///     opens the store; when it opens it for writing, its default is the store's from then on. A ``SchemaLock`` names the
  ///     change, since a migration to the version uses the default if no `migrationInfo` states one.
  ///   - validation: The rules that a value must meet to be stored; nil always does.
  ///   - modifier: Any text; if it changes, so does the fingerprint.
  ///   - migrationInfo: The name or the default of the field when a store is migrated from the version before, or which
  ///     element is kept of a former list.
  ///   - userInfo: Annotations of the program's own, such as `["unit": "kg"]`. They are kept in the schema, where `store.schema`
  ///     and `cambium schema` show them, are in no fingerprint, and may change without a new version of the model.
  ///   - derivation: How the store computes the values; nil if the program gives them.
  ///   - generation: How the store gives a value to a record that has none; nil if the program gives all values.
  public init(
    primaryKey: Bool = false, name: String, type: FieldType, storage: FieldStorage = .inline,
    optional: Bool = false, property: String? = nil, unique: Bool = false, indexed: Bool = false,
    default: FieldValue? = nil, validation: [FieldRule] = [], modifier: String? = nil,
    migrationInfo: MigrationInfo? = nil, userInfo: [String: String] = [:],
    derived derivation: Derivation? = nil, generated generation: Generation? = nil
  ) {
    self.name = name
    self.type = type
    self.storage = storage
    self.property = property ?? name
    isPrimaryKey = primaryKey
    statedOptional = optional
    isUnique = unique
    isIndexed = indexed
    defaultValue = `default`.map { FieldDefault($0) }
    rules = validation
    self.modifier = modifier
    self.migrationInfo = migrationInfo
    self.userInfo = userInfo
    self.derivation = derivation ?? generation.map { Derivation($0) }
    self.generation = generation
  }

  /// Creates a field with a default that is a Swift value: of an enum, or of a type that a codec encodes.
  public init(
    primaryKey: Bool = false, name: String, type: FieldType, storage: FieldStorage = .inline,
    optional: Bool = false, property: String? = nil, unique: Bool = false, indexed: Bool = false,
    default: some Encodable & Sendable, validation: [FieldRule] = [], modifier: String? = nil,
    migrationInfo: MigrationInfo? = nil, userInfo: [String: String] = [:]
  ) {
    self.init(
      primaryKey: primaryKey, name: name, type: type, storage: storage, optional: optional,
      property: property, unique: unique, indexed: indexed, validation: validation,
      modifier: modifier, migrationInfo: migrationInfo, userInfo: userInfo)
    defaultValue = FieldDefault(encodable: `default`)
  }

  /// Returns the field with a type that was found at its property.
  func with(type: FieldType, optional: Bool) -> Field {
    var field = self
    field.type = type
    field.statedOptional = optional
    return field
  }
}

/// The place of a field's values.
public struct FieldStorage: Hashable, Sendable {
  /// Nil if they are always in the row.
  let options: BlobOptions?

  /// In the row, whatever their length.
  public static let inline = FieldStorage(options: nil)

  /// In the row if they are short; outside of it, in files of blobs, if they are longer than the threshold. Those that are longer than
  /// 4 KiB are compressed, in the row as well. Fetching a record neither reads a blob nor decompresses a value if the property
  /// is a `Blob`. For binary data and strings.
  ///
  /// A value in the row is flushed with the row, once; one outside needs a flush of its own. A lower threshold suits records that are
  /// often changed or searched while such a value stays as it is: a row is written and read with all values that are in it.
  ///
  /// These options apply to values that are written from now on, and may change without a new version of the model.
  ///
  /// - Parameters:
  ///   - threshold: The most bytes of a value that stays in the row. If nil, 64 KiB, or 4 KiB if equal values are stored once.
  ///   - deduplicated: True to store equal values once.
  public static func external(
    threshold: Int? = nil, compression: BlobCompression = .zstd(level: 1),
    deduplicated: Bool = false
  ) -> FieldStorage {
    FieldStorage(
      options: BlobOptions(
        threshold: threshold, compression: compression, deduplicated: deduplicated))
  }
}

/// The name or the default of a field when a store is migrated from the version before, or which of its elements is kept.
///
/// A default acts in the step in which the field is new or no longer optional. A `renamingID` acts in each version
/// that states it if the version before does not state the same one for a field of that name: so it may be left in
/// place in later versions, and the same renaming may come again (a to b, to a, to b). A choice acts in the step in which the
/// field was a list and is a single value.
public struct MigrationInfo: Sendable {
  let defaultValue: FieldDefault?
  let renamingID: String?
  let choice: ElementChoice?

  init(defaultValue: FieldDefault?, renamingID: String?, choice: ElementChoice? = nil) {
    self.defaultValue = defaultValue
    self.renamingID = renamingID
    self.choice = choice
  }

  /// States that the field is the one that the version before calls `renamingID`.
  public init(renamingID: String) {
    self.init(defaultValue: nil, renamingID: renamingID)
  }

  /// Gives records without a value a default, which must convert exactly to the field's type: an integer for a double, a
  /// string for a URL.
  public init(default value: FieldValue, renamingID: String? = nil) {
    self.init(defaultValue: FieldDefault(value), renamingID: renamingID)
  }

  /// Gives records without a value a default that is a Swift value: of an enum, or of a type that a codec encodes.
  public init(default value: some Encodable & Sendable, renamingID: String? = nil) {
    self.init(defaultValue: FieldDefault(encodable: value), renamingID: renamingID)
  }

  /// States which element of a list is kept, in a version in which the field is a single value.
  ///
  /// ```swift
  /// Field("author", migrationInfo: .init(choosing: .first, renamingID: "authors"))
  /// ```
  ///
  /// - Parameters:
  ///   - choice: The element that is kept.
  ///   - value: The default for records whose list is empty.
  ///   - renamingID: The name that the version before has for the list, if it is another.
  public init(
    choosing choice: ElementChoice, default value: FieldValue? = nil, renamingID: String? = nil
  ) {
    self.init(
      defaultValue: value.map { FieldDefault($0) }, renamingID: renamingID, choice: choice)
  }
}

/// A default as it was declared, before it is known what it has to convert to.
struct FieldDefault: Sendable {
  /// Nil if only a codec can make something of it.
  let value: FieldValue?
  let encodable: (any Encodable & Sendable)?

  init(_ value: FieldValue) {
    self.value = value
    encodable = nil
  }

  init(encodable: some Encodable & Sendable) {
    value = FieldValue(converting: encodable)
    self.encodable = encodable
  }
}

extension Field {
  /// The column's type, as it is stored, and the codec that it takes.
  func column(
    among destinations: Destinations
  ) throws(DescriptionFault) -> (ColumnType, (any FieldCodec)?) {
    let (type, codec) = try type.column(among: destinations)
    guard let options = storage.options else { return (type, codec) }
    guard let scalar = type.scalar, scalar == .binaryData || scalar == .string else {
      throw DescriptionFault("only binary data and strings are stored externally, not \(type)")
    }
    return (.external(of: scalar, options), nil)
  }
}

extension FieldDefault {
  /// The value as the column holds it; nil for none.
  func value(
    of field: Field, _ type: ColumnType, _ codec: (any FieldCodec)?,
    _ rules: [CheckedRule]
  ) throws(DescriptionFault) -> FieldValue? {
    if type == .composite { throw DescriptionFault("a composite has no default; its parts have") }
    if value == .null {
      guard field.isOptional else {
        throw DescriptionFault("its default is nil though it is not optional")
      }
      return nil
    }
    let value = try codec.map { codec throws(DescriptionFault) in try encoded(by: codec) }
    if case .blob = self.value {
      throw DescriptionFault("its default is a blob; state its bytes as Data instead")
    }
    guard let value = value ?? self.value?.converted(to: type) else {
      throw DescriptionFault("its default, \(text), is not exactly a value of \(type)")
    }
    for rule in rules where !rule.holds(for: value) {
      throw DescriptionFault(
        "its default, \(text), is not valid: it has to hold that it \(rule.text)")
    }
    return value
  }

  private func encoded(by codec: any FieldCodec) throws(DescriptionFault) -> FieldValue {
    guard let encodable else {
      throw DescriptionFault("its default has to be a value that its codec encodes")
    }
    do {
      return .data(Data(try codec.encode(encodable)))
    } catch {
      throw DescriptionFault("its codec cannot encode its default: \(error)")
    }
  }

  private var text: String {
    if let value { "\(value)" } else if let encodable { "\(encodable)" } else { "nil" }
  }
}
