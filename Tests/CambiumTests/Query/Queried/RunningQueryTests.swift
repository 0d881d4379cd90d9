import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Score: Record, Identifiable, Equatable {
  var id: Int
  var team: Int
  var points: Int?
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "team", type: .integer)
    Field(name: "points", type: .integer, optional: true, indexed: true)
  }
}

/// The expected values, computed from an array.
private struct RunningModel {
  /// In the order of points, null first, and then of identifiers.
  let scores: [Score]

  init(_ scores: [Score]) {
    self.scores = scores.sorted { ($0.points ?? .min, $0.id) < ($1.points ?? .min, $1.id) }
  }

  func ranks(isDense: Bool, within team: Bool) -> [Int] {
    scores.map { score in
      let before = scores.filter {
        (!team || $0.team == score.team) && ($0.points ?? .min) < (score.points ?? .min)
      }
      return 1 + (isDense ? Set(before.map(\.points)).count : before.count)
    }
  }

  func numbers(within team: Bool) -> [Int] {
    scores.indices.map { place in
      scores[...place].filter { !team || $0.team == scores[place].team }.count
    }
  }

  func sums(within team: Bool) -> [Int] {
    scores.indices.map { place in
      scores[...place].filter { !team || $0.team == scores[place].team }
        .compactMap(\.points).reduce(0, +)
    }
  }
}

@Suite struct RunningQueryTests {
  private let all = Score.sorted(by: .ascending(\.points))

  @Test func `every small world has the ranks and totals of arrays`() throws {
    for count in 0...4 {
      for world in 0..<Int(pow(6, Double(count))) {
        var rest = world
        let scores = (0..<count).map { id in
          defer { rest /= 6 }
          return Score(id: id, team: rest % 2, points: [nil, 1, 2][rest % 6 / 2])
        }
        try check(scores)
      }
    }
  }

  @Test func `random worlds have the ranks and totals of arrays`() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    for count in [30, 300] {
      try check(
        (0..<count).map { id in
          Score(
            id: id, team: Int.random(in: 0..<5, using: &random),
            points: id % 9 == 0 ? nil : Int.random(in: -9...9, using: &random))
        })
    }
  }

  private func check(_ scores: [Score]) throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Score.self]))
    try store.write { try $0.insert(contentsOf: scores) }
    let model = RunningModel(scores)
    let place = "\(scores)"
    let ranks = try store.fetch(all.ranked())
    #expect(ranks.map(\.record) == model.scores, "\(place)")
    #expect(ranks.map(\.value) == model.ranks(isDense: false, within: false), "\(place)")
    #expect(
      try store.fetch(all.ranked(isDense: true)).map(\.value)
        == model.ranks(isDense: true, within: false), "\(place)")
    #expect(
      try store.fetch(all.ranked(within: { $0.team })).map(\.value)
        == model.ranks(isDense: false, within: true), "\(place)")
    #expect(
      try store.fetch(all.ranked(isDense: true, within: { $0.team })).map(\.value)
        == model.ranks(isDense: true, within: true), "\(place)")
    #expect(
      try store.fetch(all.numbered()).map(\.value) == model.numbers(within: false), "\(place)")
    #expect(
      try store.fetch(all.numbered(within: { $0.team * 2 })).map(\.value)
        == model.numbers(within: true), "\(place)")
    #expect(
      try store.fetch(all.running(.sum(\.points))).map(\.value) == model.sums(within: false),
      "\(place)")
    #expect(
      try store.fetch(all.running(.sum { $0.points + 0 }, within: { $0.team })).map(\.value)
        == model.sums(within: true), "\(place)")
    // What is chosen has been counted before.
    let best = try store.fetch(
      all.ranked(within: { $0.team }).having { $0 <= 2 }.offset(1).limit(3))
    let expected = zip(model.scores, model.ranks(isDense: false, within: true))
      .filter { $0.1 <= 2 }.dropFirst().prefix(3)
    #expect(best.map(\.record) == expected.map(\.0), "\(place)")
    #expect(best.map(\.value) == expected.map(\.1), "\(place)")
  }

  @Test func `the window of the records comes before, that of the values after`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Score.self]))
    try store.write {
      try $0.insert(contentsOf: (0..<10).map { Score(id: $0, team: 0, points: $0) })
    }
    let middle = all.offset(2).limit(5)
    #expect(try store.fetch(middle.running(.sum(\.id))).map(\.value) == [2, 5, 9, 14, 20])
    #expect(try store.fetch(middle.running(.sum(\.id)).offset(3)).map(\.value) == [14, 20])
    #expect(try store.fetch(middle.running(.sum(\.id)).limit(0)).isEmpty)
    #expect(try store.fetch(middle.running(.max(\.id))).map(\.value) == [2, 3, 4, 5, 6])
    #expect(
      try store.fetch(all.running(.average(\.id)).limit(3)).map(\.value) == [0, 0.5, 1])
    for wrong in [all.numbered().limit(-1), all.numbered().offset(-1)] {
      guard case .invalidQuery = storeError({ try store.fetch(wrong) }) else {
        Issue.record("a negative window was accepted")
        continue
      }
    }
  }

  @Test func `ranks by the primary key, and by no order, are numbers; by one value, all are 1`()
    throws
  {
    let store = try PersistentStore(inMemory: StoreModel(records: [Score.self]))
    try store.write {
      try $0.insert(contentsOf: (0..<4).map { Score(id: $0, team: 3, points: nil) })
    }
    #expect(try store.fetch(Query<Score>().ranked()).map(\.value) == [1, 2, 3, 4])
    let byKey = Score.sorted(by: .ascending(\.team), .descending(\.id)).ranked()
    #expect(try store.fetch(byKey).map(\.record.id) == [3, 2, 1, 0])
    #expect(try store.fetch(byKey).map(\.value) == [1, 2, 3, 4])
    let same = Score.where { $0.team == 3 }.sorted(by: .ascending(\.team)).ranked()
    #expect(try store.fetch(same).map(\.value) == [1, 1, 1, 1])
  }

  @Test func `a sum that is too large is an error where it becomes so`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Score.self]))
    try store.write {
      try $0.insert(contentsOf: [
        Score(id: 1, team: 0, points: 1), Score(id: 2, team: 0, points: .max),
      ])
    }
    #expect(try store.fetch(all.running(.sum(\.points)).limit(1)).map(\.value) == [1])
    guard case .invalidQuery = storeError({ try store.fetch(all.running(.sum(\.points))) }) else {
      Issue.record("a sum beyond 64 bits was returned")
      return
    }
  }
}
