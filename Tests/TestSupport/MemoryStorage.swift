package import Cambium
import Synchronization

/// A storage such as a program may supply, of bytes in memory, with the bytes that survive a power cut beside it: names
/// and bytes as they were when they were last synced. Calls are numbered, and can be made to fail, to stop for good, or
/// to lie.
package final class MemoryStorage: StorageBackend {
  /// The error of calls from a number on.
  package enum Fault: Sendable {
    /// The call with this number throws, and does nothing.
    case failing(call: Int)
    /// So do this call and all after it, as if the power were off.
    case stopping(at: Int)
    /// Reads and sizes return numbers that cannot be, from the call with this number on.
    case lying(from: Int)
  }

  /// An error of the program's own.
  package struct Failure: Error, CustomStringConvertible {
    package let description = "the cable was cut"
  }

  fileprivate struct State {
    var names: [String: MemoryStorageFile] = [:]
    var syncedNames: [String: MemoryStorageFile] = [:]
    var isLocked = false
    var calls = 0
    var fault: Fault?
    var body: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  package init() {}

  package let path = "memory storage"

  /// The number of calls so far.
  package var calls: Int { state.withLock { $0.calls } }

  package func set(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  /// Has `body` run before each call from now on, on its thread; nil for nothing.
  package func beforeCalls(_ body: (@Sendable () -> Void)?) { state.withLock { $0.body = body } }

  /// Returns the storage after a power cut: with the synced bytes.
  package func afterPowerCut() -> MemoryStorage {
    let storage = MemoryStorage()
    let names = state.withLock { $0.syncedNames }
    storage.state.withLock { state in
      for (name, file) in names { state.names[name] = file.afterPowerCut(in: storage) }
      state.syncedNames = state.names
    }
    return storage
  }

  /// Counts a call.
  ///
  /// - Returns: True if it is to lie.
  @discardableResult
  fileprivate func count() throws -> Bool {
    state.withLock { $0.body }?()
    return try state.withLock { state in
      state.calls += 1
      switch state.fault {
      case .failing(state.calls): throw Failure()
      case .stopping(let first) where state.calls >= first: throw Failure()
      case .lying(let first): return state.calls >= first
      default: return false
      }
    }
  }
}

extension MemoryStorage {
  package func lock() throws -> Bool {
    try count()
    return state.withLock { state in
      defer { state.isLocked = true }
      return !state.isLocked
    }
  }

  package func unlock() { state.withLock { $0.isLocked = false } }

  package func list() throws -> [String] {
    try count()
    // A file that is none of the store's, and one twice.
    return state.withLock { ["notes.txt"] + Array($0.names.keys) + $0.names.keys.prefix(1) }
  }

  package func open(_ name: String) throws -> (any StorageFile)? {
    try count()
    return state.withLock { $0.names[name] }
  }

  package func create(_ name: String) throws -> (any StorageFile)? {
    try count()
    return state.withLock { state in
      if state.names[name] != nil { return nil }
      let file = MemoryStorageFile(in: self)
      state.names[name] = file
      return file
    }
  }

  package func rename(_ name: String, to newName: String) throws {
    try count()
    try state.withLock { state in
      guard let file = state.names[name] else { throw SystemErrorCode(rawValue: 2) }
      guard state.names[newName] == nil else { throw SystemErrorCode(rawValue: 17) }
      state.names[name] = nil
      state.names[newName] = file
    }
  }

  package func remove(_ name: String) throws {
    try count()
    try state.withLock { state in
      if state.names.removeValue(forKey: name) == nil { throw SystemErrorCode(rawValue: 2) }
    }
  }

  package func syncDirectory() throws {
    try count()
    state.withLock { $0.syncedNames = $0.names }
  }
}

/// A file of a `MemoryStorage`, in blocks of 4 KiB of which zeros take no memory.
private final class MemoryStorageFile: StorageFile {
  private static let blockSize = 4096

  private struct Content {
    var blocks: [Int: [UInt8]] = [:]
    var size = 0
  }

  private struct State {
    var content = Content()
    var synced = Content()
  }

  private let state = Mutex(State())
  private unowned let storage: MemoryStorage

  init(in storage: MemoryStorage) {
    self.storage = storage
  }

  func afterPowerCut(in storage: MemoryStorage) -> MemoryStorageFile {
    let file = MemoryStorageFile(in: storage)
    let synced = state.withLock { $0.synced }
    file.state.withLock { $0 = State(content: synced, synced: synced) }
    return file
  }

  func size() throws -> Int {
    let isLie = try storage.count()
    let size = state.withLock { $0.content.size }
    return isLie ? [-1, .min, .max, size + 1, size / 2, size << 20][size % 6] : size
  }

  func read(into buffer: inout MutableRawSpan, from offset: Int) throws -> Int {
    let isLie = try storage.count()
    let (count, wanted) = (buffer.byteCount, Self.blockSize - offset % Self.blockSize)
    let (block, size) = state.withLock { state in
      (state.content.blocks[offset / Self.blockSize], state.content.size)
    }
    // At most to the end of a block: fewer bytes than asked for.
    let length = max(0, min(count, wanted, size - offset))
    for index in 0..<length {
      let byte = block?[offset % Self.blockSize + index] ?? 0
      buffer.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }
    return isLie ? [-1, .min, .max, count + 1, 0][(offset >> 12) % 5] : length
  }

  func write(_ bytes: RawSpan, from offset: Int) throws {
    try storage.count()
    let bytes = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    state.withLock { state in
      state.content.size = max(state.content.size, offset + bytes.count)
      var done = 0
      while done < bytes.count {
        let (block, start) = ((offset + done) / Self.blockSize, (offset + done) % Self.blockSize)
        let count = min(Self.blockSize - start, bytes.count - done)
        state.content.blocks[block, default: [UInt8](repeating: 0, count: Self.blockSize)]
          .replaceSubrange(start..<start + count, with: bytes[done..<done + count])
        done += count
      }
    }
  }

  func truncate(to size: Int) throws {
    try storage.count()
    state.withLock { state in
      if size < state.content.size {
        let last = size / Self.blockSize
        state.content.blocks = state.content.blocks.filter { $0.key <= last }
        if var block = state.content.blocks[last] {
          for index in (size % Self.blockSize)..<Self.blockSize { block[index] = 0 }
          state.content.blocks[last] = block
        }
      }
      state.content.size = size
    }
  }

  func sync() throws {
    try storage.count()
    state.withLock { $0.synced = $0.content }
  }
}
