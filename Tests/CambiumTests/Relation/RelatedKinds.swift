import FoundationEssentials

@testable import Cambium

/// The record types of a model without Swift types, and the references between them: plain data, of which descriptions
/// are made.
///
/// Records are numbered from 0 to 7, and each number has a key of each type. The number of a key of two fields is 100 times
/// the first one's and the second one's.
struct RelatedKinds {
  var kinds: [Kind]
  /// The references of each kind, by its place.
  var links: [[Link]]
  /// Where each kind has fields that are derived of the records at the other end of its inverses.
  var derivedPlace = DerivedPlace.none

  /// The place of derived fields.
  enum DerivedPlace {
    case none, record
    /// In a part that records with an odd note have: a composite, or that of a kind in a hierarchy.
    case composite, hierarchy
  }

  /// A record type.
  struct Kind {
    let name: String
    var key: Key
    /// True if it has a field whose values are unique.
    var hasCode = false

    enum Key: Hashable {
      case number(KeyType)
      /// The reference at this place is the whole key.
      case link(Int)
      /// The reference at this place is the first of two fields.
      case linkFirst(Int)
      case linkSecond(Int)

      /// The place of the reference in it.
      var link: Int? {
        switch self {
        case .number: nil
        case .link(let place), .linkFirst(let place), .linkSecond(let place): place
        }
      }
    }

    /// Records of other kinds can lead to one whose key is one field.
    var canBeDestination: Bool {
      switch key {
      case .number, .link: true
      case .linkFirst, .linkSecond: false
      }
    }
  }

  enum KeyType: CaseIterable {
    case integer, string, uuid
    /// A string that is nearly as long as keys can be: with a short second part, it is a key.
    case longString
    /// A string that is as long as keys can be, or two bytes less: it is a key only by itself.
    case longestString
  }

  /// A reference.
  struct Link: Hashable {
    var name: String
    var owner: Int
    var destination: Int
    var shape: Shape
    var isUnique = false
    var index = Index.made
    /// The composite that it is a part of.
    var composite = Composite.none
    /// As declared; an inverse with `.noAction` makes it unchecked, too.
    var isDeclaredChecked = true
    /// Of the destination, when the record with the reference is deleted.
    var ownRule = DeleteRule.nullify
    /// Of a list.
    var bounds = 0...Int.max
    var inverse: Inverse?

    enum Shape { case required, optional, list, optionalList }
    enum Index { case made, stated, compound }
    enum Composite { case none, required, optional }

    var isList: Bool { shape == .list || shape == .optionalList }
    var isChecked: Bool { isDeclaredChecked && inverse?.rule != .noAction }
  }

  /// The other end of a reference.
  struct Inverse: Hashable {
    var name: String
    var rule: DeleteRule
    var bounds = 0...Int.max
  }
}

// MARK: - Rules

extension RelatedKinds {
  /// True if a reference can be taken out of a record.
  func canCut(_ link: Link) -> Bool {
    link.shape != .required && !isInKey(link)
  }

  func isInKey(_ link: Link) -> Bool {
    kinds[link.owner].key.link.map { links[link.owner][$0].name == link.name } ?? false
  }

  /// The rule for records with a checked reference when its destination is deleted.
  func rule(of link: Link) -> DeleteRule {
    link.inverse?.rule ?? (canCut(link) ? .nullify : .deny)
  }

  /// The stored name, with that of the composite.
  func storedName(of link: Link) -> String {
    link.composite == .none ? link.name : "box of \(link.name).\(link.name)"
  }

  /// The reference as errors name it.
  func text(of link: Link) -> String { "\(kinds[link.owner].name).\(storedName(of: link))" }
}

// MARK: - Values

extension RelatedKinds {
  /// The type of the only field of the key of a kind that can be a destination.
  func keyType(of kind: Int) -> KeyType {
    switch kinds[kind].key {
    case .number(let type): type
    case .link(let place), .linkFirst(let place), .linkSecond(let place):
      keyType(of: links[kind][place].destination)
    }
  }

  /// The key of a record. Keys are in the order of numbers.
  func value(_ number: Int, of type: KeyType) -> FieldValue {
    switch type {
    case .integer: .integer(Self.integers[number])
    case .string: .string(Self.strings[number])
    case .longString: .string(Self.longStrings[number])
    case .longestString: .string(Self.longestStrings[number])
    case .uuid:
      .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
    }
  }

  private static let integers: [Int64] = [.min, -1, 0, 1, 255, 256, .max - 1, .max]
  /// Some begin as others do, and Swift takes the first and the last for equal.
  private static let strings = ["e\u{301}", "k", "k\u{0}", "k0", "k1", "k10", "l", "\u{e9}"]
  /// Some are too long for a part of an index's key, all for one with another key after it.
  private static let longStrings = (0..<8).map {
    "\($0)" + String(repeating: "k", count: $0 % 2 == 0 ? 990 : 1_016)
  }
  private static let longestStrings = (0..<8).map {
    "\($0)" + String(repeating: "k", count: $0 % 2 == 0 ? 1_021 : 1_023)
  }

  /// The values of the fields of a primary key.
  func keyValues(_ key: Int, of kind: Int) -> [FieldValue] {
    switch kinds[kind].key {
    case .number(let type): [value(key, of: type)]
    case .link: [value(key, of: keyType(of: kind))]
    case .linkFirst: [value(key / 100, of: keyType(of: kind)), .integer(Int64(key % 100))]
    case .linkSecond: [.integer(Int64(key / 100)), value(key % 100, of: keyType(of: kind))]
    }
  }

  /// The key as errors have it.
  func text(ofKey key: Int, of kind: Int) -> String {
    keyValues(key, of: kind).map { "\($0)" }.joined(separator: ", ")
  }

  /// The record that the reference in a key leads to.
  func target(inKey key: Int, of kind: Int) -> Int {
    switch kinds[kind].key {
    case .number, .link: key
    case .linkFirst: key / 100
    case .linkSecond: key % 100
    }
  }

  /// The record as the store has it.
  func record(_ key: Int, _ row: RelationOracle.Row, of kind: Int) -> DynamicRecord {
    var fields: [String: FieldValue] = ["note": .integer(Int64(row.note))]
    let values = keyValues(key, of: kind)
    switch kinds[kind].key {
    case .number: fields["id"] = values[0]
    case .link: break
    case .linkFirst: fields["number"] = values[1]
    case .linkSecond: fields["number"] = values[0]
    }
    if kinds[kind].hasCode { fields["code"] = row.code.map { .integer(Int64($0)) } ?? .null }
    for (link, targets) in zip(links[kind], row.targets) {
      let value = value(of: targets, link)
      switch link.composite {
      case .none: fields[link.name] = value
      case .optional where targets == nil && link.shape == .required:
        fields["box of \(link.name)"] = .null
      case .required, .optional: fields["box of \(link.name)"] = .composite([link.name: value])
      }
    }
    if hasPart {
      let note = row.note
      fields["part"] =
        note % 2 == 1
        ? .composite(["bonus": .integer(Int64(note)), "tag": .string("É\(note)")]) : .null
    }
    return DynamicRecord(kinds[kind].name, RecordFields(fields))
  }

  /// The record as the store has it, with what is derived of others.
  func record(
    _ key: Int, _ row: RelationOracle.Row, of kind: Int, among oracle: RelationOracle
  ) -> DynamicRecord {
    var record = record(key, row, of: kind)
    var derived: [String: FieldValue] = [:]
    for link in self.derived(of: kind) {
      let name = link.inverse?.name ?? ""
      let notes = oracle.sources(of: link, leadingTo: key).compactMap {
        oracle.rows[link.owner][$0]?.note
      }
      derived["count of \(name)"] = .integer(Int64(notes.count))
      derived["sum of \(name)"] = .integer(Int64(notes.reduce(0, +)))
      derived["twice of \(name)"] = .integer(Int64(notes.map { 2 * $0 - 1 }.reduce(0, +)))
      derived["least of \(name)"] = notes.min().map { .integer(Int64($0)) } ?? .null
      derived["most of \(name)"] = notes.max().map { .integer(Int64($0)) } ?? .null
      if hasPart {
        let bonuses = notes.filter { $0 % 2 == 1 }
        derived["bonus of \(name)"] = .integer(Int64(bonuses.reduce(0, +)))
      }
    }
    guard hasPart else {
      for (name, value) in derived { record[name] = value }
      return record
    }
    if case .composite(let parts) = record["part"] {
      derived["lower"] = .string("é\(row.note)")
      record["part"] = .composite(parts.merging(derived) { one, _ in one })
    }
    return record
  }

  /// True if some records have a part, and others do not.
  private var hasPart: Bool { derivedPlace == .composite || derivedPlace == .hierarchy }

  private func value(of targets: [Int]?, _ link: Link) -> FieldValue {
    guard let targets else { return .null }
    let values = targets.map { value($0, of: keyType(of: link.destination)) }
    return link.isList ? .array(values) : values[0]
  }

  /// The records that lead to one: the way back as a query has it.
  func condition(_ link: Link, leadsTo key: Int) -> FieldCondition {
    let value = value(key, of: keyType(of: link.destination))
    let name = storedName(of: link)
    return link.isList
      ? .contains(field: name, value) : .comparison(field: name, .equal, value)
  }
}

// MARK: - Descriptions

extension RelatedKinds {
  var model: StoreModel {
    StoreModel(
      version: 1,
      untyped: kinds.indices.map { kind in
        let description = description(of: kind)
        return RemovedRecord(kinds[kind].name) { _ in description }
      })
  }

  func description(of kind: Int) -> RecordDescription {
    var elements = keyFields(of: kind).map { Element(kind: .field($0)) }
    for (place, link) in links[kind].enumerated() where kinds[kind].key.link != place {
      elements.append(Element(kind: .field(outermost(of: link))))
    }
    elements.append(Element(kind: .field(Field(name: "note", type: .int8))))
    if kinds[kind].hasCode {
      elements.append(
        Element(kind: .field(Field(name: "code", type: .int8, optional: true, unique: true))))
    }
    for link in links[kind] where link.index == .compound {
      let part: KeyField =
        link.isList ? .elements(storedName(of: link)) : .ascending(storedName(of: link))
      elements.append(Element(kind: .index(RecordDescription.Index(part, .descending("note")))))
    }
    for link in links.joined() where link.destination == kind {
      if let inverse = link.inverse { elements.append(element(inverse, of: link)) }
    }
    let fields = derived(of: kind).flatMap(fields).map { Element(kind: .field($0)) }
    elements += hasPart ? [part(fields)] : fields
    return RecordDescription(elements)
  }

  /// The composite or the kind with derived fields.
  private func part(_ derived: [Element]) -> Element {
    let own = [
      Field(name: "bonus", type: .int8), Field(name: "tag", type: .string),
      Field(name: "lower", type: .string, indexed: true, derived: .lowercased("tag")),
    ].map { Element(kind: .field($0)) }
    let description = RecordDescription(own + derived)
    guard derivedPlace == .hierarchy else {
      return Element(
        kind: .field(
          Field(name: "part", type: FieldType(kind: .composite(description)), optional: true)))
    }
    return Element(
      kind: .kind(
        KindDeclaration(name: "part", type: nil, property: "", description: description)))
  }

  /// The checked references of whose other end a kind has derived fields.
  func derived(of kind: Int) -> [Link] {
    links.joined().filter {
      derivedPlace != .none && $0.destination == kind && $0.inverse != nil && $0.isChecked
    }
  }

  private func fields(derivedOf link: Link) -> [Field] {
    let name = link.inverse?.name ?? ""
    let bonus = Field(
      name: "bonus of \(name)", type: .integer, derived: .sum(of: name, "part.bonus"))
    return (hasPart ? [bonus] : []) + [
      Field(name: "count of \(name)", type: .integer, indexed: true, derived: .count(of: name)),
      Field(name: "sum of \(name)", type: .integer, derived: .sum(of: name, "note")),
      Field(
        name: "twice of \(name)", type: .integer, indexed: true,
        derived: .sum(of: name, value: "note * 2 - 1")),
      Field(
        name: "least of \(name)", type: .int8, optional: true,
        derived: .minimum(of: name, "note")),
      Field(
        name: "most of \(name)", type: .int8, optional: true, indexed: true,
        derived: .maximum(of: name, "note")),
    ]
  }

  private typealias Element = RecordDescription.Element

  private func element(_ inverse: Inverse, of link: Link) -> Element {
    Element(
      kind: .inverse(
        InverseDeclaration(
          name: inverse.name, related: .name(kinds[link.owner].name),
          reference: .field(storedName(of: link)), deleteRule: inverse.rule,
          bounds: RelationBounds(inverse.bounds), renamingID: nil)))
  }

  private func keyFields(of kind: Int) -> [Field] {
    let number = Field(primaryKey: true, name: "number", type: .int8)
    switch kinds[kind].key {
    case .number(.integer): return [Field(primaryKey: true, name: "id", type: .int64)]
    case .number(.uuid): return [Field(primaryKey: true, name: "id", type: .uuid)]
    case .number: return [Field(primaryKey: true, name: "id", type: .string)]
    case .link(let place): return [field(links[kind][place])]
    case .linkFirst(let place): return [field(links[kind][place]), number]
    case .linkSecond(let place): return [number, field(links[kind][place])]
    }
  }

  /// The field of a reference, or the composite that it is in.
  private func outermost(of link: Link) -> Field {
    let field = field(link)
    guard link.composite != .none else { return field }
    let parts = RecordDescription([Element(kind: .field(field))])
    return Field(
      name: "box of \(link.name)", type: FieldType(kind: .composite(parts)),
      optional: link.composite == .optional)
  }

  private func field(_ link: Link) -> Field {
    let name = kinds[link.destination].name
    let type: FieldType =
      link.isList
      ? .references(
        to: name, deleteRule: link.ownRule, count: link.bounds, checked: link.isDeclaredChecked)
      : .reference(to: name, deleteRule: link.ownRule, checked: link.isDeclaredChecked)
    return Field(
      primaryKey: isInKey(link), name: link.name, type: type,
      optional: link.shape == .optional || link.shape == .optionalList, unique: link.isUnique,
      indexed: link.index == .stated)
  }
}

// MARK: - For people

extension RelatedKinds: CustomStringConvertible {
  var description: String {
    kinds.indices.map { kind in
      "\n\(kinds[kind].name), key \(kinds[kind].key)"
        + links[kind].map { "\n  \(description(of: $0))" }.joined()
    }.joined() + "\n"
  }

  private func description(of link: Link) -> String {
    "\(link.name): \(link.shape) of \(kinds[link.destination].name)"
      + (link.isChecked ? ", \(rule(of: link)) and own \(link.ownRule)" : ", unchecked")
      + (link.bounds == 0...Int.max
        ? "" : ", \(link.bounds.lowerBound) to \(link.bounds.upperBound)")
      + (link.isUnique ? ", unique" : "")
      + (link.index == .made ? "" : ", \(link.index) index")
      + (link.composite == .none ? "" : ", in \(link.composite) composite")
      + (link.inverse.map { ", \($0.name) \($0.bounds.lowerBound) to \($0.bounds.upperBound)" }
        ?? "")
  }
}

extension RelationOracle.Site: CustomStringConvertible {
  var description: String { "\(kind):\(key)" }
}

extension RelationOracle.Row: CustomStringConvertible {
  var description: String {
    "<" + targets.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " ")
      + "\(code.map { ", code \($0)" } ?? ""), note \(note)>"
  }
}
