import Cambium
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A store that is opened for reading when a page needs it, and follows the program that writes it.
final class FollowedStore: Sendable {
  let path: String
  /// The options for stores that may be damaged: every page is verified each time it is read.
  let options: StoreOptions
  private let opened = Mutex<Opened?>(nil)

  private struct Opened {
    let store: PersistentStore
    let place: Place?
  }

  init(at path: String, allowsNetworkFileSystems: Bool) {
    self.path = path
    var options = StoreOptions()
    options.access = .reading
    options.readMode = .buffered(cacheSize: 64 << 20)
    options.allowsNetworkFileSystems = allowsNetworkFileSystems
    options.queryBudget = QueryBudget(duration: .seconds(20))
    self.options = options
  }

  /// The name of the directory.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Returns the newest committed state. A commit of a running program counts once it is known to be on the disk: with the
  /// next commit, or a moment later.
  ///
  /// A store that was migrated, rolled back or replaced since the last page is opened again.
  ///
  /// - Throws: `StoreError.unknownRecord` if it has no model yet; `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.io`.
  func snapshot() throws(StoreError) -> StoreSnapshot {
    let place = Place(of: path)
    return try opened.withLock { opened throws(StoreError) -> StoreSnapshot in
      if let known = opened, known.place == place, let state = try? Self.newest(of: known.store) {
        return state
      }
      opened = nil
      let store = try PersistentStore(untypedAt: path, options: options)
      opened = Opened(store: store, place: place)
      return try store.snapshot()
    }
  }

  private static func newest(of store: PersistentStore) throws(StoreError) -> StoreSnapshot {
    try store.refresh()
    return try store.snapshot()
  }

  /// Returns the summary of the store, which may have no model.
  ///
  /// - Throws: as `PersistentStore.inspect`.
  func inspection(lastCommits: Int = 0) throws(StoreError) -> StoreInspection {
    try PersistentStore.inspect(at: path, lastCommits: lastCommits, options: options)
  }
}

/// The identity of a directory: one that takes its name has another.
private struct Place: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// Fails if there is no directory.
  init?(of path: String) {
    var found = stat()
    guard unsafe stat(path, &found) == 0 else { return nil }
    device = UInt64(found.st_dev)
    number = UInt64(found.st_ino)
  }
}
