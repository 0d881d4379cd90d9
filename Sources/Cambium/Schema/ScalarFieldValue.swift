#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A Swift type whose values columns hold as they are. There is one for each `ScalarType`, and `Int` and `UInt`.
protocol ScalarFieldValue: FieldValueConvertible {
  /// The type of the columns that hold its values.
  static var scalarType: ScalarType { get }
}

extension Int: ScalarFieldValue { static var scalarType: ScalarType { .int64 } }
extension Int8: ScalarFieldValue { static var scalarType: ScalarType { .int8 } }
extension Int16: ScalarFieldValue { static var scalarType: ScalarType { .int16 } }
extension Int32: ScalarFieldValue { static var scalarType: ScalarType { .int32 } }
extension Int64: ScalarFieldValue { static var scalarType: ScalarType { .int64 } }
extension UInt: ScalarFieldValue { static var scalarType: ScalarType { .uint64 } }
extension UInt8: ScalarFieldValue { static var scalarType: ScalarType { .uint8 } }
extension UInt16: ScalarFieldValue { static var scalarType: ScalarType { .uint16 } }
extension UInt32: ScalarFieldValue { static var scalarType: ScalarType { .uint32 } }
extension UInt64: ScalarFieldValue { static var scalarType: ScalarType { .uint64 } }
extension Bool: ScalarFieldValue { static var scalarType: ScalarType { .boolean } }
extension Float: ScalarFieldValue { static var scalarType: ScalarType { .float } }
extension Double: ScalarFieldValue { static var scalarType: ScalarType { .double } }
extension Date: ScalarFieldValue { static var scalarType: ScalarType { .date } }
extension UUID: ScalarFieldValue { static var scalarType: ScalarType { .uuid } }
extension String: ScalarFieldValue { static var scalarType: ScalarType { .string } }
extension URL: ScalarFieldValue { static var scalarType: ScalarType { .url } }
extension Data: ScalarFieldValue { static var scalarType: ScalarType { .binaryData } }
extension Decimal: ScalarFieldValue { static var scalarType: ScalarType { .decimal } }
