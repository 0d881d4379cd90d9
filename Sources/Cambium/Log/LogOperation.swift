/// One change that a commit or an overlay makes, as the log holds it.
///
/// It lives as long as the bytes it was read from.
struct LogOperation: ~Escapable {
  /// Each begins with a byte that says which it is.
  enum Kind: UInt8, Sendable, CaseIterable {
    /// The following are of the tree of this name: length u8, name.
    case tree = 1
    /// The values that follow are of this schema version: u32.
    case schemaVersion = 2
    /// An entry whose key was absent: key length u16, value length u32, key, value.
    case add = 3
    /// An entry whose key was present; as above.
    case replace = 4
    /// The entry is no more, which was present: key length u16, key.
    case remove = 5
    /// The tree has no entries.
    case clear = 6
  }

  let kind: Kind
  /// The key of an entry; of `.tree` the name, which is UTF-8.
  let key: RawSpan
  /// The value of an entry that is added or replaced.
  let value: RawSpan
  /// What the last `.schemaVersion` said, this one included; 0 before the first.
  let schemaVersion: UInt32

  @_lifetime(copy key, copy value)
  init(_ kind: Kind, key: RawSpan, value: RawSpan, schemaVersion: UInt32) {
    self.kind = kind
    self.key = key
    self.value = value
    self.schemaVersion = schemaVersion
  }
}
