import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Several stores of one model.
@Suite struct StoreGroupTests {
  private let directory: TemporaryDirectory
  private var paths: [String: String] {
    ["orders": directory.path + "/orders", "people": directory.path + "/people"]
  }

  init() throws {
    directory = try TemporaryDirectory()
  }

  struct Person: Record, Identifiable, Equatable {
    var id = UUID()
    var name: String
    static let orders = Inverse("orders", of: \Order.buyer, deleteRule: .noAction)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string)
      if version > 1 {
        Field(name: "age", type: .integer, optional: true, property: "years")
      } else {
        Transient("years", default: nil as Int?)
      }
      orders
    }
    var years: Int?
  }

  struct Order: Record, Identifiable, Equatable {
    var id: Int
    var buyer: Reference<Person>
    var watchers: [Reference<Person>] = []
    var mark: Reference<Mark>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "buyer", type: .reference(to: Person.self, checked: false), indexed: true)
      Field(name: "watchers", type: .references(to: Person.self, checked: false))
      Field(name: "mark", type: .reference(to: Mark.self), optional: true)
    }
  }

  struct Mark: Record, Identifiable, Equatable {
    var id: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
    }
  }

  /// What was, and is no more.
  static let removed = RemovedRecord("Draft", configurations: ["orders"]) { version in
    if version == 1 { Field(primaryKey: true, name: "id", type: .integer) }
  }

  static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version, records: [Person.self, Order.self, Mark.self],
      removed: version > 1 ? [removed] : [],
      configurations: ["orders": [Order.self, Mark.self], "people": [Person.self, Mark.self]])
  }

  /// The first version as its program described it.
  static let first = StoreModel([
    ModelVersion(
      1, records: [Person.self, Order.self, Mark.self, Draft.self],
      configurations: [
        "orders": [Order.self, Mark.self, Draft.self], "people": [Person.self, Mark.self],
      ])
  ])

  struct Draft: Record {
    var id: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  @Test func `types find their stores, and references lead from one to another`() throws {
    let stores = try StoreGroup(Self.first, at: paths)
    #expect(stores.names == ["orders", "people"])
    let (ada, eve) = (Person(name: "Ada"), Person(name: "Eve"))
    try stores[Person.self].save(contentsOf: [ada, eve])
    try stores["orders"].write { transaction in
      try transaction.save(Mark(id: "new"))
      try transaction.save(
        Order(
          id: 1, buyer: ada.reference, watchers: [eve.reference, ada.reference],
          mark: Reference("new")))
      try transaction.save(Order(id: 2, buyer: Reference(UUID())))
    }
    let orders = try stores[Order.self]
    let order = try #require(try orders.fetch(Order.self, key: 1))
    #expect(try stores[Person.self].fetch(order.buyer) == ada)
    #expect(try stores[Person.self].fetch(order.watchers) == [eve, ada])
    #expect(try orders.fetch(Person.orders(of: ada)) == [order])
    #expect(try orders.fetch(Order.where { $0.buyer == ada.reference }) == [order])
    #expect(try orders.fetch(Order.where { $0.mark.id == "new" }) == [order])
    // The references that stay in the store are checked as ever.
    #expect(throws: StoreError.self) {
      try orders.save(Order(id: 3, buyer: ada.reference, mark: Reference("gone")))
    }
    let snapshots = try stores.snapshots()
    try stores[Person.self].delete(ada)
    #expect(try snapshots["people"]?.count(Person.self) == 2)
    #expect(try stores[Person.self].fetch(order.buyer) == nil)
    try stores.close()
  }

  @Test func `what no type or two types lead to is named`() throws {
    let stores = try StoreGroup(Self.model(1), at: ["orders": directory.path + "/orders"])
    expectInvalid { _ = try stores[Person.self] }
    expectInvalid { _ = try stores["people"] }
    expectInvalid { _ = try stores["nothing"] }
    _ = try stores[Mark.self]
    try stores.close()
    let both = try StoreGroup(Self.model(1), at: paths)
    expectInvalid { _ = try both[Mark.self] }
    try both.close()
    expectInvalid { _ = try StoreGroup(Self.model(1), at: ["nothing": directory.path + "/x"]) }
    expectInvalid { _ = try StoreGroup(Self.model(1), at: paths, steps: ["nothing": []]) }
    expectInvalid { _ = try Self.model(1).configuration("nothing") }
  }

  @Test func `stores are migrated together, each with the records that were in it`() throws {
    let first = try StoreGroup(Self.first, at: paths)
    let ada = Person(name: "Ada")
    try first[Person.self].save(ada)
    try first["orders"].save(Draft(id: 1))
    try first["orders"].save(Order(id: 1, buyer: ada.reference))
    try first.close()
    let steps = [
      "people": [
        MigrationStep(to: 2) { UpdateRecord("Person") { UpdateField("age", from: { _ in 42 }) } }
      ],
      "orders": [
        MigrationStep(to: 2) {
          RunAfter(Order.self) { transaction in
            for var order in try transaction.fetch(Order.self) {
              order.watchers = [order.buyer]
              try transaction.save(order)
            }
          }
        }
      ],
    ]
    let second = try StoreGroup(Self.model(2), at: paths, steps: steps)
    #expect(try second[Person.self].fetch(Person.self).map(\.years) == [42])
    #expect(try second[Order.self].fetch(Order.self).map(\.watchers) == [[ada.reference]])
    #expect(try second["orders"].schemas()[0].record(named: "Draft") != nil)
    #expect(try second["people"].schemas()[0].record(named: "Draft") == nil)
    try second.close()
  }

  @Test func `no store is migrated if one cannot be`() throws {
    let first = try StoreGroup(Self.first, at: paths)
    try first[Person.self].save(Person(name: "Ada"))
    try first.close()
    let steps = [
      "people": [
        MigrationStep(to: 2) { UpdateRecord("Person") { UpdateField("nothing", path: "name") } }
      ]
    ]
    do {
      _ = try StoreGroup(Self.model(2), at: paths, steps: steps)
      Issue.record("it was migrated")
    } catch {
      guard case .cannotMigrate(1, 2, let reasons) = error else { throw error }
      #expect(reasons.count == 1 && reasons[0].hasPrefix("people: "))
    }
    for path in paths.values {
      #expect(try PersistentStore.inspect(at: path).version == 1)
    }
    let again = try StoreGroup(Self.first, at: paths)
    #expect(try again[Person.self].count(Person.self) == 1)
    try again.close()
  }

  @Test func `stores that were opened are closed if another cannot be`() throws {
    let people = try PersistentStore(
      at: paths["people"] ?? "", model: try Self.model(1).configuration("people"))
    do {
      _ = try StoreGroup(Self.model(1), at: paths)
      Issue.record("it was opened twice")
    } catch {
      guard case .locked = error else { throw error }
    }
    try people.close()
    let stores = try StoreGroup(Self.model(1), at: paths)
    try stores.close()
  }

  @Test func `a store is neither opened by two configurations nor by another one's path`() throws {
    let first = try StoreGroup(Self.model(1), at: paths)
    try first["orders"].save(Mark(id: "a"))
    try first.close()
    let orders = paths["orders"] ?? ""
    let wrong = [
      ["orders": orders, "people": orders], ["orders": paths["people"] ?? "", "people": orders],
    ]
    for paths in wrong {
      #expect(storeError { try StoreGroup(Self.model(1), at: paths) } != nil, "\(paths)")
    }
    let again = try StoreGroup(Self.model(1), at: paths)
    #expect(try again["orders"].count(Mark.self) == 1)
    try again.close()
  }

  @Test func `a reference out of its configuration that is checked is refused`() throws {
    struct Book: Record {
      var id: Int
      var owner: Reference<Person>
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "owner", type: .reference(to: Person.self, deleteRule: .cascade))
      }
    }
    let model = StoreModel(
      records: [Person.self, Order.self, Mark.self, Book.self],
      configurations: ["books": [Book.self], "others": [Person.self, Order.self, Mark.self]])
    _ = try model.checked()
    do {
      _ = try model.configuration("books").checked()
      Issue.record("it was taken")
    } catch {
      guard case .invalidDescription("Book", "owner", 1, let reason) = error else { throw error }
      #expect(reason.contains("checked: false"))
    }
  }

  @Test func `a removed record names configurations that there are`() {
    let model = StoreModel(
      version: 2, records: [Mark.self],
      removed: [RemovedRecord("Draft", configurations: ["gone"]) { _ in }])
    expectInvalid { _ = try model.checked() }
  }

  private func expectInvalid(_ body: () throws -> Void) {
    do {
      try body()
      Issue.record("it was taken")
    } catch StoreError.invalidDescription("StoreModel", nil, _, _) {
    } catch {
      Issue.record("\(error)")
    }
  }
}
