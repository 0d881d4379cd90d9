public import Cambium

/// The types of attributes in Core Data's words. `objectIDAttributeType` and `compositeAttributeType` are missing: a
/// relationship is an `AddRelationship`, and a composite has parts.
extension FieldType {
  public static let integer16AttributeType = FieldType.int16
  public static let integer32AttributeType = FieldType.int32
  public static let integer64AttributeType = FieldType.int64
  public static let decimalAttributeType = FieldType.decimal
  public static let doubleAttributeType = FieldType.double
  public static let floatAttributeType = FieldType.float
  public static let stringAttributeType = FieldType.string
  public static let booleanAttributeType = FieldType.boolean
  public static let dateAttributeType = FieldType.date
  public static let binaryDataAttributeType = FieldType.binaryData
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static let UUIDAttributeType = FieldType.uuid
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static let URIAttributeType = FieldType.url
  public static let transformableAttributeType = FieldType.transformable
}
