/// A change of values on their way through a merge: a migration step.
///
/// It applies to every entry below its version, of the base and of the inputs, and leaves keys as they
/// are.
protocol EntryTransform {
  /// The schema version of what it makes. Subtrees that have nothing older are taken over as they are.
  var schemaVersion: UInt32 { get }

  /// Looks at one entry; `.replace` stands for what it appended to `newValue`, which comes empty.
  mutating func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult
}

enum TransformResult: Hashable, Sendable {
  /// The value stays as it is, in the new version.
  case keep
  case replace
  /// The entry is left out.
  case drop
}

/// Leaves entries as they are, whatever their version.
struct NoTransform: EntryTransform {
  var schemaVersion: UInt32 { 0 }

  mutating func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult { .keep }
}
