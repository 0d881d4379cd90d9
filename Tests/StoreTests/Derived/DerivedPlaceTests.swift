import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every derivation in every place in which a field can be declared, after every kind of write:
///
///     Trip ─┬─ Business ── Sales        and a composite, `box`, of the record and of Business
///           └─ Personal
@Suite struct DerivedPlaceTests {
  enum Place: CaseIterable {
    case record, kind, innerKind, composite, kindComposite
  }

  enum Source: CaseIterable {
    /// A field, a list or the time: of the kind or composite itself, or of the record.
    case own, ofParent
    /// The records that lead to it.
    case related
    /// An expression on the fields of the records that lead to it.
    case computed
  }

  private struct Shape: Hashable {
    enum Kind: CaseIterable { case plain, business, sales, personal }

    var kind = Kind.plain
    var hasBox = true
    /// The text in all fields of the record, and how many elements its lists have.
    var text = "Ä b"
    var count = 1

    var isBusiness: Bool { kind == .business || kind == .sales }

    func has(_ place: Place) -> Bool {
      switch place {
      case .record: true
      case .kind: isBusiness
      case .innerKind: kind == .sales
      case .composite: hasBox
      case .kindComposite: isBusiness && hasBox
      }
    }
  }

  // MARK: The model

  private static func derivation(_ kind: DerivationSchema.Kind, _ source: Source) -> Derivation {
    let text = source == .own ? "text" : "title"
    let computed = "amount * 2 - 1"
    return switch kind {
    case .value: .value("length(\(source == .own ? "list" : "labels")) * 10 - 3")
    case .sum where source == .computed: .sum(of: "bills", value: computed)
    case .minimum where source == .computed: .minimum(of: "bills", value: computed)
    case .maximum where source == .computed: .maximum(of: "bills", value: computed)
    case .lowercased: .lowercased(text)
    case .uppercased: .uppercased(text)
    case .folded: .folded(text)
    case .modificationDate: .modificationDate
    case .sum: .sum(of: "bills", "amount")
    case .minimum: .minimum(of: "bills", "amount")
    case .maximum: .maximum(of: "bills", "amount")
    default: .count(of: source == .related ? "bills" : source == .own ? "list" : "labels")
    }
  }

  private static func field(_ kind: DerivationSchema.Kind, _ source: Source) -> Field {
    let type: FieldType = kind.isOfText ? .string : kind == .modificationDate ? .date : .integer
    return Field(
      name: "d", type: type, optional: [.minimum, .maximum].contains(kind), indexed: true,
      derived: derivation(kind, source))
  }

  private static func model(_ place: Place, _ derived: Field) -> StoreModel {
    @RecordDescription.ResultBuilder func own(_ own: Place) -> RecordDescription {
      Field(name: "text", type: .string)
      Field(name: "list", type: .array(of: .integer))
      if place == own { derived }
    }
    return untyped(
      (
        "Trip",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "title", type: .string)
          Field(name: "labels", type: .array(of: .integer))
          Field(name: "code", type: .integer, unique: true)
          own(.record)
          Field(name: "box", type: .composite { own(.composite) }, optional: true)
          inverse("bills", of: "trip", in: "Bill", .cascade)
        }
      ),
      (
        "Business",
        description {
          RecordDescription.Parent("Trip")
          own(.kind)
          Field(name: "box", type: .composite { own(.kindComposite) }, optional: true)
        }
      ),
      (
        "Sales",
        description {
          RecordDescription.Parent("Business")
          own(.innerKind)
        }
      ), ("Personal", description { RecordDescription.Parent("Trip") }),
      (
        "Bill",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "trip", type: .reference(to: "Trip"))
          Field(name: "amount", type: .integer, optional: true)
        }
      ))
  }

  // MARK: Records

  private static func record(_ id: Int64, _ shape: Shape, code: Int64? = nil) -> DynamicRecord {
    let own: [String: FieldValue] = [
      "text": .string(shape.text), "list": .array((0..<shape.count).map { .integer(Int64($0)) }),
    ]
    let box: FieldValue = shape.hasBox ? .composite(own) : .null
    let sales: FieldValue = shape.kind == .sales ? .composite(own) : .null
    let business: FieldValue =
      shape.isBusiness
      ? .composite(own.merging(["box": box, "Sales": sales]) { one, _ in one }) : .null
    let fields: [String: FieldValue] = [
      "title": own["text"] ?? .null, "labels": own["list"] ?? .null, "code": .integer(code ?? id),
      "box": box, "Business": business,
      "Personal": shape.kind == .personal ? .composite(["is": true]) : .null,
    ]
    return .of("Trip", id, fields.merging(own) { one, _ in one })
  }

  /// The value at a place of a record; nil if the record has no such place.
  private static func value(_ place: Place, _ record: DynamicRecord) -> FieldValue? {
    func parts(_ name: String, _ value: FieldValue?) -> FieldValue? {
      if case .composite(let parts)? = value { parts[name] } else { nil }
    }
    let business = record["Business"]
    return switch place {
    case .record: record["d"]
    case .kind: parts("d", business)
    case .innerKind: parts("d", parts("Sales", business))
    case .composite: parts("d", record["box"])
    case .kindComposite: parts("d", parts("box", business))
    }
  }

  private static func expected(
    _ kind: DerivationSchema.Kind, _ source: Source, _ shape: Shape, amounts: [Int64?]
  ) -> FieldValue {
    let known = amounts.compactMap(\.self).map { source == .computed ? $0 * 2 - 1 : $0 }
    switch kind {
    case .value: return .integer(Int64(shape.count * 10 - 3))
    case .count: return .integer(Int64(source == .related ? amounts.count : shape.count))
    case .sum: return .integer(known.reduce(0, +))
    case .minimum: return known.min().map { .integer($0) } ?? .null
    case .maximum: return known.max().map { .integer($0) } ?? .null
    default: return .string(kind.text(of: shape.text))
    }
  }

  // MARK: Tests

  private static let cases: [(DerivationSchema.Kind, Source)] =
    DerivationSchema.Kind.allCases.flatMap { kind -> [(DerivationSchema.Kind, Source)] in
      switch kind {
      case .lowercased, .uppercased, .folded: [(kind, .own), (kind, .ofParent)]
      case .count: [(kind, .own), (kind, .ofParent), (kind, .related)]
      case .modificationDate: [(kind, .own)]
      case .sequence: []
      case .value: [(kind, .own), (kind, .ofParent)]
      default: [(kind, .related), (kind, .computed)]
      }
    }

  private static func isAllowed(_ place: Place, _ source: Source) -> Bool {
    switch place {
    case .record, .composite, .kindComposite: source != .ofParent
    case .kind, .innerKind: true
    }
  }

  @Test(arguments: Place.allCases)
  func `A22: each derivation has its value in a record, a kind or a composite after every write`(
    place: Place
  ) throws {
    var checks = 0
    for (kind, source) in Self.cases where Self.isAllowed(place, source) {
      let model = Self.model(place, Self.field(kind, source))
      let store = try PersistentStore(inMemory: model)
      var trips: [Int64: Shape] = [:]
      var bills: [Int64: (trip: Int64, amount: Int64?)] = [:]
      var times: [Int64: ClosedRange<Date>] = [:]
      func check(_ step: String) throws {
        let records = try store.fetch(record: "Trip")
        #expect(records.map { $0["id"] } == trips.keys.sorted().map { .integer($0) })
        for record in records {
          guard let id = try record["id", as: Int64?.self], let shape = trips[id] else { continue }
          let found = Self.value(place, record)
          let comment = "\(kind) of \(source), \(step): \(record)"
          guard shape.has(place) else {
            #expect(found == nil, "\(comment)")
            continue
          }
          checks += 1
          guard kind != .modificationDate else {
            guard case .date(let date)? = found else {
              Issue.record("\(comment)")
              continue
            }
            #expect(times[id]?.contains(date) ?? false, "\(comment)")
            continue
          }
          let amounts = bills.values.filter { $0.trip == id }.map(\.amount)
          let expected = Self.expected(kind, source, shape, amounts: amounts)
          #expect(found == expected, "\(comment)")
          let path = Self.path(place)
          #expect(
            try store.count(
              record: "Trip", where: .comparison(field: path, .equal, expected)) > 0, "\(comment)")
        }
        try store.expectSound()
      }
      func save(_ id: Int64, _ shape: Shape) throws {
        let start = Date()
        try store.write { try $0.save(Self.record(id, shape)) }
        trips[id] = shape
        times[id] = start...Date()
      }
      func bill(_ id: Int64, _ trip: Int64, _ amount: Int64?) throws {
        try store.write { transaction in
          try transaction.save(
            .of(
              "Bill", id,
              ["trip": .integer(trip), "amount": amount.map { .integer($0) } ?? .null]))
        }
        bills[id] = (trip, amount)
      }
      for (index, shape) in Shape.Kind.allCases.enumerated() {
        try save(Int64(index), Shape(kind: shape))
      }
      try check("insert")
      for id in 0..<12 { try bill(Int64(id), Int64(id % 4), id < 4 ? nil : Int64(id - 6)) }
      try check("insert of others")
      // Each as each kind, and with and without its composite, one after the other.
      for from in Shape.Kind.allCases {
        for to in Shape.Kind.allCases {
          try save(1, Shape(kind: from, hasBox: from == to, text: "Ö\(from)", count: 2))
          try save(1, Shape(kind: to, text: "Ü\(to)", count: 3))
          try check("\(from) to \(to)")
        }
      }
      try save(2, Shape(kind: .sales, hasBox: false, text: "é", count: 0))
      try check("without a composite")
      try bill(5, 2, 100)
      try bill(6, 1, -100)
      try check("changes of others")
      try store.write { transaction in
        _ = try transaction.delete(record: "Bill", key: 5)
        _ = try transaction.delete(record: "Bill", key: 6)
      }
      bills[5] = nil
      bills[6] = nil
      try check("deletion of others")
      // Over the record that has its unique value.
      let start = Date()
      let other = Shape(kind: .sales, text: "Über", count: 4)
      try store.write { transaction in
        try transaction.save(Self.record(77, other, code: 3), onConflict: .updateOther)
      }
      trips[3] = other
      times[3] = start...Date()
      try check("upsert")
      try store.write { transaction in _ = try transaction.delete(record: "Trip", key: 2) }
      trips[2] = nil
      bills = bills.filter { $0.value.trip != 2 }
      try check("deletion")
      // Others first.
      try store.write { transaction in
        try transaction.save(.of("Bill", 50, ["trip": 2, "amount": 9]))
        try transaction.save(Self.record(2, Shape(kind: .business)))
        try transaction.save(Self.record(2, Shape(kind: .sales, text: "later")))
      }
      times[2] = start...Date()
      trips[2] = Shape(kind: .sales, text: "later")
      bills[50] = (2, 9)
      try check("others first")
      try store.write { transaction in
        if [.related, .computed].contains(source), kind != .count {
          for id in bills.keys {
            try transaction.save(
              .of("Bill", id, ["trip": .integer(bills[id]?.trip ?? 0), "amount": .null]))
            bills[id]?.amount = nil
          }
        } else {
          for id in bills.keys {
            _ = try transaction.delete(record: "Bill", key: id)
          }
          bills = [:]
        }
      }
      try check("none of others")
      try store.close()
    }
    #expect(checks > 100)
  }

  private static func path(_ place: Place) -> String {
    switch place {
    case .record: "d"
    case .kind: "Business.d"
    case .innerKind: "Business.Sales.d"
    case .composite: "box.d"
    case .kindComposite: "Business.box.d"
    }
  }
}
