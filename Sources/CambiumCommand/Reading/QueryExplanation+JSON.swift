import Cambium

extension QueryExplanation {
  var json: JSONValue {
    [
      "record": .string(record), "access": .string(access),
      "related": .array(related.map { .string($0) }),
      "levels": .array(levels.map { .string($0) }),
      "condition": JSONValue(condition.map { "\($0)" }),
      "sorting": .string(sorting.name),
      "estimatedCount": JSONValue(estimatedCount),
      "actual": actual.map { actual -> JSONValue in
        [
          "entries": JSONValue(actual.entryCount), "rows": JSONValue(actual.rowCount),
          "records": JSONValue(actual.resultCount),
        ]
      } ?? .null,
      "others": .array(
        others.map { ["access": .string($0.access), "reason": .string($0.reason)] }),
      "text": .string("\(self)"),
    ]
  }
}

extension QueryExplanation.Sorting {
  fileprivate var name: String {
    switch self {
    case .none: "none"
    case .groups: "groups"
    case .all: "all"
    case .first: "first"
    }
  }
}
