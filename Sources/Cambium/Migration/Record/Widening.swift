/// A fixed column whose numbers get a type that has all of them. What is null is zero, and zero stays zero.
struct Widening: Sendable, BitwiseCopyable {
  private let source: Int
  private let target: Int
  private let from: ScalarType
  private let to: ScalarType

  /// Fails if it is none.
  init?(_ old: Column, _ new: Column) {
    guard old.place.kind == .fixed, new.place.kind == .fixed,
      let from = old.scalar, let to = new.scalar, from.widens(to: to)
    else { return nil }
    source = old.place.index
    target = new.place.index
    self.from = from
    self.to = to
  }

  func run(_ row: RawSpan, _ bytes: inout MutableRawSpan) {
    if let value = row.integer(from, at: source) {
      put(Int64(truncatingIfNeeded: value), &bytes)
    } else {
      // A float: nothing is wider than a double.
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
    default: bytes.store(Double(value).bitPattern, at: target)
    }
  }
}

extension ColumnType {
  /// Returns true if every value of this type is one of the other.
  func widens(to other: ColumnType) -> Bool {
    switch (self, other) {
    case (.scalar(let type), .scalar(let wider)): type.widens(to: wider)
    case (.array(of: let element), .array(of: let wider)): element.widens(to: wider)
    case (.scalar(let type), .external(of: let inner, _)): type == inner
    case (.external(of: let inner, _), .scalar(let type)): type == inner
    default: false
    }
  }

  /// Returns true if each value of this type, as a list of one, is a value of the other.
  func isElement(of list: ColumnType) -> Bool {
    guard case .scalar(let type) = self, case .array(of: let element) = list else { return false }
    return type == element || type.widens(to: element)
  }

  /// Returns true if every value of this type has a place in the other: as it is, wider, or as a list of one.
  func fits(_ other: ColumnType) -> Bool {
    stored == other.stored || widens(to: other) || isElement(of: other)
  }
}
