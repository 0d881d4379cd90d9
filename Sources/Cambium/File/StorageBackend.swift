/// A place for a store's files that the program supplies: a directory of named files, elsewhere than on a local disk.
///
/// ```swift
/// let store = try PersistentStore(on: MyStorage(), model: model)
/// ```
///
/// Every promise of the store about power cuts rests on the promises of `StorageFile.sync()` and `syncDirectory()`
/// here. The store calls from several threads at once, also on one file. Throw a `SystemErrorCode` for an error that
/// has a number, so that a full disk (`ENOSPC`) is `StoreError.full`, and a file that does not exist (`ENOENT`) is
/// `.missing`; any other error becomes a `StoreError.io` that carries its description. A call that throws may have had
/// any part of its effect.
public protocol StorageBackend: AnyObject, Sendable {
  /// A name of the storage for messages, in place of a directory's path.
  var path: String { get }

  /// Takes the lock that keeps other writers out, until `unlock()`.
  ///
  /// It must exclude everything that may write the same files, in this process and in others, and end with the process.
  ///
  /// - Returns: False if another holder has it.
  func lock() throws -> Bool

  /// Releases the lock that `lock()` took.
  func unlock()

  /// Returns the names of all files, in any order. The store ignores names that are none of its own.
  func list() throws -> [String]

  /// Opens a file for reading and writing.
  ///
  /// - Returns: `nil` if there is no file of that name.
  func open(_ name: String) throws -> (any StorageFile)?

  /// Creates an empty file. It need not survive a power cut before `syncDirectory()`.
  ///
  /// - Returns: `nil` if there is a file of that name.
  func create(_ name: String) throws -> (any StorageFile)?

  /// Gives a file another name, in one step: after a power cut, it has the one or the other. The store never replaces a
  /// file: throw `SystemErrorCode(rawValue: EEXIST)` if there is one of the new name.
  func rename(_ name: String, to newName: String) throws

  /// Removes the name of a file. Files that are open keep their bytes until they are released.
  func remove(_ name: String) throws

  /// Returns when names that were created, renamed and removed before the call survive a power cut.
  func syncDirectory() throws
}

/// An open file of a `StorageBackend`. The store releases it when it no longer needs it, and reads and writes parts of it
/// from several threads.
///
/// A read sees all bytes whose writing has returned, through any open file of the same name.
public protocol StorageFile: AnyObject, Sendable {
  /// Returns the size in bytes.
  func size() throws -> Int

  /// Reads bytes from `offset` on into the beginning of `buffer`.
  ///
  /// - Returns: The number of bytes: at least 1, if the file has a byte at `offset`. Zero means that it ends there.
  func read(into buffer: inout MutableRawSpan, from offset: Int) throws -> Int

  /// Writes all of `bytes` from `offset` on. The file grows as needed; a gap reads as zeros.
  ///
  /// Before `sync()`, a power cut may leave any of the bytes of the write as they were before, in any order; bytes that
  /// were not written to must stay as they are, except within the same 4,096 bytes.
  func write(_ bytes: RawSpan, from offset: Int) throws

  /// Cuts the file to `size` bytes, or lets it grow with zeros.
  func truncate(to size: Int) throws

  /// Returns when every byte that was written before the call, and the size, survive a power cut (`fdatasync`).
  ///
  /// If it throws, the store assumes nothing about those bytes, and writes no more until it is opened again.
  func sync() throws
}
