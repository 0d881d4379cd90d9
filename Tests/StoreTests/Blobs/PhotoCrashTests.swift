import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call of a life of records with blobs, and every call fails: what is found has every
/// acknowledged commit, whole blobs, and nothing that nobody refers to.
@Suite struct PhotoCrashTests {
  @Test func `a crash before any call leaves whole records with whole blobs`() throws {
    let medium = SimulatedFileSystem()
    let life = BlobLife(on: medium)
    var count = 0
    var violations: [String] = []
    let stride = scaled(1, debug: 7)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(
        scaled(8, debug: 3), pending: medium.pendingCount, seed: UInt64(call))
      {
        count += 1
        if let violation = life.violation(in: medium.crashed(policy)) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    try life.run()
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(1_000, debug: 60))
    #expect(life.violation(in: medium.crashed(.none)) == nil)
    print("blobs: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test(arguments: [[3_000, 20_000, 1], [1_500_000, 100, 90_000]])
  func `a power cut while a blob is written spoils none that was committed`(sizes: [Int]) throws {
    let medium = SimulatedFileSystem()
    let store = try PersistentStore(
      on: medium, model: Photo.model, options: BlobLife.options, seed: 1)
    var saved: [Photo] = []
    func expectWhole(_ image: SimulatedFileSystem) throws {
      let opened = try PersistentStore(on: image, model: Photo.model, seed: 2)
      #expect(try opened.fetch(Photo.self) == saved)
      #expect(try opened.faults() == [])
    }
    for (index, size) in sizes.enumerated() {
      saved.append(Photo(index, image: size))
      try store.save(saved[index])
      let writer = try store.makeBlobWriter(compression: .none)
      try writer.append(PhotoContent.bytes(200_000, seed: 9))
      let blob = try writer.finish()
      try? store.write { transaction in
        try transaction.save(Photo(90, image: 20_000))
        var other = Photo(91, image: 0)
        other.image = blob
        try transaction.save(other)
        try expectWhole(medium.crashed(.spoiled))
        throw CancellationError()
      }
      try expectWhole(medium.crashed(.spoiled))
      for seed in 0..<4 as Range<UInt64> {
        try expectWhole(medium.crashed(.spoiledInPart(seed: seed)))
      }
    }
    try store.close()
  }

  @Test func `a call that fails is a typed error, and leaves whole records with whole blobs`()
    throws
  {
    let whole = SimulatedFileSystem()
    try BlobLife(on: whole).run()
    let faults: [Fault] = [
      .error(.ioError), .error(.noSpace), .errorAfter(bytes: 700, .noSpace),
      .errorAfterAll(.ioError), .flush(.errorCacheReverts),
    ]
    var count = 0
    for call in stride(from: 0, to: whole.callCount, by: scaled(1, debug: 7)) {
      for fault in faults where fault.applies(to: whole.calls[call].operation) {
        let medium = SimulatedFileSystem()
        medium.inject(fault, at: .call(call), .once)
        let life = BlobLife(on: medium)
        count += 1
        do {
          try life.run()
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown, .missing, .locked: break
          default: Issue.record("\(fault) at call \(call): \(error)")
          }
        }
        medium.heal()
        medium.restart()
        if let violation = life.violation(in: medium) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
        #expect(medium.openFileCount == 0, "\(fault) at call \(call)")
      }
    }
    print("blobs: \(count.grouped) failed calls")
  }

  @Test func `a disk that fills in the middle of a blob loses nothing`() throws {
    let medium = SimulatedFileSystem()
    let store = try PersistentStore(
      on: medium, model: Photo.model, options: BlobLife.options, seed: 1)
    let photo = Photo(1, image: 90_000)
    try store.save(photo)
    medium.inject(
      .error(.noSpace), at: .site(.blobWrite, medium.callCount(at: .blobWrite)), .forGood)
    #expect(throws: StoreError.full(path: "simulated")) {
      do {
        try store.save(Photo(2, image: 2_000_000))
      } catch StoreError.full { throw StoreError.full(path: "simulated") }
    }
    #expect(try store.fetch(Photo.self) == [photo])
    medium.heal()
    try store.save(Photo(2, image: 2_000_000))
    #expect(try store.fetch(Photo.self, key: 2) == Photo(2, image: 2_000_000))
    #expect(try store.faults() == [])
  }
}

/// A life of records with blobs: everything that changes them, one after the other.
private final class BlobLife {
  private let medium: SimulatedFileSystem
  /// All states so far, the one that is being made last.
  private var states: [[Photo]] = [[]]
  /// The last that was acknowledged as durable.
  private var acknowledged = 0

  static var options: StoreOptions {
    var options = StoreOptions()
    options.blobSegmentSize = 60_000
    options.foldThreshold = 10_000
    return options
  }

  init(on medium: SimulatedFileSystem) {
    self.medium = medium
  }

  private func open(_ seed: UInt64) throws -> PersistentStore {
    try PersistentStore(on: medium, model: Photo.model, options: Self.options, seed: seed)
  }

  func run() throws {
    let store = try open(1)
    let big = Photo(2, image: 300_000, preview: 600)
    try commit(store, [Photo(1, image: 30_000, preview: 600)]) {
      try $0.save(Photo(1, image: 30_000, preview: 600))
    }
    try commit(store, states[1] + [big]) { try $0.save(big) }
    let replaced = Photo(1, image: 20_000, preview: 600, notes: 3_000)
    try commit(store, [replaced, big]) { try $0.save(replaced) }
    let more = (3..<9).map { Photo($0, image: 15_000, preview: 600) }
    try commit(store, [replaced, big] + more) { try $0.insert(contentsOf: more) }
    var made = Photo(10, image: 0)
    made.image = try store.makeBlob(from: PhotoContent.bytes(200_000, seed: 10))
    try commit(store, [replaced, big] + more + [made]) { try $0.save(made) }
    try commit(store, [replaced] + Array(more.suffix(2)) + [made]) { transaction in
      try transaction.delete(big)
      for photo in more.dropLast(2) { try transaction.delete(photo) }
    }
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0.2))
    try commit(store, [replaced, made], .relaxed) { transaction in
      for photo in more.suffix(2) { try transaction.delete(photo) }
    }
    try commit(store, [replaced, big, made], .relaxed) { try $0.save(big) }
    try store.flush()
    acknowledged = states.count - 1
    try commit(store, []) { try $0.deleteAll(Photo.self) }
    try commit(store, [big]) { try $0.save(big) }
    try store.close()
    let again = try open(2)
    try commit(again, [big, made]) { transaction in
      var photo = made
      photo.image = Blob(try made.image.data())
      try transaction.save(photo)
    }
    try again.close()
  }

  private func commit(
    _ store: PersistentStore, _ state: [Photo], _ durability: Durability = .durable,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    // In memory: what is compared with images must not read from this store.
    var copies = state
    for index in copies.indices {
      copies[index].image = Blob(try state[index].image.data())
    }
    states.append(copies)
    try store.write(durability: durability) { try body(&$0) }
    if durability == .durable { acknowledged = states.count - 1 }
  }

  /// What is wrong with what is found in `image`.
  func violation(in image: SimulatedFileSystem) -> String? {
    do {
      let store = try PersistentStore(
        on: image, model: Photo.model, options: Self.options, seed: 7)
      let found = try store.fetch(Photo.self)
      guard states[acknowledged...].contains(where: { $0 == found }) else {
        return "found \(found.map(\.id)), which is no state from \(acknowledged) on"
      }
      let faults = try store.faults()
      if !faults.isEmpty { return "\(faults)" }
      let known = Set(try store.blobStatistics().segments.map { UInt32($0.number) })
      for name in image.names {
        if case .blobs(let number) = name.kind, !known.contains(number) || name.isTemporary {
          return "\(name) is an orphan"
        }
      }
      try store.save(Photo(50, image: 40_000))
      if try store.fetch(Photo.self, key: 50) != Photo(50, image: 40_000) {
        return "what is written after it is not there"
      }
      try store.close()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
