/// A change of values on their way through a merge: a migration step.
///
/// It applies to every entry below its version, of the base and of the inputs, and leaves keys as they
/// are.
protocol EntryTransform {
  /// The schema version of what it makes. Subtrees that have nothing older are taken over as they are.
  var schemaVersion: UInt32 { get }

  /// The same, to be used by another thread.
  func copy() -> Self

  /// Looks at one entry; `.replace` stands for what it appended to `newValue`, and nothing else may append to it.
  mutating func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult
}

extension EntryTransform {
  func copy() -> Self { self }
}

/// Which of the old entries a merge transforms.
enum TransformScope: Equatable, Sendable {
  /// All: a migration.
  case everything
  /// The first so many, and the rest of the last one's leaf: a slice of a migration. The next slice finds its
  /// place by the versions beside the references.
  case first(Int)
  /// Those in leaves that are rewritten anyway; others stay as they are, to be read through the
  /// transform. Without it a row of a new version would divide an old leaf in three.
  case touchedLeaves
}

enum TransformResult: Equatable, Sendable {
  /// The value stays as it is, in the new version.
  case keep
  case replace
  /// The entry is left out.
  case drop
  /// The entry stays as it is, in its old version.
  case leave
}

/// The transform of a merge, if it has one, and the entries that it is for.
///
/// It is erased, so that merges are compiled once for each input.
struct TreeTransform {
  let schemaVersion: UInt32
  private(set) var body: (any EntryTransform)?
  let scope: TransformScope
  /// Does it ahead of the merge; nil if the merging thread does all.
  let crew: WorkCrew?

  init(_ body: any EntryTransform, _ scope: TransformScope, by crew: WorkCrew? = nil) {
    self.body = body
    self.scope = scope
    self.crew = crew
    schemaVersion = body.schemaVersion
  }

  private init() {
    schemaVersion = 0
    scope = .touchedLeaves
    crew = nil
  }

  /// Leaves entries as they are, whatever their version.
  static var none: TreeTransform { TreeTransform() }

  /// Whether entries may be no more afterwards.
  var mayDrop: Bool { body != nil }

  mutating func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult {
    try body?.transform(key: key, value: value, schemaVersion: schemaVersion, to: &newValue)
      ?? .keep
  }
}
