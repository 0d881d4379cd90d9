/// One value that is computed.
struct ComputedStep: BitwiseCopyable, Sendable {
  let action: Action
  let form: Form
  let type: ScalarType
  let place: ColumnPlace
  let one: UInt32
  let other: UInt32
  /// Where a field is in every primary key, if it is a part of that; else nothing.
  private let keyOffset: UInt32
  private let keyWidth: UInt8

  /// The way in which its values are computed. Numbers stay in registers; others are boxed.
  enum Form: BitwiseCopyable {
    case double, integer, other

    init(_ kind: ComputedKind) {
      self =
        switch kind {
        case .double, .date: .double
        case .integer, .boolean: .integer
        case .null, .decimal, .string, .url, .data, .uuid: .other
        }
    }
  }

  enum Action: Hashable, BitwiseCopyable {
    case field, constant
    case arithmetic(FieldArithmetic)
    case negated, toDouble, toDecimal
    case characters, bytes, elements
    case lowercased, coalesced
    case function, related
  }

  init(
    _ action: Action, _ kind: ComputedKind, _ one: Int = 0, _ other: Int = 0,
    type: ScalarType = .binaryData,
    at place: ColumnPlace = ColumnPlace(.composite, index: 0, nullBit: nil),
    keyPlace: Range<Int>? = nil
  ) {
    self.action = action
    form = Form(kind)
    keyOffset = UInt32(keyPlace?.lowerBound ?? 0)
    keyWidth = UInt8(keyPlace?.count ?? 0)
    self.type = type
    self.place = place
    self.one = UInt32(one)
    self.other = UInt32(other)
  }

  /// Returns the integer that a primary key has in the place of the field; nil if that has to be looked for.
  @inline(__always)
  func integer(in key: RawSpan) -> ComputedInteger? {
    let offset = Int(keyOffset)
    guard keyWidth > 0, offset &+ Int(keyWidth) <= key.byteCount else { return nil }
    let isUnsigned = type.isUnsigned
    switch keyWidth {
    case 1:
      let word = key.load(offset, as: UInt8.self)
      return .value(isUnsigned ? Int64(word) : Int64(Int8(bitPattern: word ^ 1 << 7)))
    case 2:
      let word = key.load(offset, as: UInt16.self).byteSwapped
      return .value(isUnsigned ? Int64(word) : Int64(Int16(bitPattern: word ^ 1 << 15)))
    case 4:
      let word = key.load(offset, as: UInt32.self).byteSwapped
      return .value(isUnsigned ? Int64(word) : Int64(Int32(bitPattern: word ^ 1 << 31)))
    default:
      let word = key.load(offset, as: UInt64.self).byteSwapped
      guard isUnsigned else { return .value(Int64(bitPattern: word ^ 1 << 63)) }
      return Int64(exactly: word).map { .value($0) } ?? .wide
    }
  }
}
