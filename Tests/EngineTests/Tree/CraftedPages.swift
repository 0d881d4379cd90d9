import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A page file whose pages are made by hand: wrong in any way but for their checksums.
struct CraftedPages {
  let medium = InMemoryFileSystem()
  let appender: PageAppender

  init(from segment: UInt32 = 1) {
    appender = PageAppender(
      to: medium, of: TreeWorld.identity, from: segment, output: .buffered)
  }

  /// Appends a leaf or a branch of these entries, with right aggregates.
  func append(
    _ entries: [BuiltNode.Entry], level: UInt8 = 0, schemaVersion: UInt32 = 1,
    change: (inout Bytes) -> Void = { _ in }
  ) throws -> PageReference {
    let node = BuiltNode(entries, isBranch: level > 0, schemaVersion: schemaVersion)
    var bytes = node.bytes
    change(&bytes)
    var reference = try append(bytes, kind: level > 0 ? .branch : .leaf, level: level)
    reference.count = node.reference.count
    reference.liveBytes = node.reference.liveBytes
    reference.lowestVersion = node.reference.lowestVersion
    return reference
  }

  /// Appends a branch of these children, with separators as they say.
  func append(
    branch children: [(separator: Bytes, reference: PageReference)], level: UInt8 = 1,
    change: (inout Bytes) -> Void = { _ in }
  ) throws -> PageReference {
    try append(
      children.map { child in
        var bytes: Bytes = []
        child.reference.encode(to: &bytes)
        return BuiltNode.Entry(key: child.separator, value: bytes)
      }, level: level, change: change)
  }

  /// Appends a page of these bytes, but for its header.
  func append(
    _ bytes: Bytes, kind: PageKind, level: UInt8 = 0
  ) throws -> PageReference {
    try appender.append(
      kind, level: level, flags: bytes[11], blocks: bytes.count / Layout.blockSize
    ) { page in
      page.copy(bytes.rawSpan.extracting(droppingFirst: PageHeader.size), to: PageHeader.size)
      return bytes.count
    }
  }

  /// Publishes all that was appended, which is in one segment; the footer says nothing of the root, so
  /// nothing looks at it.
  func tree(
    _ root: PageReference, level: UInt8, reading mode: ReadMode = .mapped,
    below segments: [SegmentExtent] = []
  ) throws -> Tree {
    try appender.sync()
    var footer = Footer(identity: TreeWorld.identity)
    footer.segments = segments
    if let end = appender.end {
      footer.segments.append(
        SegmentExtent(kind: .pages, number: end.segment, end: UInt64(end.block), liveBytes: 0))
    }
    let file = try PageFile(
      opening: try appender.publish(footer), in: medium, reading: mode)
    return Tree(pages: file.pages, root: TreeRoot(reference: root, level: level))
  }

  /// Entries with these numbers as keys, of `width` bytes of value each.
  static func entries(_ numbers: Range<Int>, width: Int = 40) -> [BuiltNode.Entry] {
    numbers.map {
      .init(
        key: [UInt8($0 >> 8 & 0xff), UInt8($0 & 0xff)], value: Bytes(repeating: 1, count: width))
    }
  }
}

extension Tree {
  /// Uses the tree in every way, but reads no more than `limit` entries of it.
  ///
  /// - Returns: what was thrown, all of it `StoreError` by the types.
  func exercise(_ keys: [Bytes], limit: Int = 2_000) -> [StoreError] {
    var errors: [StoreError] = []
    func attempt(_ body: () throws(StoreError) -> Void) {
      do { try body() } catch { errors.append(error) }
    }
    var value: Bytes = []
    var batch = KeyBatch()
    for key in keys {
      batch.append(key.rawSpan)
      attempt { () throws(StoreError) in _ = try copyValue(for: key.rawSpan, to: &value) }
      attempt { () throws(StoreError) in _ = try rank(of: key.rawSpan) }
      attempt { () throws(StoreError) in _ = try count(from: key, upTo: nil) }
      attempt { () throws(StoreError) in
        var cursor = Cursor(self)
        _ = try cursor.seek(to: key.rawSpan)
        for step in 0..<40 { _ = step % 5 < 3 ? try cursor.next() : try cursor.previous() }
      }
    }
    var entries: [LeafEntry?] = []
    attempt { () throws(StoreError) in try find(batch, to: &entries) }
    attempt { () throws(StoreError) in
      var cursor = Cursor(self)
      var isOn = try cursor.first()
      var rest = limit
      while isOn, rest > 0 {
        value.removeAll()
        try append(cursor.entry, to: &value)
        rest -= 1
        isOn = try cursor.next()
      }
    }
    attempt { () throws(StoreError) in
      var cursor = Cursor(self)
      var isOn = try cursor.last()
      var rest = limit
      while isOn, rest > 0 {
        rest -= 1
        isOn = try cursor.previous()
      }
    }
    for offset in [0, 1, count / 2, count - 1, count, Int.max] {
      attempt { () throws(StoreError) in
        var cursor = Cursor(self)
        _ = try cursor.seek(toOffset: offset)
      }
    }
    errors += TreeCheck.run(self).faults
    return errors
  }

  /// Merges into the tree, adopting or not. Its result is thrown away.
  func exerciseMerge(_ keys: [Bytes], adoption: Adoption = .all) -> StoreError? {
    var changes: [Bytes: Bytes?] = [:]
    for key in keys { changes[key] = [1, 2] }
    return exerciseMerge(changes, adoption: adoption)
  }

  func exerciseMerge(_ changes: [Bytes: Bytes?], adoption: Adoption = .all) -> StoreError? {
    let appender = PageAppender(
      to: InMemoryFileSystem(), of: pages.identity, from: 1_000, output: .buffered)
    do throws(StoreError) {
      _ = try TreeMerge.run(
        ListInput(changes), into: root, of: pages, adoption: adoption,
        appendingTo: appender)
      return nil
    } catch {
      return error
    }
  }
}

extension StoreError {
  /// The rule that was broken, of an error about a page.
  var invariant: Invariant? {
    if case .corrupt(_, let invariant, _) = self { return invariant }
    return nil
  }

  /// Where it was broken.
  var place: CorruptPlace? {
    if case .corrupt(let place, _, _) = self { return place }
    return nil
  }
}
