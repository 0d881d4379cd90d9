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

/// A field of a description: the parts that only the program knows beside those that are stored.
struct DescribedField: Sendable {
  /// The stored name; of a composite's part, after the composite's name and a dot.
  let name: String
  /// The full name of the composite that it is a part of.
  let composite: String?
  /// The Swift property, in the record or in the composite's struct.
  var property: String
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
  /// The stored name of the record in another configuration whose keys it has; nil if it has none.
  var elsewhere: String?
  /// The number of ancestors of the type that declares it.
  var generation = 0
  var role = Role.field
  var derivation: Derivation?
  var userInfo: [String: String] = [:]
  /// The element that is kept if the field was a list in the version before.
  var choice: ElementChoice? = nil

  /// The Swift counterpart of a field.
  enum Role: Sendable {
    case field
    /// The composite of a kind, which is the type itself.
    case kind
    /// The only field of a kind that declares none: there is nothing else in its composite.
    case marker
  }
}

/// A property that is not stored, and the composite in whose struct it is.
struct DescribedTransient: Sendable {
  let composite: String?
  let transient: RecordDescription.Transient
  var generation = 0

  /// The property's name, with the composites around it.
  var name: String { composite.map { "\($0).\(transient.property)" } ?? transient.property }
}

/// A computed property, and the kind whose struct has it.
struct DescribedComputed: Sendable {
  let kind: String?
  let property: String
  /// The stored names of the fields that it depends on, with those of their composites.
  let fields: Set<String>
}

/// A property of the struct of a type, of an ancestor or of a composite.
private struct PropertyClaim: Hashable {
  let composite: String?
  let property: String
  let generation: Int
}

/// A description taken apart and checked by itself: one version of one record.
struct DescribedRecord: Sendable {
  private(set) var name: String
  private(set) var renamingID: String?
  /// Nil for a record that was removed.
  let type: (any Record.Type)?
  private(set) var modifier: String?
  private(set) var userInfo: [String: String] = [:]
  private(set) var expiry: Expiry?
  /// Composites before their parts.
  private(set) var fields: [DescribedField] = [] { didSet { fieldNames.renew(for: fields.count) } }
  private var fieldNames = NameTable()
  private(set) var primaryKey: [KeyField] = []
  /// The indexes, including those of unique and indexed fields.
  private(set) var indexes: [RecordDescription.Index] = []
  private(set) var transients: [DescribedTransient] = []
  private(set) var computed: [DescribedComputed] = []
  private(set) var validations: [RecordDescription.Validation] = []
  private(set) var declaredInverses: [InverseDeclaration] = []
  /// The inverses whose references were found.
  var inverses: [DescribedInverse] = []
  /// True if each record is of a kind.
  private(set) var isAbstract = false
  /// Parents before their kinds.
  private(set) var kinds: [DescribedKind] = []
  /// Its own struct, and those of its ancestors in it.
  private(set) var levels: [TypeLevel] = []
  /// The number of ancestors of the type whose statements are looked at.
  private var generation = 0
  /// The properties that are described already.
  private var claims: Set<PropertyClaim> = []

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
    var kinds: [KindDeclaration] = []
    levels = TypeLevel.levels(of: type, within: description.ancestors)
    for element in description.elements {
      generation = element.generation
      switch element.kind {
      case .field(let field):
        do throws(DescriptionFault) {
          try add(field, to: nil, destinations)
        } catch { throw error.of(field.name) }
        if field.isPrimaryKey { flagged.append(.ascending(field.name)) }
      case .transient(let transient): try add(transient, to: nil)
      case .inverse(let inverse): declaredInverses.append(inverse)
      case .kind(let kind): kinds.append(kind)
      default: try add(element.kind, &statements)
      }
    }
    guard flagged.isEmpty || statements.keys.isEmpty else {
      throw DescriptionFault("its primary key is both a PrimaryKey and a field's; keep one of them")
    }
    for computed in description.computed { try add(computed, of: nil) { $0 } }
    primaryKey = statements.keys.first?.fields ?? flagged
    indexes += statements.indexes
    for kind in kinds {
      try add(kind, to: nil, levels, description.ancestors.count + 1, destinations)
    }
    try refuseConstants()
    try refuseTrackedNames()
  }
}

// MARK: Kinds

extension DescribedRecord {
  /// - Parameters:
  ///   - parent: The composite of its parent; nil if that is the record itself.
  ///   - outer: The levels of its parent.
  private mutating func add(
    _ kind: KindDeclaration, to parent: String?, _ outer: [TypeLevel], _ generation: Int,
    _ destinations: Destinations
  ) throws(DescriptionFault) {
    let own = kind.description.statedName ?? kind.name
    let name = (parent.map { $0 + "." } ?? "") + own
    if let reason = own.faultAsName { throw DescriptionFault("its name \(reason)", field: name) }
    guard !fields.contains(where: { $0.name == name }) else {
      throw DescriptionFault(
        "it is a field or a kind, so another kind cannot be called so; give the kind another name with RecordName",
        field: name)
    }
    var described = DescribedKind(
      name: name, parent: parent, type: kind.type,
      levels: TypeLevel.levels(
        of: kind.type, in: name, generation, holding: outer, kind.property))
    let place = fields.count
    fields.append(
      DescribedField(
        name: name, composite: parent, property: "", type: .composite, isOptional: true,
        modifier: nil, codec: nil, rules: [], defaultValue: nil, migrationDefault: nil,
        renamingID: nil, generation: generation, role: .kind))
    self.generation = generation
    let indexStart = indexes.count
    var (modifier, renamingID): (String?, String?) = (nil, nil)
    var userInfo: [String: String] = [:]
    var kinds: [KindDeclaration] = []
    for element in kind.description.elements {
      switch element.kind {
      case .field(let field):
        guard !field.isPrimaryKey else { throw Self.keyOfKind(name) }
        do throws(DescriptionFault) {
          try add(field, to: name, destinations)
        } catch { throw error.of(name + "." + field.name) }
      case .transient(let transient): try add(transient, to: name)
      case .validation(let validation):
        guard let type = kind.type, validation.test.subject == type else {
          throw DescriptionFault(
            "the validation “\(validation.text)” is of another type", field: name)
        }
        described.validations.append(validation)
      case .abstract: described.isAbstract = true
      case .kind(let inner): kinds.append(inner)
      case .modifier(let text): modifier = text.text
      case .userInfo(let stated): userInfo.merge(stated.values) { $1 }
      case .name(let stated): renamingID = stated.renamingID
      case .primaryKey: throw Self.keyOfKind(name)
      case .index(let index):
        indexes.append(index.named(by: KindFieldNames(of: name, fields.map(\.name))))
      case .inverse(var inverse):
        inverse.kind = name
        declaredInverses.append(inverse)
      case .expiry(let expiry):
        throw DescriptionFault(
          "records expire by a field of their parent; state its expiry there", field: expiry.field)
      case .parent, .computed: break
      }
    }
    let names = KindFieldNames(of: name, fields.map(\.name))
    for computed in kind.description.computed {
      try add(computed, of: name) { names.name(of: $0) }
    }
    if !fields[place...].contains(where: { $0.composite == name }) { addMarker(to: name) }
    for index in indexStart..<indexes.count { indexes[index] = indexes[index].ofKind(name) }
    fields[place] = DescribedField(
      name: name, composite: parent, property: "", type: .composite, isOptional: true,
      modifier: modifier, codec: nil, rules: [], defaultValue: nil, migrationDefault: nil,
      renamingID: renamingID, generation: generation, role: .kind, userInfo: userInfo)
    self.kinds.append(described)
    for inner in kinds {
      try add(inner, to: name, described.levels, generation + 1, destinations)
    }
  }

  private static func keyOfKind(_ name: String) -> DescriptionFault {
    DescriptionFault(
      "a kind has the primary key of its parent, so it declares none; leave it out, or let its storage be `.copied`",
      field: name)
  }

  /// The field of a kind without others: a composite has at least one.
  static var markerName: String { "is" }

  private mutating func addMarker(to kind: String) {
    fields.append(
      DescribedField(
        name: kind + "." + Self.markerName, composite: kind, property: "", type: .boolean,
        isOptional: false, modifier: nil, codec: nil, rules: [], defaultValue: .boolean(true),
        migrationDefault: .boolean(true), renamingID: nil, generation: generation, role: .marker))
  }
}

extension TypeLevel {
  /// Returns the levels of a type that contains its ancestors.
  fileprivate static func levels(
    of type: (any Record.Type)?, within ancestors: [Ancestor]
  ) -> [TypeLevel] {
    var levels: [TypeLevel] = []
    var next = type
    for (place, ancestor) in ancestors.enumerated() {
      levels.append(
        TypeLevel(
          type: next, generation: ancestors.count - place, composite: nil,
          property: ancestor.property))
      next = ancestor.type
    }
    return levels + [TypeLevel(type: next, generation: 0, composite: nil, property: nil)]
  }

  /// Returns the levels of a kind that contains its parent.
  fileprivate static func levels(
    of type: (any Record.Type)?, in composite: String, _ generation: Int,
    holding parent: [TypeLevel], _ property: String
  ) -> [TypeLevel] {
    let own = TypeLevel(
      type: type, generation: generation, composite: composite, property: property)
    return [own] + parent
  }
}

/// The names that a kind has for fields: its own are in its composite, others in those around it, or in none.
private struct KindFieldNames: FieldNaming {
  private let prefixes: [String]
  private let fields: Set<String>

  init(of kind: String, _ fields: [String]) {
    var prefixes = [kind + "."]
    var rest = kind[...]
    while let dot = rest.lastIndex(of: ".") {
      rest = rest[..<dot]
      prefixes.append(rest + ".")
    }
    self.prefixes = prefixes
    self.fields = Set(fields)
  }

  /// Its own name if there is no such field: that is refused then.
  func name(of field: String) -> String {
    prefixes.lazy.map { $0 + field }.first { fields.contains($0) } ?? field
  }

  func relation(_ field: String) -> (name: String, fields: KindFieldNames) {
    (name(of: field), self)
  }

  func kind(_ name: String) -> String { name }

  func record(_ name: String) -> (name: String, kind: String?, fields: KindFieldNames) {
    (name, nil, self)
  }
}

extension RecordDescription.Index {
  /// The index with other names of fields.
  fileprivate func named(by names: KindFieldNames) -> RecordDescription.Index {
    RecordDescription.Index(
      fields: fields.map { field in
        KeyField(
          name: names.name(of: field.name), isDescending: field.isDescending,
          isCaseInsensitive: field.isCaseInsensitive, expansion: field.expansion,
          collation: field.collation)
      }, name: name, isUnique: isUnique, condition: condition.map { $0.named(by: names) })
  }

  /// The index of those of its records that are of a kind.
  fileprivate func ofKind(_ name: String) -> RecordDescription.Index {
    let isOfKind = FieldCondition.comparison(field: name, .notEqual, .null)
    return RecordDescription.Index(
      fields: fields, name: self.name, isUnique: isUnique,
      condition: condition.map { .and([isOfKind, $0]) } ?? isOfKind)
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
    case .userInfo(let stated): userInfo.merge(stated.values) { $1 }
    case .expiry(let stated):
      guard expiry == nil else { throw DescriptionFault("it has two expiries") }
      expiry = stated
    case .abstract: isAbstract = true
    case .field, .transient, .computed, .inverse, .kind, .parent: break
    }
  }

  private mutating func add(
    _ field: Field, to composite: String?, _ destinations: Destinations
  ) throws(DescriptionFault) {
    if let reason = field.name.faultAsName { throw DescriptionFault("its name \(reason)") }
    let name = (composite.map { $0 + "." } ?? "") + field.name
    try claim(field.property, in: composite, name)
    try field.refuseWhatIsDerived()
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
        reference: field.reference(among: destinations),
        elsewhere: field.elsewhere(destinations), generation: generation,
        derivation: field.derivation, userInfo: field.userInfo,
        choice: field.migrationInfo?.choice))
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
    transients.append(
      DescribedTransient(composite: composite, transient: transient, generation: generation))
  }

  /// - Parameter stored: Returns the stored name of a field that the property depends on.
  private mutating func add(
    _ stated: RecordDescription.Computed, of kind: String?, _ stored: (String) -> String
  ) throws(DescriptionFault) {
    let name = stated.property
    guard !name.isEmpty, !fields.contains(where: { $0.name == name }),
      !computed.contains(where: { $0.property == name && $0.kind == kind })
    else {
      throw DescriptionFault("it is computed, so it is no field, and stated once", field: name)
    }
    var found: Set<String> = []
    for field in stated.fields {
      if let other = computed.last(where: { $0.property == field }) {
        found.formUnion(other.fields)
      } else if fields.contains(where: { $0.name == stored(field) }) {
        found.insert(stored(field))
      } else {
        throw DescriptionFault("it depends on \(field), which is not there before it", field: name)
      }
    }
    computed.append(DescribedComputed(kind: kind, property: name, fields: found))
  }

  /// - Complexity: O(1); the first time, O(fields).
  func field(named name: String) -> DescribedField? {
    fieldNames.place(of: name, in: fields) { $0.name }.map { fields[$0] }
  }

  /// Refuses a property that is described already.
  private mutating func claim(
    _ property: String, in composite: String?, _ field: String
  ) throws(DescriptionFault) {
    let claim = PropertyClaim(composite: composite, property: property, generation: generation)
    guard claims.insert(claim).inserted else {
      throw DescriptionFault("the property \(property) is described twice", field: field)
    }
  }

  /// Refuses tracked properties that could not be told from others among changed fields.
  private func refuseTrackedNames() throws(DescriptionFault) {
    var names = Set(fields.map(\.name))
    for transient in transients where transient.transient.isTracked {
      guard names.insert(transient.name).inserted else {
        throw DescriptionFault(
          "its changes are tracked, so no field and no other tracked property has its name; give one of them another name",
          field: transient.name)
      }
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

extension RecordDescription {
  fileprivate var computed: [Computed] {
    elements.compactMap { if case .computed(let computed) = $0.kind { computed } else { nil } }
  }
}

extension Field {
  /// Refuses attributes that only a field with values from programs can have.
  fileprivate func refuseWhatIsDerived() throws(DescriptionFault) {
    guard let derivation else { return }
    guard generation == nil || derivation.sequence != nil else {
      throw DescriptionFault("it is derived, so a sequence gives it no values; state one of both")
    }
    let isTime = derivation.kind == .modificationDate
    guard defaultValue == nil, isTime || migrationInfo?.defaultValue == nil else {
      throw DescriptionFault("the store computes it, so it has no default")
    }
    guard rules.isEmpty else {
      throw DescriptionFault("the store computes it, so there is nothing to validate")
    }
  }

  fileprivate func elsewhere(_ destinations: Destinations) -> String? {
    guard case .reference(let reference) = type.kind, destinations.leadsElsewhere(reference)
    else { return nil }
    return reference.destination.name(in: destinations.version)
  }

  fileprivate func reference(among destinations: Destinations) -> DescribedReference? {
    guard case .reference(let reference) = type.kind, !destinations.leadsElsewhere(reference)
    else { return nil }
    let place = destinations.place(of: reference.destination.name(in: destinations.version))
    return DescribedReference(
      destination: place.record, kind: place.kind, deleteRule: reference.deleteRule,
      bounds: reference.bounds, isChecked: reference.isChecked)
  }
}

extension DescribedRecord {
  /// Returns true if each record is of a kind.
  fileprivate func hasOnly(kind: String?) -> Bool {
    guard let kind else { return true }
    let outermost = fields.filter { $0.role == .kind && $0.composite == nil }
    return isAbstract && outermost.map(\.name) == [kind]
  }

  /// The record as if there were no others, and had been no version before.
  var alone: DescribedRecord {
    var copy = self
    copy.renamingID = nil
    copy.declaredInverses = []
    for index in fields.indices {
      copy.fields[index].renamingID = nil
      copy.fields[index].reference = nil
      copy.fields[index].derivation = nil
    }
    return copy
  }

  /// Makes the reference at a place one that may lead nowhere.
  mutating func uncheck(_ field: Int) { fields[field].reference?.isChecked = false }
}

/// All records of one version as described, and the origin of each in the version before.
struct DescribedVersion: Sendable {
  let version: Int
  /// Neither their names nor their order change.
  var records: [DescribedRecord]
  private let recordNames = NameTable()
  /// By the records' names.
  private(set) var lineages: [String: Lineage] = [:]
  /// The records that are kept elsewhere than in the version before, by kinds.
  private(set) var moves: [NamedMove] = []
  /// The names of records that are new, and have the number of the one record whose records are theirs from now on.
  private(set) var successors: Set<String> = []
  /// A former name of a record or a field that was another's.
  private var open: [(record: String, field: String?, name: String)] = []

  /// The names of a record and its fields in the version before.
  struct Lineage: Sendable {
    /// Nil for a record that is new.
    var ancestor: String?
    /// The full names of fields that were there, to the names they had.
    var fields: [String: String] = [:]
  }

  /// - Throws: `.invalidDescription` for a name that is there twice, or a renaming of a name that does not exist.
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
    if let previous { try findMoves(after: previous, ancestors) }
    if let statement = open.first {
      throw fault(
        statement.record, statement.field,
        "its renamingID names \(statement.name), which was not there before")
    }
  }

  /// Finds out which kinds and records were others elsewhere.
  private mutating func findMoves(
    after previous: DescribedVersion, _ ancestors: [String: String]
  ) throws(StoreError) {
    let origins = KindOrigins(
      VersionOutline(previous), VersionOutline(self), ancestors: ancestors,
      lineages: lineages.mapValues(\.fields))
    if let (place, reason) = origins.ambiguity { throw fault(place.record, place.kind, reason) }
    moves = origins.moves
    open.removeAll { origins.explains($0.record, $0.field) }
    findSuccessors(after: previous, ancestors)
  }

  /// Finds new records that get all records of one other, and no others: these stay in their tree, by its number and those of
  /// its fields.
  private mutating func findSuccessors(
    after previous: DescribedVersion, _ ancestors: [String: String]
  ) {
    let continued = Set(ancestors.values)
    for move in moves {
      let (source, target) = (move.source.record, move.target.record)
      let isSole =
        moves.filter { $0.source.record == source || $0.target.record == target }.count == 1
      guard isSole, ancestors[target] == nil, !continued.contains(source),
        let before = previous.record(named: source), before.hasOnly(kind: move.source.kind)
      else { continue }
      lineages[target] = Lineage(ancestor: source, fields: move.fields)
      successors.insert(target)
    }
  }

  /// - Complexity: O(1); the first time, O(records).
  func record(named name: String) -> DescribedRecord? {
    place(ofRecord: name).map { records[$0] }
  }

  /// The place of a record among all.
  func place(ofRecord name: String) -> Int? { recordNames.place(of: name, in: records) { $0.name } }

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
        open.append((record.name, nil, old))
        continue
      }
      guard taken.insert(old).inserted else {
        throw fault(record.name, nil, "two records were \(old) before")
      }
      ancestors[record.name] = old
    }
    let kinds = Set(open.map(\.record))
    for record in records where ancestors[record.name] == nil && !kinds.contains(record.name) {
      if previous?.record(named: record.name) != nil, taken.insert(record.name).inserted {
        ancestors[record.name] = record.name
      }
    }
    return ancestors
  }

  private mutating func lineage(
    of record: DescribedRecord, _ ancestor: String?, in previous: DescribedVersion?
  ) throws(StoreError) -> Lineage {
    let old = ancestor.flatMap { previous?.record(named: $0) }
    var lineage = Lineage(ancestor: old?.name)
    let oldFields = Dictionary(
      (old?.fields ?? []).map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
    // A composite comes before its parts, so its origin is known when theirs is looked for.
    let composites = [nil] + record.fields.filter { $0.type == .composite }.map { $0.name }
    for composite in composites {
      try trace(record, partsOf: composite, among: oldFields, into: &lineage)
    }
    return lineage
  }

  /// Finds the names that the fields of one level had: a `renamingID` if the version before does not state the
  /// same one for a field of that name, else their own.
  private mutating func trace(
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
    let place = composite.flatMap { name in record.fields.first { $0.name == name } }
    // A field that moves between kinds, or between a kind and the record, is named as a whole.
    func statedName(_ name: String, _ role: DescribedField.Role) -> String? {
      if let name = oldName(name) { return name }
      // A kind with another parent takes its records along.
      guard role == .field, let field = oldFields[name] else { return nil }
      let oldPlace = field.composite.flatMap { oldFields[$0] }
      return [place, oldPlace].allSatisfy { $0 == nil || $0?.role == .kind } ? name : nil
    }
    var taken: Set<String> = []
    for field in fields {
      guard let last = field.renamingID,
        oldFields[field.name]?.renamingID != last
      else { continue }
      guard let name = statedName(last, field.role) else {
        open.append((record.name, field.name, last))
        continue
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
