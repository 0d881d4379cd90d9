import TestSupport

@testable import Cambium

extension Scenario {
  /// Transactions that spill, among others that do not.
  static func spilled(seed: UInt64) -> Scenario {
    var random = SplitMix64(seed: seed)
    var scenario = Scenario(name: "spilled", seed: seed)
    scenario.options = .spilling(budget: [200, 500][Int(random.next() % 2)])
    scenario.steps = [.open, .commit(changes(2, &random), .durable)]
    for _ in 0..<2 {
      scenario.steps.append(.commit(changes(2, &random), .relaxed))
      if random.next() % 2 == 0 { scenario.steps.append(.freeze) }
      if random.next() % 2 == 0 { scenario.steps.append(.step(1)) }
      scenario.steps.append(large(&random))
    }
    scenario.steps.append(.abort(changes(40, &random), .durable))
    scenario.steps += random.next() % 2 == 0 ? [.kill, .open] : [.close, .open]
    return scenario
  }

  /// Transactions that spill into levels, some of them values that have pages of their own.
  static func spilledIntoLevels(seed: UInt64, large: Bool = false) -> Scenario {
    let spilled = spilled(seed: seed)
    var scenario = Scenario(name: "spilledIntoLevels", seed: seed)
    (scenario.options, scenario.steps) = (spilled.options, spilled.steps)
    scenario.options.levelRatio = 0
    // A level may have a dozen pages, of a block each.
    scenario.options.foldThreshold = 16 << 10
    if large {
      var random = SplitMix64(seed: seed)
      let puts = [(0, 1 << 20), (1, 70_000), (0, 300)].map { tree, length in
        Change.put(tree: tree, key: 0, length: length)
      }
      scenario.steps = [
        .open, .commit(changes(40, &random), .durable),
        .commit(changes(20, &random) + puts, .durable), .kill, .open,
      ]
    }
    return scenario
  }

  /// Transactions that load trees, among others that do not.
  static func loaded(seed: UInt64) -> Scenario {
    var random = SplitMix64(seed: seed)
    var scenario = Scenario(name: "loaded", seed: seed)
    scenario.options = .spilling(budget: [3_600, 5_000][Int(random.next() % 2)])
    var next = 0
    func ascending(_ count: Int) -> [Change] {
      defer { next += count }
      return (next..<next + count).map { .put(tree: 1, key: $0, length: 20 + $0 % 50) }
    }
    scenario.steps = [.open, .commit(changes(2, &random), .durable)]
    for _ in 0..<2 {
      scenario.steps.append(.commit(changes(2, &random), .relaxed))
      if random.next() % 2 == 0 { scenario.steps.append(.freeze) }
      if random.next() % 2 == 0 { scenario.steps.append(.step(1)) }
      // What was undone is put again.
      let undone = ascending(60)
      next -= random.next() % 2 == 0 ? 60 : 0
      if random.next() % 2 == 0 {
        scenario.steps.append(
          .savepoint(
            ascending(80), undone: undone, then: ascending(60) + changes(3, &random), .durable))
      } else {
        scenario.steps.append(
          .commit(ascending(90) + changes(3, &random) + ascending(60), .durable))
      }
    }
    scenario.steps.append(.abort(ascending(120), .durable))
    scenario.steps.append(.commit(ascending(3), .durable))
    scenario.steps += random.next() % 2 == 0 ? [.kill, .open] : [.close, .open]
    return scenario
  }

  /// Commits that copy and move whole trees and keep what was before, among others that do not.
  static func wholeTrees(seed: UInt64) -> Scenario {
    var random = SplitMix64(seed: seed)
    var scenario = Scenario(name: "wholeTrees", seed: seed)
    scenario.steps = [.open, .commit(changes(8, &random), .durable)]
    for round in 0..<3 {
      scenario.steps.append(.commit(changes(4, &random), .relaxed))
      if random.next() % 2 == 0 { scenario.steps += [.freeze, .step(1)] }
      let trees = (0..<Int(1 + random.next() % 2)).map { _ in treeChange(&random) }
      scenario.steps.append(
        .trees(changes(3, &random), trees, keeping: round < 2, .durable))
    }
    scenario.steps += random.next() % 2 == 0 ? [.kill, .open] : [.close, .open]
    return scenario
  }

  private static func treeChange(_ random: inout SplitMix64) -> TreeChange {
    let tree = Int(random.next() % 3)
    let target = (tree + 1 + Int(random.next() % 2)) % 3
    return random.next() % 2 == 0 ? .copy(tree: tree, to: target) : .move(tree: tree, to: target)
  }

  private static func large(_ random: inout SplitMix64) -> Step {
    if random.next() % 2 == 0 {
      return .savepoint(
        changes(30, &random), undone: changes(25, &random), then: changes(10, &random), .durable)
    }
    return .commit(changes(45, &random), .durable)
  }

  private static func changes(_ count: Int, _ random: inout SplitMix64) -> [Change] {
    (0..<count).map { _ in
      let (tree, key) = (Int(random.next() % 2), Int(random.next() % 40))
      switch random.next() % 30 {
      case 0: return .clear(tree: tree)
      case 1, 2: return .remove(tree: tree, key: key)
      default: return .put(tree: tree, key: key, length: Int(random.next() % 60))
      }
    }
  }
}
