import FoundationEssentials

@testable import Cambium

/// A record with fields of every type that a condition may name.
struct Member: Record, Hashable {
  struct Address: Codable, Hashable, Sendable {
    var street: String
    var zip: Int32?
    var place: Place?
  }

  struct Place: Codable, Hashable, Sendable {
    var latitude: Double
    var names: [String]
  }

  struct Name: Codable, Hashable, Sendable {
    var first: String
    var last: String?
  }

  enum Rank: Int, RecordIntegerEnum {
    case low = 1
    case high = 2
  }

  enum Color: String, RecordStringEnum {
    case red, green
  }

  var id = 0
  var name = Name(first: "Ada", last: "L")
  var age = 36
  var height: Double? = 1.7
  var score: Int? = 5
  var nick: String? = nil
  var born = Date(timeIntervalSinceReferenceDate: 0)
  var token = UUID()
  var page: URL? = nil
  var photo = Data()
  var price: Decimal = 0
  var rank = Rank.low
  var color: Color? = .red
  var isMember = false
  var tags: [String] = []
  var numbers: [Int]? = nil
  var address: Address? = nil
  var notes: [String: Int]? = nil

  var doubled: Int { age * 2 }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: "called",
      type: .composite {
        Field(name: "given", type: .string, property: "first")
        Field(name: "last", type: .string, optional: true)
      }, property: "name")
    Field(name: "years", type: .integer, property: "age")
    Field(name: "height", type: .double, optional: true)
    Field(name: "score", type: .integer, optional: true)
    Field(name: "nick", type: .string, optional: true)
    Field(name: "born", type: .date)
    Field(name: "token", type: .uuid)
    Field(name: "page", type: .url, optional: true)
    Field(name: "photo", type: .binaryData)
    Field(name: "price", type: .decimal)
    Field(name: "rank", type: .integer)
    Field(name: "color", type: .string, optional: true)
    Field(name: "isMember", type: .boolean)
    Field(name: "tags", type: .array(of: .string))
    Field(name: "numbers", type: .array(of: .integer), optional: true)
    Field(
      name: "address",
      type: .composite {
        Field(name: "street", type: .string)
        Field(name: "zip", type: .int32, optional: true)
        Field(
          name: "place",
          type: .composite {
            Field(name: "latitude", type: .double)
            Field(name: "names", type: .array(of: .string))
          }, optional: true)
      }, optional: true)
    Field(name: "notes", type: .transformable, optional: true)
  }
}

/// A condition resolved as an open store does it, and asked of rows.
struct OpenedType<Subject: Record> {
  let type: RecordType<Subject>
  private let entities: Entities

  init() throws {
    let model = try StoreModel(version: 1, records: [Subject.self]).checked()
    entities = try Entities(model.schema, model: model, names: TreeNames())
    type = try entities.type(Subject.self)
  }

  /// Returns a condition on fields, once it was seen to fit them.
  func resolved(_ condition: Condition<Subject>) throws(StoreError) -> FieldCondition {
    let condition = try condition.fields(in: type, entities)
    _ = try RowCondition(condition, in: type.layout)
    return condition
  }

  func holds(_ condition: Condition<Subject>, for record: Subject) throws -> Bool {
    let condition = try resolved(condition)
    let (row, key) = (RowWriter(), KeyEncoder())
    try type.encode(record, to: row, key: key)
    let layout = type.layout
    let reader = try RowReader(key: key.key, row: row.row, layout: layout)
    return try RowCondition(condition, in: layout).holds(for: reader)
  }
}
