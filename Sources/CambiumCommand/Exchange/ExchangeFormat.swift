/// The lines of an export.
///
///     {"cambium-export":1,"version":3,"fingerprint":"…","schema":"schema-lock 1\n…","records":{"Person":2}}
///     {"record":"Person","fields":{"id":1,"name":"Ada"}}
///     {"record":"Person","fields":{"id":2,"name":"Grace"}}
///     {"metadata":"owner","value":"…"}
///     {"end":2}
///
/// The first has all that is needed to make the store again, with the names of its indexes. The last has the number
/// of records, so that an export that was cut off is not taken for a whole one. Types come in the order of
/// their names, records by primary key: stores with the same content have the same export.
enum ExchangeFormat {
  static let number = 1
  static let name = "cambium-export"
}
