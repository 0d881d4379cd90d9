/// What an entry does to what lies below the overlay.
enum EntryEffect: UInt, BitwiseCopyable {
  /// The key is not there below.
  case add = 0
  /// The key is there below, with another value.
  case replace = 1
  /// The key is there below, and is to be there no more.
  case remove = 2

  /// By how many the entry changes the count of what lies below.
  @inline(__always)
  var change: Int { 1 - Int(bitPattern: rawValue) }
}

/// An entry of an overlay: where its bytes are in the arena, and its effect.
///
///     offset  0             4               8           10
///             ┌─────────────┬───────────────┬───────────┬─────┬───────┐
///             │value length │schema version │key length │ key │ value │  from a multiple of 8 on
///             └─────────────┴───────────────┴───────────┴─────┴───────┘
///
/// The bytes are written once, before the reference is made, and stay where they are as long as the
/// arena; only a roll-back takes back those that no version knows.
@safe struct EntryReference: BitwiseCopyable, Equatable {
  static let headerSize = 10
  static let alignment = 8
  private static let effectMask: UInt = 3

  /// The address, with the effect in the bits that its alignment leaves free.
  private let bits: UInt

  @inline(__always)
  init(_ address: UnsafeRawPointer, _ effect: EntryEffect) {
    bits = UInt(bitPattern: address) | effect.rawValue
  }

  private init(bits: UInt) {
    self.bits = bits
  }

  /// The reference of a separator that nothing is compared with.
  static let none = EntryReference(bits: 0)

  @inline(__always)
  private var address: UnsafeRawPointer {
    unsafe UnsafeRawPointer(bitPattern: bits & ~Self.effectMask).unsafelyUnwrapped
  }

  @inline(__always)
  var effect: EntryEffect { EntryEffect(rawValue: bits & Self.effectMask) ?? .replace }

  @inline(__always)
  var isRemoval: Bool { bits & Self.effectMask == EntryEffect.remove.rawValue }

  @inline(__always)
  var schemaVersion: UInt32 { unsafe address.load(fromByteOffset: 4, as: UInt32.self) }

  @inline(__always)
  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let key = unsafe RawSpan(
        _unsafeStart: address + Self.headerSize, byteCount: keyLength)
      return unsafe _overrideLifetime(key, borrowing: self)
    }
  }

  @inline(__always)
  var value: RawSpan {
    @_lifetime(borrow self)
    get {
      let length = unsafe Int(address.load(as: UInt32.self))
      let value = unsafe RawSpan(
        _unsafeStart: address + Self.headerSize + keyLength, byteCount: length)
      return unsafe _overrideLifetime(value, borrowing: self)
    }
  }

  @inline(__always)
  private var keyLength: Int { unsafe Int(address.load(fromByteOffset: 8, as: UInt16.self)) }

  /// Asks the processor for header, key and the beginning of the value.
  @inline(__always)
  func prefetch() {
    unsafe RawSpan(_unsafeStart: address, byteCount: 128).prefetch(0, 128)
  }
}

extension EntryReference {
  /// The bytes that an entry takes in the arena.
  static func size(_ key: RawSpan, _ value: RawSpan) -> Int {
    (headerSize + key.byteCount + value.byteCount + alignment - 1) & ~(alignment - 1)
  }

  /// Writes an entry to memory that has room for it.
  @inline(__always)
  static func write(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, _ effect: EntryEffect,
    to address: UnsafeMutableRawPointer
  ) -> EntryReference {
    unsafe address.storeBytes(of: UInt32(value.byteCount), as: UInt32.self)
    unsafe address.storeBytes(of: schemaVersion, toByteOffset: 4, as: UInt32.self)
    unsafe address.storeBytes(of: UInt16(key.byteCount), toByteOffset: 8, as: UInt16.self)
    let length = key.byteCount + value.byteCount
    var bytes = unsafe MutableRawSpan(
      _unsafeStart: address + headerSize, byteCount: length)
    bytes.copy(key, to: 0)
    bytes.copy(value, to: key.byteCount)
    return unsafe EntryReference(UnsafeRawPointer(address), effect)
  }
}
