import CambiumTesting
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A state in which a program may leave a store. There is one of each in the repository, for every version of the format.
enum FoundStore: String, CaseIterable, CustomTestStringConvertible {
  /// Closed.
  case plain
  /// Of a process that ended while it wrote a frame of the log.
  case crashed
  /// With authors, and the old values of what was changed and deleted.
  case history
  /// With values in files of their own, deduplicated ones, and small ones in the row.
  case blobs
  /// With references of each delete rule, lists of them, and inverses.
  case relations
  /// With records that are kinds of another record.
  case kinds
  /// Migrated, with the version before, to roll back to.
  case kept
  /// With a deferred migration of which nothing is done yet.
  case deferred
  /// Of a process that ended within a migration.
  case migrating

  var testDescription: String { rawValue }

  /// The version of the records that a reader without a model finds.
  var version: Int { self == .kept || self == .deferred ? 2 : 1 }

  var model: StoreModel {
    switch self {
    case .blobs: FoundRecords.photos
    case .relations: FoundRecords.library
    case .kinds: FoundRecords.trips
    default: FoundRecords.items
    }
  }

  /// The steps that a program has which opens the store in a later version.
  var steps: [MigrationStep] {
    self == .kept || self == .migrating ? [FoundRecords.step()] : []
  }

  /// All records of the store in a version.
  func records(in version: Int) -> [DynamicRecord] {
    switch self {
    case .blobs: FoundRecords.somePhotos
    case .relations: FoundRecords.someBooks
    case .kinds: FoundRecords.someTrips
    default: FoundRecords.someItems(version, counted: !steps.isEmpty)
    }
  }

  /// A store in memory with the records that it has to hold in a version.
  func expected(in version: Int) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model.dynamic(version: version))
    try store.write { transaction in
      for record in records(in: version) { try transaction.save(record) }
    }
    return store
  }
}

// MARK: - Made by the library of today

extension FoundStore {
  /// Makes such a store at a path, where nothing is yet, and returns its files.
  func make(at path: String) throws -> StoreFiles {
    var options = StoreOptions()
    if self == .history { options.history = .keptForever }
    let store = try PersistentStore(
      at: path, model: model.dynamic(version: 1), options: options)
    try fill(store)
    switch self {
    case .crashed:
      let before = try StoreFiles(at: path)
      try store.write { try $0.save(FoundRecords.lostItem) }
      let after = try StoreFiles(at: path)
      try store.close()
      return before.torn(on: after)
    case .kept, .deferred:
      try store.close()
      try PersistentStore(
        at: path, model: model.dynamic(version: 2), steps: steps,
        migration: self == .deferred ? .deferred : .automatic
      ).close()
    case .migrating:
      try store.close()
      return try filesWithinMigration(at: path)
    default: try store.close()
    }
    return try StoreFiles(at: path)
  }

  /// In several commits, of which some change what others wrote.
  private func fill(_ store: PersistentStore) throws {
    let records = records(in: 1)
    for start in stride(from: 0, to: records.count, by: 30) {
      try store.write(author: "clerk") { transaction in
        for record in records[start..<min(start + 30, records.count)] {
          try transaction.save(record)
        }
      }
    }
    guard self == .history else { return }
    var changed = records[0]
    changed["name"] = "another"
    try store.write(author: "visitor") { try $0.save(changed) }
    try store.write(author: "visitor") { try $0.save(FoundRecords.lostItem) }
    try store.write { transaction in
      try transaction.save(records[0])
      _ = try transaction.delete(record: "Item", key: FoundRecords.lostItem["id"])
    }
  }

  /// The files as they are in the middle of a migration, when some of its slices are committed.
  private func filesWithinMigration(at path: String) throws -> StoreFiles {
    let found = Guarded<StoreFiles?>(nil)
    let step = FoundRecords.step { id in
      guard id == FoundRecords.itemCount * 3 / 4 else { return }
      let files = try StoreFiles(at: path)
      found.withLock { $0 = files }
    }
    var options = StoreOptions()
    options.migration.sliceCount = 10
    try PersistentStore(
      at: path, model: model.dynamic(version: 2), steps: [step], options: options
    ).close()
    return try #require(found.withLock { $0 })
  }
}

extension StoreFiles {
  /// The later files, of which the last write that differs got only half of its bytes to the disk.
  fileprivate func torn(on later: StoreFiles) -> StoreFiles {
    var files = later
    for (name, new) in later.contents {
      var bytes = contents[name] ?? []
      bytes += [UInt8](repeating: 0, count: max(0, new.count - bytes.count))
      let differing = new.indices.filter { bytes[$0] != new[$0] }
      guard let first = differing.first, let last = differing.last else { continue }
      let middle = first + (last - first + 1) / 2
      files.contents[name] = Array(new[..<middle] + bytes[middle...])
    }
    return files
  }
}

// MARK: - Found in the repository

/// Where stores are from.
enum FoundPlace: Hashable, CustomTestStringConvertible {
  case today
  /// A folder of `Tests/Fixtures/found`, named for the version of the format.
  case folder(String)

  var testDescription: String {
    switch self {
    case .today: "made today"
    case .folder(let name): name
    }
  }

  /// Today's library, and all that are recorded.
  static let all: [FoundPlace] = {
    let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    return [.today] + (names ?? []).sorted().map { .folder($0) }
  }()

  private static let path = Repository.path("Tests/Fixtures/found")

  /// True if stores are to be recorded.
  static let isRecording = unsafe getenv("CAMBIUM_RECORD") != nil

  /// Puts the store of a kind at `path`, in the place of any other.
  func put(_ kind: FoundStore, at path: String) throws {
    switch self {
    case .today: try kind.make(at: "\(path)-\(kind.rawValue)").write(to: path)
    case .folder(let name):
      let archive = try Data(contentsOf: URL(filePath: Self.archive(kind, in: name)))
      try #require(StoreFiles(archive: Bytes(archive))).write(to: path)
    }
  }

  /// Records a store in the folder of the format that this library writes, which is not released.
  static func record(_ kind: FoundStore, scratch: String) throws {
    let folder = path + "/format-1"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let archive = try kind.make(at: scratch).archived(level: 19)
    try Data(archive).write(to: URL(filePath: Self.archive(kind, in: "format-1")))
  }

  private static func archive(_ kind: FoundStore, in folder: String) -> String {
    "\(path)/\(folder)/\(kind.rawValue).tar.zst"
  }
}
