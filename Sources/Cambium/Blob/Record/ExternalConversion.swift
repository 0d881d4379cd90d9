internal import FoundationEssentials

/// A type of properties that external fields can have.
protocol ExternalContent: Sendable {
  /// The blob that is stored of it.
  var blob: Blob { get }
  /// - Returns: nil if the content is no such value.
  /// - Throws: `.corrupt`, `.io` where it has to be read.
  static func content(of blob: Blob) throws(StoreError) -> Self?
}

extension Blob: ExternalContent {
  var blob: Blob { self }
  static func content(of blob: Blob) -> Blob? { blob }
}

extension Data: ExternalContent {
  var blob: Blob { Blob(self) }
  static func content(of blob: Blob) throws(StoreError) -> Data? { try blob.data() }
}

extension String: ExternalContent {
  var blob: Blob { Blob(Data(utf8)) }
  static func content(of blob: Blob) throws(StoreError) -> String? {
    String(validating: try blob.data(), as: UTF8.self)
  }
}

/// Properties of external fields: a `Blob` is what finds its content, `Data` and `String` are read with the record.
struct ExternalConversion<Value: ExternalContent>: ValueConversion {
  let place: FieldPlace

  func stored(_ value: Value) -> ExternalBlob { ExternalBlob(blob: value.blob) }

  func value(_ stored: ExternalBlob) throws(StoreError) -> Value {
    guard let value = try Value.content(of: stored.blob) else {
      throw place.invalid("its content is not UTF-8")
    }
    return value
  }
}

/// The value of an external column.
struct ExternalBlob: ColumnValue {
  let blob: Blob

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(blob, to: column)
  }

  static func get(
    from row: borrowing RowReader, at column: Int
  ) throws(StoreError) -> ExternalBlob {
    let value = try row.external(column)
    return ExternalBlob(blob: try row.blob(value))
  }
}

extension RowReader {
  /// Returns the content of an external value, to be read.
  ///
  /// - Throws: `.corrupt` where nothing is there that it refers to.
  func blob(_ value: ExternalValue) throws(StoreError) -> Blob {
    switch value {
    case .inline(let data): return Blob(data)
    case .reference(let reference):
      guard let blobs else {
        throw .invalidValue(
          record: layout.record.name, field: nil, reason: "blobs cannot be read here")
      }
      return try blobs.blob(reference)
    case .waiting(let number):
      guard let blobs, blobs.waiting.indices.contains(number) else {
        throw fault(.rowExternal, "an external value waits to be stored")
      }
      return blobs.waiting[number]
    }
  }

  /// The content of an external string.
  func string(of blob: Blob) throws(StoreError) -> String {
    guard let text = try String.content(of: blob) else {
      throw fault(.rowValues, "a string is not UTF-8")
    }
    return text
  }
}
