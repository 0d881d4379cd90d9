@testable import InternalTestSupport

#if !DEBUG
  import FoundationEssentials
  import TestSupport
  import Testing

  @testable import Cambium

  /// The cost of a query before it reads anything, printed; the bounds are wide, for machines that do other things too.
  @Suite(.serialized) struct QuerySpeedTests {
    private func time(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
      try nanoseconds(each: count) {
        for index in 0..<count { try body(index) }
      }
    }

    private func show(_ what: String, _ nanoseconds: Double, goal: Double) {
      print("\(what): \((nanoseconds * 10).rounded() / 10) ns, to be at most \(goal)")
      #expect(nanoseconds < 10 * goal)
    }

    @Test func `building a query costs little`() {
      var count = 0
      let cost = time(100_000) { index in
        let query = Account.where {
          $0.balance >= Double(index) && $0.city == "Ulm" && $0.isActive == true
        }.limit(20)
        count += query.limit ?? 0
      }
      #expect(count > 0)
      show("building a query of three terms", cost, goal: 100)
    }

    @Test func `planning costs little`() throws {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/s"
      var store = try PersistentStore(at: path, model: .samples)
      try store.write { transaction in
        try transaction.insert(contentsOf: Account.some(100_000))
      }
      // The commits are in trees then.
      try store.close()
      store = try PersistentStore(at: path, model: .samples)
      let type = try store.entities.type(Account.self)
      let reader = try store.snapshot().recordReader()
      let queries = try (0..<100).map { index in
        try Account.where { $0.city == "Ulm" && $0.balance > Double(index) / 100 }.limit(20)
          .resolved(in: type, store.entities)
      }
      let byOne = try (0..<100).map { index in
        try Account.where { $0.name == "N\(index)" }.resolved(in: type, store.entities)
      }
      for (what, queries) in [("two terms", queries), ("one term", byOne)] {
        let cost = try time(20_000) { index in
          _ = try QueryPlanner(type, in: reader).plan(queries[index % 100], for: .records)
        }
        show("planning a query of \(what)", cost, goal: 2_000)
      }
      let byCity = try ["Ulm", "Bonn"].map { city in
        try Account.where { $0.city == city }.resolved(in: type, store.entities)
      }
      let isByForm = try QueryPlanner(type, in: reader).planByForm(byCity[0], for: .records).map {
        _ in true
      }
      #expect(isByForm == true)
      let byForm = try time(20_000) { index in
        _ = try QueryPlanner(type, in: reader).planByForm(byCity[index % 2], for: .records)
      }
      show("planning a query by its form", byForm, goal: 1_000)
    }

    @Test func `properties are selected as fast as their records are fetched`() throws {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/s"
      var store = try PersistentStore(at: path, model: .samples)
      try store.write { transaction in
        try transaction.insert(contentsOf: Account.some(100_000))
      }
      try store.close()
      store = try PersistentStore(at: path, model: .samples)
      let all = Query<Account>()
      let fetched = try time(3) { _ in _ = try store.fetch(all) } / 100_000
      let numbers = try time(3) { _ in _ = try store.select(\.id, \.balance, from: all) } / 100_000
      let four =
        try time(3) { _ in
          _ = try store.select(\.id, \.name, \.city, \.balance, from: all)
        } / 100_000
      print("fetched \(fetched), two properties \(numbers), four \(four) ns a record")
      #expect(numbers < fetched && four < 1.5 * fetched)
      try store.close()
    }

    @Test func `a scalar term costs little`() throws {
      try withStore { store in
        let trees = try store.entities.type(Account.self)
        try store.save(Account.some(1)[0])
        let cursor = try store.snapshot().trees.cursor(in: trees.rows)
        #expect(try cursor.first())
        let (key, row, layout) = (cursor.key.array(), try cursor.value().array(), trees.layout)
        func cost(of count: Int) throws -> Double {
          let terms = (0..<count).map {
            FieldCondition.comparison(field: "balance", .greater, .double(Double(-$0 - 1)))
          }
          let condition = try RowCondition(.and(terms), in: layout)
          var (asked, met) = (0, 0)
          let cost = try time(100_000) { _ in
            asked += 1
            let record = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
            if try condition.holds(for: record) { met += 1 }
          }
          #expect(met == asked)
          return cost
        }
        let cost = (try cost(of: 17) - cost(of: 1)) / 16
        show("a scalar term on a row", cost, goal: 3)
      }
    }
  }
#endif
