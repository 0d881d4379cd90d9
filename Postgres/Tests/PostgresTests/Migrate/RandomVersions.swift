import Cambium
import CambiumTesting
import FoundationEssentials

/// A model of several versions, each made of the one before by random changes.
struct RandomVersions {
  fileprivate struct FieldState {
    let identity: Int
    var name: String
    var type: String
    var isOptional: Bool
    var isIndexed: Bool
    /// The identity of the record that a reference, or a list of them, leads to.
    var destination: Int?
    // In this version only.
    var renamingID: String?
    var hasDefault = false
  }

  fileprivate struct RecordState {
    let identity: Int
    var name: String
    var fields: [FieldState]
    var renamingID: String?
  }

  private(set) var versions: [ModelVersion] = []
  private var records: [RecordState] = []
  private var random: SeededGenerator
  private var lastIdentity = 0
  /// The identities of the fields of each version, by the names of the records.
  private var names: [[String: Set<Int>]] = []

  init(seed: UInt64, count: Int) {
    random = SeededGenerator(seed: seed)
    for _ in 0..<(2 + number(below: 2)) { addRecord() }
    versions.append(version(1))
    for version in 2...count {
      step()
      versions.append(self.version(version))
    }
  }

  private static let types: [(name: String, type: FieldType, value: FieldValue)] = [
    ("int8", .int8, .integer(5)), ("int16", .int16, .integer(-6)), ("int32", .int32, .integer(7)),
    ("int64", .int64, .integer(8)), ("uint8", .uint8, .unsigned(9)),
    ("uint16", .uint16, .unsigned(10)), ("uint32", .uint32, .unsigned(11)),
    ("uint64", .uint64, .unsigned(12)), ("float", .float, .float(0.1)),
    ("double", .double, .double(0.1)), ("string", .string, .string("it's")),
    ("boolean", .boolean, .boolean(true)),
    ("date", .date, .date(Date(timeIntervalSinceReferenceDate: 0.25))),
    ("uuid", .uuid, .uuid(Workshop.identity(3))), ("decimal", .decimal, .decimal(Decimal(5) / 8)),
    ("data", .binaryData, .data(Data([0, 1]))),
    ("array", .array(of: .int16), .array([.integer(1), .integer(2)])),
  ]

  /// The types that each number becomes without a loss.
  private static let wider = [
    "int8": "int16", "int16": "int32", "int32": "int64", "uint8": "uint32", "uint16": "int32",
    "uint32": "uint64", "float": "double",
  ]

  private mutating func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

  private mutating func identity() -> Int {
    lastIdentity += 1
    return lastIdentity
  }
}

// MARK: - Changes

extension RandomVersions {
  private mutating func addRecord() {
    let identity = identity()
    let id = FieldState(
      identity: self.identity(), name: "id", type: "int64", isOptional: false, isIndexed: false)
    records.append(RecordState(identity: identity, name: "Record\(identity)", fields: [id]))
    for _ in 0..<(1 + number(below: 4)) { addField(to: records.count - 1, isNew: false) }
  }

  private mutating func addField(to place: Int, isNew: Bool) {
    let identity = identity()
    var field = FieldState(
      identity: identity, name: "field\(identity)", type: "", isOptional: number(below: 2) == 0,
      isIndexed: number(below: 3) == 0)
    switch number(below: 6) {
    case 0:
      field.type = "reference"
      field.isOptional = true
      field.destination = records[number(below: records.count)].identity
    case 1:
      field.type = "references"
      field.isOptional = false
      field.isIndexed = false
      field.destination = records[number(below: records.count)].identity
    default:
      field.type = Self.types[number(below: Self.types.count)].name
      if field.type == "array" || field.type == "data" { field.isIndexed = false }
      field.hasDefault = isNew && !field.isOptional
    }
    records[place].fields.append(field)
  }

  private mutating func step() {
    for place in records.indices {
      records[place].renamingID = nil
      for field in records[place].fields.indices {
        records[place].fields[field].renamingID = nil
        records[place].fields[field].hasDefault = false
      }
      for _ in 0..<number(below: 4) { change(place) }
    }
    if number(below: 3) == 0 { addRecord() }
    if number(below: 5) == 0, records.count > 2 {
      let gone = records.remove(at: number(below: records.count)).identity
      for place in records.indices {
        records[place].fields.removeAll { $0.destination == gone }
      }
    }
    if number(below: 4) == 0 { rename(number(below: records.count)) }
  }

  private mutating func rename(_ place: Int) {
    let old = records[place].name
    guard names.last?[old] != nil else { return }
    records[place].renamingID = old
    records[place].name = "Record\(identity())"
  }

  private mutating func change(_ place: Int) {
    let count = records[place].fields.count
    let field = 1 + number(below: max(1, count - 1))
    guard field < count else { return addField(to: place, isNew: true) }
    let isFresh = records[place].fields[field].renamingID != nil
    switch number(below: 8) {
    case 0, 1: addField(to: place, isNew: true)
    case 2: records[place].fields.remove(at: field)
    case 3 where !isFresh && isKnown(place, field):
      records[place].fields[field].renamingID = records[place].fields[field].name
      records[place].fields[field].name = "field\(identity())"
    case 4: exchange(place, field)
    case 5 where isKnown(place, field) && records[place].fields[field].destination == nil:
      records[place].fields[field].isOptional.toggle()
      records[place].fields[field].hasDefault = !records[place].fields[field].isOptional
    case 6 where isKnown(place, field):
      let type = records[place].fields[field].type
      if let wider = Self.wider[type] { records[place].fields[field].type = wider }
    case 7 where !["array", "data", "references"].contains(records[place].fields[field].type):
      records[place].fields[field].isIndexed.toggle()
    default: break
    }
  }

  /// Gives two fields the names of each other.
  private mutating func exchange(_ place: Int, _ one: Int) {
    let other = 1 + number(below: records[place].fields.count - 1)
    let fields = records[place].fields
    guard one != other, fields[one].renamingID == nil, fields[other].renamingID == nil,
      isKnown(place, one), isKnown(place, other)
    else { return }
    records[place].fields[one].name = fields[other].name
    records[place].fields[one].renamingID = fields[one].name
    records[place].fields[other].name = fields[one].name
    records[place].fields[other].renamingID = fields[other].name
  }

  /// True if the version before has the field.
  private func isKnown(_ place: Int, _ field: Int) -> Bool {
    let record = records[place].renamingID ?? records[place].name
    return names.last?[record]?.contains(records[place].fields[field].identity) ?? false
  }
}

// MARK: - Descriptions

extension RandomVersions {
  private mutating func version(_ number: Int) -> ModelVersion {
    names.append(
      Dictionary(uniqueKeysWithValues: records.map { ($0.name, Set($0.fields.map(\.identity))) }))
    let records = records
    var descriptions: [String: RecordDescription] = [:]
    for record in records {
      descriptions[record.name] = describe {
        if let renamingID = record.renamingID { RecordName(record.name, renamingID: renamingID) }
        for field in record.fields { Self.description(field, records) }
      }
    }
    return ModelVersion(number, describing: descriptions)
  }

  private static func description(_ field: FieldState, _ records: [RecordState]) -> Field {
    let known = types.first { $0.name == field.type }
    let target = records.first { $0.identity == field.destination }?.name ?? ""
    let type: FieldType =
      switch field.type {
      case "reference": .reference(to: target)
      case "references": .references(to: target)
      default: known?.type ?? .int64
      }
    let value = field.hasDefault ? known?.value : nil
    return Field(
      primaryKey: field.name == "id", name: field.name, type: type, optional: field.isOptional,
      indexed: field.isIndexed,
      migrationInfo: value.map { .init(default: $0, renamingID: field.renamingID) }
        ?? field.renamingID.map { .init(renamingID: $0) })
  }
}
