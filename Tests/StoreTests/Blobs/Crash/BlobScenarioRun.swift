import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Does what a scenario says to a store with blobs, and keeps account of what is promised.
final class BlobScenarioRun {
  typealias State = [Int: Doc]

  let medium: SimulatedFileSystem
  /// The version of a program that opens what is left in the end.
  let version: Int
  /// All states that there may be after a crash, and before them some that are gone.
  private(set) var states: [State]
  /// The last one that was acknowledged as durable.
  private(set) var acknowledged = 0
  /// That of the store while it is open.
  private(set) var present = 0
  private(set) var opened: PersistentStore?
  /// What is being written.
  private var writers: [BlobWriter] = []
  private var life: UInt64

  init(
    _ version: Int, in medium: SimulatedFileSystem = SimulatedFileSystem(),
    states: [State] = [[:]], life: UInt64 = 0
  ) {
    self.version = version
    self.medium = medium
    self.states = states
    self.life = life
  }

  static var options: StoreOptions {
    var options = StoreOptions()
    options.blobSegmentSize = 60_000
    options.foldThreshold = 10_000
    options.automaticCompaction = nil
    options.migration.sliceCount = 5
    options.allowsMigrationAfterRollback = true
    return options
  }

  static func open(
    _ medium: SimulatedFileSystem, _ version: Int, _ mode: MigrationMode = .automatic, seed: UInt64
  ) throws(StoreError) -> PersistentStore {
    try PersistentStore(
      on: medium, model: Doc.model(version), migration: mode, options: options, seed: seed)
  }

  /// Lets go of everything without closing it.
  func end() {
    opened = nil
    writers = []
  }
}

// MARK: Opening and closing

extension BlobScenarioRun {
  /// The open store.
  var store: PersistentStore {
    get throws {
      guard let opened else { throw NotOpen() }
      return opened
    }
  }

  func open(_ version: Int, _ mode: MigrationMode = .automatic) throws {
    life += 1
    present = version
    opened = try Self.open(medium, version, mode, seed: life)
  }

  func close() throws {
    let store = try store
    opened = nil
    try store.close()
    acknowledge()
  }

  func flush() throws {
    try store.flush()
    acknowledge()
  }

  /// What an open shows is what there is, and will be there.
  func noteShown() throws {
    let shown = try store.shownDocs(present, among: states[acknowledged...])
    states = [shown]
    acknowledged = 0
  }

  private func acknowledge() { acknowledged = states.count - 1 }
}

// MARK: Changing

extension BlobScenarioRun {
  enum Change {
    case save(Doc)
    /// The same with contents that were written, or are in the store, already.
    case put(Doc, body: Blob? = nil, picture: Blob? = nil)
    case delete(Int)
  }

  var docs: State { states[states.count - 1] }

  func commit(_ changes: Change..., durability: Durability = .durable) throws {
    try commit(changes, durability)
  }

  func commit(_ changes: [Change], _ durability: Durability = .durable) throws {
    var next = docs
    for change in changes {
      switch change {
      case .save(let doc), .put(let doc, _, _): next[doc.id] = doc
      case .delete(let id): next[id] = nil
      }
    }
    // From its first call on it may be there after a crash.
    states.append(next)
    try store.write(durability: durability) { transaction in try perform(changes, &transaction) }
    if durability == .durable { acknowledge() }
  }

  /// Changes, and takes them back.
  func abort(_ changes: Change...) throws {
    struct Abort: Error {}
    do {
      try store.write { transaction in
        try perform(changes, &transaction)
        throw Abort()
      }
    } catch is Abort {}
  }

  private func perform(_ changes: [Change], _ transaction: inout WriteTransaction) throws {
    for change in changes {
      switch change {
      case .save(let doc): try transaction.save(doc.record(present))
      case .put(let doc, let body, let picture):
        try transaction.save(doc.record(present, body: body, picture: picture))
      case .delete(let id): try transaction.delete(record: Doc.name, key: id)
      }
    }
  }

  /// Takes the store back to what `state` is, of a version.
  func rollBack(to version: Int, _ state: State) throws {
    states.append(state)
    life += 1
    let opening = try StoreOpening(Doc.model(present), .automatic, Self.options)
    let backend = try EngineBackend(
      alone: medium, Self.options.engine, creating: true, opening, seed: life)
    try Rollback(backend: backend, version: UInt32(version)).run(discardingCommits: true)
    acknowledge()
    try backend.close()
  }
}

// MARK: Writing blobs

extension BlobScenarioRun {
  /// Begins a blob, which is kept open until it is finished.
  func makeWriter(deduplicating: Bool = false) throws -> BlobWriter {
    let writer = try store.makeBlobWriter(deduplicating: deduplicating)
    writers.append(writer)
    return writer
  }

  /// Lets go of a blob that is not finished.
  func abandon(_ writer: BlobWriter) {
    writers.removeAll { $0 === writer }
  }

  func finish(_ writer: BlobWriter) throws -> Blob {
    abandon(writer)
    return try writer.finish()
  }

  /// The body of a document, as the store has it.
  func body(of id: Int) throws -> Blob? {
    let record = try store.fetch(record: Doc.name, key: id)
    for name in ["body", "content"] {
      if case .blob(let blob)? = record?[name] { return blob }
    }
    return nil
  }
}
