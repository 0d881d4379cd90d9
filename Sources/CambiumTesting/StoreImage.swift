package import Cambium
package import TestSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A store in memory that can be copied, and that behaves as one on a disk does whose power may go.
package struct StoreImage {
  package let medium: SimulatedFileSystem
  private let openings: Openings

  /// A directory without anything.
  package init() {
    self.init(SimulatedFileSystem(), Openings())
  }

  private init(_ medium: SimulatedFileSystem, _ openings: Openings) {
    self.medium = medium
    self.openings = openings
  }

  /// How often a store or a copy of it was opened. Each time its log gets another salt, as frames of one use must not
  /// be taken for those of another; and the same ones whenever it is all done again.
  private final class Openings: @unchecked Sendable {
    private let lock = ThreadLock()
    private var count: UInt64 = 0

    func next() -> UInt64 {
      lock.lock()
      defer { lock.unlock() }
      count += 1
      return count
    }
  }

  /// The store at `path`, all of it on the disk. No process may have it open for writing.
  ///
  /// - Throws: `.missing`, and errors of the file system.
  package init(contentsOf path: String) throws {
    let medium = SimulatedFileSystem()
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      throw StoreError.missing(path: path)
    }
    for name in names.sorted() {
      guard let file = FileName(name), !file.isBesidesContent else { continue }
      let data = try Data(contentsOf: URL(filePath: path + "/" + name))
      _ = try medium.create(file, Array(data))
    }
    self.init(medium.crashed(.all), Openings())
  }

  /// Another store with the same content, all of it on its disk.
  package func copy() -> StoreImage { crashed(.all) }

  /// The image that a power cut would leave now.
  package func crashed(_ policy: CrashPolicy) -> StoreImage {
    StoreImage(medium.crashed(policy), openings)
  }

  /// Opens it, without threads in the background: everything happens in the same order each time.
  package func open(
    _ model: StoreModel, steps: [MigrationStep] = [], migration: MigrationMode = .automatic,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> PersistentStore {
    var options = options
    // Memory-mapped reads would not see faults of the disk.
    options.readMode = .buffered(cacheSize: 4 << 20)
    return try PersistentStore(
      on: medium, model: model, steps: steps, migration: migration, options: options,
      seed: openings.next())
  }
}
