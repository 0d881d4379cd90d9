import Testing

@testable import Cambium

private struct Mixed<Element> {
  let first: Bool
  var second: [Element]
  var third: String?
  var fourth = 4
  var computed: Int { fourth }
  static var none: Int { 0 }
}

private struct Nothing {}

private struct Spaced: Record, Equatable {
  var `first name`: String
  var `name:de`: Int?
  var `class`: Bool
  var id: Int
  var `a list`: [Int]?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(name: "first name", type: .string)
    Field(name: "german", type: .integer, optional: true, property: "name:de")
    Field(name: "class", type: .boolean)
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "a list", type: .array(of: .integer), optional: true)
    Index("first name")
  }
}

private final class Shared {
  let first = 1
}

@Suite struct ReflectionTests {
  @Test func `stored properties are told with their offsets and types`() {
    typealias Subject = Mixed<Double>
    let properties = Reflection.storedProperties(of: Subject.self)
    #expect(properties.map(\.name) == ["first", "second", "third", "fourth"])
    #expect(properties[0].offset == MemoryLayout<Subject>.offset(of: \.first))
    #expect(properties[1].offset == MemoryLayout<Subject>.offset(of: \.second))
    #expect(properties[2].offset == MemoryLayout<Subject>.offset(of: \.third))
    #expect(properties[3].offset == MemoryLayout<Subject>.offset(of: \.fourth))
    let types: [any Any.Type] = [Bool.self, [Double].self, String?.self, Int.self]
    let told = properties.map { ObjectIdentifier($0.type) }
    #expect(told == types.map { ObjectIdentifier($0) })
  }

  @Test func `a property that is declared between backticks is a field like others`() throws {
    let names = Reflection.storedProperties(of: Spaced.self).map(\.name)
    #expect(names == ["first name", "name:de", "class", "id", "a list"])
    let store = try PersistentStore(inMemory: StoreModel(records: [Spaced.self]))
    let record = Spaced(`first name`: "Ann", `name:de`: 7, class: true, id: 1, `a list`: [1, 2])
    try store.save(record)
    #expect(try store.fetch(Spaced.where { $0.`first name` == "Ann" }) == [record])
    #expect(try store.fetch(Spaced.where { $0.`name:de` == 8 }).isEmpty)
    #expect(try store.fetch(record: "Spaced").map { $0["german"] } == [.integer(7)])
    try store.close()
  }

  @Test func `what is no struct has no properties`() {
    #expect(Reflection.isClass(Shared.self))
    #expect(!Reflection.isClass(Mixed<Int>.self))
    #expect(Reflection.storedProperties(of: Shared.self).isEmpty)
    #expect(Reflection.storedProperties(of: Optional<Int>.self).isEmpty)
    #expect(Reflection.storedProperties(of: Nothing.self).isEmpty)
    #expect(Reflection.storedProperties(of: (any Sendable).self).isEmpty)
    #expect(Reflection.storedProperties(of: (Int, Int).self).isEmpty)
  }

  @Test func `an optional says what it wraps`() {
    #expect(
      Reflection.wrapped(Optional<Int>.self).map { ObjectIdentifier($0) }
        == ObjectIdentifier(Int.self))
    #expect(
      Reflection.wrapped(Optional<Int?>.self).map { ObjectIdentifier($0) }
        == ObjectIdentifier(Optional<Int>.self))
    #expect(Reflection.wrapped(Int.self) == nil)
  }

  @Test func `integers of a machine word are those of 64 bits`() {
    #expect(ScalarType.swiftType(Int.self)?.scalarType == .int64)
    #expect(ScalarType.swiftType(UInt.self)?.scalarType == .uint64)
    #expect(ScalarType.swiftType([Int].self)?.scalarType == nil)
    #expect(ScalarType.swiftType(Optional<Int>.self)?.scalarType == nil)
  }
}
