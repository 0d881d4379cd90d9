/// Names and literals as SQL has them.
enum SQL {
  /// A name, between quotes where it would be read as something else without them.
  static func name(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && !reserved.contains(name)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
      } && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(name.utf8.first ?? 0)
    if isPlain { return name }
    return "\""
      + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }

  static func names(_ names: [String]) -> String {
    names.map { name($0) }.joined(separator: ", ")
  }

  /// The rest of a part of an order, by which null is below everything, as in the store.
  ///
  /// A column that is never null says nothing of nulls: the server only uses an index for an order that has the same words.
  static func order(isDescending: Bool, isNullable: Bool) -> String {
    switch (isDescending, isNullable) {
    case (false, false): ""
    case (false, true): " NULLS FIRST"
    case (true, false): " DESC"
    case (true, true): " DESC NULLS LAST"
    }
  }

  /// A string literal. The server's `standard_conforming_strings` is on, as it is by default.
  static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }

  /// A literal of type `bytea`.
  static func literal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = Array("'\\x".utf8)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    text += Array("'::bytea".utf8)
    return String(decoding: text, as: UTF8.self)
  }

  /// The words that PostgreSQL 15 does not take as names of columns without quotes, or reads otherwise somewhere.
  private static let reserved: Set<String> = [
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization",
    "between", "bigint", "binary", "bit", "boolean", "both", "case", "cast", "char", "character",
    "check", "coalesce", "collate", "collation", "column", "concurrently", "constraint", "create",
    "cross", "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable", "desc",
    "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float",
    "for", "foreign", "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having",
    "ilike", "in", "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into",
    "is", "isnull", "join", "lateral", "leading", "least", "left", "like", "limit", "localtime",
    "localtimestamp", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
    "nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps",
    "overlay", "placing", "position", "precision", "primary", "real", "references", "returning",
    "right", "row", "select", "session_user", "setof", "similar", "smallint", "some", "substring",
    "symmetric", "table", "tablesample", "then", "time", "timestamp", "to", "trailing", "treat",
    "trim", "true", "union", "unique", "user", "using", "values", "varchar", "variadic", "verbose",
    "when", "where", "window", "with", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists",
    "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable",
  ]
}

/// How names of records and fields become names of tables and columns.
package enum NameStyle: String, CaseIterable, Sendable, Codable {
  /// `sortName` is `sort_name`.
  case snake
  /// As they are stored.
  case exact

  func name(_ stored: String) -> String {
    self == .exact ? stored : Self.snake(stored)
  }

  private static func snake(_ stored: String) -> String {
    let scalars = Array(stored.unicodeScalars)
    var text = ""
    for (place, scalar) in scalars.enumerated() {
      let before = place > 0 ? scalars[place - 1] : nil
      let after = place + 1 < scalars.count ? scalars[place + 1] : nil
      let isCapital = scalar.properties.isUppercase
      let beginsWord =
        isCapital
        && (before.map { $0.properties.isLowercase || ("0"..."9").contains($0) } ?? false
          || (before?.properties.isUppercase ?? false) && (after?.properties.isLowercase ?? false))
      if beginsWord { text += "_" }
      text +=
        scalar == "." || scalar == " " || scalar == "-" ? "_" : scalar.properties.lowercaseMapping
    }
    return text
  }
}

/// Names that are taken, in one namespace of the database.
struct NamePool {
  private var taken: Set<String> = []

  /// PostgreSQL cuts longer names.
  private static let lengthMax = 63

  /// Returns a name of at most 63 bytes that is not taken, and takes it.
  mutating func take(_ wanted: String) -> String {
    var name = Self.cut(wanted, to: Self.lengthMax)
    var number = 2
    while !taken.insert(name).inserted {
      let suffix = "_\(number)"
      name = Self.cut(wanted, to: Self.lengthMax - suffix.utf8.count) + suffix
      number += 1
    }
    return name
  }

  private static func cut(_ name: String, to length: Int) -> String {
    var name = name
    while name.utf8.count > length { name.unicodeScalars.removeLast() }
    return name
  }
}
