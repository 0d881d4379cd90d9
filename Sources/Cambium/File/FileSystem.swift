/// The seam between the engine and the disk: one directory.
///
/// Production uses `PosixFileSystem`, scratch stores `InMemoryFileSystem`, and tests a simulated one
/// that loses, tears, reorders and refuses on demand. Every call is one of the operating system's, beside which a
/// call through a protocol costs nothing: so nothing above has a type parameter for it.
///
/// Every call carries the site it is made from, so that a test can name the call it wants to fail.
package protocol FileSystem: AnyObject, Sendable {
  /// The directory, for messages.
  var path: String { get }

  /// True if others can remove or replace its files; then a store checks that its files still exist.
  var isShared: Bool { get }

  /// The bytes of the volume that it lies on, used and free; nil if that is not known.
  var volumeSize: Int? { get }

  /// Opens or creates a file.
  /// - Throws: `.missing` if it must exist and does not, `.io(.fileExists, …)` if it must not and does.
  func open(_ name: FileName, _ mode: OpenMode, at site: Site) throws(StoreError) -> any File

  /// Forces names that were created, renamed or unlinked to the disk.
  func syncDirectory(at site: Site) throws(StoreError)

  /// Gives a file a new name, which no other file has.
  ///
  /// Nothing in a store is replaced: a file with a name was published under it, and may be needed.
  /// - Throws: `.io(.fileExists, …)` if the name is taken; then nothing has changed.
  func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError)

  /// Removes a name. Open files and maps keep the bytes.
  func unlink(_ name: FileName, at site: Site) throws(StoreError)

  /// The files of a store in the directory, in no order. Names that no store computes are left out.
  func list(at site: Site) throws(StoreError) -> [FileName]

  /// The bytes that may still be written to the disk; nil if that is not known.
  var bytesFree: Int? { get }

  /// Opens the directory itself and locks it as `File.lock` does. That lock and those of files have
  /// nothing to do with each other.
  /// - Returns: nil if the file system has no such locks.
  /// - Throws: `.locked`.
  func lockDirectory(at site: Site) throws(StoreError) -> (any File)?
}

extension FileSystem {
  package var bytesFree: Int? { nil }
  package var isShared: Bool { false }
  package var volumeSize: Int? { nil }
}

/// An open file of a `FileSystem`. It closes when the last reference to it goes.
///
/// Every call is positional, explicit in its size, and carries the site it is made from. Nothing here retries a
/// failed `sync`: after one, it is unknown for good which bytes reached the disk.
package protocol File: AnyObject, Sendable {
  /// The present size in bytes.
  func size(at site: Site) throws(StoreError) -> Int

  /// Fills `buffer` from `offset` on and returns how many bytes there were.
  ///
  /// Fewer than asked for means that the file ends there, never that a read was cut short.
  func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int

  /// Writes all of `bytes` from `offset` on, or throws with any part of them written.
  ///
  /// On a file opened for direct output `bytes` begins at an address, and `offset` and the size are,
  /// multiples of 4096.
  func write(_ bytes: RawSpan, from offset: Int, at site: Site) throws(StoreError)

  /// Forces the bytes, and the size needed to read them, to the disk (`fdatasync`).
  func sync(at site: Site) throws(StoreError)

  /// Cuts the file to `size` bytes, or grows it with zeros.
  func truncate(to size: Int, at site: Site) throws(StoreError)

  /// Takes space on the disk for the first `size` bytes of the file, which is at least that long afterwards. Its
  /// content there may be lost.
  ///
  /// - Throws: `.full`, with any part of the space taken.
  func allocate(_ size: Int, at site: Site) throws(StoreError)

  /// Locks the file for this open file, for as long as the process that locked it has it open. That
  /// a forked child has it too changes nothing, unless the parent is killed: then the child keeps it.
  /// - Throws: `.locked`, with the holder's process where it can be known.
  func lock(at site: Site) throws(StoreError)

  /// True if another open file has the lock. This one may be open for reading only.
  func isLocked(at site: Site) throws(StoreError) -> Bool

  /// True if the name leads to this open file, and not to another that took its place.
  func isNamed(_ name: FileName, at site: Site) throws(StoreError) -> Bool

  /// Maps the first `capacity` bytes of the file for reading. The address never moves.
  ///
  /// The file may be shorter and grow later; the caller reads no further than it knows to be written.
  func map(capacity: Int, at site: Site) throws(StoreError) -> FileMapping

  /// Says that a part of the file is about to be read. A hint: nothing fails if it is not taken.
  func willNeed(_ range: Range<Int>, at site: Site)
}

extension File {
  package func allocate(_ size: Int, at site: Site) throws(StoreError) {
    if size <= 0 { return }
    let zeros = AlignedBuffer(count: min(size, 64 << 10))
    for start in stride(from: 0, to: size, by: zeros.count) {
      try write(zeros.bytes.part(0, min(zeros.count, size - start)), from: start, at: site)
    }
  }

  /// Cuts the file to `size` bytes if it is longer.
  func cut(to size: Int, at site: Site) throws(StoreError) {
    if try self.size(at: site) > size { try truncate(to: size, at: site) }
  }
}

/// How a file is opened.
package enum OpenMode: Equatable, Sendable {
  /// It must exist.
  case read
  /// It must exist.
  case readWrite
  /// It must exist; writes go past the page cache if the file system can do that.
  case readWriteDirect
  /// It must not exist.
  case create
  /// It must not exist; writes go past the page cache if the file system can do that.
  case createDirect

  package var creates: Bool { self == .create || self == .createDirect }
  package var isDirect: Bool { self == .readWriteDirect || self == .createDirect }
}
