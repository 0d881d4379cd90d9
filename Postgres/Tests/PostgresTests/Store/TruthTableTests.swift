import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Every condition and order on the same records in a store on a server and in an embedded one: the answers are the same, or the one on
/// the server says that it has none.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct TruthTableTests {
  private typealias Sample = TruthTable.Sample
  private typealias Owner = TruthTable.Owner

  private struct Pair {
    let embedded: PersistentStore
    let server: PostgresStore
  }

  private static func pair(_ name: String) async throws -> Pair {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: TruthTable.model)
    let store = try await PostgresStore(
      try server.makeDatabase(name), model: TruthTable.model)
    try await TruthTable.fill(embedded)
    try await TruthTable.fill(store)
    return Pair(embedded: embedded, server: store)
  }

  /// Expects the same records in the same order.
  private func compare(_ queries: [Query<Sample>], _ pair: Pair) async throws {
    let found = try await pair.server.read { snapshot in
      try queries.map { query in
        do {
          return try snapshot.fetch(query).map(\.id)
        } catch let error as PostgresStoreError {
          throw Failed(query: "\(query)", error: "\(error)")
        }
      }
    }
    let state = try pair.embedded.snapshot()
    for (query, ids) in zip(queries, found) {
      let expected = try state.fetch(query).map(\.id)
      #expect(ids == expected, "\(query)")
    }
  }

  private struct Failed: Error {
    let query: String
    let error: String
  }

  private func compare(_ conditions: [FieldCondition], _ pair: Pair) async throws {
    try await compare(
      conditions.flatMap { condition in
        [condition, .not(condition)].map { Query().where(Condition<Sample>($0)) }
      }, pair)
  }

  @Test
  func `every comparison of every type with every value and null is the same, and its opposite`()
    async throws
  {
    let pair = try await Self.pair("truth_comparisons")
    var conditions: [FieldCondition] = []
    for (field, values) in TruthTable.values {
      for comparison in FieldComparison.allCases {
        for value in values + [.null] {
          // An embedded store refuses it as well.
          if case .decimal(let decimal) = value, decimal.isNaN { continue }
          conditions.append(.comparison(field: field, comparison, value))
        }
      }
      conditions.append(.isIn(field: field, values))
      conditions.append(.isIn(field: field, Array(values.prefix(1)) + [.null]))
      conditions.append(.isIn(field: field, [.null]))
      conditions.append(.isIn(field: field, []))
    }
    #expect(conditions.count > 700)
    try await compare(conditions, pair)
  }

  @Test func `every match of texts is the same, whatever is in pattern and value`() async throws {
    let pair = try await Self.pair("truth_texts")
    let patterns =
      TruthTable.texts + [
        "*", "?", "a*", "*b", "a?b", "a\\*b", "\\?", "a\\", "%", "_", "*e*", "??",
      ]
    var conditions: [FieldCondition] = []
    for kind in [TextMatch.Kind.prefix, .suffix, .contains, .equals, .like] {
      for pattern in patterns {
        for field in ["text", "link"] {
          conditions.append(.match(field: field, TextMatch(kind, pattern)))
        }
      }
    }
    try await compare(conditions, pair)
  }

  @Test func `elements, composites and arrays are the same`() async throws {
    let pair = try await Self.pair("truth_arrays")
    var conditions: [FieldCondition] = []
    for number in -1..<4 {
      conditions.append(.contains(field: "numbers", .integer(Int64(number))))
      conditions.append(.contains(field: "doubles", .double(Double(number))))
      conditions.append(
        .computed(.length(.field("numbers")), .greater, .value(.integer(Int64(number)))))
    }
    conditions.append(.contains(field: "doubles", .double(.nan)))
    conditions.append(.contains(field: "doubles", .double(0)))
    conditions.append(.contains(field: "numbers", .null))
    for word in ["a", "é", "b", "x"] {
      conditions.append(.contains(field: "words", .string(word)))
      conditions.append(.match(field: "words", TextMatch(.contains, word)))
      conditions.append(.contains(field: "owners", .string(word)))
    }
    for comparison in [FieldComparison.equal, .notEqual] {
      for field in ["place", "doubles", "words", "owner", "owners", "numbers"] {
        conditions.append(.comparison(field: field, comparison, .null))
      }
      conditions.append(.comparison(field: "numbers", comparison, [0, 1]))
      conditions.append(.comparison(field: "words", comparison, ["b", "b"]))
      conditions.append(.comparison(field: "words", comparison, .array([])))
    }
    try await compare(conditions, pair)
  }

  @Test func `relations are the same: any, none, counts, aggregates, and fields over references`()
    async throws
  {
    let pair = try await Self.pair("truth_relations")
    var conditions: [FieldCondition] = []
    for relation in ["owner", "owners"] {
      let ranks: [FieldCondition] = [
        .and([]), .or([]), .comparison(field: "rank", .greater, 0),
        .comparison(field: "rank", .equal, .null),
        .any(relation: "samples", .comparison(field: "int64", .equal, 1)),
      ]
      for rank in ranks { conditions.append(.any(relation: relation, rank)) }
      for number in 0..<3 {
        conditions.append(
          .computed(
            .count(relation: relation, where: ranks[2]), .equal,
            .value(.integer(Int64(number)))))
      }
      for aggregate in RelatedAggregate.allCases {
        let value = FieldExpression.aggregate(
          aggregate, relation: relation, of: .field("rank"), where: .and([]))
        for comparison in FieldComparison.allCases {
          conditions.append(.computed(value, comparison, .value(1)))
          conditions.append(.computed(value, comparison, .value(.null)))
        }
      }
    }
    try await compare(conditions, pair)
  }

  @Test func `computed values are the same: of numbers of all types, of null and of NaN`()
    async throws
  {
    let pair = try await Self.pair("truth_computed")
    let numbers = ["int8", "int32", "int64", "uint8", "uint64", "float", "double", "decimal", "id"]
    let operations: [(FieldExpression, FieldExpression) -> FieldExpression] = [
      { .arithmetic($0, .plus, $1) }, { .arithmetic($0, .minus, $1) },
      { one, _ in .negated(one) }, { .coalesced($0, $1) },
    ]
    var conditions: [FieldCondition] = []
    for (place, name) in numbers.enumerated() {
      let other = numbers[(place + 3) % numbers.count]
      for comparison in FieldComparison.allCases {
        conditions.append(.computed(.field(name), comparison, .field(other)))
        conditions.append(.computed(.field(name), comparison, .field(name)))
        conditions.append(.computed(.field(name), comparison, .value(1)))
        for operation in operations {
          let value = operation(.field(name), .field("id"))
          conditions.append(.computed(value, comparison, .value(3)))
        }
      }
    }
    for seconds in TruthTable.dates {
      let date = FieldExpression.value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
      for comparison in FieldComparison.allCases {
        for one in [date, .field("date"), .value(.null)] {
          conditions.append(
            .computed(.arithmetic(one, .minus, .field("date")), comparison, .value(0.5)))
          conditions.append(
            .computed(
              .arithmetic(.field("date"), .minus, date), comparison,
              .arithmetic(one, .minus, .field("date"))))
        }
      }
    }
    for divisor in ["int8", "int64"] {
      for operation in [FieldArithmetic.divided, .remainder, .times] {
        conditions.append(
          .computed(
            .arithmetic(.field("id"), operation, .field(divisor)), .greaterOrEqual, .value(0)))
      }
    }
    try await compare(conditions, pair)
  }

  @Test func `every order of every type is the same, with pages after any record`() async throws {
    let pair = try await Self.pair("truth_orders")
    var queries: [Query<Sample>] = []
    for (field, _) in TruthTable.values {
      for isDescending in [false, true] {
        var query = Query<Sample>()
        query.order = [.init(FieldOrder(field: field, isDescending: isDescending))]
        queries += [query, query.limit(5), query.limit(3).offset(4), query.after(.integer(7))]
        var two = query
        two.order.append(.init(FieldOrder(field: "owner", isDescending: !isDescending)))
        queries.append(two)
      }
    }
    // The fields of another record are not those of the place.
    queries.removeAll { $0.after != nil && "\($0.order)".contains("owner.") }
    queries.append(Sample.sorted(by: .descending { $0.owners.count }))
    queries.append(Query<Sample>().after(.integer(100)))
    try await compare(queries, pair)
    let all = queries
    let counts = try await pair.server.read { snapshot in
      try all.map { try snapshot.count($0) }
    }
    #expect(counts == (try queries.map { try pair.embedded.count($0) }))
  }

  @Test func `groups and sums of every type are the same`() async throws {
    let pair = try await Self.pair("truth_groups")
    func expectSame<Key, Value>(
      _ query: GroupedQuery<Sample, Key, Value>, _ text: (Value) -> String
    ) async throws {
      let expected = try pair.embedded.fetch(query)
      let found = try await pair.server.read { snapshot in
        try Box(snapshot.fetch(query))
      }.value
      #expect(
        found.map { "\($0.key) \($0.count) \(text($0.value))" }
          == expected.map { "\($0.key) \($0.count) \(text($0.value))" })
    }
    let all = Query<Sample>()
    try await expectSame(all.grouped { $0.owner.id }.computing(.count, .sum(\.id))) { "\($0)" }
    try await expectSame(all.grouped { $0.text }.computing(.max(\.id))) { "\($0 ?? -1)" }
    try await expectSame(all.grouped { $0.double }.computing(.count)) { "\($0)" }
    try await expectSame(all.grouped { $0.float }.computing(.count)) { "\($0)" }
    try await expectSame(all.grouped { $0.decimal }.computing(.count)) { "\($0)" }
    try await expectSame(all.grouped { $0.uint64 }.computing(.max(\.uint64))) { "\($0 as Any)" }
    try await expectSame(all.grouped { $0.date }.computing(.min(\.date))) { "\($0 as Any)" }
    try await expectSame(all.grouped { $0.uuid }.computing(.countDistinct { $0.int8 })) { "\($0)" }
    try await expectSame(
      all.where { $0.id < 20 }.grouped { ($0.flag, $0.owner.rank) }.computing(.average(\.id))
        .sorted(by: .descending(.count)).limit(4)
    ) { "\($0 ?? -1)" }
    let sums = try await pair.server.read { snapshot in
      (
        try snapshot.sum(\Sample.id), try snapshot.average(\Sample.id),
        try snapshot.average(\Sample.id, of: Sample.where { $0.id < 0 })
      )
    }
    #expect(sums.0 == (try pair.embedded.sum(\Sample.id)))
    #expect(sums.1 == (try pair.embedded.average(\Sample.id)))
    #expect(sums.2 == nil)
  }

  private static func running(_ state: some PortableReading) throws -> [String] {
    var seen: [String] = []
    func add(_ found: [(record: Sample, value: some Any)]) {
      seen.append(found.map { "\($0.record.id) \($0.value)" }.joined(separator: ", "))
    }
    for (field, _) in TruthTable.values {
      for isDescending in [false, true] {
        var query = Query<Sample>()
        query.order = [.init(FieldOrder(field: field, isDescending: isDescending))]
        add(try state.fetch(query.ranked()))
        add(try state.fetch(query.ranked(isDense: true) { $0.flag }))
        add(try state.fetch(query.numbered { $0.owner }))
        add(try state.fetch(query.running(.sum(\.id), within: { $0.owner.rank })))
        add(try state.fetch(query.limit(9).offset(2).running(.count)))
      }
    }
    let all = Query<Sample>()
    let some = Sample.sorted(by: .descending(\.text), .ascending(\.int64)).where { $0.id < 18 }
    add(try state.fetch(all.ranked()))
    add(try state.fetch(all.numbered()))
    add(try state.fetch(all.numbered { $0.double }))
    add(try state.fetch(all.numbered { $0.uuid }))
    add(try state.fetch(some.running(.average(\.id), within: { $0.flag })))
    add(try state.fetch(some.running(.min(\.double))))
    add(try state.fetch(some.running(.max(\.decimal))))
    add(try state.fetch(some.running(.max(\.text), within: { $0.id % 3 })))
    add(try state.fetch(some.running(.min(\.date))))
    add(try state.fetch(some.running(.count { $0.int8 })))
    add(try state.fetch(some.running(.sum { $0.id * 2 })))
    add(try state.fetch(some.running(.sum(\.id)).limit(4)))
    add(try state.fetch(some.running(.sum(\.id)).limit(4).offset(3)))
    add(try state.fetch(some.running(.sum(\.id)).having { $0 % 2 == 0 }.limit(3).offset(1)))
    add(try state.fetch(some.ranked().having { $0 > 100 }))
    return seen
  }

  @Test func `running totals, ranks and numbers are the same, in every order`() async throws {
    let pair = try await Self.pair("truth_running")
    let expected = try Self.running(try pair.embedded.snapshot())
    let found = try await pair.server.read { try Self.running($0) }
    #expect(found.count == expected.count)
    for (place, (one, other)) in zip(found, expected).enumerated() {
      #expect(one == other, "\(place)")
    }
    await #expect(throws: PostgresStoreError.self) {
      _ = try await pair.server.read { state in
        try state.fetch(Query<Sample>().running(.countDistinct(\.int8))).count
      }
    }
    await #expect(throws: StoreError.self) {
      _ = try await pair.server.read { state in
        try state.fetch(Query<Sample>().numbered().limit(-1)).count
      }
    }
  }

  private static func unions(_ state: some PortableReading) throws -> [String] {
    var seen: [String] = []
    func add<Row, Columns>(_ union: UnionQuery<Row, Columns>) throws {
      for query in [union, union.distinct(), union.limit(7).offset(3), union.distinct().limit(5)] {
        seen.append("\(try state.fetch(query))")
      }
    }
    let all = Query<Sample>()
    let page = Sample.sorted(by: .descending(\.text)).limit(9).offset(1)
    let texts = all.select(\.text).union(page.select(\.text))
    try add(texts)
    try add(texts.sorted(by: .ascending { $0 }))
    try add(texts.sorted(by: .descending { $0 }))
    let owners = Query<Owner>().select(\.rank, { $0.id.optional })
    let owned = owners.union(page.select({ $0.owner.rank }, \.text)).union(owners)
    try add(owned)
    try add(owned.sorted(by: .ascending { $0.1 }))
    try add(owned.sorted(by: .descending { $0.0 }, .ascending { $0.1 }))
    let doubles = all.select(\.double, \.float, \.date).union(
      page.select(\.double, \.float, \.date))
    try add(doubles.sorted(by: .ascending { $0.0 }))
    try add(doubles.sorted(by: .descending { $0.2 }))
    let constants = all.select(\.uuid) { _ in FieldConstant("a") }
      .union(all.after(.integer(12)).select(\.uuid) { _ in FieldConstant("é") })
    try add(constants.sorted(by: .descending { $0.1 }, .ascending { $0.0 }))
    return seen
  }

  @Test func `unions are the same: in turn, sorted, each row once, and a part of them`()
    async throws
  {
    let pair = try await Self.pair("truth_unions")
    let expected = try Self.unions(try pair.embedded.snapshot())
    let found = try await pair.server.read { try Self.unions($0) }
    #expect(found.count == expected.count)
    for (place, (one, other)) in zip(found, expected).enumerated() {
      #expect(one == other, "\(place)")
    }
    await #expect(throws: PostgresStoreError.self) {
      _ = try await pair.server.read { state in
        let texts = Query<Sample>().select(\.text).union(Query<Sample>().select(\.text))
        return try state.fetch(texts.sorted(by: .ascending(caseInsensitive: true) { $0 })).count
      }
    }
  }

  @Test func `whatever has no translation is an error that says so, and never another answer`()
    async throws
  {
    let pair = try await Self.pair("truth_unsupported")
    let conditions: [FieldCondition] = [
      .match(field: "text", TextMatch(.contains, "a", .caseInsensitive)),
      .match(field: "text", TextMatch(.equals, "a", .diacriticInsensitive)),
      .match(field: "text", TextMatch(.words, "a")),
      .computed(.length(.field("text")), .equal, .value(1)),
      .computed(.lowercased(.field("text")), .equal, .value("a")),
      .comparison(field: "text", .equal, "\0"),
      .computed(
        .arithmetic(
          .arithmetic(.field("int64"), .times, .field("int64")), .times, .field("int64")),
        .equal, .value(1)),
      .computed(.arithmetic(.field("decimal"), .divided, .value(3)), .equal, .value(1)),
    ]
    for condition in conditions {
      await #expect(throws: PostgresStoreError.self, "\(condition)") {
        try await pair.server.fetch(Query().where(Condition<Sample>(condition)))
      }
    }
    let wrong: [FieldCondition] = [
      .comparison(field: "nothing", .equal, 1), .comparison(field: "numbers", .less, [1]),
      .comparison(field: "int8", .equal, "a"), .contains(field: "int8", 1),
      .any(relation: "text", .and([])),
    ]
    for condition in wrong {
      let query = Query().where(Condition<Sample>(condition))
      #expect(throws: StoreError.self, "\(condition)") { try pair.embedded.fetch(query) }
      await #expect(throws: StoreError.self, "\(condition)") {
        try await pair.server.fetch(query)
      }
    }
  }
}

/// A value that is only passed on.
private struct Box<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
