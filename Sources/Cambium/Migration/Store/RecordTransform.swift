/// Makes any number of new records of each old one, by a closure of the program.
struct RecordTransform: Sendable {
  /// True if it reads other records of the old version.
  let readsVersion: Bool
  private let body: @Sendable (borrowing OldRow, RecordEmitter) throws -> Void

  init(
    readsVersion: Bool, _ body: @escaping @Sendable (borrowing OldRow, RecordEmitter) throws -> Void
  ) {
    self.readsVersion = readsVersion
    self.body = body
  }

  func run(_ old: borrowing OldRow, _ emit: RecordEmitter) throws { try body(old, emit) }

  /// A transform in memory of its own. Threads that count references to the same one slow each other down.
  func copy() -> RecordTransform {
    let body = body
    return RecordTransform(readsVersion: readsVersion) { old, emit in try body(old, emit) }
  }
}

/// An old record as it is stored, to be read with its Swift type or without.
@usableFromInline
struct OldRow: ~Escapable {
  @usableFromInline let key: RawSpan
  @usableFromInline let row: RawSpan
  @usableFromInline let blobs: BlobFinder?
  /// Those of the old version.
  @usableFromInline let entities: Entities
  private let source: Entity
  private let old: OldVersion?

  /// - Parameters:
  ///   - source: The record's, in the old version.
  ///   - old: The old version, if the transform reads it.
  @_lifetime(copy key, copy row)
  init(
    key: RawSpan, row: RawSpan, of source: Entity, _ blobs: BlobFinder?, _ entities: Entities,
    _ old: OldVersion?
  ) {
    self.key = key
    self.row = row
    self.source = source
    self.blobs = blobs
    self.entities = entities
    self.old = old
  }

  @inlinable
  func load<Old: Record>(_ type: Old.Type) throws -> Old {
    try entities.type(type).load(key: key, row: row, blobs: blobs)
  }

  func record() throws(StoreError) -> OldRecord {
    try OldRecord(try source.row(key: key, row: row, blobs: blobs))
  }

  /// The old version; nil unless the transform reads it.
  @usableFromInline
  var version: StoreSnapshot? { old.map(\.snapshot) }
}

extension OldVersion {
  var snapshot: StoreSnapshot { StoreSnapshot(entities, trees) }
}
