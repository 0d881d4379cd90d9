import Cambium

/// The record that is migrated, in its first version: eight fields.
struct MigratedItem: Record {
  var id: Int
  var name: String
  var joined: Double
  var weight: Double
  var note: String?
  var city: String
  var level: Int32
  var score: Double?

  static func recordDescription(for version: Int) -> RecordDescription {
    MigrateWorkload.add.description(of: 1)
  }

  /// Every value follows from the number.
  init(_ number: Int, _ random: inout SplitMix64) {
    id = number
    name = "name\(random.next() % 1_000_000)"
    joined = Double(random.next() % 1_000_000)
    weight = Double(random.next() % 1_000_000) / 8
    note = random.next() % 3 == 0 ? nil : "a note of some length about number \(number)"
    city = "city\(random.next() % 100)"
    level = Int32(random.next() % 100)
    score = random.next() % 4 == 0 ? nil : Double(random.next() % 10_000)
  }
}

/// Stands for the descriptions of one workload: records are not made of it while a store is migrated.
private struct Migrated<Change: Changing>: Record {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Change.workload.description(of: version)
  }
}

private protocol Changing: Sendable {
  static var workload: MigrateWorkload { get }
}

private enum Adding: Changing { static let workload = MigrateWorkload.add }
private enum Renaming: Changing { static let workload = MigrateWorkload.rename }
private enum Removing: Changing { static let workload = MigrateWorkload.remove }
private enum Requiring: Changing { static let workload = MigrateWorkload.require }
private enum Widening: Changing { static let workload = MigrateWorkload.widen }
private enum Transforming: Changing { static let workload = MigrateWorkload.transform }
private enum Splitting: Changing { static let workload = MigrateWorkload.split }
private enum Chaining: Changing { static let workload = MigrateWorkload.chain }
private enum RollingBack: Changing { static let workload = MigrateWorkload.rollback }

/// The record that a split makes beside the item.
private struct Place: Record {
  var id: Int
  var city: String

  @RecordDescription.ResultBuilder
  static func recordDescription(for version: Int) -> RecordDescription {
    if version > 1 {
      RecordName("place")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "city", type: .string)
    }
  }
}

/// The item after a split, which has taken the city out of it.
private struct ItemWithoutCity: Record {
  var id: Int
  var name: String
  var joined: Double
  var weight: Double
  var note: String?
  var level: Int32
  var score: Double?

  init(_ item: MigratedItem) {
    id = item.id
    name = item.name
    joined = item.joined
    weight = item.weight
    note = item.note
    level = item.level
    score = item.score
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    MigrateWorkload.split.description(of: version)
  }
}

extension MigrateWorkload {
  /// The model that the workload leads to.
  var model: StoreModel {
    let type: any Record.Type =
      switch self {
      case .add: Migrated<Adding>.self
      case .rename: Migrated<Renaming>.self
      case .remove: Migrated<Removing>.self
      case .require: Migrated<Requiring>.self
      case .widen: Migrated<Widening>.self
      case .transform: Migrated<Transforming>.self
      case .split, .splitUntyped: Migrated<Splitting>.self
      case .chain: Migrated<Chaining>.self
      case .rollback: Migrated<RollingBack>.self
      }
    return StoreModel(version: version, records: isSplit ? [type, Place.self] : [type])
  }

  /// The program's migration steps.
  var steps: [MigrationStep] {
    switch self {
    case .transform:
      [
        MigrationStep(to: 2) {
          UpdateRecord("item") {
            UpdateField("level", by: { old in try 2 * (old.as(Int32.self) ?? 0) + 1 })
          }
        }
      ]
    case .split:
      [
        MigrationStep(to: 2) {
          TransformRecords(MigratedItem.self, into: ItemWithoutCity.self, Place.self) { old, emit in
            try emit(ItemWithoutCity(old))
            try emit(Place(id: old.id, city: old.city))
          }
        }
      ]
    case .splitUntyped:
      [
        MigrationStep(to: 2) {
          TransformRecords("item", into: "item", "place") { old, emit in
            var item = old.record
            item.fields["city"] = nil
            try emit(item)
            try emit(
              DynamicRecord(
                "place", ["id": try old["id"], "city": try old["city"]]))
          }
        }
      ]
    default: []
    }
  }

  /// The changes that a version has, all of those before it included.
  private func has(_ change: MigrateWorkload, in version: Int) -> Bool {
    guard self == .chain else {
      return version > 1 && (self == .rollback ? .require : self) == change
    }
    let order: [MigrateWorkload] = [.add, .rename, .remove, .require, .widen]
    return order.firstIndex(of: change).map { version > $0 + 1 } ?? false
  }

  @RecordDescription.ResultBuilder
  func description(of version: Int) -> RecordDescription {
    RecordName("item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    if has(.rename, in: version) {
      Field(name: "since", type: .double, migrationInfo: .init(renamingID: "joined"))
    } else {
      Field(name: "joined", type: .double)
    }
    if !has(.remove, in: version) { Field(name: "weight", type: .double) }
    Field(name: "note", type: .string, optional: true)
    if version == 1 || !isSplit { Field(name: "city", type: .string) }
    Field(name: "level", type: has(.widen, in: version) ? .int64 : .int32)
    if has(.require, in: version) {
      Field(name: "score", type: .double, migrationInfo: .init(default: 0))
    } else {
      Field(name: "score", type: .double, optional: true)
    }
    if has(.add, in: version) {
      Field(name: "more", type: .int64, migrationInfo: .init(default: 7))
    }
  }
}
