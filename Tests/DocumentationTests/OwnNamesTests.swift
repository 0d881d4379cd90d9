import Cambium
import Foundation
import Testing

// A program's own types may have the names in common use: in records, those of the library are members.

private struct Index: Equatable {
  var page: Int
}
private struct Field: Equatable {
  var crop: String
}
private struct Unique {}
private struct PrimaryKey {}
private struct Transient {}
private struct Validation {}
private struct Aggregate {}
private struct Step {}
private struct Check {}
private struct Errno: Error {}

/// A record with a common name, described with the names of the library.
private struct Order: Record, Equatable {
  var id = UUID()
  var customer: String
  var cents: Int
  var isOpen = true

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Order")
    Field(name: "id", type: .uuid)
    Field(name: "customer", type: .string)
    Field(name: "cents", type: .integer)
    PrimaryKey("id")
    Index("customer", .descending("cents"), named: "largest")
    Unique("customer", "cents")
    Transient("isOpen", default: true)
    Validation("it costs something") { (order: Order) in order.cents > 0 }
  }
}

@Suite struct OwnNamesTests {
  @Test func `a program has types with the names of a description's parts`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Order.self]))
    let field = Field(crop: "wheat")
    let index = Index(page: 7)
    try store.save(Order(customer: field.crop, cents: index.page), durability: .relaxed)
    try store.save(Order(customer: field.crop, cents: 9))
    let order: Query<Order>.Order = .descending(\.cents)
    let found = try store.fetch(Order.sorted(by: order))
    #expect(found.map(\.cents) == [9, 7])
    #expect(throws: StoreError.self) { try store.save(Order(customer: "b", cents: 0)) }
    let shared: RecordDescription.Index = .init("customer")
    _ = (
      shared, Unique(), PrimaryKey(), Transient(), Validation(), Aggregate(), Step(), Check(),
      Errno()
    )
    try store.close()
  }
}
