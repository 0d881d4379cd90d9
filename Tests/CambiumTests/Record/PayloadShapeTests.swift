import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private enum First {
  struct Part: Codable, Hashable {
    var name: String
    var size: Int?
  }

  enum Level: String, Codable, CaseIterable { case low, high }

  struct Whole: Codable, Hashable {
    var id: UUID
    var part: Part
    var parts: [Part] = []
    var byName: [String: Part] = [:]
    var level = Level.low
    var dates: Set<Date> = []
  }
}

/// Of each type the same, and others that differ in one thing.
private enum Second {
  struct Part: Codable, Hashable {
    var size: Int?
    var name: String
  }

  enum Level: String, Codable, CaseIterable { case low, middle, high }

  struct Whole: Codable, Hashable {
    var id: UUID
    var parts: [Part] = []
    var byName: [String: Part] = [:]
    var level = First.Level.low
    var dates: Set<Date> = []
    var part: Part
  }

  struct Renamed: Codable {
    var title: String
    var size: Int?
  }

  struct Required: Codable {
    var name: String
    var size: Int
  }

  struct Wider: Codable {
    var name: String
    var size: Double?
  }

  struct Larger: Codable {
    var name: String
    var size: Int?
    var note: String?
  }
}

private struct InArray<Value: Codable>: Codable { var all: [Value] }
private struct InDictionary<Value: Codable>: Codable { var all: [String: Value] }
private struct InOptional<Value: Codable>: Codable { var all: Value? }
private struct InSet<Value: Codable & Hashable>: Codable { var all: Set<Value> }

/// A type that contains itself.
private struct Branch: Codable { var branches: [Branch] = [] }

/// Of fields whose codec knows the shape of their values.
@Suite struct PayloadShapeTests {
  private static func identifier<Value: Codable>(_ type: Value.Type) -> String {
    JSONCodec(shapeOf: type).identifier
  }

  private static func text(of type: any Any.Type) -> String {
    var shape = PayloadShape()
    return shape.text(of: type)
  }

  @Test func `the same properties are the same shape, in whatever order`() {
    #expect(Self.identifier(First.Part.self) == Self.identifier(Second.Part.self))
    #expect(Self.identifier(First.Whole.self) == Self.identifier(Second.Whole.self))
    #expect(
      Self.text(of: First.Whole.self)
        == "{byName:[String:{name:String,size:Int?}],dates:[Date],id:UUID,level:<high|low>,"
        + "part:#1,parts:[#1]}")
    #expect(Self.text(of: Branch.self) == "{branches:[#0]}")
  }

  @Test func `another shape is another codec`() {
    let part = Self.text(of: First.Part.self)
    let others: [any Codable.Type] = [
      Second.Renamed.self, Second.Required.self, Second.Wider.self, Second.Larger.self,
    ]
    for other in others { #expect(Self.text(of: other) != part, "\(other)") }
    #expect(Self.identifier(First.Level.self) != Self.identifier(Second.Level.self))
    #expect(
      Self.identifier(InArray<First.Level>.self) != Self.identifier(InArray<Second.Level>.self))
    #expect(
      Self.identifier(InDictionary<First.Level>.self)
        != Self.identifier(InDictionary<Second.Level>.self))
    #expect(
      Self.identifier(InOptional<First.Level>.self)
        != Self.identifier(InOptional<Second.Level>.self))
    #expect(Self.identifier(InSet<First.Level>.self) != Self.identifier(InSet<Second.Level>.self))
    #expect(Self.identifier(Branch.self).utf8.count < 255)
    #expect(JSONCodec().identifier == "json")
  }

  @Test
  func `a store whose values have another shape is refused, and a step says what they become`()
    throws
  {
    struct OldOwner: Record {
      var id: Int
      var part: First.Part
      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Owner")
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "part", type: .transformable(using: JSONCodec(shapeOf: First.Part.self)))
      }
    }
    struct Owner: Record {
      var id: Int
      var part: Second.Larger
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(
          name: "part",
          type: .transformable(
            using: version < 2
              ? JSONCodec(shapeOf: First.Part.self) : JSONCodec(shapeOf: Second.Larger.self)))
      }
    }
    struct Forgetful: Record {
      var id: Int
      var part: Second.Larger
      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Owner")
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "part", type: .transformable(using: JSONCodec(shapeOf: Second.Larger.self)))
      }
    }
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try PersistentStore(at: path, model: StoreModel(records: [OldOwner.self]))
    try first.save(OldOwner(id: 1, part: First.Part(name: "a", size: 2)))
    try first.close()
    let forgetful = StoreModel(records: [Forgetful.self])
    guard
      case .schemaMismatch = storeError({ try PersistentStore(at: path, model: forgetful) })
    else { return #expect(Bool(false), "the shape is not compared") }
    let step = MigrationStep(to: 2) {
      UpdateRecord("Owner") {
        UpdateField("part", by: { old in try old.as(Data.self) ?? Data() })
      }
    }
    let second = try PersistentStore(
      at: path, model: StoreModel(version: 2, records: [Owner.self]), steps: [step])
    let part = try #require(try second.fetch(Owner.self, key: 1)?.part)
    #expect(part.name == "a" && part.size == 2 && part.note == nil)
    try second.close()
  }
}
