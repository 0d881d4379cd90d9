import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Part: Record, Identifiable, Equatable {
  var id: Int
  var whole: Reference<Part>?
  var friends: [Reference<Part>] = []

  static let parts = Inverse("parts", of: \Part.whole)
  static let admirers = Inverse("admirers", of: \Part.friends)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "whole", type: .reference(to: Part.self), optional: true)
    Field(name: "friends", type: .references(to: Part.self))
    parts
    admirers
  }
}

/// The records that are reached in arrays, as pairs of depth and identifier.
private func reached(
  from starts: [Int], _ edges: [Int: [Int]], upTo most: Int = .max
) -> [[Int]] {
  var depths = Dictionary(uniqueKeysWithValues: starts.map { ($0, 0) })
  var changes = true
  while changes {
    changes = false
    for (one, depth) in depths {
      for other in edges[one, default: []] where depth + 1 < depths[other] ?? .max {
        depths[other] = depth + 1
        changes = true
      }
    }
  }
  return depths.filter { $0.value > 0 && $0.value <= most }.map { [$0.value, $0.key] }
    .sorted { $0.lexicographicallyPrecedes($1) }
}

private func pairs(_ records: [(record: Part, depth: Int)]) -> [[Int]] {
  records.map { [$0.depth, $0.record.id] }
}

@Suite struct RecordDepthTests {
  private static func store(_ parts: [Part]) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Part.self]))
    try store.write { try $0.insert(contentsOf: parts) }
    return store
  }

  @Test func `in every small world, cycles included, records are reached as in arrays`() throws {
    // Each of three records has one of them, itself included, or none as its whole.
    for count in 0...3 {
      for world in 0..<Int(pow(Double(count + 1), Double(count))) {
        var rest = world
        let parts = (0..<count).map { id in
          defer { rest /= count + 1 }
          let whole = rest % (count + 1)
          return Part(id: id, whole: whole == count ? nil : Reference(whole))
        }
        try check(parts)
      }
    }
  }

  @Test func `in random graphs of lists, records are reached as in arrays`() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    for count in [2, 10, 120] {
      try check(
        (0..<count).map { id in
          let friends = (0..<count).shuffled(using: &random)
            .prefix(Int.random(in: 0...3, using: &random)).map { Reference<Part>($0) }
          let whole = Int.random(in: 0..<count, using: &random)
          return Part(id: id, whole: id % 3 == 0 ? nil : Reference(whole), friends: friends)
        })
    }
  }

  private func check(_ parts: [Part]) throws {
    let store = try Self.store(parts)
    var up: [Int: [Int]] = [:]
    var down: [Int: [Int]] = [:]
    var friends: [Int: [Int]] = [:]
    var admirers: [Int: [Int]] = [:]
    for part in parts {
      if let whole = part.whole?.id {
        up[part.id, default: []].append(whole)
        down[whole, default: []].append(part.id)
      }
      for friend in part.friends {
        friends[part.id, default: []].append(friend.id)
        admirers[friend.id, default: []].append(part.id)
      }
    }
    for part in parts.prefix(20) {
      let start = [part.id]
      #expect(
        pairs(try store.ancestors(of: part, along: \.whole)) == reached(from: start, up),
        "\(parts)")
      #expect(
        pairs(try store.descendants(of: part, along: Part.parts)) == reached(from: start, down),
        "\(parts)")
      #expect(
        pairs(try store.ancestors(of: part, along: \.friends)) == reached(from: start, friends),
        "\(parts)")
      #expect(
        pairs(try store.descendants(of: part, along: Part.admirers, upTo: 2))
          == reached(from: start, admirers, upTo: 2), "\(parts)")
    }
    let even = Part.where { $0.id % 2 == 0 }
    let starts = parts.map(\.id).filter { $0 % 2 == 0 }
    #expect(
      pairs(try store.descendants(of: even, along: Part.parts)) == reached(from: starts, down),
      "\(parts)")
    #expect(
      pairs(try store.ancestors(of: even, along: \.whole, upTo: 1))
        == reached(from: starts, up, upTo: 1), "\(parts)")
  }

  @Test func `no depth is nothing, a negative one an error, and a record need not be stored`()
    throws
  {
    let store = try Self.store([Part(id: 1), Part(id: 2, whole: Reference(1))])
    let one = try #require(try store.fetch(Part.self, key: 1))
    #expect(try store.descendants(of: one, along: Part.parts, upTo: 0).isEmpty)
    guard
      case .invalidQuery = storeError({
        try store.descendants(of: one, along: Part.parts, upTo: -1)
      })
    else {
      Issue.record("a negative depth was accepted")
      return
    }
    let new = Part(id: 3, whole: Reference(2))
    #expect(pairs(try store.ancestors(of: new, along: \.whole)) == [[1, 2], [2, 1]])
    #expect(try store.descendants(of: new, along: Part.parts).isEmpty)
    try store.write { transaction in
      try transaction.save(Part(id: 1, whole: Reference(2)))
      #expect(pairs(try transaction.ancestors(of: new, along: \.whole)) == [[1, 2], [2, 1]])
      #expect(pairs(try transaction.descendants(of: one, along: Part.parts)) == [[1, 2]])
    }
  }
}
