import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

// What plans do by the type's own `encode(to:)` and `init(from:)`.

/// The plan that a type would have if it asked for `.codable`.
private func codingPlan<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> CodingPlan {
  let record = try checkedRecord(type)
  return try CodingPlan(record, layout: try RowLayout(record.schema, version: 1))
}

private func bytes<Subject: Record>(
  _ record: Subject, _ plan: CodingPlan
) throws(StoreError) -> (key: [UInt8], row: [UInt8]) {
  let (row, key) = (RowWriter(), KeyEncoder())
  try plan.write(record, to: row, key: key)
  return (key.key.array(), row.row.array())
}

private func recoded<Subject: Record>(
  _ record: Subject, by plan: CodingPlan
) throws(StoreError) -> Subject {
  let bytes = try bytes(record, plan)
  return try plan.read(Subject.self, key: bytes.key.rawSpan, row: bytes.row.rawSpan)
}

/// Keys of its own: one for a property, one for a stored name.
private struct CustomKeys: Record, Hashable {
  var id: Int
  var title: String
  var note: String?

  private enum CodingKeys: String, CodingKey {
    case id = "number"
    case title
    case note = "remark"
  }

  static var coding: RecordCoding { .codable }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "number", type: .integer, property: "id")
    Field(name: "name", type: .string, property: "title")
    Field(name: "remark", type: .string, optional: true, property: "note")
  }
}

/// A class, its own coding, nested containers, and a wrapper.
private final class Handmade: Record, Hashable {
  struct Wrapper: Codable, Hashable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  let id: UUID
  let city: String
  let street: String?
  let words: [Wrapper]
  let wrapper: Wrapper?

  private enum CodingKeys: String, CodingKey { case id, address, words, wrapper }
  private enum AddressKeys: String, CodingKey { case city, street }

  init(id: UUID, city: String, street: String?, words: [Wrapper], wrapper: Wrapper?) {
    self.id = id
    self.city = city
    self.street = street
    self.words = words
    self.wrapper = wrapper
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let address = try container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
    // Not in the order of the fields.
    wrapper = try Wrapper?(from: container.superDecoder(forKey: .wrapper))
    street =
      try address.decodeNil(forKey: .street) ? nil : address.decode(String.self, forKey: .street)
    city = try address.decode(String.self, forKey: .city)
    var list = try container.nestedUnkeyedContainer(forKey: .words)
    var words: [Wrapper] = []
    while !list.isAtEnd { words.append(try list.decode(Wrapper.self)) }
    self.words = words
    id = try container.decode(UUID.self, forKey: .id)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try wrapper.encode(to: container.superEncoder(forKey: .wrapper))
    var list = container.nestedUnkeyedContainer(forKey: .words)
    for word in words { try list.encode(word) }
    var address = container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
    if let street {
      try address.encode(street, forKey: .street)
    } else {
      try address.encodeNil(forKey: .street)
    }
    try address.encode(city, forKey: .city)
    try container.encode(id, forKey: .id)
  }

  static var coding: RecordCoding { .codable }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(
      name: "address",
      type: .composite {
        Field(name: "city", type: .string)
        Field(name: "street", type: .string, optional: true)
      })
    Field(name: "words", type: .array(of: .string))
    Field(name: "wrapper", type: .string, optional: true)
  }

  static func == (one: Handmade, other: Handmade) -> Bool {
    (one.id, one.city, one.street, one.words, one.wrapper)
      == (other.id, other.city, other.street, other.words, other.wrapper)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

@Suite struct CodingTests {
  @Test func `coding keys are properties or stored names`() throws {
    let plan = try makePlan(CustomKeys.self)
    for note in [nil, "a remark"] {
      let record = CustomKeys(id: 4, title: "a title", note: note)
      #expect(try passed(record, through: plan) == record)
    }
  }

  @Test func `types may be classes and encode themselves as they like`() throws {
    let plan = try makePlan(Handmade.self)
    for street in [nil, "a street of more than fifteen bytes"] {
      for words in [[], ["one", "", "three"]] {
        let record = Handmade(
          id: UUID(), city: "a city", street: street, words: words.map { .init($0) },
          wrapper: street.map { .init($0) })
        #expect(try passed(record, through: plan) == record)
      }
    }
  }

  @Test func `both ways write the same bytes and read the same values`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<scaled(200, debug: 20) {
      let value = AllTypes.random(&random)
      try expectAgreement(value)
      try expectAgreement(AllOptional(value, present: random.next()))
      let street = Nested.Street(name: value.string, number: value.int)
      let home = Nested.Address(city: value.string, street: street, other: nil, note: nil)
      let work = Nested.Address(city: "", street: street, other: street, note: value.string)
      try expectAgreement(
        Nested(id: 1, home: home, work: value.boolean ? work : nil, name: "", label: nil))
      try expectAgreement(EightFields(note: nil))
    }
  }

  private func expectAgreement<Subject: Record & Equatable>(_ record: Subject) throws {
    let plan = try makePlan(Subject.self)
    try plan.checkAgreement(of: record)
    let way = try codingPlan(Subject.self)
    let back = try recoded(record, by: way)
    #expect(back == record)
    let (row, key) = (RowWriter(), KeyEncoder())
    try plan.write(record, to: row, key: key)
    let bytes = try bytes(record, way)
    #expect(bytes.key == key.key.array())
    #expect(bytes.row == row.row.array())
  }
}
