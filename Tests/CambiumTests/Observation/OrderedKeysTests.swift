import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct OrderedKeysTests {
  /// Carries the steps out on what was there, by the keys of the changes.
  private func carryOut(
    _ steps: OrderedSteps, on keys: [Bytes], _ changes: [OrderedKeys.Change]
  ) throws -> [Bytes] {
    var keys = keys
    let gone = steps.removals.map(\.offset) + steps.moves.map(\.old)
    for offset in gone.sorted(by: >) { keys.remove(at: offset) }
    let come =
      steps.insertions.map { ($0.offset, $0.change) } + steps.moves.map { ($0.new, $0.change) }
    for (offset, change) in come.sorted(by: { $0.0 < $1.0 }) {
      keys.insert(try #require(changes[change].new), at: offset)
    }
    for step in steps.updates { keys[step.offset] = try #require(changes[step.change].new) }
    return keys
  }

  private func sorted(_ keys: some Sequence<Bytes>) -> [Bytes] {
    keys.sorted { $0.rawSpan.compare($1.rawSpan) < 0 }
  }

  /// Applies changes, and expects that the steps lead from the old results to the new ones.
  private func check(
    _ before: [Bytes], _ changes: [OrderedKeys.Change], _ note: String
  ) throws -> OrderedSteps {
    var after = Set(before)
    for change in changes { if let old = change.old { after.remove(old) } }
    for change in changes { if let new = change.new { after.insert(new) } }
    var keys = OrderedKeys(before)
    let steps = keys.apply(changes)
    #expect(keys.keys == sorted(after), "\(note)")
    #expect(try carryOut(steps, on: before, changes) == keys.keys, "\(note)")
    #expect(steps.moves.map(\.new) == steps.moves.map(\.new).sorted(), "\(note)")
    for change in changes.indices where changes[change].old == changes[change].new {
      #expect(!steps.moves.contains { $0.change == change }, "\(note): it moves in its place")
    }
    return steps
  }

  @Test func `every change of small results leads to the new ones, H4`() throws {
    // Keys are even numbers, so that there is room between them; a change takes one to any place.
    for count in 0...4 {
      let before = (0..<count).map { Bytes([UInt8(2 * $0 + 1)]) }
      let places = (0...UInt8(2 * count)).map { Bytes([$0]) }
      for one in [nil] + before.map(Optional.some) {
        for new in [nil] + places.map(Optional.some) {
          if one == nil, let new, before.contains(new) { continue }
          if let new, new != one, before.contains(new) { continue }
          let change = OrderedKeys.Change(old: one, new: new)
          let steps = try check(before, [change], "\(one ?? []) to \(new ?? [])")
          #expect(steps.moves.count + steps.updates.count == (one != nil && new != nil ? 1 : 0))
        }
      }
    }
  }

  @Test func `a record that comes to stand elsewhere moves, and alone`() throws {
    let before: [Bytes] = [[1], [2], [3], [4]]
    let far = try check(before, [.init(old: [1], new: [9])], "far")
    #expect(far.moves == [.init(old: 0, new: 3, change: 0)])
    let near = try check(before, [.init(old: [2], new: [2, 1])], "near")
    #expect(near.moves.isEmpty && near.updates == [.init(offset: 1, change: 0)])
    // Two change places: one of them moves.
    let two = try check(before, [.init(old: [2], new: [3]), .init(old: [3], new: [2])], "two")
    #expect(two.moves.count == 1 && two.updates.count == 1)
  }

  @Test func `random changes of results lead to the new ones`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix64(seed: seed)
    for round in 0..<scaled(3000, debug: 300) {
      func key() -> Bytes {
        (0..<Int.random(in: 1...2, using: &generator)).map { _ in
          UInt8.random(in: 0..<(round % 3 == 0 ? 8 : 60), using: &generator)
        }
      }
      let before = Set((0..<Int.random(in: 0...80, using: &generator)).map { _ in key() })
      var free = before
      var changes: [OrderedKeys.Change] = []
      for old in before.shuffled(using: &generator).prefix(
        Int.random(in: 0...40, using: &generator))
      {
        free.remove(old)
        changes.append(.init(old: old, new: nil))
      }
      changes = changes.map { change in
        let new = Bool.random(using: &generator) ? key() : change.old
        guard let new, Int.random(in: 0..<4, using: &generator) > 0, free.insert(new).inserted
        else { return change }
        return .init(old: change.old, new: new)
      }
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        let new = key()
        if free.insert(new).inserted { changes.append(.init(old: nil, new: new)) }
      }
      changes.shuffle(using: &generator)
      _ = try check(sorted(before), changes, "seed \(seed), round \(round)")
    }
  }
}
