/// A fixed column whose numbers get a type that has all of them. What is null is zero, and zero stays zero.
struct Widening: Sendable, BitwiseCopyable {
  private let source: Int
  private let target: Int
  private let from: Number
  private let to: Number

  fileprivate enum Number: Sendable, BitwiseCopyable {
    case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
  }

  /// Fails if it is none.
  init?(_ old: Column, _ new: Column) {
    guard old.place.kind == .fixed, new.place.kind == .fixed,
      let from = Number(old.field.type), let to = Number(new.field.type),
      to.canHold(from)
    else { return nil }
    source = old.place.index
    target = new.place.index
    self.from = from
    self.to = to
  }

  func run(_ row: RawSpan, _ bytes: inout MutableRawSpan) {
    switch from {
    case .int8: put(Int64(row.load(source, as: Int8.self)), &bytes)
    case .int16: put(Int64(row.load(source, as: Int16.self)), &bytes)
    case .int32: put(Int64(row.load(source, as: Int32.self)), &bytes)
    case .int64: put(row.load(source, as: Int64.self), &bytes)
    case .uint8: put(Int64(row.load(source, as: UInt8.self)), &bytes)
    case .uint16: put(Int64(row.load(source, as: UInt16.self)), &bytes)
    case .uint32: put(Int64(row.load(source, as: UInt32.self)), &bytes)
    // Nothing is wider.
    case .uint64, .double: return
    case .float:
      let value = Float(bitPattern: row.load(source, as: UInt32.self))
      bytes.store(Double(value).bitPattern, at: target)
    }
  }

  @inline(__always)
  private func put(_ value: Int64, _ bytes: inout MutableRawSpan) {
    switch to {
    case .int8, .uint8: bytes.store(UInt8(truncatingIfNeeded: value), at: target)
    case .int16, .uint16: bytes.store(UInt16(truncatingIfNeeded: value), at: target)
    case .int32, .uint32: bytes.store(UInt32(truncatingIfNeeded: value), at: target)
    case .int64, .uint64: bytes.store(UInt64(truncatingIfNeeded: value), at: target)
    case .float: bytes.store(Float(value).bitPattern, at: target)
    case .double: bytes.store(Double(value).bitPattern, at: target)
    }
  }
}

extension ColumnType {
  /// Returns true if every value of this type is one of the other.
  func widens(to other: ColumnType) -> Bool {
    switch (self, other) {
    case (.array(of: let element), .array(of: let wider)): return element.widens(to: wider)
    case (let type, .external(of: let inner, _)), (.external(of: let inner, _), let type):
      return type == inner
    default:
      guard let from = Widening.Number(self), let to = Widening.Number(other) else { return false }
      return from != to && to.canHold(from)
    }
  }
}

extension Widening.Number {
  /// The bits that a value has beside its sign.
  private var bitCount: Int {
    switch self {
    case .int8: 7
    case .uint8: 8
    case .int16: 15
    case .uint16: 16
    case .float: 24
    case .int32: 31
    case .uint32: 32
    case .double: 53
    case .int64: 63
    case .uint64: 64
    }
  }

  private var isUnsigned: Bool {
    switch self {
    case .uint8, .uint16, .uint32, .uint64: true
    default: false
    }
  }

  private var isFraction: Bool { self == .float || self == .double }

  /// Returns true if every value of the other type is one of this.
  fileprivate func canHold(_ other: Self) -> Bool {
    if isUnsigned && !other.isUnsigned || !isFraction && other.isFraction { return false }
    return bitCount >= other.bitCount
  }

  fileprivate init?(_ type: ColumnType) {
    switch type {
    case .int8: self = .int8
    case .int16: self = .int16
    case .int32: self = .int32
    case .int64: self = .int64
    case .uint8: self = .uint8
    case .uint16: self = .uint16
    case .uint32: self = .uint32
    case .uint64: self = .uint64
    case .float: self = .float
    case .double: self = .double
    default: return nil
    }
  }
}
