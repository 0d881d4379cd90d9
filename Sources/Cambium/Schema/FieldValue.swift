public import FoundationEssentials

/// The value of one field, for whoever has no Swift type for it: defaults, conditions, dynamic records.
public enum FieldValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// Of all signed widths.
  case integer(Int64)
  /// Of all unsigned widths.
  case unsigned(UInt64)
  case float(Float)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  /// Of an external field, read when it is asked for.
  case blob(Blob)
  case uuid(UUID)
  case url(URL)
  case array([FieldValue])
  /// By the parts' names.
  case composite([String: FieldValue])
}
