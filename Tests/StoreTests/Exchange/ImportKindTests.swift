import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Tour: Record, Identifiable, Equatable {
  var id: Int
  var name = ""
  var days = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "label", type: .string, property: "name", default: "none")
    Field(name: "days", type: .integer)
  }
}

private struct Business: Record, Equatable {
  var tour: Tour
  var sum = 0.0
  var note: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Tour.self, property: "tour")
    Field(name: "sum", type: .double, default: 7.5)
    Field(name: "note", type: .string, optional: true)
  }
}

private struct Fair: Record, Equatable {
  var business: Business
  var hall = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Business.self, property: "business")
    Field(name: "hall", type: .integer)
  }
}

/// A kind without fields of its own.
private struct Walk: Record, Equatable {
  var tour: Tour

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Tour.self, property: "tour")
  }
}

/// A record of its own, with its parent's fields.
private struct Copied: Record, Equatable {
  var tour: Tour
  var seat = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Tour.self, property: "tour", storage: .copied)
    Field(name: "seat", type: .integer)
  }
}

/// Imports of records of kinds: as whole ones, and merged from partial JSON.
@Suite struct ImportKindTests {
  private let store: PersistentStore

  init() throws {
    store = try PersistentStore(
      inMemory: StoreModel(records: [
        Tour.self, Business.self, Fair.self, Walk.self, Copied.self,
      ]))
    try store.write { transaction in
      try transaction.save(Tour(id: 1, name: "plain", days: 1))
      try transaction.save(
        Business(tour: Tour(id: 2, name: "business", days: 2), sum: 2, note: "two"))
      let business = Business(tour: Tour(id: 3, name: "fair", days: 3), sum: 3, note: "three")
      try transaction.save(Fair(business: business, hall: 3))
      try transaction.save(Walk(tour: Tour(id: 4, name: "walk", days: 4)))
    }
  }

  private func merge<Subject: Record>(
    _ type: Subject.Type, _ json: String
  ) throws -> ImportReport {
    let report = try store.importRecords(type, decoding: Data(json.utf8), merging: true)
    #expect(try store.snapshot().check().isEmpty)
    return report
  }

  /// The record with a key, as the kind that it is of.
  private func record(_ id: Int) throws -> any Record {
    if let fair = try store.fetch(Fair.self, key: id) { return fair }
    if let business = try store.fetch(Business.self, key: id) { return business }
    if let walk = try store.fetch(Walk.self, key: id) { return walk }
    return try #require(try store.fetch(Tour.self, key: id))
  }

  /// Each kind over each, with an object that names one field of the parent, and nothing of the kind.
  @Test func `merged over another kind, the parent's fields stay, and the kind's are new`() throws {
    let names = [1: "plain", 2: "business", 3: "fair", 4: "walk"]
    for (id, name) in names {
      let tour = Tour(id: id, name: name, days: 9)
      let other = id + 10
      let kept = Tour(id: other, name: "none", days: 9)
      _ = try merge(Business.self, #"{"tour": {"id": \#(id), "days": 9}}"#)
      _ = try merge(Business.self, #"{"tour": {"id": \#(other), "days": 9}}"#)
      switch id {
      case 2: #expect(try record(id) as? Business == Business(tour: tour, sum: 2, note: "two"))
      case 3:
        let business = Business(tour: tour, sum: 3, note: "three")
        #expect(try record(id) as? Fair == Fair(business: business, hall: 3))
      default: #expect(try record(id) as? Business == Business(tour: tour, sum: 7.5))
      }
      #expect(try record(other) as? Business == Business(tour: kept, sum: 7.5))
      _ = try merge(Walk.self, #"{"tour": {"id": \#(id)}}"#)
      #expect(try record(id) as? Walk == Walk(tour: tour))
      _ = try merge(Tour.self, #"{"id": \#(id), "label": "parent"}"#)
      #expect(try record(id) as? Walk == Walk(tour: Tour(id: id, name: "parent", days: 9)))
      let text = #"{"hall": 5, "business": {"note": "n", "tour": {"id": \#(id), "name": "x"}}}"#
      #expect(try merge(Fair.self, text).updated == 1)
      let fair = Business(tour: Tour(id: id, name: "x", days: 9), sum: 7.5, note: "n")
      #expect(try record(id) as? Fair == Fair(business: fair, hall: 5))
      #expect(try merge(Fair.self, text).unchanged == 1)
    }
  }

  @Test func `a kind that is stored as a record of its own is merged by its key`() throws {
    #expect(try merge(Copied.self, #"{"tour": {"id": 1, "days": 0}, "seat": 4}"#).inserted == 1)
    #expect(try merge(Copied.self, #"{"tour": {"id": 1, "days": 5}}"#).updated == 1)
    #expect(
      try store.fetch(Copied.self)
        == [Copied(tour: Tour(id: 1, name: "none", days: 5), seat: 4)])
    #expect(try store.fetch(Tour.self, key: 1) == Tour(id: 1, name: "plain", days: 1))
  }

  @Test func `whole records replace those of other kinds, and are counted as updates`() throws {
    func walk(_ id: Int, _ existing: Walk?) -> Walk {
      #expect((existing != nil) == (id == 4))
      return Walk(tour: Tour(id: id, name: "walked", days: 0))
    }
    let report = try store.importRecords(Walk.self, from: [1, 2, 3, 4, 5], id: { $0 }, walk)
    #expect(report.updated == 4 && report.inserted == 1)
    #expect(try store.count(Walk.self) == 5)
    #expect(try store.count(Business.self) == 0)
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `without its key, an object is named by its line`() throws {
    let text = "{\"tour\": {\"id\": 1}}\n{\"sum\": 1}"
    let error = #expect(throws: StoreError.self) { _ = try merge(Business.self, text) }
    guard case .invalidValue("Tour", "id", let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.hasPrefix("line 2: "))
  }
}
