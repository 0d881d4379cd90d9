import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Numbers that the store gives.
@Suite struct SequenceTests {
  private struct Stop: Error {}

  private let model = StoreModel(records: [QueueTicket.self, Bill.self])

  // MARK: Which number

  @Test func `A25: a record that leaves its number open gets the next one, and others keep theirs`()
    throws
  {
    try withStore(model) { store in
      #expect(try store.write { try $0.insertAndFetch(QueueTicket("a")) }.id == 1)
      #expect(try store.write { try $0.insertAndFetch(QueueTicket("b")) }.id == 2)
      try store.save(QueueTicket("own", id: 10))
      #expect(try store.write { try $0.insertAndFetch(QueueTicket("c")) }.id == 11)
      // Below the last one, a number of its own changes nothing for others.
      try store.save(QueueTicket("low", id: 5))
      try store.save(QueueTicket("negative", id: -3))
      #expect(try store.write { try $0.saveAndFetch(QueueTicket("d")) }.id == 12)
      #expect(try store.fetch(QueueTicket.self).map(\.id) == [-3, 1, 2, 5, 10, 11, 12])
    }
  }

  @Test func `a record that is saved again keeps its number`() throws {
    try withStore(model) { store throws in
      #expect(try store.write { try $0.insertAndFetch(Bill(7)) } == Bill(7, number: 1_000, page: 5))
      #expect(try store.write { try $0.saveAndFetch(Bill(7)) } == Bill(7, number: 1_000, page: 5))
      #expect(try store.write { try $0.saveAndFetch(Bill(8)) } == Bill(8, number: 1_001, page: 15))
      // A sequence that may have gaps takes another number for a record.
      #expect(
        try store.write { try $0.saveAndFetch(Bill(7, page: 31)) }
          == Bill(7, number: 1_000, page: 31))
      #expect(try store.write { try $0.insertAndFetch(Bill(9)) }.page == 35)
    }
  }

  @Test func `a deleted record's number is not given again, also after the store was opened again`()
    throws
  {
    let directory = try TemporaryDirectory()
    for round in 0..<3 {
      let store = try PersistentStore(at: directory.path + "/s", model: model)
      let ticket = try store.write { try $0.insertAndFetch(QueueTicket("t")) }
      #expect(ticket.id == round + 1)
      try store.delete(ticket)
      if round == 1 { try store.write { try $0.deleteAll(QueueTicket.self) } }
      try store.close()
    }
  }

  /// The decision on every kind of value, for both kinds of sequence: open, own, and stored before.
  @Test func `each value is kept, given, accepted or refused as the table says`() throws {
    enum Outcome: Equatable {
      case number(Int64)
      case refused
    }
    let table: [(gaps: Bool, value: FieldValue, stored: FieldValue?, expected: Outcome)] = [
      (true, .null, nil, .number(8)), (true, 0, nil, .number(8)), (true, 0, .null, .number(8)),
      (true, 0, 0, .number(8)), (true, 0, 5, .number(5)), (true, .null, 5, .number(5)),
      (true, 5, 5, .number(5)), (true, 6, 5, .number(6)), (true, 100, nil, .number(100)),
      (true, 8, nil, .number(8)), (true, -4, nil, .number(-4)),
      (true, .unsigned(9), nil, .number(9)),
      (false, .null, nil, .number(8)), (false, 0, 0, .number(8)), (false, 0, 5, .number(5)),
      (false, 5, 5, .number(5)), (false, 6, 5, .refused), (false, 8, nil, .number(8)),
      (false, 3, nil, .number(3)), (false, 9, nil, .refused), (false, -4, nil, .refused),
      (false, 8, .null, .number(8)), (false, 9, .null, .refused),
    ]
    for row in table {
      let model = untyped(
        (
          "R",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(
              name: "n", type: .integer, optional: true, unique: true,
              generated: .sequence(withoutGaps: !row.gaps))
          }
        ))
      let schema = try model.checked().schema
      let layout = try RowLayout(try #require(schema.record(named: "R")), version: 1)
      let column = try #require(
        layout.columns.indices.lazy.compactMap { SequenceColumn($0, of: layout) }.first)
      let choice = Result { () throws(StoreError) in
        try column.choice(for: row.value, stored: row.stored, after: 7, in: layout)
      }
      let found: Outcome =
        switch choice {
        case .success(.keep(let value)), .success(.give(_, let value)):
          .number(try #require(value.sequenceNumber.flatMap { Int64(exactly: $0) }))
        case .success(.accept(let number)): .number(Int64(number))
        case .success(.ignore): .number(-4)
        case .failure: .refused
        }
      #expect(found == row.expected, "\(row)")
    }
  }

  @Test func `the next number is the first of the sequence above the last`() {
    let most = UInt64.max
    let table: [(first: Int64, step: Int64, last: UInt64, next: UInt64?)] = [
      (1, 1, 0, 1), (1, 1, 1, 2), (1_000, 1, 0, 1_000), (1_000, 1, 999, 1_000),
      (1_000, 1, 1_000, 1_001), (5, 10, 0, 5), (5, 10, 5, 15), (5, 10, 14, 15), (5, 10, 15, 25),
      (1, 1, most - 1, most), (1, 1, most, nil), (.max, .max, UInt64(Int64.max), most - 1),
      (2, .max, most - 1, nil), (1, 2, most - 1, most),
    ]
    for row in table {
      let sequence = SequenceSchema(first: row.first, step: row.step)
      #expect(sequence.next(after: row.last) == row.next, "\(row)")
    }
  }

  // MARK: Rolling back

  @Test func `what fails gives its numbers back: statements, savepoints and transactions`() throws {
    try withStore(model) { store in
      #expect(throws: Stop.self) {
        try store.write { transaction in
          #expect(try transaction.insertAndFetch(QueueTicket("a")).id == 1)
          throw Stop()
        }
      }
      try store.write { transaction in
        #expect(try transaction.insertAndFetch(QueueTicket("a")).id == 1)
        #expect(throws: Stop.self) {
          try transaction.savepoint { transaction in
            #expect(try transaction.insertAndFetch(QueueTicket("b")).id == 2)
            try transaction.save(QueueTicket("own", id: 90))
            throw Stop()
          }
        }
        let refusal = storeError { try transaction.insert(QueueTicket("a")) }
        guard case .uniqueConflict? = refusal else {
          Issue.record("\(String(describing: refusal))")
          return
        }
        #expect(try transaction.insertAndFetch(QueueTicket("b")).id == 2)
        try transaction.insert(QueueTicket("a"), onConflict: .keepOther)
        try transaction.save(QueueTicket("a"), onConflict: .updateOther)
        #expect(try transaction.insertAndFetch(QueueTicket("c")).id == 3)
        // The other record is deleted, and this one has a number of its own.
        try transaction.save(QueueTicket("a"), onConflict: .replaceOther)
        #expect(try transaction.fetch(QueueTicket.where { $0.title == "a" }).map(\.id) == [4])
      }
      #expect(try store.write { try $0.insertAndFetch(QueueTicket("d")) }.id == 5)
    }
  }

  @Test func `a sequence without gaps refuses what would leave one`() throws {
    try withStore(model) { store in
      try store.insert(Bill(1))
      let ahead = storeError { try store.insert(Bill(2, number: 1_002)) }
      guard case .invalidValue("Bill", "number", let reason)? = ahead else {
        Issue.record("\(String(describing: ahead))")
        return
      }
      #expect(reason.contains("1002 would leave a gap; the next number is 1001"))
      #expect(try store.write { try $0.insertAndFetch(Bill(2, number: 1_001)) }.number == 1_001)
      let changed = storeError { try store.save(Bill(2, number: 1_002)) }
      #expect("\(String(describing: changed))".contains("a record keeps its number, 1001"))
      #expect(try store.write { try $0.insertAndFetch(Bill(3)) }.number == 1_002)
    }
  }

  @Test func `a type that does not hold the next number refuses the record`() throws {
    let table: [(FieldType, FieldValue)] = [
      (.int8, 127), (.uint8, 255), (.int16, 32_767),
      (.uint16, 65_535), (.int32, 2_147_483_647), (.uint32, 4_294_967_295),
      (.int64, .integer(.max)), (.uint64, .unsigned(.max)),
    ]
    for (type, last) in table {
      let model = untyped(
        (
          "R",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "n", type: type, unique: true, generated: .sequence)
          }
        ))
      try withStore(model) { store in
        func save(_ id: Int64, _ number: FieldValue = 0) throws {
          try store.write {
            try $0.save(DynamicRecord("R", ["id": .integer(id), "n": number]))
          }
        }
        try save(1)
        #expect(try store.fetch(record: "R", key: 1)?["n"].sequenceNumber == 1)
        try save(2, last)
        let error = storeError { try save(3) }
        guard case .invalidValue("R", "n", let reason)? = error else {
          Issue.record("\(type): \(String(describing: error))")
          return
        }
        #expect(reason.contains("used up"))
        #expect(try store.count(record: "R", where: nil) == 2)
        // Those that have numbers can still be saved.
        try save(1)
      }
    }
  }

  // MARK: Other writers

  @Test func `hooks, kinds, records without a type and imports get and bring numbers`() throws {
    try withStore(StoreModel(records: [Form.self, Letter.self, QueueTicket.self])) { store in
      let letter = try store.write {
        try $0.insertAndFetch(Letter(form: Form(name: "a"), copies: 0))
      }
      #expect(letter == Letter(form: Form(id: 1, name: "a!"), copies: 1))
      #expect(try store.write { try $0.insertAndFetch(Form(name: "b")) } == Form(id: 2, name: "b!"))
      // The kind's number stays when the parent is saved over it.
      try store.save(Form(id: 1, name: "c"))
      #expect(try store.fetch(Letter.self, key: 1)?.copies == 1)
      try store.write { transaction in
        try transaction.save(DynamicRecord("QueueTicket", ["title": "x"]))
        try transaction.save(DynamicRecord("QueueTicket", ["title": "y", "id": 20]))
        try transaction.save(DynamicRecord("QueueTicket", ["title": "z"]))
      }
      #expect(try store.fetch(QueueTicket.self).map(\.id) == [1, 20, 21])
    }
  }

  private struct Form: Record, Equatable {
    var id = 0
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer, generated: .sequence)
      Field(name: "name", type: .string)
    }

    static var hooks: RecordHooks<Form> {
      RecordHooks(beforeInsert: { form, _ in form.name += "!" })
    }
  }

  private struct Letter: Record, Equatable {
    var form: Form
    var copies: Int32

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Form.self, property: "form")
      Field(name: "copies", type: .int32, unique: true, generated: .sequence)
    }
  }

  @Test func `an import that leaves a number open changes nothing, and numbers new records`() throws
  {
    try withStore(model) { store in
      let first = try store.importRecords(Bill.self, from: [1, 2], id: { $0 }) { id, _ in Bill(id) }
      #expect(first.inserted == 2)
      let again = try store.importRecords(Bill.self, from: [1, 2, 3], id: { $0 }) { id, _ in
        Bill(id)
      }
      #expect(again.inserted == 1 && again.unchanged == 2)
      #expect(try store.fetch(Bill.self).map(\.number) == [1_000, 1_001, 1_002])
      let own = try store.importRecords(Bill.self, from: [4], id: { $0 }) { id, _ in
        Bill(id, page: 505)
      }
      #expect(own.inserted == 1)
      #expect(try store.write { try $0.insertAndFetch(Bill(5)) }.page == 515)
    }
  }

  @Test func `an undone deletion brings its number back, and the sequence goes on behind it`()
    throws
  {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    try withStore(model, options) { store in
      for id in 1...3 { try store.insert(Bill(id)) }
      let start = try store.snapshot().historyCursor
      try store.write { _ = try $0.delete(Bill.self, key: 3) }
      try store.undo(since: start)
      #expect(try store.fetch(Bill.self, key: 3)?.number == 1_002)
      #expect(try store.write { try $0.insertAndFetch(Bill(4)) }.number == 1_003)
    }
  }

  // MARK: Many

  @Test func `numbers at random are those of a model`() throws {
    replaying(0..<UInt64(scaled(60, debug: 12))) { seed in
      var random = SplitMix64(seed: seed)
      let store = try PersistentStore(inMemory: model)
      var bills: [Int: Bill] = [:]
      var (number, page) = (999, UInt16(0))
      for _ in 0..<40 {
        let isKept = random.next() % 3 > 0
        var (after, last) = (bills, (number, page))
        do {
          try store.write { transaction in
            for _ in 0..<random.next() % 6 {
              let id = Int(random.next() % 30)
              if random.next() % 4 == 0 {
                try transaction.delete(Bill.self, key: id)
                after[id] = nil
                continue
              }
              let own = UInt16(random.next() % 7 == 0 ? UInt64(last.1) + random.next() % 9 + 1 : 0)
              if after[id]?.number == nil { last.0 += 1 }
              let old = after[id]?.page
              let next = last.1 < 5 ? 5 : 5 + ((last.1 - 5) / 10 + 1) * 10
              let expected = Bill(
                id, number: after[id]?.number ?? last.0, page: own > 0 ? own : old ?? next)
              last.1 = max(last.1, expected.page)
              after[id] = expected
              let found = try transaction.saveAndFetch(Bill(id, page: own))
              try agree(found == expected, "\(found) is not \(expected)")
            }
            if !isKept { throw Stop() }
          }
          (bills, (number, page)) = (after, last)
        } catch is Stop {}
        let found = try store.fetch(Bill.self)
        try agree(found == bills.values.sorted { $0.id < $1.id }, "\(found)")
      }
      try store.close()
    }
  }

  @Test func `thousands of records from several threads have each number once, without a gap`()
    async throws
  {
    let store = try PersistentStore(inMemory: model)
    let count = scaled(4_000, debug: 800)
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for index in 0..<count / 4 {
            let ticket = QueueTicket("\(task) \(index)")
            // Every seventh transaction fails after it has numbered a record.
            try? await store.write { transaction in
              try transaction.insert(ticket)
              if index % 7 == 3 { throw Stop() }
            }
          }
        }
      }
    }
    let ids = try store.fetch(QueueTicket.self).map(\.id)
    #expect(ids.count > count / 2)
    #expect(ids == Array(1...ids.count))
    #expect(
      try await store.write { try $0.insertAndFetch(QueueTicket("last")) }.id == ids.count + 1)
    try store.expectSound()
  }

  @Test func `a damaged last number is found by the check, and no record is numbered by it`() throws
  {
    let store = try PersistentStore(inMemory: model)
    try store.insert(Bill(1))
    try store.commit { trees throws(StoreError) in
      let key = SequenceIdentity(record: 1, field: 1).key
      try trees.put(key.rawSpan, [1, 2, 3].rawSpan, in: store.entities.sequences)
    }
    let faults = try store.snapshot().check()
    #expect(faults.count == 1 && faults[0].breaks(.sequences), "\(faults)")
  }
}
