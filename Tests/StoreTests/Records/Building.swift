import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// A record with structs, lists and everything else that fields can be.
struct Building: Record, Equatable {
  var id: UInt32
  var address: Address
  var former: Address?
  var names: [String] = []
  var heights: [Double] = []
  var codes: [Int16]?
  var opened: Date?
  var kind = Kind.house
  var state = State.open
  var site: URL?
  var area = Decimal(0)
  var picture = Data()
  var extra: [String: [Int]] = [:]

  struct Address: Codable, Equatable, Sendable {
    var street: String
    var zip: Int?
    var point = Point()
  }

  struct Point: Codable, Equatable, Sendable {
    var latitude = 0.0
    var longitude = 0.0
  }

  enum Kind: Int, RecordIntegerEnum {
    case house = 1
    case garden
  }
  enum State: String, RecordStringEnum { case open, closed }

  @RecordDescription.ResultBuilder private static var parts: RecordDescription {
    Field(name: "street", type: .string)
    Field(name: "zip", type: .integer, optional: true)
    Field(
      name: "point",
      type: .composite {
        Field(name: "latitude", type: .double)
        Field(name: "longitude", type: .double)
      })
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uint32)
    Field(name: "address", type: .composite { parts })
    Field(name: "former", type: .composite { parts }, optional: true)
    Field(name: "names", type: .array(of: .string))
    Field(name: "heights", type: .array(of: .double))
    Field(name: "codes", type: .array(of: .int16), optional: true)
    Field(name: "opened", type: .date, optional: true, indexed: true)
    Field(name: "kind", type: .integer, indexed: true)
    Field(name: "state", type: .string)
    Field(name: "site", type: .url, optional: true, unique: true)
    Field(name: "area", type: .decimal, indexed: true)
    Field(name: "picture", type: .binaryData)
    Field(name: "extra", type: .transformable)
    Index("address.zip", "address.street")
    Index(.elements("names"), "kind")
    Index(.elements("codes"))
    Unique("id", .elements("heights"))
    Unique("address.point.latitude", "address.point.longitude", named: "point")
    Index(
      .descending("former.street"), named: "moved",
      where: .comparison(field: "former.street", .notEqual, .null))
  }

  static func some(_ count: Int) -> [Building] {
    (0..<count).map { number in
      let point = Point(latitude: Double(number), longitude: -1)
      let address = Address(
        street: "S\(number % 4)", zip: number % 3 == 0 ? nil : number, point: point)
      return Building(
        id: UInt32(number), address: address,
        former: number % 2 == 0 ? nil : Address(street: "F\(number)", zip: 1),
        names: (0..<number % 5).map { "name \($0)" },
        heights: [Double](repeating: 0.5, count: number % 3),
        codes: number % 4 == 0 ? nil : [-1, Int16(number)],
        opened: number % 5 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(-number)),
        kind: number % 2 == 0 ? .house : .garden, state: number % 3 == 0 ? .open : .closed,
        site: number % 3 == 0 ? nil : URL(string: "https://example.org/\(number)"),
        area: Decimal(number) / 8,
        picture: Data(repeating: UInt8(truncatingIfNeeded: number), count: number * 10),
        extra: number % 2 == 0 ? [:] : ["a": [number], "b": []])
    }
  }
}
