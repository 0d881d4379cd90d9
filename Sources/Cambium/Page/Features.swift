/// Parts of the format that a store uses, as bits; each says which accesses a program that does not know it is allowed.
struct Features: Equatable, Sendable {
  /// An unknown bit changes nothing: the store may be read and written.
  var compatible: UInt64 = 0
  /// With an unknown bit the store may be read, not written.
  var readCompatible: UInt64 = 0
  /// With an unknown bit the store may not be opened.
  var incompatible: UInt64 = 0

  /// The bits this version knows.
  static let known = Features()

  /// The accesses that are allowed to a store that uses `self`.
  var access: Access {
    if incompatible & ~Features.known.incompatible != 0 { return .refused }
    if readCompatible & ~Features.known.readCompatible != 0 { return .reading }
    return .writing
  }

  enum Access: Equatable, Sendable {
    case refused
    case reading
    case writing
  }
}
