import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// A record with a field of each kind that operators take.
private struct Measured: Record {
  var id = 0
  var small = Int8.min
  var large = UInt64.max
  var weight = 0.0
  var ratio = Float.infinity
  var price = Decimal.greatestFiniteMagnitude
  var time = Date(timeIntervalSinceReferenceDate: 0)
  var count: Int?
  var text = ""
  var list: [Int] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "small", type: .int8)
    Field(name: "large", type: .uint64, indexed: true)
    Field(name: "weight", type: .double, indexed: true)
    Field(name: "ratio", type: .float)
    Field(name: "price", type: .decimal, indexed: true)
    Field(name: "time", type: .date, indexed: true)
    Field(name: "count", type: .integer, optional: true, indexed: true)
    Field(name: "text", type: .string, indexed: true)
    Field(name: "list", type: .array(of: .integer))
  }

  static func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Measured.self]))
    try store.save(Measured(id: .min))
    try store.save(
      Measured(
        id: .max, small: .max, large: 0, weight: -.infinity, ratio: .nan, price: 0,
        time: .distantFuture, count: .min, text: String(repeating: "x", count: 70_000),
        list: [.min, .max]))
    return store
  }
}

/// Asks a store every condition, and reads and writes it as text.
private struct Asking {
  let store: PersistentStore

  init() throws { store = try Measured.makeStore() }

  func callAsFunction(_ condition: Condition<Measured>) {
    Extremes.attempt { _ = try store.count(Measured.where(condition)) }
    Extremes.attempt {
      _ = try store.fetch(Query().where(condition).sorted(by: .ascending(\.text)))
    }
    _ = condition.description
    _ = condition == condition
    if let json = try? JSONEncoder().encode(condition) {
      Extremes.attempt { _ = try JSONDecoder().decode(Condition<Measured>.self, from: json) }
    }
  }

  /// Asks for a value in each way that returns it, or sorts or groups by it.
  func value<Value: FieldNumber>(_ value: ComputedField<Measured, Value>) {
    let all = Query<Measured>()
    Extremes.attempt { _ = try store.select(from: all) { _ in value } }
    Extremes.attempt { _ = try store.sum(of: all) { _ in value } }
    Extremes.attempt { _ = try store.average(of: all) { _ in value } }
    Extremes.attempt { _ = try store.max(of: all) { _ in value } }
    Extremes.attempt { _ = try store.fetch(all.sorted(by: .descending { _ in value })) }
    Extremes.attempt {
      _ = try store.fetch(
        all.grouped { _ in value }.computing(.countDistinct { _ in value }, .sum { _ in value }))
    }
  }
}

/// The operators that compare, on each kind of operand.
private enum Comparing {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  func field<Value: OrderedFieldValue>(
    _ field: FieldReference<Measured, Value>, _ value: Value
  ) -> Condition<Measured> {
    switch self {
    case .equal: field == value
    case .notEqual: field != value
    case .less: field < value
    case .lessOrEqual: field <= value
    case .greater: field > value
    case .greaterOrEqual: field >= value
    }
  }

  func computed<Value: OrderedFieldValue>(
    _ field: ComputedField<Measured, Value>, _ value: Value
  ) -> Condition<Measured> {
    switch self {
    case .equal: field == value
    case .notEqual: field != value
    case .less: field < value
    case .lessOrEqual: field <= value
    case .greater: field > value
    case .greaterOrEqual: field >= value
    }
  }

  func both<Value: OrderedFieldValue>(
    _ one: some FieldOperand<Measured, Value>, _ other: some FieldOperand<Measured, Value>
  ) -> Condition<Measured> {
    switch self {
    case .equal: one == other
    case .notEqual: one != other
    case .less: one < other
    case .lessOrEqual: one <= other
    case .greater: one > other
    case .greaterOrEqual: one >= other
    }
  }
}

/// The operators that compute.
private enum Computing {
  case plus, minus, times, divided, remainder

  func constant<Value: FieldNumber>(
    _ one: some FieldOperand<Measured, Value>, _ value: Value
  ) -> ComputedField<Measured, Value> {
    switch self {
    case .plus: one + value
    case .minus: one - value
    case .times: one * value
    case .divided: one / value
    case .remainder: one % value
    }
  }

  func first<Value: FieldNumber>(
    _ value: Value, _ other: some FieldOperand<Measured, Value>
  ) -> ComputedField<Measured, Value> {
    switch self {
    case .plus: value + other
    case .minus: value - other
    case .times: value * other
    case .divided: value / other
    case .remainder: other % value
    }
  }

  func both<Value: FieldNumber>(
    _ one: some FieldOperand<Measured, Value>, _ other: some FieldOperand<Measured, Value>
  ) -> ComputedField<Measured, Value> {
    switch self {
    case .plus: one + other
    case .minus: one - other
    case .times: one * other
    case .divided: one / other
    case .remainder: one % other
    }
  }
}

/// What is done with every field and the extremes of its type.
private protocol FieldVisitor {
  func visit<Value: OrderedFieldValue>(_ path: KeyPath<Measured, Value>, _ values: [Value])
}

extension FieldVisitor {
  func visitNumbers() {
    visit(\.id, Extremes.integers)
    visit(\.small, [.min, -1, 0, .max])
    visit(\.large, [0, 1, .max])
    visit(\.weight, Extremes.numbers)
    visit(\.ratio, Extremes.numbers.map { Float($0) })
    visit(\.price, [.nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0])
    visit(\.count, [nil] + Extremes.integers)
  }

  func visitAll() {
    visitNumbers()
    visit(\.time, Extremes.dates)
    visit(\.text, Extremes.strings)
  }
}

private struct ComparisonOfFields: FieldVisitor {
  let ask: Asking
  let comparing: Comparing

  func visit<Value: OrderedFieldValue>(_ path: KeyPath<Measured, Value>, _ values: [Value]) {
    let field = Fields<Measured>()[dynamicMember: path]
    for value in values { ask(comparing.field(field, value)) }
  }
}

private struct ComparisonOfComputed: FieldVisitor {
  let ask: Asking
  let comparing: Comparing

  func visit<Value: OrderedFieldValue>(_ path: KeyPath<Measured, Value>, _ values: [Value]) {
    let field = Fields<Measured>()[dynamicMember: path].computed
    for value in values { ask(comparing.computed(field, value)) }
  }
}

private struct ComparisonOfTwo: FieldVisitor {
  let ask: Asking
  let comparing: Comparing

  func visit<Value: OrderedFieldValue>(_ path: KeyPath<Measured, Value>, _ values: [Value]) {
    let field = Fields<Measured>()[dynamicMember: path]
    ask(comparing.both(field, field))
    for value in values { ask(comparing.both(field, ComputedField(constant: value))) }
  }
}

extension ExtremeCalls {
  private static let deepest = 20_000

  private static func computing(_ operation: Computing) throws {
    let ask = try Asking()
    func compute<Value: FieldNumber>(_ path: KeyPath<Measured, Value>, _ values: [Value]) {
      let field = Fields<Measured>()[dynamicMember: path]
      for value in values {
        ask(operation.constant(field, value) < field)
        ask(operation.first(value, field) < field)
        ask.value(operation.constant(field, value))
        ask.value(operation.both(field, field))
        ask(operation.both(field, ComputedField(constant: value)) == value)
        for other in values {
          ask(operation.constant(ComputedField(constant: other), value) > other)
        }
      }
      var nested = field.computed
      for _ in 0..<1_000 { nested = operation.constant(nested, values[0]) }
      ask(nested == values[0])
      nested = field.computed
      for _ in 0..<1_000 { nested = operation.both(field, nested) }
      ask(nested == values[0])
    }
    compute(\.id, Extremes.integers)
    compute(\.small, [.min, -1, 0, .max])
    compute(\.large, [0, 1, .max])
    compute(\.weight, Extremes.numbers)
    compute(\.ratio, Extremes.numbers.map { Float($0) })
    compute(\.price, [.nan, .greatestFiniteMagnitude, 0])
    compute(\.count, [nil] + Extremes.integers)
  }

  private static func joining(
    _ join: (Condition<Measured>, Condition<Measured>) -> Condition<Measured>
  ) throws {
    let ask = try Asking()
    var left = Condition<Measured>.always
    var right = Condition<Measured>.never
    var mixed = Condition<Measured> { $0.id == 1 }
    for id in 0..<deepest {
      left = join(left, Condition { $0.id == id })
      right = join(Condition { $0.weight != .nan }, right)
      mixed = !join(mixed, Condition { $0.text == "" })
    }
    for condition in [left, right, mixed] { ask(condition) }
  }

  /// Fields in ranges and among values.
  private static func ranges() throws {
    let ask = try Asking()
    ask(Condition { $0.id.isIn(Int.min...Int.max) })
    ask(Condition { $0.id.isIn(Int.max..<Int.max) })
    ask(Condition { $0.weight.isIn(-Double.infinity...Double.infinity) })
    ask(Condition { $0.weight.isIn(-Double.infinity..<Double.infinity) })
    ask(Condition { $0.text.isIn(""..."\u{10FFFF}") })
    ask(Condition { $0.time.isIn(Date.distantPast..<Date.distantFuture) })
    ask(Condition { $0.id.isIn([]) })
    ask(Condition { $0.id.isIn(Array(-50_000..<50_000)) })
    ask(Condition { $0.weight.isIn(Extremes.numbers) })
    ask(Condition { $0.text.isIn(Extremes.strings) })
    ask(Condition { $0.list.isIn([[], [.min], Array(0..<100_000)]) })
  }

  private typealias Call = @Sendable (Extremes) throws -> Void

  static let operators: [String: @Sendable (Extremes) throws -> Void] = {
    var calls: [String: Call] = [
      "Condition.&&(one:other:)": { _ in try joining { $0 && $1 } },
      "Condition.||(one:other:)": { _ in
        try joining { $0 || $1 }
        try ranges()
      },
      "Condition.!(condition:)": { _ in
        var condition = Condition<Measured> { $0.id == .max }
        for _ in 0..<deepest { condition = !condition }
        try Asking()(condition)
      },
      "FieldOperand.??(one:value:)": { _ in
        let ask = try Asking()
        for number in Extremes.integers { ask((Fields<Measured>().count ?? number) == number) }
      },
      "FieldOperand.-(one:)": { _ in
        let (ask, fields) = (try Asking(), Fields<Measured>())
        ask(-fields.id == .min)
        ask(-fields.small == .min)
        ask(-fields.large == 1)
        ask(-fields.weight == .nan)
        ask(-fields.price == .nan)
        var nested = fields.count.computed
        for _ in 0..<deepest { nested = -nested }
        ask(nested == 1)
      },
      "FieldOperand.bucket(of:)": { _ in
        let (ask, fields) = (try Asking(), Fields<Measured>())
        for number in Extremes.numbers {
          ask(fields.time.bucket(of: number) < .distantFuture)
          ask(fields.weight.bucket(of: number) < 1)
          ask.value(fields.weight.bucket(of: number))
        }
        for number in Extremes.integers {
          ask.value(fields.id.bucket(of: number))
          ask.value(fields.count.bucket(of: number))
          ask.value(fields.price.bucket(of: Decimal(number)))
        }
      },
      "FieldOperand.prefix(_:)": { _ in
        let (ask, fields) = (try Asking(), Fields<Measured>())
        for number in Extremes.integers { ask(fields.text.prefix(number) == "") }
      },
      "UTCOffset.minutes(_:)": { _ in
        let (ask, fields) = (try Asking(), Fields<Measured>())
        for number in Extremes.integers {
          ask(fields.time.hour(in: .minutes(number)) == 1)
          ask.value(fields.time.year(in: .minutes(number)))
        }
      },
      "FieldOperand.+(one:seconds:)": { _ in
        let ask = try Asking()
        for seconds in Extremes.numbers {
          for date in Extremes.dates { ask((Fields<Measured>().time + seconds) < date) }
        }
      },
      "Reference.==(one:other:)": { _ in
        let keys = Extremes.integers.map { Reference<Linked>($0) }
        for one in keys { for other in keys { _ = one == other } }
        let names = Extremes.strings.map { Reference<Poet>($0) }
        for one in names { for other in names { _ = one == other } }
      },
      "Blob.==(one:other:)": { _ in
        _ = Blob(Data()) == Blob(Data(count: 1)) && Blob(Data()) == Blob(Data())
      },
      "RecordFields.==(one:other:)": { _ in
        for one in Extremes.values {
          for other in Extremes.values {
            _ = RecordFields(["a": one]) == RecordFields(["a": other, "b": one])
          }
        }
      },
      "HistoryCursor.<(one:other:)": { extremes in
        let cursor = try extremes.store.snapshot().historyCursor
        _ = cursor < cursor
      },
      "SectionPlace.<(one:other:)": { _ in
        for section in Extremes.integers {
          for row in Extremes.integers {
            let place = SectionPlace(section: section, row: row)
            _ = place < SectionPlace(section: row, row: section)
          }
        }
      },
      "PagePosition.<(one:other:)": { _ in
        let ends = [UInt32.min, .max].map { PagePosition(segment: $0, block: $0) }
        _ = ends[0] < ends[1]
      },
    ]
    let comparing: [(String, Comparing)] = [
      ("==", .equal), ("!=", .notEqual), ("<", .less), ("<=", .lessOrEqual), (">", .greater),
      (">=", .greaterOrEqual),
    ]
    for (name, comparing) in comparing {
      calls["FieldOperand.\(name)(one:value:)"] = { _ in
        let ask = try Asking()
        ComparisonOfFields(ask: ask, comparing: comparing).visitAll()
        ComparisonOfComputed(ask: ask, comparing: comparing).visitAll()
      }
      if comparing == .equal || comparing == .notEqual {
        calls["FieldReference.\(name)(field:value:)"] = { _ in
          let ask = try Asking()
          ask(
            comparing == .equal ? Fields<Measured>().count == nil : Fields<Measured>().count != nil)
        }
      }
      calls["FieldOperand.\(name)(one:other:)"] = { _ in
        ComparisonOfTwo(ask: try Asking(), comparing: comparing).visitAll()
      }
    }
    let computing: [(String, Computing)] = [
      ("+", .plus), ("-", .minus), ("*", .times), ("/", .divided), ("%", .remainder),
    ]
    for (name, operation) in computing {
      calls["FieldOperand.\(name)(one:value:)"] = { _ in try Self.computing(operation) }
      if operation != .remainder {
        calls["FieldOperand.\(name)(value:other:)"] = { _ in try Self.computing(operation) }
      }
      calls["FieldOperand.\(name)(one:other:)"] = { _ in
        try Self.computing(operation)
        let (ask, fields) = (try Asking(), Fields<Measured>())
        for date in Extremes.dates where operation == .minus {
          ask((fields.time - date) < .infinity)
          ask((fields.time - fields.time) == .nan)
        }
      }
    }
    return calls
  }()
}
