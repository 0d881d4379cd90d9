/// The places of a version's trees while it is made: names by the numbers of records and indexes.
struct TreePlaces: Hashable, Sendable {
  var rows: [UInt32: String] = [:]
  /// Only of those that are whole.
  var indexes: [UInt32: String] = [:]
  var metadata = Entities.metadataName
  /// Values that migrations have set aside.
  var aside = Entities.asideName

  /// The trees of rows and indexes.
  var trees: Set<String> { Set(rows.values).union(indexes.values) }

  /// Creates the places in a store that is whole.
  init(of schema: Schema) {
    for record in schema.records {
      rows[record.number] = Entity.name(ofRows: record.number)
      for index in record.indexes {
        indexes[index.number] = Entity.name(ofIndex: index.number)
      }
    }
  }
}

/// A record of an open store: how its rows are read, where they and its index entries are, and what comes before one
/// of them is deleted. One that a Swift type stands for is a `RecordType`.
///
/// Nothing in it changes once its registry is complete; a class that is inherited from cannot say so to the compiler.
@usableFromInline
class Entity: @unchecked Sendable {
  final let layout: RowLayout
  final let rows: TreeSlot
  /// The keys of records that a salvage knows to be lost, since others lead to them.
  final let lost: TreeSlot
  /// Its place among the records of the schema.
  final let place: Int
  /// The kind that a Swift type stands for, by its place among the layout's; nil for all rows.
  @usableFromInline final let kind: Int?
  /// The bit that is set in rows that are not of the kind; -1 if there is no kind.
  @usableFromInline final let kindBit: Int
  /// True if its rows are of kinds.
  @usableFromInline final let isOfHierarchy: Bool
  /// The innermost ancestor that its Swift type contains, and where; nil if it has none.
  final let parent: ParentPart?
  /// True if something is called before one of its rows is deleted: for itself, or for a kind of it.
  private(set) final var hasDeletionHook = false
  /// The names of the properties of its Swift type whose changes are tracked.
  final let trackedNames: [String]
  /// True if there are such properties: its own, or of a type that stands for the same rows.
  private(set) final var isTracked = false
  /// In step with the schema's indexes.
  final let indexes: [IndexTree]
  /// A collation of an index that the program has not given, so that no record can be written; nil if there is none.
  private final let missingCollation: Collation?
  /// The trees of blobs; nil if no field is external.
  final let blobs: BlobTrees?
  /// True if references to blobs are counted as rows change: not in trees that are no part of the state yet.
  final let countsBlobs: Bool
  /// The values of the fields that a record without a type does not name, by their places among the columns.
  final let defaults: [Int: FieldValue]

  struct IndexTree: Sendable {
    let layout: IndexLayout
    let slot: TreeSlot
  }

  /// Creates the entity of rows with a layout.
  ///
  /// - Parameters:
  ///   - checked: Its declaration in the model; nil if there is no model.
  ///   - place: Its place among the records of the schema.
  ///   - places: Where the trees are, if not where they are in a store that is whole.
  ///   - parent: The ancestors that its Swift type contains.
  /// - Throws: `.invalidDescription`, `.invalidValue` where the schema contradicts itself.
  init(
    _ layout: RowLayout, _ checked: CheckedRecord?, at place: Int, names: TreeNames,
    places: TreePlaces?, parent: ParentPart? = nil
  ) throws(StoreError) {
    self.layout = layout
    self.place = place
    self.parent = parent
    isOfHierarchy = layout.kinds != nil
    kind = checked?.kind.flatMap { layout.kinds?.place(named: $0) }
    kindBit = kind.flatMap { layout.kinds?.all[$0].nullBit } ?? -1
    let number = layout.record.number
    let name = Self.name(ofRows: number)
    let tree = places?.rows[number] ?? name
    rows = try names.slot(of: tree)
    lost = try names.slot(of: Self.name(ofLost: number))
    countsBlobs = tree == name
    blobs = layout.external.isEmpty ? nil : try BlobTrees(names)
    defaults = layout.defaults
    var indexes: [IndexTree] = []
    for index in try layout.indexLayouts() {
      let number = index.schema.number
      if let places, places.indexes[number] == nil { continue }
      let slot = try names.slot(of: places?.indexes[number] ?? Self.name(ofIndex: number))
      indexes.append(IndexTree(layout: index, slot: slot))
    }
    self.indexes = indexes
    // Trees that are being made are not yet read.
    trackedNames = places == nil ? checked?.trackedNames ?? [] : []
    missingCollation = indexes.lazy.flatMap(\.layout.schema.parts).compactMap(\.collation)
      .first { !$0.isProvided }
  }

  /// Refuses a write to records whose index entries cannot be made.
  ///
  /// - Throws: `.missingCollation`.
  @inline(__always)
  final func checkCollations() throws(StoreError) {
    if let missingCollation {
      throw CollationReference(missingCollation).missing(in: record.name)
    }
  }

  /// True if its Swift type itself has a hook before deletion.
  var hasOwnDeletionHook: Bool { false }

  /// Notes that one of those types that stand for the same rows has a hook before deletion. Only while the registry is made.
  final func noteDeletionHook() { hasDeletionHook = true }

  /// Notes that one of the types that stand for the same rows has tracked properties. Only while the registry is made.
  final func noteTracking() { isTracked = true }

  /// True if its records have parts outside their rows: blobs, or tracked values.
  final var readsOutside: Bool { blobs != nil || isTracked }

  /// Returns the stored name of a property of its Swift type; nil if there is no such property, or no type.
  func field(ofProperty property: PropertyReference) -> String? { nil }

  /// The properties of its Swift type; nil if there is none.
  var properties: PropertyFields? { nil }

  /// The name of its Swift type; nil if there is none.
  var typeName: String? { nil }

  // A type that contains its parent has the parent do these with the part that is it. The pointers are to values of the
  // entity's Swift type; one without a type is no parent.

  /// True if something is called before records are written.
  var preparesRecords: Bool { false }
  /// True if there are validations of whole records.
  var validatesRecords: Bool { false }
  /// True if something is called after records were read.
  var changesLoaded: Bool { false }

  /// Calls the hook before writing a record, which may change it.
  func willWrite(
    at record: UnsafeMutableRawPointer, key: [UInt8], replacing row: [UInt8]?,
    in writer: RecordWriter
  ) throws {}

  /// - Throws: `.invalidValue` for the first validation that is not met.
  func validate(at record: UnsafeRawPointer) throws(StoreError) {}

  /// Calls the hook after reading a record, which may change it.
  func didLoad(at record: UnsafeMutableRawPointer) throws {}

  /// Calls the type's hook before a record is deleted, which may change others.
  func willDelete(key: RawSpan, row: RawSpan, in writer: RecordWriter) throws {}

  // Inlined, as a call copies the whole description for one part of it.
  @inline(__always)
  final var record: RecordSchema { layout.record }

  /// The tree of the rows of record `number`.
  static func name(ofRows number: UInt32) -> String { "r\(number)" }
  /// The tree of index `number`.
  static func name(ofIndex number: UInt32) -> String { "i\(number)" }

  /// The tree of the lost records of number `number`.
  static func name(ofLost number: UInt32) -> String { "lost.\(number)" }

  /// Returns true if rows or index entries are in trees of this name.
  static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, first == UInt8(ascii: "r") || first == UInt8(ascii: "i")
    else { return false }
    return UInt32(name.dropFirst()) != nil
  }
}

extension Entity {
  /// Returns a reader of one of its rows, whose frame is checked.
  ///
  /// - Parameter blobs: Finds values that lie outside the row, of the state that the row is of.
  /// - Throws: as `RowReader.init`.
  @inline(__always)
  @_lifetime(copy key, copy row, borrow self)
  func row(
    key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil
  ) throws(StoreError) -> RowReader {
    let layout = layout
    let reader = try RowReader(key: key, row: row, layout: layout, blobs: blobs)
    // The layout lives as long as the entity.
    return unsafe _overrideLifetime(reader, borrowing: self)
  }

  /// A primary key as people read it, for errors.
  func text(ofKey key: RawSpan) -> String { layout.text(ofKey: key) }

  /// The error for an entry of an index whose record is not there (K3).
  func missingRow(_ key: RawSpan) -> StoreError {
    layout.fault(key: key, .indexEntries, "an index has an entry of it, but there is no row")
  }

  /// The error of a record that a type cannot be made of, with its key.
  @usableFromInline
  @inline(never)
  func unreadable(_ error: StoreError, key: RawSpan) -> StoreError {
    guard case .invalidValue(let record, let field, let reason) = error else { return error }
    return .unreadableRecord(
      record: record, key: text(ofKey: key), field: field, reason: reason)
  }
}

extension RowLayout {
  /// The values that a migration gives derived fields before it computes them: of all but times, which it does not compute, and
  /// primary keys, which it does not number.
  var underivedInMigration: [Int: FieldValue] {
    underived.filter { place, _ in
      columns[place].field.derivation?.kind != .modificationDate
        && columns[place].place.kind != .key
    }
  }

  /// The values of derived fields before they are computed, by their places among the columns.
  fileprivate var underived: [Int: FieldValue] {
    var values: [Int: FieldValue] = [:]
    for (place, column) in columns.enumerated() where column.field.derivation != nil {
      if !column.field.isOptional { values[place] = column.field.type.underived }
    }
    return values
  }

  /// The values of fields that a record does not name: their defaults, computed values, and composites whose parts have
  /// defaults.
  fileprivate var defaults: [Int: FieldValue] {
    var stated: [Int: FieldValue] = [:]
    for (place, column) in columns.enumerated() {
      if let value = column.field.defaultValue { stated[place] = value }
    }
    return defaults(stated: stated)
  }

  /// The values with other defaults, by their places among the columns.
  func defaults(stated: [Int: FieldValue]) -> [Int: FieldValue] {
    let known = underived.merging(stated) { one, _ in one }
    var defaults = known
    // Returns two answers about a field that a record does not name: does it have a value, and is part of it a stated default?
    func look(_ place: Int) -> (isThere: Bool, isStated: Bool) {
      var parts = (isThere: true, isStated: false)
      for part in columns[place].parts {
        let found = look(part)
        parts = (parts.isThere && found.isThere, parts.isStated || found.isStated)
      }
      let isOptional = columns[place].field.isOptional
      if stated.keys.contains(place) { return (true, true) }
      guard parts.isThere, parts.isStated, !isOptional else {
        return (isOptional || known.keys.contains(place), false)
      }
      if !known.keys.contains(place) { defaults[place] = .composite([:]) }
      return (true, true)
    }
    for place in outermost { _ = look(place) }
    return defaults
  }
}

extension RowLayout {
  /// A primary key as people read it, for errors.
  func text(ofKey key: RawSpan) -> String {
    let layout = self
    var reader = KeyReader(key, layout: layout)
    var parts: [String] = []
    for column in layout.key.columns {
      guard let value = try? reader.value(column) else { return "\(key.array())" }
      parts.append("\(value)")
    }
    return parts.joined(separator: ", ")
  }
}

extension KeyEncoder {
  /// Puts a primary key together from values that programs give: those of another type, as literals may be, where
  /// they are exactly values of the field's.
  ///
  /// - Throws: `.invalidQuery` for a wrong number of parts, or a value that is none of its field's type.
  func encode(primaryKey parts: [any FieldValueConvertible], of entity: Entity)
    throws(StoreError)
  {
    let layout = entity.layout
    guard parts.count == layout.key.columns.count else {
      throw .invalidQuery(
        record: layout.record.name, field: nil,
        reason: "the primary key has \(layout.key.columns.count) parts, not \(parts.count)")
    }
    begin()
    do throws(StoreError) {
      for (part, column) in zip(parts, layout.key.columns) {
        let value = part.fieldValue
        let type = layout.columns[Int(column.column)].field.type
        try append(value.converted(to: type) ?? value, column, of: layout)
      }
      try finishPrimaryKey(of: layout)
    } catch {
      throw error.ofQuery
    }
  }
}
