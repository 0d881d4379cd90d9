import Cambium

/// Cambium's tree without a store around it: no log, no schema.
///
/// - Loading: one writer, past the page cache; its `finish` flushes pages, then the footer. Shuffled
///   entries are handed over to be sorted.
/// - Reading: the file mapped; one cursor for ranges and the scan, one batch filled again and again.
/// - Numbers are their eight bytes, big-endian.
final class CambiumEngine: Engine {
  /// Not released: the version in this working copy.
  static let version = "as checked out"

  private let path: String
  private var reference: RawTreeReference?
  private var opened: RawTree?

  init(directory: String, shape: StoreShape) {
    path = directory
  }

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    let writer = try RawTreeWriter(creatingAt: path)
    switch order {
    case .sorted:
      for index in 0..<entries.count {
        try writer.append(entries.keys[index], entries.values[index])
      }
    case .shuffled:
      let unsorted = writer.entries()
      for index in 0..<entries.count {
        try unsorted.append(entries.keys[index], entries.values[index])
      }
      try writer.append(unsorted)
    }
    reference = try writer.finish()
  }

  func open() throws {
    close()
    guard let reference else {
      throw EngineError(engine: .cambium, call: "open", message: "nothing was loaded")
    }
    opened = try RawTree(at: path, reference)
  }

  func close() {
    opened = nil
  }

  func pointReads(_ keys: ByteList) throws -> Digest {
    let tree = try tree
    var digest = Digest()
    for index in 0..<keys.count {
      if let value = try tree.value(for: keys[index]) {
        digest.add(value)
      } else {
        digest.addMiss()
      }
    }
    return digest
  }

  func batchReads(_ keys: ByteList, of size: Int) throws -> Digest {
    let batch = try tree.batch()
    var digest = Digest()
    for start in stride(from: 0, to: keys.count, by: size) {
      let end = min(start + size, keys.count)
      batch.removeAll()
      for index in start..<end { batch.append(keys[index]) }
      try batch.find()
      for index in 0..<end - start {
        if let value = batch.value(index) {
          digest.add(value)
        } else {
          digest.addMiss()
        }
      }
    }
    return digest
  }

  func ranges(from keys: ByteList, of length: Int) throws -> Digest {
    let cursor = try tree.cursor()
    var digest = Digest()
    for index in 0..<keys.count {
      var remaining = length
      var stands = try cursor.seek(to: keys[index])
      while stands {
        digest.add(cursor.key, cursor.value)
        remaining -= 1
        if remaining == 0 { break }
        stands = try cursor.next()
      }
    }
    return digest
  }

  func scan() throws -> Digest {
    let cursor = try tree.cursor()
    var digest = Digest()
    var stands = try cursor.first()
    while stands {
      digest.add(cursor.key, cursor.value)
      stands = try cursor.next()
    }
    return digest
  }

  private var tree: RawTree {
    get throws {
      guard let opened else {
        throw EngineError(engine: .cambium, call: "read", message: "nothing is open")
      }
      return opened
    }
  }
}
