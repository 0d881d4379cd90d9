import FoundationEssentials
import TestSupport

@testable import Cambium

/// Stores that no program wrote, in the repository: their checksums are right, and what they say is not.
enum HostileStores {
  static let folder = Repository.path("Tests/CambiumTests/Fixtures/hostile")

  static let names = [
    "leaf-cells-behind-page", "branch-cells-behind-page", "live-bytes-of-segments-overflow",
    "counts-of-trees-overflow", "blob-of-2-gib", "graph-that-doubles", "schema-of-20000-fields",
  ]

  static func files(_ name: String) throws -> StoreFiles {
    try StoreFiles(at: folder + "/" + name)
  }
}

/// The files of a closed store, by their names.
struct StoreFiles {
  var contents: [String: Bytes] = [:]

  init(at path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "LOCK" {
      contents[name] = Bytes(try Data(contentsOf: URL(filePath: path + "/" + name)))
    }
  }

  /// Writes them to a directory that has nothing else in it afterwards.
  func write(to path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in contents {
      try Data(bytes).write(to: URL(filePath: path + "/" + name))
    }
  }
}

/// A public way of reading all of a store that nobody has a model for.
enum StoreUse: String, CaseIterable, Sendable {
  case inspect, map, check, deepCheck, records, queries, blobs, history, backUp, write, compact

  /// - Parameter scratch: Where nothing is yet.
  /// - Returns: the faults that a check found; nothing where another found none.
  /// - Throws: what the library does.
  func run(at path: String, scratch: String) throws -> [StoreError] {
    switch self {
    case .inspect:
      let found = try PersistentStore.inspect(at: path)
      // All that is computed of what the files say.
      _ = (found.pageBytes, found.liveShare, found.blobBytes, found.liveBlobBytes, found.size)
      _ = (found.garbageBlobBytes, found.statistics.recordCount, found.keptBytes)
    case .map: _ = try PersistentStore.map(at: path)
    case .check: return try PersistentStore.check(at: path).faults
    case .deepCheck: return try PersistentStore.check(at: path, .deep).faults
    case .records, .queries, .blobs, .history: try read(PersistentStore.snapshot(at: path))
    case .backUp:
      var options = StoreOptions()
      options.access = .reading
      try PersistentStore(untypedAt: path, options: options).backUp(to: scratch)
    case .write:
      let store = try PersistentStore(untypedAt: path)
      defer { try? store.close() }
      try store.write { transaction in try transaction.setMetadata(1, for: "hostile") }
    case .compact:
      let store = try PersistentStore(untypedAt: path)
      defer { try? store.close() }
      try store.compact()
    }
    return []
  }

  private func read(_ snapshot: StoreSnapshot) throws {
    if self == .history {
      _ = try snapshot.metadataNames()
      let history = try snapshot.history()
      while try history.next() != nil {}
      return
    }
    for record in snapshot.schema.records {
      switch self {
      case .records: try snapshot.forEach(record: record.name) { _ in }
      case .queries:
        // Each index in its order, from its middle on.
        for index in record.indexes {
          guard let field = index.parts.first.flatMap({ record.field($0.field) }) else { continue }
          try snapshot.forEach(
            record: record.name, where: nil, sortedBy: [FieldOrder(field: field.name)], limit: nil,
            offset: snapshot.count(record: record.name) / 2
          ) { _ in }
        }
      default:
        try snapshot.forEach(record: record.name) { found in
          for case .blob(let blob) in found.fields.values {
            let reader = try blob.reader()
            while try reader.read(upTo: 1 << 20) != nil {}
          }
        }
      }
    }
  }
}
