import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The scenarios that the tests go through. A seed picks their keys, sizes and order.
enum ScenarioKind: String, CaseIterable, Sendable {
  case creation, firstCommit, smallCommits, mixedDurability, largeValues, commitByFooter, removals
  case severalTrees, savepoints, logSwitch, logSwitchFrozen, logRing, steppedFold, growth, sealing,
    closing
  case reopening, newSegments, everything
  case compacting, compactingSegments, compactingKept

  /// Those with compactions: many times as long as the others, and swept by tests of their own.
  static let compactions: [Self] = [.compacting, .compactingSegments, .compactingKept]
  static let others = allCases.filter { !compactions.contains($0) }

  func scenario(seed: UInt64, of kind: Content.Kind = .entries) -> Scenario {
    var writer = ScenarioWriter(self, seed: seed, of: kind)
    writer.write(self)
    return writer.scenario
  }

  /// The one of a name that a replay has.
  static func scenario(named name: String, seed: UInt64) -> Scenario? {
    let parts = name.split(separator: " ").map(String.init)
    guard let last = parts.last, let kind = ScenarioKind(rawValue: last) else { return nil }
    return kind.scenario(seed: seed, of: parts.count > 1 ? .records : .entries)
  }
}

/// Writes a scenario down, step by step.
private struct ScenarioWriter {
  var scenario: Scenario
  private var random: SplitMix64

  init(_ kind: ScenarioKind, seed: UInt64, of contents: Content.Kind) {
    let prefix = contents == .entries ? "" : "\(contents) "
    scenario = Scenario(name: prefix + kind.rawValue, seed: seed, kind: contents)
    var names = SplitMix64(seed: seed)
    for byte in kind.rawValue.utf8 { names = SplitMix64(seed: names.next() ^ UInt64(byte)) }
    random = names
  }

  mutating func write(_ kind: ScenarioKind) {
    scenario.isOfCreation = kind == .creation
    add(.open)
    switch kind {
    case .creation: add(.close, .open)
    case .firstCommit: add(.commit(puts(1, tree: 0), .durable))
    case .smallCommits: times(number(8...18)) { $0.commit(.durable) }
    case .mixedDurability: mixedDurability()
    case .largeValues: largeValues()
    case .commitByFooter: commitByFooter()
    case .removals: removals()
    case .severalTrees: severalTrees()
    case .savepoints: savepoints()
    case .logSwitch: times(number(26...34)) { $0.commit(.durable) }
    case .logSwitchFrozen: logSwitchFrozen()
    case .logRing: logRing()
    case .steppedFold: steppedFold()
    case .growth: growth()
    case .sealing: sealing()
    case .closing: closing()
    case .reopening: reopening()
    case .newSegments: newSegments()
    case .compacting: compacting()
    case .compactingSegments: compactingSegments()
    case .compactingKept: compactingKept()
    case .everything: times(number(14...30)) { $0.anything() }
    }
    add(chance(2) ? [.close, .open] : [.kill, .open])
  }
}

// MARK: - Kinds

extension ScenarioWriter {
  private mutating func mixedDurability() {
    times(number(10...20)) {
      $0.commit($0.chance(3) ? .durable : .relaxed)
      if $0.chance(5) { $0.add(.flush) }
      if $0.chance(9) { $0.add(.settle) }
    }
  }

  private mutating func largeValues() {
    times(number(3...6)) {
      $0.add(.commit($0.puts($0.number(1...2), lengths: 400...9_000), $0.durability()))
      $0.maybe(.settle)
      $0.commit(.durable)
    }
  }

  /// With a log so small that little is too large for it.
  private mutating func commitByFooter() {
    scenario.options.logSize = .init(initial: 128 << 10, max: 128 << 10)
    times(number(1...3)) { $0.commit($0.durability()) }
    times(number(1...2)) {
      $0.maybe(.freeze)
      $0.maybe(.step(1))
      $0.add(.commit($0.puts(4, lengths: 8_200...9_500) + $0.changes(3), $0.durability()))
      $0.commit($0.durability())
    }
  }

  private mutating func removals() {
    add(.commit(puts(20, tree: 1), .durable))
    maybe(.close, .open)
    times(number(4...8)) {
      $0.add(.commit($0.removals($0.number(1...5)), $0.durability()))
      if $0.chance(4) { $0.add(.commit([.clear(tree: 1)] + $0.changes(2), $0.durability())) }
      $0.maybe(.freeze)
      $0.maybe(.settle)
    }
  }

  private mutating func severalTrees() {
    times(number(4...7)) {
      $0.add(.commit($0.changes(6, trees: 0...2), $0.durability()))
      if $0.chance(4) { $0.add(.commit([.clear(tree: $0.number(0...2))], .durable)) }
      if $0.chance(3) { $0.add(.freeze, .step($0.number(1...4))) }
    }
  }

  private mutating func savepoints() {
    times(number(4...8)) {
      $0.add(
        .savepoint($0.changes(3), undone: $0.changes(3), then: $0.changes(2), $0.durability()))
      if $0.chance(3) { $0.add(.abort($0.changes(4), $0.durability())) }
      if $0.chance(4) { $0.add(.savepoint([], undone: $0.changes(3), then: [], .durable)) }
    }
  }

  /// Commits until the log is full, while what came before is frozen.
  private mutating func logSwitchFrozen() {
    times(number(3...5)) { $0.commit(.durable) }
    add(.freeze)
    maybe(.step(1))
    times(number(14...26)) { $0.commit(.durable) }
    add(.settle)
  }

  /// Commits until the log is full, and again, while a third and a fourth file are made, and folds free what was before.
  private mutating func logRing() {
    scenario.options.carriedMax = 0
    scenario.options.logFilesMax = number(3...4)
    scenario.options.logSize = .init(initial: 128 << 10, max: chance(2) ? 128 << 10 : 256 << 10)
    times(number(9...10)) { $0.commit(.durable) }
    add(.step(1))
    times(number(26...36)) {
      $0.commit($0.durability())
      if $0.chance(6) { $0.add(.freeze) }
      if $0.chance(4) { $0.add(.step(1)) }
    }
    maybe(.settle)
    maybe(.kill, .open)
    times(number(8...16)) { $0.commit(.durable) }
    maybe(.settle)
  }

  private mutating func steppedFold() {
    times(number(2...4)) {
      $0.add(.commit($0.changes(8, trees: 0...2), $0.durability()), .freeze)
      $0.times($0.number(2...6)) {
        if $0.chance(2) { $0.add(.step(1)) } else { $0.commit($0.durability()) }
      }
    }
  }

  /// Overlays so large that the log must grow for them.
  private mutating func growth() {
    scenario.options.foldThreshold = 40 << 10
    times(number(7...10)) {
      $0.add(.commit($0.puts(1, lengths: 7_000...9_000), $0.durability()))
      if $0.chance(5) { $0.add(.freeze) }
      if $0.chance(5) { $0.add(.settle) }
    }
  }

  private mutating func sealing() {
    times(number(4...8)) {
      $0.commit($0.durability())
      $0.maybe(.seal)
      if $0.chance(4) { $0.add(.kill, .open) }
    }
  }

  private mutating func closing() {
    times(number(2...4)) {
      $0.times($0.number(0...3)) { $0.commit($0.durability()) }
      $0.maybe(.freeze)
      $0.maybe(.step(1))
      $0.add(.close, .open)
    }
  }

  private mutating func reopening() {
    times(number(3...6)) {
      $0.times($0.number(0...2)) { $0.commit($0.durability()) }
      $0.maybe(.settle)
      $0.add(.kill, .open)
    }
  }

  /// Folds that fail once: each goes on in another segment, and some segments come to hold nothing.
  private mutating func newSegments() {
    times(number(2...4)) {
      $0.add(.commit($0.changes(6, trees: 0...2), .durable), .failPages, .freeze)
      $0.maybe(.step(2))
      $0.commit($0.durability())
      $0.add(.settle)
    }
    add(.commit([.clear(tree: 0), .clear(tree: 1), .clear(tree: 2)] + changes(2), .durable))
    add(.failPages, .freeze, .settle)
  }

  /// Several trees, large values too, are moved while commits and folds go on.
  private mutating func compacting() {
    times(number(3...5)) {
      $0.add(.commit($0.changes(12, trees: 0...2) + $0.puts(1, lengths: 200...6_000), .durable))
      $0.add(.freeze, .settle)
    }
    times(number(2...4)) {
      $0.add(.compact(.whole, slices: $0.number(1...3)))
      if $0.chance(2) { $0.commit($0.durability()) }
      if $0.chance(3) { $0.add(.freeze, .step($0.number(1...3))) }
    }
    maybe(.kill, .open)
    add(.compact(.whole, slices: 12))
  }

  /// Folds that fail leave many segments, which are emptied one after the other.
  private mutating func compactingSegments() {
    times(number(4...6)) {
      $0.add(.commit($0.changes(10, trees: 0...2), .durable), .failPages, .freeze, .settle)
    }
    times(number(2...4)) {
      $0.add(.compact(.segments, slices: $0.number(1...4)))
      $0.commit($0.durability())
      if $0.chance(3) { $0.add(.failPages) }
      if $0.chance(4) { $0.add(.close, .open) }
    }
    add(.settle, .compact(.segments, slices: 8))
  }

  /// States are kept meanwhile, and let go of.
  private mutating func compactingKept() {
    times(number(2...3)) {
      $0.add(.commit($0.changes(10, trees: 0...2), .durable), .failPages, .freeze, .settle)
      $0.add(.trees($0.changes(3), $0.trees([.move(tree: 0, to: 2)]), keeping: true, .durable))
      $0.add(.compact(.whole, slices: $0.number(1...3)))
      $0.add(.commit($0.changes(6, trees: 0...2), $0.durability()))
    }
    add(.trees(changes(2), trees([.copy(tree: 1, to: 0)]), keeping: false, .durable))
    add(.compact(.segments, slices: 3), .compact(.whole, slices: 12))
  }

  /// Those of records have indexes, which would have to go with them.
  private func trees(_ changes: [TreeChange]) -> [TreeChange] {
    scenario.kind == .entries ? changes : []
  }

  private mutating func anything() {
    switch number(0...19) {
    case 0: add(.flush)
    case 1: add(.seal)
    case 2: add(.step(number(1...3)))
    case 3: add(.settle)
    case 4: add(.freeze)
    case 5: add(.close, .open)
    case 6: add(.kill, .open)
    case 7: add(.abort(changes(3), durability()))
    case 8: add(.savepoint(changes(2), undone: changes(2), then: changes(2), durability()))
    case 9: add(.commit([.clear(tree: number(0...2))], durability()))
    default: add(.commit(changes(number(1...8), trees: 0...2), durability()))
    }
  }
}

// MARK: - Words

extension ScenarioWriter {
  mutating func add(_ steps: Scenario.Step...) { scenario.steps += steps }
  mutating func add(_ steps: [Scenario.Step]) { scenario.steps += steps }

  mutating func maybe(_ steps: Scenario.Step...) {
    if chance(2) { add(steps) }
  }

  mutating func times(_ count: Int, _ body: (inout ScenarioWriter) -> Void) {
    for _ in 0..<count { body(&self) }
  }

  mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
  mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

  mutating func durability() -> Durability {
    chance(2) ? .durable : .relaxed
  }

  /// A small commit.
  mutating func commit(_ durability: Durability) {
    add(.commit(changes(number(1...3)), durability))
  }

  mutating func changes(_ count: Int, trees: ClosedRange<Int> = 1...1) -> [Change] {
    (0..<count).map { _ in
      if chance(4) { return .remove(tree: number(trees), key: number(0...30)) }
      return .put(tree: number(trees), key: number(0...30), length: number(0...60))
    }
  }

  mutating func puts(_ count: Int, lengths: ClosedRange<Int>) -> [Change] {
    (0..<count).map { _ in
      .put(tree: number(0...1), key: number(0...12), length: number(lengths))
    }
  }

  mutating func removals(_ count: Int) -> [Change] {
    (0..<count).map { _ in .remove(tree: 1, key: number(0...24)) }
  }

  mutating func puts(_ count: Int, tree: Int) -> [Change] {
    (0..<count).map { .put(tree: tree, key: $0, length: number(5...40)) }
  }
}
