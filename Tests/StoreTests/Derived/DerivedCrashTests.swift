import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call, or a call fails, while writes change the derived fields of others: a store is as one of
/// the commits left it, so no count is wrong.
@Suite struct DerivedCrashTests {
  private struct Box: Record, Identifiable, Equatable {
    var id: Int
    var count = 0
    var weight = 0
    var moment = 0
    var heaviest: Int?
    var label: String
    var folded = ""

    static let things = Inverse("things", of: \Thing.box)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "count", type: .integer, indexed: true, derived: .count(of: "things"))
      Field(name: "weight", type: .integer, derived: .sum(of: "things", "weight"))
      Field(
        name: "moment", type: .integer, indexed: true,
        derived: .sum(of: "things", value: "weight * (weight - 1)"))
      Field(
        name: "heaviest", type: .integer, optional: true, derived: .maximum(of: "things", "weight"))
      Field(name: "label", type: .string)
      Field(name: "folded", type: .string, derived: .folded("label"))
      things
    }
  }

  /// A kind of box, with derived fields of the box's fields and things, and of those that lead to crates.
  private struct Crate: Record, Identifiable, Equatable {
    var box: Box
    var lightest: Int?
    var upper = ""
    var nailed = 0
    var id: Int { box.id }

    static let nails = Inverse("nails", of: \Thing.crate)

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Box.self, property: "box")
      Field(
        name: "lightest", type: .integer, optional: true, indexed: true,
        derived: .minimum(of: "things", "weight"))
      Field(name: "upper", type: .string, indexed: true, derived: .uppercased("label"))
      Field(name: "nailed", type: .integer, derived: .sum(of: "nails", "weight"))
      nails
    }
  }

  private struct Chest: Record, Equatable {
    var box: Box

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Box.self, property: "box")
    }
  }

  private struct Thing: Record, Identifiable, Equatable {
    var id: Int
    var box: Reference<Box>?
    var crate: Reference<Crate>?
    var weight: Int
    var grams = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "box", type: .reference(to: Box.self), optional: true)
      Field(name: "crate", type: .reference(to: Crate.self), optional: true)
      Field(name: "weight", type: .integer)
      Field(name: "grams", type: .integer, indexed: true, derived: .value("weight * 1000"))
    }
  }

  private struct World: Equatable {
    var boxes: [Box]
    var crates: [Crate]
    var chests: [Chest]
    var things: [Thing]

    init(_ reader: borrowing some RecordReading & ~Copyable) throws {
      boxes = try reader.fetch(Box.self)
      crates = try reader.fetch(Crate.self)
      chests = try reader.fetch(Chest.self)
      things = try reader.fetch(Thing.self)
    }
  }

  private static func box(_ id: Int) -> Box { Box(id: id, label: "Kiste \(id)") }

  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    switch number {
    case 0:
      for id in 0..<40 {
        let crate: Reference<Crate>? = id % 2 == 0 ? Reference(1) : nil
        try transaction.insert(Thing(id: id, box: Reference(id % 3), crate: crate, weight: id))
      }
      for id in 0..<3 { try transaction.insert(box(id)) }
      try transaction.save(Crate(box: box(1)))
    case 1:
      try transaction.update(Thing.where { $0.id < 10 }) { $0.box = Reference(2) }
    case 2: try transaction.delete(Thing.where { $0.weight > 30 })
    case 3:
      // The crate becomes a chest, and a box the crate.
      try transaction.save(Crate(box: box(0)))
      try transaction.update(Thing.where { $0.crate == Reference(1) }) {
        $0.crate = Reference(0)
      }
      try transaction.save(Chest(box: box(1)))
    case 4: try transaction.delete(Box.self, key: 2)
    default: try transaction.deleteAll(Thing.self)
    }
  }

  private static func sweep(spilling: Bool) -> CommitSweep<World> {
    CommitSweep(
      name: "derived fields",
      model: StoreModel(records: [Box.self, Crate.self, Chest.self, Thing.self]), commitCount: 6,
      transactionBudget: spilling ? 3 << 10 : nil, commit: commit, world: World.init)
  }

  @Test func `each commit leaves the counts that there are`() throws {
    let worlds = try Self.sweep(spilling: false).worlds()
    #expect(
      worlds.map { $0.boxes.map(\.count) } == [
        [], [14, 13, 13], [10, 10, 20], [7, 7, 17], [7, 7, 17], [7, 7], [0, 0],
      ])
    #expect(worlds.map { $0.crates.map(\.id) } == [[], [1], [1], [1], [0], [0], [0]])
    #expect(
      worlds.map { $0.crates.map(\.nailed) } == [[], [380], [380], [240], [240], [240], [0]])
    for world in worlds {
      #expect(world.things.allSatisfy { $0.grams == $0.weight * 1000 })
      for box in world.boxes {
        let own = world.things.filter { $0.box == Reference(box.id) }
        #expect(box.weight == own.map(\.weight).reduce(0, +))
        #expect(box.moment == own.map { $0.weight * ($0.weight - 1) }.reduce(0, +))
        #expect(box.heaviest == own.map(\.weight).max())
        let crate = world.crates.first { $0.id == box.id }
        #expect(crate?.lightest == (crate == nil ? nil : own.map(\.weight).min()))
        #expect(crate?.upper == (crate == nil ? nil : box.label.uppercased()))
      }
    }
  }

  @Test(arguments: [false, true])
  func `crashes before any call leave derived fields as a commit left them, X1, X2`(
    spilling: Bool
  ) throws {
    let findings = try Self.sweep(spilling: spilling).crash(stride: scaled(1, debug: 7))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(300, debug: 30))
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves derived fields as a commit left them, X4`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).fail(stride: scaled(1, debug: 17))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(50, debug: 4))
  }
}
