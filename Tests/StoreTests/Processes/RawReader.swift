@testable import Cambium

/// A raw store, open for reading only. It writes nothing and takes no lock: the directory may be one that
/// cannot be written to, and another process may have the store open for writing.
///
/// It shows what is known to be on the medium. Of a process that writes, the last commits come into sight
/// when more follow, or when it has been idle for a moment.
final class RawReader: Sendable {
  private let follower: Follower

  /// Opens the store in the directory at `path`.
  ///
  /// - Throws: `.missing` if there is none; `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.io`.
  init(at path: String, options: RawStoreOptions = RawStoreOptions()) throws(StoreError) {
    let medium = try PosixFileSystem(at: path, allowingNetwork: options.allowsNetworkFileSystems)
    follower = try Follower(medium, options: options.engine)
  }

  /// The tree `name`, whether or not it has entries.
  ///
  /// - Throws: `.limitExceeded` if the name is longer than 255 bytes.
  func tree(_ name: String) throws(StoreError) -> RawTreeName {
    RawTreeName(slot: try follower.names.slot(of: name))
  }

  /// Takes in what was committed since the reader was opened or refreshed. Snapshots stay as they are.
  ///
  /// - Complexity: a few reads of a block where nothing is new.
  /// - Returns: whether there are new commits.
  /// - Throws: as `init`; then what was there before is still shown.
  func refresh() throws(StoreError) -> Bool { try follower.refresh() }

  /// The state that was found last, which stays as it is for as long as it is held.
  func snapshot() -> RawSnapshot { RawSnapshot(follower.snapshot()) }
}
