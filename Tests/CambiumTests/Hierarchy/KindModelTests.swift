import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Random lives of a store with a hierarchy of three levels, against a dictionary of enum values.
@Suite struct KindModelTests {
  @Test func `whatever is done to kinds, the store has what a dictionary has`() throws {
    let directory = try TemporaryDirectory()
    replaying(0..<UInt64(scaled(300, debug: 24))) { seed in
      try KindLife(seed: seed, path: directory.path + "/\(seed).cambium").run(steps: 60)
    }
  }
}

private struct KindLife {
  private let path: String
  private var random: SplitMix64
  private var store: PersistentStore
  private var expected: [Int: AnyTrip] = [:]
  private var number = 0

  init(seed: UInt64, path: String) throws {
    self.path = path
    random = SplitMix64(seed: seed)
    store = try PersistentStore(at: path, model: .trips)
  }

  func run(steps: Int) throws {
    var life = self
    for _ in 0..<steps { try life.step() }
    try life.check()
    try life.store.close()
  }

  private mutating func step() throws {
    switch random.next() % 12 {
    case 0:
      try store.close()
      store = try PersistentStore(at: path, model: .trips)
    case 1: try deleteSome()
    case 2: try updateSome()
    default: try transact()
    }
    if random.next() % 8 == 0 { try check() }
  }

  private mutating func kind() -> AnyTrip.Kind {
    AnyTrip.Kind.allCases.randomElement(using: &random) ?? .plain
  }

  /// Several changes, in a transaction that may be rolled back.
  private mutating func transact() throws {
    struct RolledBack: Error {}
    var (model, random, number) = (expected, random, number)
    defer { (self.random, self.number) = (random, number) }
    let isKept = random.next() % 5 != 0
    do {
      try store.write { transaction in
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          let id = Int.random(in: 0..<12, using: &random)
          let kind = AnyTrip.Kind.allCases.randomElement(using: &random) ?? .plain
          number += 1
          let trip = AnyTrip(kind, id: id, number)
          let old = model[id]
          switch random.next() % 5 {
          case 0:
            let isThere = old.map { kind.includes($0.kind) } ?? false
            try agree(try transaction.delete(kind, id) == isThere, "deletion of \(id)")
            if isThere { model[id] = nil }
          case 1:
            do {
              try transaction.insert(trip)
              try agree(old == nil, "\(id) was inserted over another")
              model[id] = trip
            } catch StoreError.duplicateKey {
              try agree(old != nil, "\(id) is there")
            }
          case 2:
            do {
              try transaction.update(trip)
              guard let old, kind.includes(old.kind) else {
                throw Disagreement(description: "\(id) was updated as \(kind)")
              }
              model[id] = old.replaced(by: trip)
            } catch StoreError.noSuchRecord {
              try agree(!(old.map { kind.includes($0.kind) } ?? false), "\(id) is no \(kind)")
            }
          default:
            try transaction.save(trip)
            model[id] = old?.replaced(by: trip) ?? trip
          }
        }
        try agree(try transaction.trips() == model, "the transaction has something else")
        if !isKept { throw RolledBack() }
      }
      expected = model
    } catch is RolledBack {}
  }

  private mutating func deleteSome() throws {
    let bound = number - Int.random(in: 0..<12, using: &random)
    let count: Int
    let kind = kind()
    switch kind {
    case .plain: count = try store.delete(Trip.where { $0.start > bound })
    case .business: count = try store.delete(BusinessTrip.where { $0.trip.start > bound })
    case .sales: count = try store.delete(SalesTrip.where { $0.target > bound * 3 })
    case .personal: count = try store.delete(PersonalTrip.where { $0.trip.start > bound })
    case .day: count = try store.delete(DayTrip.where { $0.trip.start > bound })
    }
    let doomed = expected.values.filter { trip in
      guard kind.includes(trip.kind) else { return false }
      if case .sales(let sales) = trip, kind == .sales { return sales.target > bound * 3 }
      return trip.trip.start > bound
    }
    try agree(count == doomed.count, "\(count) of \(kind) were deleted, not \(doomed.count)")
    for trip in doomed { expected[trip.trip.id] = nil }
  }

  private mutating func updateSome() throws {
    number += 1
    let number = number
    let count = try store.update(BusinessTrip.where { $0.perDiem % 4 == 0 }) { business in
      business.perDiem = number
      business.trip.start = number
    }
    var changed = 0
    for (id, trip) in expected {
      guard var business = trip.business, business.perDiem % 4 == 0 else { continue }
      business.perDiem = number
      business.trip.start = number
      expected[id] = trip.replaced(by: .business(business))
      changed += 1
    }
    try agree(count == changed, "\(count) were updated, not \(changed)")
  }

  private func check() throws {
    let trips = try store.trips()
    try agree(trips == expected, "the store has \(trips), not \(expected)")
    for kind in AnyTrip.Kind.allCases {
      let count = expected.values.count { kind.includes($0.kind) }
      try agree(try store.count(kind) == count, "the count of \(kind)")
    }
    let exact = expected.values.count { $0.kind == .business }
    try agree(
      try store.count(Trip.where(.isExactly(BusinessTrip.self))) == exact, "exactly business")
    let rich = expected.values.compactMap(\.business).filter { $0.perDiem >= 20 }
    try agree(
      try store.fetch(BusinessTrip.where { $0.perDiem >= 20 }).sorted { $0.trip.id < $1.trip.id }
        == rich.sorted { $0.trip.id < $1.trip.id }, "by the index of a kind")
    let faults = try store.snapshot().check(readingBlobs: false)
    try agree(faults.isEmpty, "\(faults)")
  }
}
