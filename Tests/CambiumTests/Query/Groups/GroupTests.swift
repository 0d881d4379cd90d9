import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct GroupTests {
  @Test(arguments: [0, 1, 40, 3_000])
  func `groups of expressions are those of a dictionary`(lineCount: Int) throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    let world = try SaleWorld(lineCount: lineCount, seed: seed)
    let groups = try world.store.fetch(
      Query<SaleLine>().grouped { $0.product.category }
        .computing(
          .sum { $0.price * $0.quantity * (1 - $0.discount) }, .max(\.price), .count,
          .countDistinct(\.product)))
    let expected = Dictionary(grouping: world.lines) { world.product(of: $0)?.category }
    #expect(groups.map(\.key) == expected.keys.sorted { ($0?.id ?? -1) < ($1?.id ?? -1) })
    for group in groups {
      let members = try #require(expected[group.key])
      #expect(group.count == members.count && group.value.2 == members.count)
      #expect(group.value.0 == members.map { SaleWorld.total($0) }.reduce(0, +))
      #expect(group.value.1 == members.map(\.price).max())
      #expect(group.value.3 == Set(members.map(\.product.id)).count)
    }
  }

  @Test func `groups by months, initials and ranges of related fields have their values`() throws {
    let world = try SaleWorld(lineCount: 2_000, seed: 7)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 5_400))
    let months = try world.store.fetch(
      Query<SaleLine>().grouped {
        ($0.ordered.year(in: .minutes(90)), $0.ordered.month(in: .minutes(90)))
      })
    let expected = Dictionary(grouping: world.lines) { line in
      [Calendar.Component.year, .month].map { calendar.component($0, from: line.ordered) }
    }
    #expect(months.count == expected.count)
    for group in months {
      #expect(expected[[group.key.0, group.key.1]]?.count == group.count, "\(group.key)")
    }
    let initials = try world.store.fetch(
      Query<SaleLine>().grouped { $0.product.name.initial }.computing(.count))
    #expect(initials.map { $0.key ?? "" } == ["a", "b", "é"])
    #expect(initials.map(\.value).reduce(0, +) == 2_000)
    let weights = try world.store.fetch(
      Query<SaleLine>().grouped { $0.product.weight.bucket(of: 0.5) })
    let byWeight = Dictionary(grouping: world.lines) {
      world.product(of: $0)?.weight.map { ($0 / 0.5).rounded(.down) * 0.5 }
    }
    #expect(weights.map(\.key) == byWeight.keys.sorted { ($0 ?? -1) < ($1 ?? -1) })
    #expect(weights.map(\.count) == weights.map { byWeight[$0.key]?.count ?? 0 })
  }

  @Test func `the highest sums come first, with a limit, a condition and an offset`() throws {
    let world = try SaleWorld(lineCount: 1_000, seed: 3)
    let sums = Dictionary(grouping: world.lines, by: \.product).mapValues { lines in
      lines.map { SaleWorld.total($0) }.reduce(0, +)
    }
    let sorted = sums.sorted { ($0.value, $1.key.id) > ($1.value, $0.key.id) }
    let query = Query<SaleLine>().grouped { $0.product }
      .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
      .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) }))
    let top = try world.store.fetch(query.limit(4))
    #expect(top.map(\.key) == sorted.prefix(4).map(\.key))
    #expect(top.map(\.value) == sorted.prefix(4).map(\.value))
    let bound = sorted[5].value
    let rest = try world.store.fetch(query.having { $0.value < bound }.offset(1))
    #expect(rest.map(\.key) == sorted.filter { $0.value < bound }.dropFirst().map(\.key))
    // Sorted by a value that is not returned, and then by the key.
    let counts = try world.store.fetch(
      Query<SaleLine>().grouped { $0.quantity }
        .sorted(by: .ascending(.countDistinct(\.product)), .descendingByKey))
    let products = Dictionary(grouping: world.lines, by: \.quantity)
      .mapValues { Set($0.map(\.product)).count }
    let expected = products.sorted { ($0.value, -$0.key) < ($1.value, -$1.key) }
    #expect(counts.map(\.key) == expected.map(\.key))
  }

  @Test func `without records there is no group, but sums and counts of all`() throws {
    let store = try SaleWorld(lineCount: 0, seed: 0).store
    let none = Query<SaleLine>()
    #expect(try store.fetch(none.grouped(by: \.product)).isEmpty)
    #expect(try store.sum(of: none) { $0.price * $0.quantity } == 0)
    #expect(try store.sum(of: none) { $0.quantity * 2 } == 0)
    #expect(try store.average(of: none) { $0.price * 2 } == nil)
    #expect(try store.min(of: none) { $0.returned - $0.ordered } == nil)
    #expect(try store.max(of: none) { $0.product.name } == nil)
    #expect(try store.select(from: none) { $0.price * 2 }.isEmpty)
  }

  @Test func `a negative window and values without an order are refused`() throws {
    let store = try SaleWorld(lineCount: 3, seed: 0).store
    let groups = Query<SaleLine>().grouped(by: \.product)
    for wrong in [groups.limit(-1), groups.offset(.min)] {
      guard case .invalidQuery = storeError({ try store.fetch(wrong) }) else {
        Issue.record("a negative window was accepted")
        continue
      }
    }
    #expect(try store.fetch(groups.limit(0)).isEmpty)
    #expect(try store.fetch(groups.offset(.max).limit(.max)).isEmpty)
    for text in ["price * product.weight", "lowercased(price)", "month(price)", "size + 1"] {
      let order = FieldOrder(try FieldExpression(parsing: text))
      guard
        case .invalidQuery = storeError({ try store.fetch(record: "SaleLine", sortedBy: [order]) })
      else {
        Issue.record("\(text) was computed")
        continue
      }
    }
  }
}
