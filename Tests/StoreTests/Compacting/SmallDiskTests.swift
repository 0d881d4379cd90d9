import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X11 on a real file system that has so many bytes and no more.
@Suite(.enabled(if: SmallDisk.isAllowed, "only root may mount a file system"))
struct SmallDiskTests {
  private static let sizes = [64, 128, 192, 256, 384, 512, 768, 1024, 2048, 8192]

  @Test(arguments: sizes)
  func `a full disk takes nothing that was promised, and what has room again goes on`(
    kibibytes: Int
  ) throws {
    let life = try FullLife(on: SmallDisk(kibibytes: kibibytes))
    try life.fill()
    try life.checkReading()
    try life.disk.grow(kibibytes: 4096)
    try life.goOn()
  }

  @Test(arguments: sizes.filter { $0 >= 512 })
  func `a compaction without room changes nothing, and one with room gives it back`(
    kibibytes: Int
  ) throws {
    let life = try FullLife(on: SmallDisk(kibibytes: kibibytes))
    try life.fill()
    // Enough to delete, hardly to move what is left.
    try life.disk.grow(kibibytes: 96)
    try life.deleteMost()
    try life.compactInLittleRoom()
    try life.checkReading()
    try life.disk.grow(kibibytes: 4096)
    try life.compact()
    try life.goOn()
  }
}

/// A store that writes until its disk is full, and the keys that it was told are there.
private final class FullLife {
  let disk: SmallDisk
  private var acknowledged: Set<String> = []
  /// Of commits that came to nothing known: there, or not.
  private var doubtful: Set<String> = []
  private var number = 0

  private var path: String { disk.path + "/store" }

  init(on disk: SmallDisk) {
    self.disk = disk
  }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.automaticCompaction = nil
    options.foldThreshold = 64 << 10
    return options
  }

  private static func text(of key: String) -> String {
    String(repeating: key + " ", count: 100)
  }

  private func open() throws -> PersistentStore {
    try PersistentStore(at: path, model: .samples, options: Self.options)
  }

  /// Saves until there is no room, which may be before there is a store.
  func fill() throws {
    let store: PersistentStore
    do { store = try open() } catch StoreError.full { return }
    while try saveSome(in: store) {}
    try compare(store)
    try close(store)
  }

  /// What is in the log stays there, where there is no room for pages.
  private func close(_ store: PersistentStore) throws {
    do { try store.close() } catch StoreError.full {} catch StoreError.poisoned {}
  }

  /// - Returns: false where the disk was full.
  private func saveSome(in store: PersistentStore) throws -> Bool {
    let keys = (0..<8).map { "\(number + $0)" }
    number += 8
    do {
      try store.write { transaction in
        for key in keys { try transaction.save(Note(key: key, text: Self.text(of: key))) }
      }
      acknowledged.formUnion(keys)
      return true
    } catch StoreError.full {
      return false
    } catch StoreError.outcomeUnknown {
      doubtful.formUnion(keys)
      return false
    }
  }

  private func compare(_ store: PersistentStore) throws {
    let notes = try store.fetch(Note.self)
    #expect(acknowledged.isSubset(of: notes.map(\.key)))
    #expect(acknowledged.union(doubtful).isSuperset(of: notes.map(\.key)))
    #expect(notes.allSatisfy { $0.text == Self.text(of: $0.key) })
  }

  /// Reads, as a disk without room must allow it.
  func checkReading() throws {
    if acknowledged.isEmpty { return }
    var options = Self.options
    options.access = .reading
    let store = try PersistentStore(at: path, model: .samples, options: options)
    try compare(store)
    try store.close()
  }

  func deleteMost() throws {
    let store = try open()
    let gone = acknowledged.union(doubtful).filter { (Int($0) ?? 0) % 8 != 0 }
    try store.write { transaction in
      _ = try transaction.delete(contentsOf: gone.sorted().map { Note(key: $0) })
    }
    acknowledged.subtract(gone)
    doubtful.subtract(gone)
    try compare(store)
    try close(store)
  }

  /// Compacts what fits, or says that nothing does.
  func compactInLittleRoom() throws {
    let store: PersistentStore
    do { store = try open() } catch StoreError.full { return }
    do { try store.compact() } catch StoreError.full {} catch StoreError.poisoned {}
    try compare(store)
    try close(store)
  }

  func compact() throws {
    let store = try open()
    try store.compact()
    // What is left is headers, and footers.
    #expect(try store.predictedGain().gain <= 64 << 10)
    try compare(store)
    try store.expectSound()
    try store.close()
  }

  func goOn() throws {
    let store = try open()
    try compare(store)
    #expect(try saveSome(in: store))
    try compare(store)
    try store.expectSound()
    try store.close()
  }
}
