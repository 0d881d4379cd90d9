/// The place of a field in a record's bytes, and its null bit.
struct ColumnPlace: Hashable, Sendable, BitwiseCopyable {
  enum Kind: UInt8, BitwiseCopyable {
    /// In the primary key; `index` is the part.
    case key
    /// In the row, as many bytes as values of the type always are; `index` is the offset.
    case fixed
    /// In the row; `index` counts the variable columns.
    case variable
    /// Nowhere: a composite, whose parts are fields of their own.
    case composite
  }

  let kind: Kind
  private let storedIndex: UInt32
  private let storedBit: Int32

  init(_ kind: Kind, index: Int, nullBit: Int?) {
    self.kind = kind
    storedIndex = UInt32(index)
    storedBit = Int32(nullBit ?? -1)
  }

  @inline(__always)
  var index: Int { Int(storedIndex) }

  /// The bit in the row that says that there is no value; nil if there always is one.
  ///
  /// A field that is not optional, in a composite that is, has the composite's bit.
  @inline(__always)
  var nullBit: Int? { storedBit < 0 ? nil : Int(storedBit) }
}

/// A field as rows have it.
struct Column: Hashable, Sendable {
  let field: FieldSchema
  /// The type of its values, if each is one scalar.
  let scalar: ScalarType?
  let place: ColumnPlace
  /// The bits to be set where it is null: its own, and those of what is in it.
  let nullBits: [Int]
  /// The parts of a composite, by their place in the layout's columns.
  let parts: [Int]
}
