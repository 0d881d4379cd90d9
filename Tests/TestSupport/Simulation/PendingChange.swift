package import Cambium

/// A change that was made and that no sync has forced to the disk yet.
///
/// After a power cut it may be there or not, whole or in part, whatever became of the others.
package struct PendingChange: Sendable {
  /// Its place among all changes of the file system.
  package let order: Int
  package let change: Change
  /// The open file that it was made by, which alone may be relied on to flush it; nil of names.
  package let opener: Int?

  /// True of a change of a file's size alone.
  var isResize: Bool {
    if case .content(_, .resize) = change { true } else { false }
  }

  /// The blocks of a file that it writes to.
  var blocks: Range<Int> {
    guard case .content(_, .write(let bytes, let offset)) = change else { return 0..<0 }
    return SparseBytes.blocks(of: offset..<offset + bytes.count)
  }

  package enum Change: Sendable {
    /// Bytes or size of a file, by the file's number.
    case content(file: Int, ContentChange)
    case directory(DirectoryChange)
  }
}

package enum ContentChange: Sendable {
  /// Bytes, and the size where they reach beyond it.
  case write([UInt8], from: Int)
  /// A change of size.
  case resize(to: Int)
  /// Never pending: the remains of writes whose size reached the disk and whose bytes did not.
  /// The file grows to `to` and holds `filling` there, again and again, or zeros.
  case grow(to: Int, filling: [UInt8])
  /// Never pending: the remains of a block that was being written. All of it is noise, as far as the file goes, which
  /// grows to `end`.
  case spoil(block: Int, end: Int)
}

/// A change of names. Files go by number, as several may bear a name in the course of time.
package enum DirectoryChange: Sendable {
  case create(FileName, file: Int)
  case rename(FileName, to: FileName, file: Int)
  case unlink(FileName, file: Int)
}

extension SparseBytes {
  package mutating func apply(_ change: ContentChange) {
    switch change {
    case .write(let bytes, let offset): write(bytes, from: offset)
    case .resize(let size): resize(to: size)
    case .grow(let end, let filling): grow(to: end, filling: filling)
    case .spoil(let block, let end): spoil(block, end: end)
    }
  }

  private mutating func spoil(_ block: Int, end: Int) {
    if size < end { resize(to: end) }
    let start = block * SparseBytes.blockSize
    var generator = SplitMix64(seed: UInt64(start + end))
    let count = min(SparseBytes.blockSize, size - start)
    write((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }, from: start)
  }

  private mutating func grow(to end: Int, filling: [UInt8]) {
    let start = size
    if end <= start { return }
    if !filling.isEmpty {
      write((start..<end).map { filling[$0 % filling.count] }, from: start)
    }
    resize(to: end)
  }
}

extension Dictionary where Key == FileName, Value == Int {
  /// A change finds the entry it was meant for or does nothing: changes before it may be lost.
  mutating func apply(_ change: DirectoryChange) {
    switch change {
    case .create(let name, let file):
      self[name] = file
    case .rename(let name, let newName, let file):
      if self[name] == file { self[name] = nil }
      self[newName] = file
    case .unlink(let name, let file):
      if self[name] == file { self[name] = nil }
    }
  }
}
