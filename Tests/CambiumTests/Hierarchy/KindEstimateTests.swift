import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Company: Record, Identifiable, Equatable {
  var id: Int
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, unique: true)
  }
}

private struct Shipper: Record, Identifiable, Equatable {
  var company: Company
  var fleet: Int
  var id: Int { company.id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Company.self, property: "company")
    Field(name: "fleet", type: .integer)
  }
}

private struct Supplier: Record, Equatable {
  var company: Company

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Company.self, property: "company")
  }
}

private struct Shipment: Record, Identifiable, Equatable {
  var id: Int
  var shipper: Reference<Shipper>
  var day: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "shipper", type: .reference(to: Shipper.self))
    Field(name: "day", type: .integer, indexed: true)
  }
}

/// References to a kind are planned by how many records there are of the kind.
@Suite struct KindEstimateTests {
  private static let model = StoreModel(records: [
    Company.self, Shipper.self, Supplier.self, Shipment.self,
  ])

  private static func company(_ id: Int) -> Company { Company(id: id, name: "C\(id)") }

  /// Every `distance`th company is a shipper, every other third one a supplier.
  private func store(companies: Int, distance: Int) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: Self.model)
    try store.write { transaction in
      for id in 0..<companies {
        if id % distance == 0 {
          try transaction.insert(Shipper(company: Self.company(id), fleet: id))
        } else if id % 3 == 0 {
          try transaction.insert(Supplier(company: Self.company(id)))
        } else {
          try transaction.insert(Self.company(id))
        }
      }
    }
    return store
  }

  private func count(of kind: String, in store: PersistentStore) throws -> Int {
    let company = try store.entities.entity(named: "Company")
    let place = try #require(company.layout.kinds?.place(named: kind))
    return try company.estimatedCount(ofKind: place, in: try store.snapshot().trees)
  }

  @Test func `few records are counted by kind, and many are sampled`() throws {
    let few = try store(companies: 200, distance: 50)
    #expect(try count(of: "Shipper", in: few) == 4)
    let suppliers = (0..<200).filter { $0 % 50 != 0 && $0 % 3 == 0 }
    #expect(try count(of: "Supplier", in: few) == suppliers.count)
    for distance in [2, 10, 40] {
      let many = try store(companies: 4_001, distance: distance)
      let (estimate, exact) = (try count(of: "Shipper", in: many), 4_001 / distance)
      #expect(estimate > exact / 4 && estimate < exact * 4, "\(estimate) of \(exact)")
    }
    // A kind without records is not taken for one with many.
    let none = try PersistentStore(inMemory: Self.model)
    #expect(try count(of: "Shipper", in: none) == 0)
    try none.save(contentsOf: (0..<100).map { Self.company($0) })
    #expect(try count(of: "Shipper", in: none) <= 1)
  }

  @Test func `a sample is taken again when the number of records has doubled`() throws {
    let store = try store(companies: 100, distance: 10)
    #expect(try count(of: "Shipper", in: store) == 10)
    try store.write { transaction in
      for id in 100..<250 { try transaction.insert(Self.company(id)) }
    }
    #expect(try count(of: "Shipper", in: store) == 10)
    try store.write { transaction in
      for id in 250..<251 { try transaction.insert(Self.company(id)) }
    }
    #expect(try count(of: "Shipper", in: store) == 10)
  }

  @Test func `a narrow index is taken rather than the many records that lead to a kind`() throws {
    let store = try store(companies: 200, distance: 50)
    let shipments = (0..<8_000).map {
      Shipment(id: $0, shipper: Reference($0 % 4 * 50), day: $0 / 4 % 20)
    }
    try store.write { try $0.insert(contentsOf: shipments) }
    let query = Shipment.where(
      Condition(try FieldCondition(parsing: #"day == 3 and shipper.name == "C50""#)))
    let plan = try store.explain(query, running: true)
    // By all companies, 40 shipments would be estimated to lead to one, and 2,000 were read.
    #expect(plan.access == "index day in one range", "\(plan)")
    #expect(plan.related.first?.contains("of about 4 Company.Shipper") == true, "\(plan)")
    let actual = try #require(plan.actual)
    #expect(actual.entryCount == 400, "\(plan)")
    let expected = shipments.filter { $0.day == 3 && $0.shipper.id == 50 }
    #expect(try store.fetch(query) == expected)
    #expect(actual.resultCount == expected.count)
  }

  @Test func `results are the same in a transaction, in which nothing is sampled`() throws {
    let store = try store(companies: 200, distance: 50)
    let shipments = (0..<400).map {
      Shipment(id: $0, shipper: Reference($0 % 4 * 50), day: $0 % 20)
    }
    let query = Shipment.where(Condition(try FieldCondition(parsing: #"shipper.name == "C50""#)))
    try store.write { transaction in
      try transaction.insert(contentsOf: shipments)
      let found = try transaction.fetch(query)
      #expect(found == shipments.filter { $0.shipper.id == 50 })
    }
    #expect(try store.fetch(query) == shipments.filter { $0.shipper.id == 50 })
  }
}
