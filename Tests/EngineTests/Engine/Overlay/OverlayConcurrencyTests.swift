import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The version that readers may begin with, as an engine would publish it.
private final class Published: @unchecked Sendable {
  private let lock = ThreadLock()
  private var overlay: Overlay
  private var isLast = false

  init(_ overlay: Overlay) {
    self.overlay = overlay
  }

  func publish(_ overlay: Overlay, isLast: Bool) {
    lock.lock()
    self.overlay = overlay
    self.isLast = isLast
    lock.unlock()
  }

  func pin() -> (pin: OverlayPin, isLast: Bool) {
    lock.lock()
    defer { lock.unlock() }
    return (overlay.pin(), isLast)
  }
}

/// Accounts between which amounts move: in every version they add up to the same.
private struct Bank {
  static let tree = TreeSlot(2)
  static let accounts: UInt64 = 200
  static let total = 1_000 * accounts

  private var random: SplitMix64
  private var balances: [UInt64: UInt64] = [:]

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  private static func bytes(_ number: UInt64) -> Bytes { key(number, length: 8) }

  private func write(_ account: UInt64, was: UInt64?, _ editor: OverlayEditor) throws {
    let key = Self.bytes(account &* 0x9e37_79b9_7f4a_7c15)
    guard let balance = balances[account] else {
      let isDone = editor.remove(key.rawSpan, in: Self.tree)
      return try agree(isDone, "account \(account) is not removed")
    }
    let value = Self.bytes(balance)
    let isDone = editor.put(
      key.rawSpan, value.rawSpan, schemaVersion: 1, isNew: was == nil, in: Self.tree)
    try agree(isDone, "account \(account) is not written")
  }

  mutating func open(_ editor: OverlayEditor) throws {
    for account in 0..<Self.accounts {
      balances[account] = 1_000
      try write(account, was: nil, editor)
    }
  }

  /// Moves amounts; an account that is empty goes. Some moves are rolled back.
  mutating func move(_ editor: OverlayEditor) throws {
    for _ in 0..<1 + random.next() % 8 {
      let savepoint = editor.savepoint()
      let before = balances
      let (from, to) = (random.next() % Self.accounts, random.next() % Self.accounts)
      guard from != to, let balance = balances[from] else { continue }
      let amount = random.next() % 3 == 0 ? balance : 1 + random.next() % balance
      let target = balances[to]
      balances[from] = amount == balance ? nil : balance - amount
      balances[to] = (target ?? 0) + amount
      try write(from, was: balance, editor)
      try write(to, was: target, editor)
      if random.next() % 8 == 0 {
        editor.rollBack(to: savepoint)
        balances = before
      }
    }
  }

  static func verify(_ overlay: Overlay) throws {
    var sum: UInt64 = 0
    var count = 0
    let tree = overlay[Self.tree]
    var cursor = OverlayCursor(tree)
    var isOn = cursor.first()
    while isOn {
      let found = tree.reference(for: cursor.key)?.value.load(0, as: UInt64.self)
      let balance = cursor.value.load(0, as: UInt64.self)
      try agree(found == balance, "an account has \(balance), by lookup \(found ?? 0)")
      sum += balance
      count += 1
      isOn = cursor.next()
    }
    try agree(sum == total, "\(count) accounts add up to \(sum)")
    try agree(count == tree.countChange, "\(count) accounts, not \(tree.countChange)")
  }
}

@Suite struct OverlayConcurrencyTests {
  @Test(arguments: [4, OverlayNode.capacity])
  func `readers of pinned versions see each whole while an editor goes on`(
    nodeCapacity: Int
  ) async throws {
    let arena = OverlayArena(nodeCapacity: nodeCapacity)
    var bank = Bank(seed: 11)
    let editor = OverlayEditor(over: Overlay(arena))
    try bank.open(editor)
    var newest = editor.finish()
    let published = Published(newest)
    let versions = try await withThrowingTaskGroup(of: Int.self) { group in
      for reader in 0..<3 {
        group.addTask {
          // One reader keeps versions for longer, so that nodes wait for several.
          var kept: [OverlayPin] = []
          var count = 0
          while true {
            let (pin, isLast) = published.pin()
            try Bank.verify(pin.overlay)
            count += 1
            kept.append(pin)
            if kept.count > 5 * reader { try Bank.verify(kept.removeFirst().overlay) }
            if isLast { return count }
          }
        }
      }
      let rounds = scaled(20_000, debug: 1_500)
      for round in 0..<rounds {
        let editor = OverlayEditor(over: newest)
        try bank.move(editor)
        newest = editor.finish()
        published.publish(newest, isLast: round == rounds - 1)
        arena.recycle(below: newest.stamp)
      }
      return try await group.reduce(0, +)
    }
    #expect(versions >= 3)
    arena.recycle(below: newest.stamp)
    #expect(arena.statistics.pinnedVersions == 0)
    #expect(arena.statistics.waitingNodes == 0)
    #expect(arena.statistics.usedNodes == newest.nodeCount)
    #expect(newest.faults() == [])
  }
}
