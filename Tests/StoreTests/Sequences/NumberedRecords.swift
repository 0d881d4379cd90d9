@testable import Cambium

/// A record that is found by a number of the store's.
struct QueueTicket: Record, Identifiable, Equatable {
  var id = 0
  var title: String

  init(_ title: String, id: Int = 0) {
    self.id = id
    self.title = title
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer, generated: .sequence)
    Field(name: "title", type: .string, unique: true)
  }
}

/// A record with two numbers beside its key.
struct Bill: Record, Identifiable, Equatable {
  var id: Int
  var number: Int?
  var page = UInt16(0)

  init(_ id: Int, number: Int? = nil, page: UInt16 = 0) {
    self.id = id
    self.number = number
    self.page = page
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: "number", type: .integer, optional: true, unique: true,
      generated: .sequence(from: 1_000, withoutGaps: true))
    Field(
      name: "page", type: .uint16, unique: true, generated: .sequence(from: 5, by: 10))
  }
}
