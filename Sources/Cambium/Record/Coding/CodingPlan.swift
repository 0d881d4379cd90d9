internal import Synchronization

/// A plan by which the values of one record type become keys and rows through their own `encode(to:)` and `init(from:)`.
///
/// Coding keys are matched to fields by the properties' names, then by the stored ones.
@usableFromInline
final class CodingPlan: Sendable {
  let layout: RowLayout
  private let tree: CodingTree
  /// The encoders and decoders that are not in use, whose memory serves the next record.
  private let idle = Mutex(Idle())

  private struct Idle: ~Copyable {
    var encodings: [RowEncoding] = []
    var decodings: [RowDecoding] = []
  }

  /// - Throws: `.invalidDescription` for what no type could be encoded as.
  init(_ record: CheckedRecord, layout: RowLayout) throws(StoreError) {
    self.layout = layout
    tree = try CodingTree(record, layout)
    try Self.refuseDoubleOptionals(record, layout)
  }

  /// Puts the key and the row of a record together.
  ///
  /// - Throws: `.invalidValue`, naming the field, where the type encodes itself otherwise than it is
  ///   described, and what `RecordPlan` throws.
  @usableFromInline
  func write<Subject: Record>(
    _ record: Subject, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    let waiting = idle.withLock { $0.encodings.popLast() }
    let encoding = waiting ?? RowEncoding(layout: layout, tree: tree)
    try encoding.encode(record, to: row, key: key)
    // One that has failed is not used again.
    idle.withLock { $0.encodings.append(encoding) }
  }

  /// Makes a record of its key and row.
  ///
  /// - Throws: as `write`, and `.corrupt` where the bytes are no such record.
  @usableFromInline
  func read<Subject: Record>(
    _ type: Subject.Type, key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil
  ) throws(StoreError) -> Subject {
    let waiting = idle.withLock { $0.decodings.popLast() }
    let decoding = waiting ?? RowDecoding(layout: layout, tree: tree)
    let record = try decoding.decode(type, key: key, row: row, blobs: blobs)
    idle.withLock { $0.decodings.append(decoding) }
    return record
  }

  /// Refuses a property that no row could hold, if reflection shows the properties. If not, encoding it does.
  private static func refuseDoubleOptionals(
    _ record: CheckedRecord, _ layout: RowLayout
  ) throws(StoreError) {
    for property in Reflection.storedProperties(of: record.type) {
      guard let wrapped = Reflection.wrapped(property.type), Reflection.wrapped(wrapped) != nil
      else { continue }
      throw .invalidDescription(
        record: record.schema.name, field: property.name, version: Int(layout.version),
        reason: "the property is an \(property.type), and a row has only one kind of nil")
    }
  }
}
