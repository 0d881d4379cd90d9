import CambiumTesting
import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A random model of several versions in which every step can be inferred, and what a migration makes of each
/// record, worked out without the library.
///
/// Records and fields are followed by identities of the generator's own; names come, go, and are exchanged.
struct RandomChain {
  struct FieldState: Hashable {
    let identity: Int
    var name: String
    var type: ColumnType
    var isOptional: Bool
    /// In this version only: acts in the step that leads here.
    var renamingID: String?
    var migrationDefault: FieldValue?
    var isIndexed = false
    /// The identity of the record whose keys it has, as a reference or as what once was one.
    var destination: Int?
    var isReference = false
    var isChecked = false
    /// True if all of its values lead to records, also where that is not checked.
    var isSound = false
    /// True of a list that has one element at most in every record.
    var isShort = false
    /// In this version only: which element is kept of what was a list.
    var choice: ElementChoice?
    /// In this version only: the field that it was in records of its kind, which have left a hierarchy.
    var origin: Int?
    /// How the store computes it, and the identity of the field that it is computed of; then it is a string that may be null.
    var derivation: DerivationSchema.Kind?
    var source: Int?

    var isList: Bool { type.scalar == nil }
  }

  struct RecordState: Hashable {
    let identity: Int
    var name: String
    var renamingID: String?
    /// The first is the key, if it is no kind.
    var fields: [FieldState]
    /// The record, or the kind, of which it is a kind.
    var parent: Int?
    var hasPair = false
    /// Names that fields had, which may come again.
    var formerNames: [String] = []
    /// Each field's name with its `renamingID`, as the version before states them: there they do not act again.
    var stated: Set<[String]> = []
    /// The name that it had before, if it was renamed; with the name, as the version before states them.
    var formerName: String?
    var statedRenaming: [String] = []
    /// The fields that the step leading here has added, and those that it has given another type or rule.
    var added: Set<Int> = []
    var widened: Set<Int> = []
    var reshaped: Set<Int> = []
  }

  /// By version, the first at 0.
  private(set) var versions: [[RecordState]] = []
  var random: SplitMix64
  private var nextIdentity = 0

  init(seed: UInt64, versions count: Int) {
    random = SplitMix64(seed: seed)
    var records: [RecordState] = []
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      var record = newRecord()
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        record.fields.append(newReference(of: record, among: records, holdsRecords: true))
      }
      records.append(record)
    }
    for root in records where random.next() % 3 == 0 {
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        var kind = newKind(of: root)
        if random.next() % 3 == 0 {
          kind.fields.append(newReference(of: root, among: [], holdsRecords: true))
        }
        records.append(kind)
        if random.next() % 4 == 0 { records.append(newKind(of: kind)) }
      }
    }
    for index in records.indices where random.next() % 2 == 0 {
      addDerived(to: &records[index], among: records)
    }
    versions.append(records)
    for _ in 1..<count { versions.append(step(from: versions[versions.count - 1])) }
  }

  var model: StoreModel {
    let versions = versions
    let names = Set(versions.flatMap { $0.map(\.identity) }).sorted()
    return StoreModel(
      version: versions.count,
      untyped: names.map { identity in
        RemovedRecord("record \(identity)") { version in
          let records = versions[version - 1]
          let record = records.first { $0.identity == identity }
          let names = Dictionary(
            uniqueKeysWithValues: records.map { ($0.identity, records.root(of: $0).name) })
          let parent = record?.parent.flatMap { records.state($0)?.name }
          return record?.description(names, parent, records.fieldNames) ?? RecordDescription()
        }
      })
  }
}

extension RandomChain {
  /// Keys for the first version that no two of its records have: they may be of one record later.
  var keys: [String: @Sendable (inout SeededGenerator) -> FieldValue] {
    var keys: [String: @Sendable (inout SeededGenerator) -> FieldValue] = [:]
    for (place, record) in versions[0].enumerated() where record.parent == nil {
      keys["\(record.name).\(record.fields[0].name)"] = { random in
        .integer(Int64(bitPattern: random.next() << 4 | UInt64(place)))
      }
    }
    return keys
  }
}

// MARK: - Making versions

extension RandomChain {
  mutating func identity() -> Int {
    nextIdentity += 1
    return nextIdentity
  }

  mutating func newRecord() -> RecordState {
    let number = identity()
    var fields = [
      FieldState(identity: identity(), name: "id\(number)", type: .int64, isOptional: false)
    ]
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      fields.append(newField())
    }
    return RecordState(identity: number, name: "R\(number)", fields: fields)
  }

  mutating func newKind(of parent: RecordState) -> RecordState {
    let number = identity()
    let fields = (0..<Int.random(in: 0...2, using: &random)).map { _ in newField() }
    return RecordState(
      identity: number, name: "R\(number)", fields: fields, parent: parent.identity)
  }

  private static let types: [ColumnType] = [
    .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .string,
    .boolean, .date, .uuid, .decimal, .binaryData, .url, .array(of: .int16),
  ]

  private mutating func newField() -> FieldState {
    let number = identity()
    return FieldState(
      identity: number, name: "f\(number)", type: Self.types.randomElement(using: &random) ?? .int8,
      isOptional: Bool.random(using: &random), isIndexed: random.next() % 4 == 0)
  }

  /// A reference to one of some records, or to its own.
  ///
  /// - Parameter holdsRecords: True if records are written with it: lists are empty otherwise, and single ones null.
  private mutating func newReference(
    of record: RecordState, among records: [RecordState], holdsRecords: Bool
  ) -> FieldState {
    let number = identity()
    let isList = Bool.random(using: &random)
    let isChecked = random.next() % 3 > 0
    let destination = (records + [record]).randomElement(using: &random) ?? record
    return FieldState(
      identity: number, name: "f\(number)", type: isList ? .array(of: .int64) : .int64,
      isOptional: !isList && (!holdsRecords || Bool.random(using: &random)),
      destination: destination.identity, isReference: true, isChecked: isChecked,
      isSound: isChecked || !holdsRecords, isShort: isList && !holdsRecords)
  }

  private mutating func step(from old: [RecordState]) -> [RecordState] {
    var records = old
    for index in records.indices {
      records[index].renamingID = nil
      records[index].statedRenaming = old[index].renamingID.map { [old[index].name, $0] } ?? []
      (records[index].added, records[index].widened, records[index].reshaped) = ([], [], [])
      records[index].stated = Set(
        old[index].fields.compactMap { field in field.renamingID.map { [field.name, $0] } })
      for place in records[index].fields.indices {
        records[index].fields[place].renamingID = nil
        records[index].fields[place].migrationDefault = nil
        records[index].fields[place].choice = nil
        records[index].fields[place].origin = nil
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) { change(&records[index], among: old) }
      if random.next() % 8 == 0 { rename(&records[index]) }
    }
    let roots = records.filter { $0.parent == nil }
    if roots.count > 1, random.next() % 8 == 0, let gone = roots.randomElement(using: &random) {
      remove(gone, from: &records)
    }
    if random.next() % 6 == 0 { records.append(newRecord()) }
    if random.next() % 2 == 0 { changeHierarchy(of: &records, since: old) }
    for index in records.indices where random.next() % 4 == 0 {
      addDerived(to: &records[index], among: records)
    }
    records.removeUnfounded()
    return records.shuffled(using: &random)
  }

  /// A string of a record, of a kind or of its parents in other letters.
  private mutating func addDerived(to record: inout RecordState, among records: [RecordState]) {
    let sources = ([record] + records.line(from: record).dropFirst()).flatMap(\.fields).filter {
      $0.type == .string && $0.derivation == nil
    }
    guard let source = sources.randomElement(using: &random) else { return }
    let number = identity()
    let kind = random.pick([DerivationSchema.Kind.lowercased, .uppercased, .folded, .value])
    let field = FieldState(
      identity: number, name: "f\(number)", type: .string, isOptional: true,
      isIndexed: random.next() % 2 == 0, derivation: kind, source: source.identity)
    record.fields.append(field)
    record.added.insert(number)
  }

  func remove(_ gone: RecordState, from records: inout [RecordState]) {
    for identity in records.line(below: gone) {
      records.removeAll { $0.identity == identity }
      for index in records.indices { records[index].lose(identity) }
    }
  }

  private mutating func rename(_ record: inout RecordState) {
    // Again and again between two names, or to a new one.
    let old = record.name
    let former = record.formerName.flatMap { record.statedRenaming == [$0, old] ? nil : $0 }
    let name = random.next() % 3 > 0 ? former : nil
    record.name = name ?? "R\(identity())"
    (record.renamingID, record.formerName) = (old, old)
  }

  /// One change, unless the field was changed in this step in a way that does not go with it.
  private mutating func change(_ record: inout RecordState, among records: [RecordState]) {
    guard !record.fields.isEmpty else { return addField(to: &record) }
    let place = Int.random(in: 0..<record.fields.count, using: &random)
    let isKind = record.parent != nil
    let isKey = place == 0 && !isKind
    let number = record.fields[place].identity
    let isReshaped = record.reshaped.contains(number)
    if record.fields[place].derivation != nil, random.next() % 2 == 0 {
      // Computed in another way, or not any more.
      record.fields[place].derivation = random.pick([
        nil, .lowercased, .uppercased, .folded, .value,
      ])
      if record.fields[place].derivation == nil { record.fields[place].source = nil }
      return
    }
    switch random.next() % 13 {
    case 0, 1: addField(to: &record)
    case 2: if !isKey { record.fields.remove(at: place) }
    case 3: renameField(place, of: &record)
    case 4: exchange(place, Int.random(in: 0..<record.fields.count, using: &random), of: &record)
    case 5, 6:
      if isKey || isReshaped || record.isNew(place) || record.isDerived(place) { return }
      record.widened.insert(number)
      if random.next() % 2 == 0 {
        widen(&record.fields[place])
      } else {
        toggleOptional(&record.fields[place])
      }
    case 7: if !isKey { record.fields[place].isIndexed.toggle() }
    case 8: if !isKind { record.hasPair.toggle() }
    case 9:
      let others = records.filter { $0.identity != record.identity }
      let field = newReference(of: record, among: others, holdsRecords: false)
      record.fields.append(field)
      record.added.insert(field.identity)
    default:
      if isKey || isReshaped || record.isNew(place) || record.widened.contains(number)
        || record.isDerived(place)
      {
        return
      }
      record.reshaped.insert(number)
      if random.next() % 2 == 0 {
        changeCount(&record.fields[place])
      } else {
        changeReference(&record.fields[place])
      }
    }
  }

  /// One becomes a list, and a list a single value: what is stated of its elements if it may have several.
  private mutating func changeCount(_ field: inout FieldState) {
    switch field.type {
    case .scalar(let type):
      field.type = .array(of: type)
      field.isShort = true
      if field.isReference { field.isOptional = false }
    case .array(let element):
      field.type = .scalar(element)
      field.isOptional = true
      if !field.isShort { field.choice = random.pick([.first, .last]) }
    default: break
    }
  }

  /// A reference is checked or not, or no reference any more, and one again.
  private mutating func changeReference(_ field: inout FieldState) {
    guard field.destination != nil else { return }
    if !field.isReference {
      guard field.isSound, !field.isList || !field.isOptional else { return }
      field.isReference = true
      field.isChecked = Bool.random(using: &random)
    } else if random.next() % 3 == 0 {
      (field.isReference, field.isChecked) = (false, false)
    } else if field.isChecked || field.isSound {
      field.isChecked.toggle()
    }
  }

  private mutating func addField(to record: inout RecordState) {
    var field = newField()
    if !field.isOptional || random.next() % 3 == 0 {
      field.migrationDefault = value(of: field.type)
    }
    record.fields.append(field)
    record.added.insert(field.identity)
  }

  private mutating func renameField(_ place: Int, of record: inout RecordState) {
    guard !record.isNew(place), record.fields[place].renamingID == nil else { return }
    let old = record.fields[place].name
    let former = record.formerNames.filter { name in
      !record.stated.contains([name, old]) && !record.fields.contains { $0.name == name }
    }
    let name =
      switch random.next() % 4 {
      case 0: former.randomElement(using: &random)
      // The same two names in turn.
      case 1, 2: former.last
      default: String?.none
      }
    record.fields[place].renamingID = old
    record.fields[place].name = name ?? "f\(identity())"
    record.formerNames.append(old)
  }

  private mutating func exchange(_ one: Int, _ other: Int, of record: inout RecordState) {
    let names = (record.fields[one].name, record.fields[other].name)
    guard one != other, !record.isNew(one), !record.isNew(other),
      record.fields[one].renamingID == nil, record.fields[other].renamingID == nil,
      !record.stated.contains([names.0, names.1]), !record.stated.contains([names.1, names.0])
    else { return }
    (record.fields[one].name, record.fields[one].renamingID) = (names.1, names.0)
    (record.fields[other].name, record.fields[other].renamingID) = (names.0, names.1)
  }

  private mutating func widen(_ field: inout FieldState) {
    let type = field.type
    field.type =
      Self.types.filter { type.widens(to: $0) }.randomElement(using: &random) ?? field.type
    // What it was given for another type is no value of this one.
    field.migrationDefault = field.migrationDefault.map { _ in value(of: field.type) }
  }

  private mutating func toggleOptional(_ field: inout FieldState) {
    // Only keys of records could be the default of what leads to them.
    if field.destination != nil, field.isList || field.isOptional { return }
    field.isOptional.toggle()
    if !field.isOptional { field.isShort = false }
    field.migrationDefault = field.isOptional ? nil : value(of: field.type)
  }

  mutating func value(of type: ColumnType) -> FieldValue {
    var records = RandomRecords(seed: random.next())
    let field = FieldSchema(
      number: 1, name: "v", type: type, isOptional: false, composite: nil, modifier: nil)
    return records.record(
      of: RecordSchema(
        number: 1, name: "V", fields: [field], primaryKey: [], indexes: [], modifier: nil))["v"]
  }
}

extension RandomChain.RecordState {
  fileprivate func isNew(_ place: Int) -> Bool { added.contains(fields[place].identity) }

  fileprivate func isDerived(_ place: Int) -> Bool { fields[place].derivation != nil }

  /// Takes out what leads to a record that is gone.
  mutating func lose(_ destination: Int) {
    fields.removeAll { $0.destination == destination && $0.isReference }
    for place in fields.indices where fields[place].destination == destination {
      fields[place].destination = nil
    }
  }

  /// - Parameters:
  ///   - records: The names of the version's records, by identity; of a kind, that of its record.
  ///   - parent: The name of the parent.
  ///   - fields: The stored names of all fields of the version, by identity.
  fileprivate func description(
    _ records: [Int: String], _ parent: String?, _ fieldNames: [Int: String]
  ) -> RecordDescription {
    var elements: [RecordDescription.Element] = []
    typealias Builder = RecordDescription.ResultBuilder
    elements += Builder.buildExpression(RecordName(name, renamingID: renamingID)).elements
    if let parent {
      elements.append(.init(kind: .parent(RecordDescription.Parent(parent))))
    }
    for (place, field) in fields.enumerated() {
      elements +=
        Builder.buildExpression(
          field.field(isKey: place == 0 && parent == nil, records, fieldNames)
        ).elements
    }
    let names = fields.filter { $0.type.canBeKey }.map(\.name).sorted()
    if hasPair, names.count > 1 {
      elements +=
        Builder.buildExpression(
          Index(.descending(names[0]), .ascending(names[1]), named: "pair")
        ).elements
    }
    return RecordDescription(elements)
  }
}

extension RandomChain.FieldState {
  fileprivate func field(
    isKey: Bool, _ records: [Int: String], _ fieldNames: [Int: String]
  ) -> Field {
    let info: MigrationInfo? =
      switch (migrationDefault, renamingID, choice) {
      case (nil, nil, nil): nil
      case (nil, let old?, nil): MigrationInfo(renamingID: old)
      case (let value?, let old, nil): MigrationInfo(default: value, renamingID: old)
      case (let value, let old, let choice?):
        MigrationInfo(choosing: choice, default: value, renamingID: old)
      }
    return Field(
      primaryKey: isKey, name: name, type: declared(records), optional: isOptional,
      indexed: isIndexed && type.canBeKey && !isKey, migrationInfo: info,
      derived: derived(of: source.flatMap { fieldNames[$0] }))
  }

  private func derived(of source: String?) -> Derivation? {
    guard let derivation, let source else { return nil }
    return switch derivation {
    case .lowercased: .lowercased(source)
    case .uppercased: .uppercased(source)
    case .value: .value("lowercased(\(source.asPath)) ?? \"none\"")
    default: .folded(source)
    }
  }
}

extension RandomChain.FieldState {
  private func declared(_ records: [Int: String]) -> FieldType {
    guard isReference, let name = destination.flatMap({ records[$0] }) else { return type.declared }
    return isList
      ? .references(to: name, checked: isChecked) : .reference(to: name, checked: isChecked)
  }
}

extension ColumnType {
  fileprivate var declared: FieldType {
    switch self {
    case .scalar(let type): FieldType(type)
    case .array(let element): .array(of: ColumnType.scalar(element).declared)
    default: .integer
    }
  }
}

// MARK: - What must come out

extension RandomChain {
  /// True if a field keeps what was computed for it in a version before: steps over several versions do not compute that.
  var endsDerivations: Bool {
    var derived: Set<Int> = []
    for version in versions {
      for field in version.flatMap(\.fields) where field.derivation == nil {
        if derived.contains(field.identity) || derived.contains(field.origin ?? 0) { return true }
      }
      derived.formUnion(version.flatMap(\.fields).filter { $0.derivation != nil }.map(\.identity))
    }
    return false
  }

  /// What becomes of a record of the first version; nil where its type is gone.
  func migrated(_ record: DynamicRecord) -> DynamicRecord? {
    guard var state = versions[0].first(where: { $0.name == record.name }) else { return nil }
    var values: [Int: FieldValue] = [:]
    for field in state.fields { values[field.identity] = record[field.name] }
    var fields = record.fields.dictionary
    while let (kind, parts) = versions[0].kind(of: state, in: fields) {
      for field in kind.fields { values[field.identity] = parts[field.name] }
      (state, fields) = (kind, parts)
    }
    for (before, version) in zip(versions, versions.dropFirst()) {
      let line = before.line(from: state)
      guard let next = line.lazy.compactMap({ version.state($0.identity) }).first else {
        return nil
      }
      let known = line.flatMap(\.fields)
      let key = line.last?.fields.first.flatMap { values[$0.identity] }
      var changed: [Int: FieldValue] = [:]
      for field in version.line(from: next).flatMap(\.fields) {
        let origin = known.first { $0.identity == field.identity || $0.identity == field.origin }
        let value = (origin.flatMap { values[$0.identity] } ?? .null)
          .taken(to: field.type, field.choice)
        changed[field.identity] = value == .null ? field.migratedNull(since: origin) : value
      }
      if let root = version.root(of: next).fields.first { changed[root.identity] = key }
      for field in version.line(from: next).flatMap(\.fields) {
        guard let derivation = field.derivation else { continue }
        let source = field.source.flatMap { changed[$0] }
        changed[field.identity] =
          switch (derivation, source) {
          case (.value, .string(let text)?):
            .string(DerivationSchema.Kind.lowercased.text(of: text))
          case (.value, _): "none"
          case (_, .string(let text)?): .string(derivation.text(of: text))
          default: .null
          }
      }
      (state, values) = (next, changed)
    }
    guard let last = versions.last else { return nil }
    let root = last.root(of: state)
    let kinds = Set(last.line(from: state).map(\.identity))
    return DynamicRecord(
      root.name, RecordFields(last.fields(of: root, among: kinds, values)))
  }
}

extension [RandomChain.RecordState] {
  func state(_ identity: Int) -> RandomChain.RecordState? { first { $0.identity == identity } }

  /// A kind, and its parents to the record.
  func line(from kind: RandomChain.RecordState) -> [RandomChain.RecordState] {
    [kind] + (kind.parent.flatMap { state($0) }.map { line(from: $0) } ?? [])
  }

  func root(of kind: RandomChain.RecordState) -> RandomChain.RecordState {
    line(from: kind).last ?? kind
  }

  /// The identities of a record and of all of its kinds.
  func line(below record: RandomChain.RecordState) -> [Int] {
    [record.identity]
      + filter { $0.parent == record.identity }.flatMap { line(below: $0) }
  }

  /// The stored names of all fields, with those of the kinds that they are in, by identity.
  fileprivate var fieldNames: [Int: String] {
    var names: [Int: String] = [:]
    for record in self {
      let kinds = line(from: record).dropLast().reversed().map(\.name)
      for field in record.fields {
        names[field.identity] = (kinds + [field.name]).joined(separator: ".")
      }
    }
    return names
  }

  /// Takes out derived fields whose source is not there any more, or is called as another field is.
  mutating func removeUnfounded() {
    let records = self
    for index in indices {
      let line = records.line(from: records[index]).flatMap(\.fields)
      self[index].fields.removeAll { field in
        guard field.derivation != nil else { return false }
        guard let source = line.first(where: { $0.identity == field.source }),
          source.type == .string, source.derivation == nil
        else { return true }
        return line.filter { $0.name == source.name }.count > 1
      }
    }
  }

  /// The kind of a record, with its own fields.
  fileprivate func kind(
    of parent: RandomChain.RecordState, in fields: [String: FieldValue]
  ) -> (RandomChain.RecordState, [String: FieldValue])? {
    for kind in self where kind.parent == parent.identity {
      if case .composite(let parts)? = fields[kind.name] { return (kind, parts) }
    }
    return nil
  }

  /// What a record has, or a kind of it, and what the kinds below have.
  fileprivate func fields(
    of record: RandomChain.RecordState, among kinds: Set<Int>, _ values: [Int: FieldValue]
  ) -> [String: FieldValue] {
    var fields: [String: FieldValue] = [:]
    for field in record.fields { fields[field.name] = values[field.identity] ?? .null }
    if record.parent != nil, record.fields.isEmpty { fields["is"] = .boolean(true) }
    for kind in self where kind.parent == record.identity {
      fields[kind.name] =
        kinds.contains(kind.identity)
        ? .composite(self.fields(of: kind, among: kinds, values)) : .null
    }
    return fields
  }
}

extension RandomChain.FieldState {
  /// What a record has that has no value: a default acts where the field is new, or becomes required.
  ///
  /// - Parameter before: The field that it was; nil if the record had none.
  fileprivate func migratedNull(since before: RandomChain.FieldState?) -> FieldValue {
    guard let before else {
      return migrationDefault ?? (isReference && isList ? .array([]) : .null)
    }
    if isList, !before.isList, !isOptional { return .array([]) }
    return before.isOptional && !isOptional ? migrationDefault ?? .null : .null
  }
}

extension FieldValue {
  /// By the definition of each widening, and of each choice.
  fileprivate func taken(to type: ColumnType, _ choice: ElementChoice? = nil) -> FieldValue {
    switch (self, type) {
    case (.array(let elements), .scalar):
      (choice == .last ? elements.last : elements.first)?.taken(to: type) ?? .null
    case (.array(let elements), .array(let element)):
      .array(elements.map { $0.taken(to: .scalar(element)) })
    case (.array, _), (.null, _): self
    case (_, .array(let element)): .array([taken(to: .scalar(element))])
    case (.unsigned(let value), .int16), (.unsigned(let value), .int32),
      (.unsigned(let value), .int64):
      .integer(Int64(value))
    case (.integer(let value), .double): .double(Double(value))
    case (.unsigned(let value), .double): .double(Double(value))
    case (.integer(let value), .float): .float(Float(value))
    case (.unsigned(let value), .float): .float(Float(value))
    case (.float(let value), .double): .double(Double(value))
    default: self
    }
  }
}
