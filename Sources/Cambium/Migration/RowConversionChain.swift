/// Several conversions, one behind the other.
struct RowConversionChain: RowConverting {
  private let conversions: [RowConversion]

  init(_ conversions: [RowConversion]) {
    self.conversions = conversions
  }

  func convert(key: RawSpan, row: RawSpan, to writer: RowWriter) throws(StoreError) {
    guard let first = conversions.first else { return }
    if conversions.count == 1 { return try first.convert(key: key, row: row, to: writer) }
    var made: [UInt8] = row.array()
    for conversion in conversions {
      try conversion.convert(key: key, row: made.rawSpan, to: writer)
      made.assign(writer.row)
    }
  }
}
