import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Expressions without a result refuse writes only for owners that have the field.
@Suite struct DerivedExpressionOwnerTests {
  private static let model = untyped(
    (
      "Client",
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "lineCount", type: .integer, derived: .count(of: "lines"))
        inverse("lines", of: "client", in: "Line", .cascade)
      }
    ),
    (
      "Vip",
      description {
        RecordDescription.Parent("Client")
        Field(name: "rate", type: .integer, derived: .sum(of: "lines", value: "a / b"))
        Field(
          name: "best", type: .integer, optional: true,
          derived: .maximum(of: "lines", value: "a / b"))
      }
    ),
    (
      "Line",
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "client", type: .reference(to: "Client"), optional: true)
        Field(name: "a", type: .integer)
        Field(name: "b", type: .integer)
      }
    ))

  private static func client(_ id: Int64, isVip: Bool) -> DynamicRecord {
    // The values of derived fields are the store's.
    .of("Client", id, ["Vip": isVip ? .composite(["rate": 0, "best": .null]) : .null])
  }

  private static func line(_ id: Int64, of client: Int64, _ a: Int64, _ b: Int64) -> DynamicRecord {
    .of("Line", id, ["client": .integer(client), "a": .integer(a), "b": .integer(b)])
  }

  private static func expect(
    _ store: PersistentStore, _ clients: [(count: FieldValue, vip: FieldValue)],
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try store.fetch(record: "Client")
    #expect(found.map { $0["lineCount"] } == clients.map(\.count), sourceLocation: sourceLocation)
    #expect(found.map { $0["Vip"] } == clients.map(\.vip), sourceLocation: sourceLocation)
    try store.expectSound(sourceLocation)
  }

  @Test func `a record that leads to no owner with the field needs no result of its expression`()
    throws
  {
    try withStore(Self.model) { store in
      try store.write { transaction in
        try transaction.save(Self.client(1, isVip: false))
        try transaction.save(Self.client(2, isVip: true))
        try transaction.save(Self.line(1, of: 1, 7, 0))
        try transaction.save(Self.line(2, of: 1, 7, 2))
        try transaction.save(Self.line(3, of: 2, 9, 3))
      }
      let vip = FieldValue.composite(["rate": 3, "best": 3])
      try Self.expect(store, [(2, .null), (1, vip)])
      // The line would lead to one that has the field; the client would get it.
      for record in [Self.line(1, of: 2, 7, 0), Self.client(1, isVip: true)] {
        let error = storeError { try store.write { try $0.save(record) } }
        #expect(error?.description.contains("7 / 0 has no result") == true, "\(error as Any)")
      }
      try Self.expect(store, [(2, .null), (1, vip)])
      // The line may change, lead elsewhere with a result, and go.
      try store.write { try $0.save(Self.line(1, of: 1, 8, 0)) }
      try Self.expect(store, [(2, .null), (1, vip)])
      try store.write { try $0.save(Self.line(1, of: 2, 8, 2)) }
      try Self.expect(store, [(1, .null), (2, .composite(["rate": 7, "best": 4]))])
      try store.write { try $0.save(Self.line(2, of: 1, 1, 0)) }
      try store.write { _ = try $0.delete(record: "Line", key: 2) }
      try store.write { try $0.save(Self.client(1, isVip: true)) }
      try Self.expect(
        store,
        [
          (0, .composite(["rate": 0, "best": .null])), (2, .composite(["rate": 7, "best": 4])),
        ])
    }
  }

  @Test func `a refused record leaves a transaction as it was`() throws {
    try withStore(Self.model) { store in
      try store.write { transaction in
        try transaction.save(Self.client(1, isVip: true))
        try transaction.save(Self.line(1, of: 1, 7, 2))
        var refused = 0
        for line in [Self.line(1, of: 1, 7, 0), Self.line(2, of: 1, 7, 0)] {
          do { try transaction.save(line) } catch { refused += 1 }
        }
        #expect(refused == 2)
        try transaction.save(Self.line(3, of: 1, 10, 2))
      }
      #expect(try store.fetch(record: "Line").map { $0["id"] } == [1, 3])
      try Self.expect(store, [(2, .composite(["rate": 8, "best": 5]))])
    }
  }
}
