import Cambium
import FoundationEssentials
import Glibc
import Synchronization

/// A store of the tests, with relations, composites and long values.
enum Workshop {
  struct Maker: Record, Identifiable {
    var id: Int
    var name: String
    static let tools = Inverse("tools", of: \Tool.maker, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, unique: true)
      tools
    }
  }

  struct Tag: Record, Identifiable {
    var id: String
    static let tools = Inverse("tools", of: \Tool.tags)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
      tools
    }
  }

  struct Tool: Record, Identifiable {
    struct Place: Codable, Sendable {
      var shelf: String?
      var row: Int?
    }

    var id: UUID
    var maker: Reference<Maker>?
    var tags: [Reference<Tag>] = []
    var place: Place?
    var sortName = ""
    var price: Decimal = 0
    var bought = Date(timeIntervalSinceReferenceDate: 0)
    var count: UInt64 = 0
    var weight = 0.0
    var picture: Blob?
    var sizes: [Int] = []
    var isSold = false

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "maker", type: .reference(to: Maker.self), optional: true)
      Field(name: "tags", type: .references(to: Tag.self))
      Field(
        name: "place",
        type: .composite {
          Field(name: "shelf", type: .string, optional: true)
          Field(name: "row", type: .integer, optional: true)
        }, optional: true)
      Field(name: "sortName", type: .string, indexed: true)
      Field(name: "price", type: .decimal)
      Field(name: "bought", type: .date)
      Field(name: "count", type: .uint64)
      Field(name: "weight", type: .double)
      Field(name: "picture", type: .binaryData, storage: .external(threshold: 100), optional: true)
      Field(name: "sizes", type: .array(of: .integer))
      Field(name: "isSold", type: .boolean)
    }
  }

  static let model = StoreModel(version: 1, records: [Maker.self, Tag.self, Tool.self])

  private static let count = Atomic(0)

  /// A directory that no other test has.
  static func directory(_ name: String) -> String {
    let number = count.add(1, ordering: .relaxed).newValue
    let path = "/tmp/cambium-workshop-\(getpid())-\(name)-\(number)"
    _ = unsafe system("rm -rf \(path)")
    return path
  }

  /// Fills a store; the same numbers make the same records.
  static func fill(_ store: PersistentStore, count: Int) throws {
    try store.write { transaction in
      for id in 1...7 { try transaction.save(Maker(id: id, name: "Maker \(id)")) }
      for id in 0..<5 { try transaction.save(Tag(id: "tag\(id)")) }
      for number in 0..<count {
        var tool = Tool(id: identity(number))
        tool.maker = number % 4 == 0 ? nil : Reference(number % 7 + 1)
        tool.tags = (0..<number % 4).map { Reference("tag\(($0 + number) % 5)") }
        tool.place =
          number % 3 == 0 ? nil : Tool.Place(shelf: number % 2 == 0 ? nil : "S\(number)", row: nil)
        tool.sortName = "Tool \(number) — 🔨"
        tool.price = Decimal(number) / 8
        tool.bought = Date(timeIntervalSinceReferenceDate: Double(number) * 1_000.5)
        tool.count = UInt64.max - UInt64(number)
        tool.weight = number == 0 ? .nan : Double(number) / 3
        tool.picture =
          number % 9 == 0
          ? Blob(Data((0..<number * 700).map { UInt8(truncatingIfNeeded: $0 &* number) })) : nil
        tool.sizes = Array(0..<number % 5)
        try transaction.save(tool)
      }
    }
  }

  static func identity(_ number: Int) -> UUID {
    let low = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    var bytes = [UInt8](repeating: 0, count: 16)
    for place in 0..<8 { bytes[place] = UInt8(truncatingIfNeeded: low >> (8 * UInt64(place))) }
    bytes[15] = UInt8(truncatingIfNeeded: number)
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}
