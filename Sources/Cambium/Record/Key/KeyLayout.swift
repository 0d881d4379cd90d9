/// The form in which one part of a key is made of its value.
struct KeyForm: OptionSet, Hashable, Sendable, BitwiseCopyable {
  let rawValue: UInt8

  /// Values may be null: a byte before says so.
  static let isOptional = KeyForm(rawValue: 1)
  /// All bytes are inverted, so that high values come first.
  static let isDescending = KeyForm(rawValue: 2)
  /// Strings are mapped to lowercase.
  static let isCaseInsensitive = KeyForm(rawValue: 4)
  /// Nothing follows, so bytes that vary in number need no end.
  static let isLast = KeyForm(rawValue: 8)

  /// True if bytes that vary in number stand as they are, up to the end of the key.
  var isRaw: Bool { isSuperset(of: .isLast) && isDisjoint(with: .isDescending) }
}

/// One part of a key: a column and the form it has there.
struct KeyColumn: Hashable, Sendable, BitwiseCopyable {
  /// The place in the layout's columns.
  let column: UInt32
  let place: ColumnPlace
  let type: ScalarType
  let form: KeyForm
}

/// The parts of a key, one behind the other.
struct KeyLayout: Hashable, Sendable {
  let columns: [KeyColumn]
  /// The length of all keys; nil if it varies.
  let fixedLength: Int?

  /// - Parameter endsKey: True if the last part ends the key; otherwise more follows behind it.
  init(_ columns: [KeyColumn], endsKey: Bool) {
    self.columns = columns.enumerated().map { index, column in
      let isLast = endsKey && index == columns.count - 1
      return KeyColumn(
        column: column.column, place: column.place, type: column.type,
        form: isLast ? column.form.union(.isLast) : column.form)
    }
    let widths = columns.map { $0.form.contains(.isOptional) ? nil : $0.type.fixedWidth }
    fixedLength = widths.reduce(0) { sum, width in sum.flatMap { sum in width.map { sum + $0 } } }
  }

  /// Creates the layout of parts that the schema of a record names, which were checked to exist and to be of key types.
  init(_ parts: [KeyPart], columns: [Column], numbers: [UInt32: Int], endsKey: Bool) {
    let made: [KeyColumn] = parts.compactMap { part in
      guard let index = numbers[part.field], let type = columns[index].field.type.scalar else {
        return nil
      }
      var form: KeyForm = []
      if columns[index].place.nullBit != nil { form.insert(.isOptional) }
      if part.isDescending { form.insert(.isDescending) }
      if part.isCaseInsensitive, type == .string { form.insert(.isCaseInsensitive) }
      return KeyColumn(
        column: UInt32(index), place: columns[index].place, type: type, form: form)
    }
    self.init(made, endsKey: endsKey)
  }
}
