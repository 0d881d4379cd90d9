import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

// Records whose descriptions say something else than their Swift types.

private protocol Lie: Record, Equatable {
  /// What its refusal names, and a part of the reason.
  static var refused: (field: String?, reason: String) { get }
}

private enum Missing {
  struct Property: Lie {
    var id = 1
    static let refused: (field: String?, reason: String) = ("name", "has no stored property “name”")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Renamed: Lie {
    var id = 1
    var name = ""
    static let refused: (field: String?, reason: String) = ("name", "no stored property “title”")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, property: "title")
    }
  }

  struct Described: Lie {
    var id = 1
    var name = ""
    static let refused: (field: String?, reason: String) = ("name", "neither a field nor named")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  struct Computed: Lie {
    var id = 1
    var name: String { "" }
    static let refused: (field: String?, reason: String) = ("name", "has no stored property “name”")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Lazy: Lie {
    var id = 1
    lazy var name: String = ""
    private enum CodingKeys: String, CodingKey { case id }
    static let refused: (field: String?, reason: String) = ("name", "wrapped or lazy")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
    static func == (one: Self, other: Self) -> Bool { one.id == other.id }
  }

  struct Part: Lie {
    struct Address: Codable, Equatable {
      var city = ""
      var street = ""
    }
    var id = 1
    var address = Address()
    static let refused: (field: String?, reason: String) = ("address.street", "neither a field")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "address", type: .composite { Field(name: "city", type: .string) })
    }
  }

  struct PartProperty: Lie {
    struct Address: Codable, Equatable { var city = "" }
    var id = 1
    var address: Address? = nil
    static let refused: (field: String?, reason: String) = ("address.town", "no stored property")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "address", type: .composite { Field(name: "town", type: .string) }, optional: true)
    }
  }

  struct Transience: Lie {
    var id = 1
    static let refused: (field: String?, reason: String) = ("views", "no stored property “views”")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Transient("views", default: 0)
    }
  }
}

private enum Otherwise {
  struct Transience: Lie {
    var id = 1
    var views = 0
    static let refused: (field: String?, reason: String) = (
      "views", "is an Int, but is set to a String"
    )
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Transient("views", default: "none")
    }
  }

  struct Nothing: Lie {
    var id = 1
    var name = ""
    static let refused: (field: String?, reason: String) = (
      "name", "optional, but the property is a String"
    )
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, optional: true)
    }
  }

  struct Something: Lie {
    var id = 1
    var name: String? = nil
    static let refused: (field: String?, reason: String) = (
      "name", "not optional, but the property is an Opt"
    )
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Twice: Lie {
    var id = 1
    var name: String?? = nil
    static let refused: (field: String?, reason: String) = ("name", "only one kind of nil")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, optional: true)
    }
  }

  struct CompositeNumber: Lie {
    var id = 1
    var place = 4
    static let refused: (field: String?, reason: String) = ("place.x", "no stored property “x”")
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "place", type: .composite { Field(name: "x", type: .double) })
    }
  }

  struct CompositeEnum: Lie {
    var id = 1
    var color = Color.red
    static let refused: (field: String?, reason: String) = (
      "color", "Color shows no stored properties"
    )
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "color", type: .composite { Field(name: "x", type: .double) })
    }
  }

  final class Class: Lie {
    let id = 1
    private enum CodingKeys: CodingKey {}
    static var refused: (field: String?, reason: String) { (nil, "is a class") }
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
    static func == (one: Class, other: Class) -> Bool { one === other }
  }
}

/// A record with one property, which is described as a type that it does not have.
private struct Wrong<Value: Codable & Sendable>: Record {
  var id: Int
  var value: Value

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Wrong")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "value", type: types[typeName.value] ?? .integer)
  }
}

private let typeName = PerThread("")

private let types: [String: FieldType] = [
  "boolean": .boolean, "int8": .int8, "int16": .int16, "int32": .int32, "int64": .int64,
  "uint8": .uint8, "uint16": .uint16, "uint32": .uint32, "uint64": .uint64, "float": .float,
  "double": .double, "date": .date, "uuid": .uuid, "decimal": .decimal, "string": .string,
  "url": .url, "data": .binaryData, "integers": .array(of: .integer),
  "strings": .array(of: .string),
]

@Suite struct LyingRecordTests {
  @Test func `records that lie about their struct are refused, the property named`() throws {
    try expectRefusal(Missing.Property.self)
    try expectRefusal(Missing.Renamed.self)
    try expectRefusal(Missing.Described.self)
    try expectRefusal(Missing.Computed.self)
    try expectRefusal(Missing.Lazy.self)
    try expectRefusal(Missing.Part.self)
    try expectRefusal(Missing.PartProperty.self)
    try expectRefusal(Missing.Transience.self)
    try expectRefusal(Otherwise.Transience.self)
    try expectRefusal(Otherwise.Nothing.self)
    try expectRefusal(Otherwise.Something.self)
    try expectRefusal(Otherwise.Twice.self)
    try expectRefusal(Otherwise.CompositeNumber.self)
    try expectRefusal(Otherwise.CompositeEnum.self)
    try expectRefusal(Otherwise.Class.self)
  }

  private func expectRefusal<Subject: Lie>(_ type: Subject.Type) throws {
    let record = try checkedRecord(type)
    let layout = try RowLayout(record.schema, version: 1)
    let error = #expect(throws: StoreError.self) { _ = try RecordPlan(record, layout: layout) }
    guard case .invalidDescription(let name, let field, 1, let reason) = error else {
      Issue.record("\(type): \(String(describing: error))")
      return
    }
    #expect(name == "\(type)")
    #expect(field == type.refused.field, "\(type): \(reason)")
    #expect(reason.contains(type.refused.reason), "\(type): \(reason)")
  }

  @Test func `each Swift type fits the columns that hold all of its values, and no others`() throws
  {
    let integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    try expect(Bool.self, fits: ["boolean"])
    try expect(Int8.self, fits: ["int8", "int16", "int32", "int64"])
    try expect(Int16.self, fits: ["int16", "int32", "int64"])
    try expect(Int32.self, fits: ["int32", "int64"])
    try expect(Int64.self, fits: ["int64"])
    try expect(Int.self, fits: ["int64"])
    try expect(
      UInt8.self, fits: ["uint8", "uint16", "uint32", "uint64", "int16", "int32", "int64"])
    try expect(UInt16.self, fits: ["uint16", "uint32", "uint64", "int32", "int64"])
    try expect(UInt32.self, fits: ["uint32", "uint64", "int64"])
    try expect(UInt64.self, fits: ["uint64"])
    try expect(UInt.self, fits: ["uint64"])
    try expect(Float.self, fits: ["float"])
    try expect(Double.self, fits: ["double"])
    try expect(Date.self, fits: ["date"])
    try expect(UUID.self, fits: ["uuid"])
    try expect(Decimal.self, fits: ["decimal"])
    try expect(String.self, fits: ["string"])
    try expect(URL.self, fits: ["url"])
    try expect(Data.self, fits: ["data"])
    try expect(Level.self, fits: integers)
    try expect(Color.self, fits: ["string"])
    try expect([Int].self, fits: ["integers"])
    try expect([String].self, fits: ["strings"])
    try expect([UInt8].self, fits: [])
    try expect(Coordinate.self, fits: [])
  }

  private func expect<Value: Codable & Sendable>(
    _ type: Value.Type, fits expected: [String]
  ) throws {
    let fitting = types.keys.filter { name in
      typeName.withValue(name) { (try? makePlan(Wrong<Value>.self)) != nil }
    }
    #expect(Set(fitting) == Set(expected), "\(type)")
  }
}
