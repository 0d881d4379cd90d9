/// The records that a query has found, as their fields' values.
struct FoundDynamicRecords {
  let found: FoundRecords
  private let layout: RowLayout
  /// The columns of the fields to return, and their names; nil for all.
  private let columns: (places: [Int], names: FieldNameList)?

  init(
    _ query: FieldQuery, of name: String, _ fields: [String]?, in reader: RecordReader
  ) throws(StoreError) {
    let runner = try reader.runner(ofRecord: name)
    let layout = runner.record.layout
    self.layout = layout
    columns = try fields.map { fields throws(StoreError) in
      var columns: [Int] = []
      for field in fields {
        let column = try layout.place(ofQueried: field)
        if !columns.contains(column) { columns.append(column) }
      }
      return (columns, FieldNameList(columns.map { layout.columns[$0].field.name }))
    }
    found = try runner.find(query)
  }

  /// Moves to the next record; false after the last.
  func next() throws(StoreError) -> Bool { try found.next() }

  /// Returns the present record.
  func record(stringsAsBlobs: Bool = false) throws(StoreError) -> DynamicRecord {
    let row = try RowReader(
      key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
    guard let columns else { return try DynamicRecord(row, stringsAsBlobs: stringsAsBlobs) }
    var values: [FieldValue?] = []
    for column in columns.places {
      values.append(try row.value(column, stringsAsBlobs: stringsAsBlobs))
    }
    return DynamicRecord(layout.record.name, RecordFields(columns.names, values))
  }
}
