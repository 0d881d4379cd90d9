import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// A record that a change of a scenario makes: all of it follows from the change's key and value, which it
/// holds too.
protocol KeptRecord: Record, Equatable {
  var number: Int { get }
  init(number: Int, value: Bytes)

  /// What no two records of the type can have both.
  static func claims(_ value: Bytes) -> Set<Int>
}

/// The record types of stores that crash, in step with the trees of scenarios.
enum KeptRecords {
  static let types: [any KeptRecord.Type] = [Plain.self, Indexed.self, Pair.self]

  /// Without indexes.
  struct Plain: KeptRecord {
    var number: Int
    var payload: Data

    init(number: Int, value: Bytes) {
      self.number = number
      payload = Data(value)
    }

    static func claims(_ value: Bytes) -> Set<Int> { [] }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "number", type: .integer)
      Field(name: "payload", type: .binaryData)
    }
  }

  /// With indexes of every kind, some of whose keys are cut.
  struct Indexed: KeptRecord {
    var number: Int
    var code: Int?
    var group: String
    var flag: Bool
    var payload: Data

    init(number: Int, value: Bytes) {
      let digest = value.digest
      self.number = number
      code = Self.claims(value).first
      flag = digest % 2 == 0
      group = ["", "a", "Ä", "aa"][digest / 2 % 4]
      if digest % 32 == 5 { group = String(repeating: "g", count: 1_020 + digest % 7) }
      payload = Data(value)
    }

    static func claims(_ value: Bytes) -> Set<Int> {
      let digest = value.digest
      return digest % 4 == 0 ? [] : [digest / 4 % 24]
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "number", type: .integer)
      Field(name: "code", type: .integer, optional: true, unique: true)
      Field(name: "group", type: .string, indexed: true)
      Field(name: "flag", type: .boolean)
      Field(name: "payload", type: .binaryData)
      Index(.descending("group"), "code")
      Index(
        .caseInsensitive("group"), named: "flagged",
        where: .comparison(field: "flag", .equal, .boolean(true)))
    }
  }

  /// With a key and a constraint of two parts.
  struct Pair: KeptRecord {
    var left: String
    var right: Int
    var name: String
    var flag: Bool
    var payload: Data

    var number: Int { right }

    init(number: Int, value: Bytes) {
      let digest = value.digest
      left = "p\(number % 7)"
      right = number
      name = "n\(digest / 2 % 9)"
      flag = digest % 2 == 0
      payload = Data(value)
    }

    static func claims(_ value: Bytes) -> Set<Int> { [value.digest % 18] }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(name: "left", type: .string)
      Field(name: "right", type: .integer)
      PrimaryKey("left", .descending("right"))
      Field(name: "name", type: .string)
      Field(name: "flag", type: .boolean)
      Field(name: "payload", type: .binaryData, indexed: true)
      Unique("name", .descending("flag"))
    }
  }
}

extension Bytes {
  /// A number that differs where values do, as a rule.
  fileprivate var digest: Int {
    Int(prefix(16).reduce(UInt32(truncatingIfNeeded: count)) { $0 &* 31 &+ UInt32($1) } % 10_007)
  }
}

// MARK: - In the model

extension Content {
  /// Whether a record that is put is refused where another is in its way, or takes its place.
  static func refuses(stamp: Int, key: Int) -> Bool { (stamp + key) % 3 == 0 }

  /// As `apply`, of records.
  mutating func applyToRecords(_ change: Change, stamp: Int) -> Bool {
    guard case .put(let tree, let key, let length) = change else {
      return applyToEntries(change, stamp: stamp)
    }
    let type = KeptRecords.types[tree]
    let value = Self.value(stamp: stamp, key: key, length: length)
    let claims = type.claims(value)
    let others = trees[tree].filter { other, value in
      other != key && !claims.isDisjoint(with: type.claims(value))
    }
    if !others.isEmpty, Self.refuses(stamp: stamp, key: key) { return false }
    for other in others.keys { trees[tree][other] = nil }
    trees[tree][key] = value
    return true
  }
}
