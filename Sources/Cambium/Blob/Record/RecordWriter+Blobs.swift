#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Rows with external fields: long values are stored outside of them, and the accounts of blobs change with the rows.

extension RecordWriter {
  /// Returns the accounts of a record's blobs, to be changed; nil if it has no external fields.
  ///
  /// - Throws: `.invalidValue` where the store was not opened for blobs.
  func accounts(of record: Entity) throws(StoreError) -> BlobAccounts? {
    guard let blobs = record.blobs else { return nil }
    guard let session = trees.blobSession else {
      throw .invalidValue(
        record: record.record.name, field: nil, reason: "blobs cannot be written here")
    }
    return BlobAccounts(trees, blobs, session)
  }

  /// Returns a finder of the parts of a record outside its rows, also of rows that the transaction has changed or
  /// deleted; nil if there are none.
  func blobFinder(of record: Entity) -> BlobFinder? {
    let access = TreeAccess.transaction(trees)
    guard let blobs = record.blobs, let session = trees.blobSession else {
      return access.blobFinder(of: record)
    }
    return BlobFinder(
      access, blobs, session.keeper.located(), released: session.released,
      unstored: access.unstored(of: record))
  }

  /// The row as it is to be stored, with every blob written that it refers to.
  ///
  /// - Parameter old: The row that it takes the place of; empty if there is none.
  /// - Throws: `.limitExceeded`, `.corrupt`, `.full`, `.io`: then no tree has changed.
  func settled(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], over old: [UInt8], of record: Entity
  ) throws(StoreError) -> [UInt8]? {
    guard let accounts = try accounts(of: record) else { return nil }
    let settling = RowSettling(accounts, record.layout, waiting)
    return try settling.settle(key, row, over: old)
  }

  /// Counts the references of a row that replaces another.
  ///
  /// - Parameters:
  ///   - old: Empty if there is none.
  ///   - new: Nil if there is none.
  func count(
    _ key: RawSpan, from old: [UInt8], to new: RawSpan?, of record: Entity
  ) throws(StoreError) {
    guard let accounts = try accounts(of: record) else { return }
    let layout = record.layout
    var changes: [BlobIdentity: Int] = [:]
    var order: [BlobIdentity] = []
    func note(_ identity: BlobIdentity, _ change: Int) {
      if changes[identity] == nil { order.append(identity) }
      changes[identity, default: 0] += change
    }
    if let new {
      try layout.forEachReference(key: key, row: new) { note($0.identity, 1) }
    }
    if !old.isEmpty, record.countsBlobs {
      try layout.forEachReference(key: key, row: old.rawSpan) { note($0.identity, -1) }
    }
    try accounts.apply(changes, in: order, countsAll: record.countsBlobs)
  }

  /// Counts the references of all rows of a type less, which are to be deleted.
  func releaseAll(of record: Entity) throws(StoreError) {
    guard let accounts = try accounts(of: record), record.countsBlobs else { return }
    var changes: [BlobIdentity: Int] = [:]
    let layout = record.layout
    let cursor = try TreeAccess.transaction(trees).cursor(in: record.rows)
    while try cursor.advance() {
      let row = try cursor.value()
      try layout.forEachReference(key: cursor.key, row: row) {
        changes[$0.identity, default: 0] -= 1
      }
    }
    let order = changes.keys.sortedRarely { $0.key.lexicographicallyPrecedes($1.key) }
    try accounts.apply(changes, in: order, countsAll: true)
  }
}

extension BlobAccounts {
  /// - Parameter countsAll: True if references are counted that are more than before; else blobs only come into
  ///   the map that are not in it: the maker of trees outside of the state counts when they become a part of it.
  fileprivate func apply(
    _ changes: [BlobIdentity: Int], in order: [BlobIdentity], countsAll: Bool
  ) throws(StoreError) {
    for identity in order {
      let change = changes[identity] ?? 0
      if change > 0 {
        if !countsAll, try entry(of: identity) != nil { continue }
        try retain(identity, count: UInt64(change))
      }
    }
    for identity in order {
      let change = changes[identity] ?? 0
      if change < 0 { try release(identity, count: UInt64(-change)) }
    }
  }
}

/// Makes of a row that was put together the one that is stored.
struct RowSettling {
  private let accounts: BlobAccounts
  private let layout: RowLayout
  private let waiting: [Blob]

  init(_ accounts: BlobAccounts, _ layout: RowLayout, _ waiting: [Blob]) {
    self.accounts = accounts
    self.layout = layout
    self.waiting = waiting
  }

  /// - Returns: nil if the row can be stored as it is.
  func settle(
    _ key: RawSpan, _ row: RawSpan, over old: [UInt8]
  ) throws(StoreError) -> [UInt8]? {
    let layout = layout
    let reader = try RowReader(key: key, row: row, layout: layout)
    let before = try oldValues(key, old)
    var values: [Int: ExternalValue] = [:]
    for index in layout.external {
      let column = layout.columns[index]
      guard !reader.isNull(column.place),
        case .external(_, let options) = column.field.type
      else { continue }
      let value = try reader.external(column.place.index)
      let settled = try settle(value, options, over: before[index])
      if settled != value { values[column.place.index] = settled }
    }
    return values.isEmpty ? nil : try stored(reader, with: values)
  }

  private func oldValues(
    _ key: RawSpan, _ old: [UInt8]
  ) throws(StoreError) -> [Int: ExternalValue] {
    var values: [Int: ExternalValue] = [:]
    if old.isEmpty { return values }
    let layout = layout
    let reader = try RowReader(key: key, row: old.rawSpan, layout: layout)
    for index in layout.external {
      let place = layout.columns[index].place
      if !reader.isNull(place) { values[index] = try reader.external(place.index) }
    }
    return values
  }

  private func stored(
    _ reader: borrowing RowReader, with values: [Int: ExternalValue]
  ) throws(StoreError) -> [UInt8] {
    let writer = RowWriter()
    writer.begin(layout, like: reader.row)
    for column in 0..<layout.variableCount {
      if let value = values[column] {
        try writer.append(value.encoded.rawSpan, to: column)
      } else {
        try writer.append(reader.bytes(column), to: column)
      }
    }
    writer.finish()
    return writer.row.array()
  }
}

// MARK: One value

extension RowSettling {
  private func settle(
    _ value: ExternalValue, _ options: BlobOptions, over old: ExternalValue?
  ) throws(StoreError) -> ExternalValue {
    switch value {
    case .reference: return value
    case .inline(let data):
      if data.count <= options.threshold { return value }
      return .reference(try store(Blob(data), options, over: old))
    case .packed(let packed):
      if packed.length <= options.threshold { return value }
      return .reference(try store(blob(packed), options, over: old))
    case .waiting(let number):
      guard waiting.indices.contains(number) else {
        throw .invalidValue(
          record: layout.record.name, field: nil, reason: "a value of an external field is missing")
      }
      let blob = waiting[number]
      if blob.count <= options.threshold { return try inRow(blob, options, over: old) }
      return .reference(try store(blob, options, over: old))
    }
  }

  /// Returns the form in which a row has a value that stays in it: compressed if it is long and that gains something.
  private func inRow(
    _ blob: Blob, _ options: BlobOptions, over old: ExternalValue?
  ) throws(StoreError) -> ExternalValue {
    if let packed = blob.packed { return .packed(packed) }
    let content = try blob.data()
    switch old {
    case _ where content.count <= ExternalValue.shortMax: return .inline(content)
    case .inline(content): return .inline(content)
    case .packed(let packed) where packed.length == content.count:
      // Other versions of zstd make other frames of it. One that is damaged is replaced.
      if (try? self.blob(packed).data()) == content { return .packed(packed) }
    default: break
    }
    let packed = try accounts.session.keeper.pack(content, options.compression)
    return packed.map(ExternalValue.packed) ?? .inline(content)
  }

  private func blob(_ packed: PackedValue) -> Blob {
    let place = StoreError.CorruptPlace.entry(tree: layout.record.name, key: [])
    return Blob(PackedBlob(packed, at: place, accounts.session.keeper.crew))
  }

  private func store(
    _ blob: Blob, _ options: BlobOptions, over old: ExternalValue?
  ) throws(StoreError) -> BlobReference {
    if let known = try known(blob, options) { return known }
    if case .reference(let old) = old, blob.source == nil, try isSame(blob, as: old) { return old }
    let hash = options.deduplicated ? try hash(of: blob) : nil
    if let hash, let shared = try shared(blob, hash) { return shared }
    let content = try write(blob, options, hash)
    accounts.session.add(content)
    return BlobReference(content.identity, content.place)
  }

  /// Returns a reference to a blob of a field that deduplicates, with the same content.
  private func shared(_ blob: Blob, _ hash: SipHash128) throws(StoreError) -> BlobReference? {
    guard let other = try accounts.identity(with: hash), other != blob.source?.identity,
      let entry = try accounts.entry(of: other),
      try isSame(blob, as: BlobReference(other, entry.place))
    else { return nil }
    return BlobReference(other, entry.place)
  }

  private func hash(of blob: Blob) throws(StoreError) -> SipHash128 {
    var hasher = SipHash128.Stream(key: accounts.session.keeper.seed.hashKey)
    let reader = try blob.reader()
    while let piece = try reader.read(upTo: BlobLayout.frameLength) { hasher.update(piece.bytes) }
    return hasher.finish()
  }

  /// Returns a reference to a blob that is in the store already.
  private func known(
    _ blob: Blob, _ options: BlobOptions
  ) throws(StoreError) -> BlobReference? {
    guard let source = blob.source else { return nil }
    if let entry = try accounts.entry(of: source.identity),
      entry.place.length == UInt64(source.count)
    {
      return BlobReference(source.identity, entry.place)
    }
    guard let written = source as? WrittenBlob, written.isOf(accounts.session.keeper),
      !options.deduplicated || written.content.hash != nil
    else { return nil }
    let content = written.content
    if options.deduplicated, let hash = content.hash, let shared = try shared(blob, hash) {
      return shared
    }
    accounts.session.add(content)
    return BlobReference(content.identity, content.place)
  }

  private func write(
    _ blob: Blob, _ options: BlobOptions, _ hash: SipHash128?
  ) throws(StoreError) -> BlobContent {
    let stream = accounts.session.keeper.makeStream(
      options.compression, isHashed: false, in: accounts.session.batch)
    do throws(StoreError) {
      let reader = try blob.reader()
      while let piece = try reader.read(upTo: BlobLayout.frameLength) {
        try stream.append(piece.bytes)
      }
      let content = try stream.finish()
      return BlobContent(
        identity: content.identity, place: content.place, hash: hash, pin: content.pin)
    } catch {
      stream.abandon()
      throw error
    }
  }

  /// Returns true if a stored blob has the same content: one that is damaged has not, so that it can be replaced.
  private func isSame(_ blob: Blob, as reference: BlobReference) throws(StoreError) -> Bool {
    guard reference.length == UInt64(blob.count),
      let place = try accounts.entry(of: reference.identity)?.place, reference.isOf(place)
    else { return false }
    let other: BlobReader
    do throws(StoreError) {
      other = try Blob(
        accounts.session.keeper.located().reader(of: reference.identity, at: place)
      ).reader()
    } catch {
      guard case .corrupt = error else { throw error }
      return false
    }
    let one = try blob.reader()
    while let piece = try one.read(upTo: BlobLayout.frameLength) {
      guard try readWhole(other) == piece else { return false }
    }
    return true
  }

  /// Returns the next piece of a reader; nil if it is damaged.
  private func readWhole(_ reader: BlobReader) throws(StoreError) -> Data? {
    do throws(StoreError) { return try reader.read(upTo: BlobLayout.frameLength) } catch {
      guard case .corrupt = error else { throw error }
      return nil
    }
  }
}
