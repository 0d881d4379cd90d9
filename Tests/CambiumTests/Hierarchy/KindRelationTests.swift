import Testing

@testable import Cambium

/// Relations of kinds, observation, history and blobs: what passes through a record without knowing of its kinds.
@Suite struct KindRelationTests {
  private func store() throws -> PersistentStore {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Client.self, Job.self, PaidJob.self, Receipt.self]))
    try store.write { transaction in
      try transaction.insert(Client(id: 1))
      try transaction.insert(Client(id: 2))
      try transaction.insert(Job(id: 10, helper: Reference(1)))
      try transaction.insert(
        PaidJob(job: Job(id: 11, helper: Reference(1)), client: Reference(2)))
      try transaction.insert(
        PaidJob(job: Job(id: 12, helper: nil), client: Reference(1)))
      try transaction.insert(Receipt(id: 20, job: Reference(11)))
      try transaction.insert(Receipt(id: 21, job: Reference(10)))
    }
    return store
  }

  @Test func `a reference leads to a record of any kind`() throws {
    let store = try store()
    let receipt = try #require(try store.fetch(Receipt.self, key: 20))
    #expect(try store.fetch(receipt.job)?.id == 11)
    #expect(try store.fetch(PaidJob.self, key: receipt.job.id)?.client == Reference(2))
    let plain = try #require(try store.fetch(Receipt.self, key: 21))
    #expect(try store.fetch(PaidJob.self, key: plain.job.id) == nil)
    let job = try #require(try store.fetch(Job.self, key: 11))
    #expect(try store.fetch(Job.receipts(of: job)).map(\.id) == [20])
    #expect(try store.fetch(Receipt.where { $0.job.id > 10 }).map(\.id) == [20])
    #expect(throws: StoreError.self) {
      try store.insert(Receipt(id: 22, job: Reference(99)))
    }
  }

  @Test func `a reference of a kind has an inverse, and is cut and followed`() throws {
    let store = try store()
    let (one, two) = (
      try #require(try store.fetch(Client.self, key: 1)),
      try #require(try store.fetch(Client.self, key: 2))
    )
    #expect(try store.fetch(Client.paid(of: one)).map(\.job.id) == [12])
    #expect(try store.fetch(Client.helped(of: one)).map(\.id) == [10, 11])
    #expect(try store.count(Client.paid(of: two)) == 1)
    let included = try store.fetch(Query<Client>(), including: .all(Client.paid))
    #expect(included.map { $0.1.map(\.job.id) } == [[12], [11]])
    #expect(
      try store.fetch(Client.where { $0.paid.any { $0.job.id == 11 } }).map(\.id) == [2])
    // The rule of the reference in the kind is to cascade.
    try store.delete(two)
    #expect(try store.fetch(Job.self).map(\.id) == [10, 12])
    #expect(try store.fetch(Receipt.self, key: 20) == nil)
    try store.delete(Client.self, key: 1)
    #expect(try store.fetch(Job.self) == [Job(id: 10, helper: nil)])
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `saving a parent keeps the references of a kind`() throws {
    let store = try store()
    try store.save(Job(id: 11, helper: nil))
    #expect(
      try store.fetch(PaidJob.self, key: 11)
        == PaidJob(job: Job(id: 11, helper: nil), client: Reference(2)))
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `observers of a kind are told of that kind alone`() async throws {
    let store = try PersistentStore(inMemory: .trips)
    let trip = Trip(id: 1, name: "one")
    var all = try store.changes(of: Trip.self).makeAsyncIterator()
    var business = try store.changes(of: BusinessTrip.self).makeAsyncIterator()
    var one = try store.changes(of: PersonalTrip.self, key: 1).makeAsyncIterator()
    var results = try store.results(of: BusinessTrip.where { $0.perDiem > 0 }).makeAsyncIterator()
    #expect(try await results.next()?.records.count == 0)
    try await store.save(BusinessTrip(trip: trip, perDiem: 5, customer: nil))
    #expect(try await all.next()?.inserted == [trip])
    #expect(try await business.next()?.inserted.map(\.perDiem) == [5])
    #expect(try await results.next()?.records.map(\.perDiem) == [5])
    try await store.save(PersonalTrip(trip: trip, mood: "good"))
    #expect(try await business.next()?.deleted.map(\.perDiem) == [5])
    #expect(try await results.next()?.records.count == 0)
    guard case .inserted(let personal)? = try await one.next()?.kind else {
      Issue.record("nothing was inserted")
      return
    }
    #expect(personal.mood == "good")
    // The trip is what it was, so who observes trips is told of the next one only.
    let other = Trip(id: 2, name: "two")
    try await store.save(BusinessTrip(trip: other, perDiem: 1, customer: nil))
    let next = try #require(try await all.next())
    #expect(next.inserted == [other] && next.updated.isEmpty)
  }

  @Test func `the changes of a transaction are those of the kind`() throws {
    let store = try PersistentStore(inMemory: .trips)
    try store.write { transaction in
      transaction.keepChanges()
      for (id, kind) in AnyTrip.Kind.allCases.enumerated() {
        try transaction.insert(AnyTrip(kind, id: id, id))
      }
      #expect(try transaction.changes(of: Trip.self).inserted.count == 5)
      #expect(try transaction.changes(of: BusinessTrip.self).inserted.count == 2)
      #expect(try transaction.changes(of: DayTrip.self).inserted.count == 1)
    }
  }
}

private struct Client: Record, Identifiable, Equatable {
  var id: Int
  static let paid = Inverse("paid", of: \PaidJob.client, deleteRule: .cascade)
  static let helped = Inverse("helped", of: \Job.helper)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    paid
    helped
  }
}

private struct Job: Record, Identifiable, Equatable {
  var id: Int
  var helper: Reference<Client>?
  static let receipts = Inverse("receipts", of: \Receipt.job, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "helper", type: .reference(to: Client.self), optional: true)
    receipts
  }
}

private struct PaidJob: Record, Equatable {
  var job: Job
  var client: Reference<Client>

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Job.self, property: "job")
    Field(name: "client", type: .reference(to: Client.self))
  }
}

private struct Receipt: Record, Identifiable, Equatable {
  var id: Int
  var job: Reference<Job>

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "job", type: .reference(to: Job.self))
  }
}
