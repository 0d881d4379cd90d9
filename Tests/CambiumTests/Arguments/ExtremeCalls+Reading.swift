import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A call for each public declaration, with every extreme of each of its parameters.
enum ExtremeCalls {
  private static func queries() -> [Query<Photo>] {
    Extremes.integers.flatMap { number in
      [
        Query<Photo>().limit(number), Query<Photo>().limit(.max).offset(number),
        Photo.sorted(by: .ascending(\.name)).limit(number).offset(number),
        Photo.sorted(by: .descending(\.name)).limit(.max).offset(number),
      ]
    }
  }

  private static func ask(_ extremes: Extremes, _ query: Query<Photo>) {
    let store = extremes.store
    Extremes.attempt { _ = try store.fetch(query) }
    Extremes.attempt { _ = try store.first(query) }
    Extremes.attempt { _ = try store.count(query) }
    Extremes.attempt { _ = try store.contains(query) }
    Extremes.attempt { _ = try store.keys(query) }
    Extremes.attempt { _ = try store.explain(query) }
    Extremes.attempt { _ = try store.select(\.name, from: query) }
    Extremes.attempt { _ = try store.sum(\.id, of: query) }
    Extremes.attempt { _ = try store.sections(of: query, by: \.name) }
    Extremes.attempt { _ = try store.results(of: query, sectionedBy: \.name) }
  }

  private static let names = Photo.select(\.name).union(Photo.where { $0.id > 1 }.select(\.name))

  private static func ask<Row, Columns>(_ extremes: Extremes, _ union: UnionQuery<Row, Columns>) {
    for query in [union, union.distinct()] {
      Extremes.attempt { _ = try extremes.store.fetch(query) }
      Extremes.attempt { _ = try extremes.store.first(query) }
      Extremes.attempt { _ = try extremes.store.count(query) }
      Extremes.attempt { _ = try extremes.store.explain(query, running: true) }
    }
  }

  static let reading: [String: @Sendable (Extremes) throws -> Void] = [
    "Query.after(_:)": { extremes in
      for query in queries() { ask(extremes, query) }
      for value in Extremes.values {
        ask(extremes, Query().after(value))
        ask(extremes, Query().sorted(by: .ascending(\.name)).after(value, value))
      }
      ask(extremes, Query().after())
    },
    "Query.limit(_:)": { extremes in
      for number in Extremes.integers {
        ask(extremes, Photo.where { $0.id > number }.limit(number))
        ask(extremes, Photo.sorted(by: .descending(\.name)).limit(number))
      }
    },
    "Query.offset(_:)": { extremes in
      for number in Extremes.integers {
        ask(extremes, Photo.where { $0.id < number }.limit(.max).offset(number))
      }
    },
    "GroupedQuery.limit(_:)": { extremes in
      for number in Extremes.integers {
        let groups = Query<Photo>().grouped(by: \.name).limit(number)
        Extremes.attempt { _ = try extremes.store.fetch(groups) }
      }
    },
    "GroupedQuery.offset(_:)": { extremes in
      for number in Extremes.integers {
        let groups = Query<Photo>().grouped(by: \.name).limit(.max).offset(number)
        Extremes.attempt { _ = try extremes.store.fetch(groups) }
      }
    },
    "RunningQuery.limit(_:)": { extremes in
      for number in Extremes.integers {
        let query = Photo.sorted(by: .ascending(\.name)).numbered().limit(number)
        Extremes.attempt { _ = try extremes.store.fetch(query) }
      }
    },
    "RunningQuery.offset(_:)": { extremes in
      for number in Extremes.integers {
        let query = Photo.sorted(by: .ascending(\.name)).numbered().limit(.max)
          .offset(number)
        Extremes.attempt { _ = try extremes.store.fetch(query) }
      }
    },
    "UnionQuery.limit(_:)": { extremes in
      for number in Extremes.integers { ask(extremes, names.limit(number)) }
    },
    "UnionQuery.offset(_:)": { extremes in
      for number in Extremes.integers { ask(extremes, names.limit(.max).offset(number)) }
    },
    "UnionCursor.next(_:)": { extremes in
      for number in Extremes.integers {
        Extremes.attempt { _ = try extremes.store.cursor(names).next(number) }
      }
    },
    "RecordReading.descendants(of:along:upTo:)": { _ in
      let store = try Part.store()
      for depth in Extremes.integers {
        Extremes.attempt {
          _ = try store.descendants(of: Part(id: 1), along: Part.parts, upTo: depth)
        }
        Extremes.attempt {
          _ = try store.descendants(
            of: Part.where { $0.id >= depth }, along: Part.parts, upTo: depth)
        }
      }
    },
    "RecordReading.ancestors(of:along:upTo:)": { _ in
      let store = try Part.store()
      for depth in Extremes.integers {
        Extremes.attempt {
          _ = try store.ancestors(of: Part(id: depth), along: \.whole, upTo: depth)
        }
        Extremes.attempt {
          _ = try store.ancestors(
            of: Query<Part>().limit(depth).offset(depth), along: \.whole, upTo: depth)
        }
      }
    },
    "RecordReading.fetch(record:where:sortedBy:limit:offset:after:fields:)": { extremes in
      dynamic(extremes) { name, condition, order, number, fields in
        _ = try extremes.store.fetch(
          record: name, where: condition, sortedBy: order, limit: number, offset: number,
          after: [.integer(Int64(number))], fields: fields)
      }
    },
    "RecordReading.forEach(record:where:sortedBy:limit:offset:after:fields:stringsAsBlobs:_:)": {
      extremes in
      dynamic(extremes) { name, condition, order, number, fields in
        try extremes.store.forEach(
          record: name, where: condition, sortedBy: order, limit: number, offset: number,
          after: condition == nil ? nil : [], fields: fields, stringsAsBlobs: true
        ) { _ in }
      }
    },
    "RecordReading.count(record:where:)": { extremes in
      for condition in Extremes.conditions {
        Extremes.attempt { _ = try extremes.store.count(record: "Photo", where: condition) }
      }
      for name in Extremes.strings {
        Extremes.attempt { _ = try extremes.store.count(record: name) }
      }
    },
    "Inclusion.all(_:where:sortedBy:limit:including:)": { _ in
      let store = try Part.store()
      for number in Extremes.integers {
        let wholes = try store.fetch(
          Query<Part>(), including: .all(Part.parts, sortedBy: .descending(\.id), limit: number))
        #expect(wholes.map(\.1.count) == [min(max(0, number), 2), 0, 0])
      }
    },
    "RecordReading.related(to:_:)": { _ in
      let store = try Part.store()
      let extremes = Extremes.values.map { ["id": $0, "whole": $0] }
      for fields in extremes + Extremes.strings.map({ [$0: 1] }) + [[:]] {
        let record = DynamicRecord("Part", RecordFields(fields))
        for relation in Extremes.strings + ["whole", "parts", "id"] {
          Extremes.attempt { _ = try store.related(to: record, relation) }
        }
      }
      for name in Extremes.strings {
        let other = DynamicRecord(name, [:])
        Extremes.attempt { _ = try store.related(to: other, "parts") }
      }
    },
    "RecordReading.fetch(record:key:_:)": { extremes in
      for value in Extremes.values {
        Extremes.attempt { _ = try extremes.store.fetch(record: "Photo", key: value) }
        Extremes.attempt { _ = try extremes.store.fetch(record: "Photo", key: value, value) }
      }
    },
    "RecordReading.fetch(_:key:_:)": { extremes in
      for value in Extremes.values {
        Extremes.attempt { _ = try extremes.store.fetch(Photo.self, key: value) }
        Extremes.attempt { _ = try extremes.store.fetch(Photo.self, key: value, value) }
      }
    },
    "RecordReading.find(_:key:_:)": { extremes in
      for value in Extremes.values {
        Extremes.attempt { _ = try extremes.store.find(Photo.self, key: value) }
        Extremes.attempt { _ = try extremes.store.find(Photo.self, key: value, value) }
      }
    },
    "RecordReading.contains(_:key:_:)": { extremes in
      for value in Extremes.values {
        Extremes.attempt { _ = try extremes.store.contains(Photo.self, key: value) }
      }
    },
    "RecordReading.forEachBatch(_:of:_:)": { extremes in
      for number in Extremes.integers {
        Extremes.attempt { try extremes.store.forEachBatch(Photo.self, of: number) { _ in } }
        Extremes.attempt { try extremes.store.forEachBatch(Query<Photo>(), of: number) { _ in } }
      }
    },
    "QueryCursor.next(_:)": { extremes in
      for number in Extremes.integers {
        Extremes.attempt { _ = try extremes.store.cursor(Query<Photo>()).next(number) }
      }
    },
    "RecordCursor.next(_:)": { extremes in
      for number in Extremes.integers {
        Extremes.attempt { _ = try extremes.store.cursor(Photo.self).next(number) }
      }
    },
    "RecordCursor.seek(to:)": { extremes in
      for value in Extremes.values {
        Extremes.attempt { try extremes.store.cursor(Photo.self).seek(to: value) }
      }
    },
    "RecordReading.metadata(_:for:)": { extremes in
      for name in Extremes.strings {
        Extremes.attempt { _ = try extremes.store.metadata(Int.self, for: name) }
      }
    },
    "RecordReading.query(_:named:)": { extremes in
      for name in Extremes.strings {
        Extremes.attempt { _ = try extremes.store.query(Photo.self, named: name) }
      }
    },
    "PersistentStore.changes(of:key:_:)": { extremes in
      for value in Extremes.values {
        Extremes.attempt { _ = try extremes.store.changes(of: Photo.self, key: value) }
      }
    },
    "Blob.data(in:)": { extremes in
      try withBlobs(extremes) { blob in
        for lower in Extremes.integers {
          for upper in Extremes.integers where upper >= lower {
            Extremes.attempt { _ = try blob.data(in: lower..<upper) }
          }
        }
      }
    },
    "Blob.reader(from:)": { extremes in
      try withBlobs(extremes) { blob in
        for offset in Extremes.integers {
          Extremes.attempt { _ = try blob.reader(from: offset).read(upTo: 10) }
        }
      }
    },
    "Blob.write(to:)": { extremes in
      try withBlobs(extremes) { blob in
        for descriptor in [Int32.min, -1, .max] {
          Extremes.attempt { try blob.write(to: descriptor) }
        }
      }
    },
    "BlobReader.read(upTo:)": { extremes in
      try withBlobs(extremes) { blob in
        for count in Extremes.integers {
          Extremes.attempt { _ = try blob.reader().read(upTo: count) }
        }
      }
    },
  ]

  private static func withBlobs(_ extremes: Extremes, _ body: (Blob) throws -> Void) throws {
    for photo in try extremes.store.fetch(Photo.self) { try body(photo.image) }
    try body(Blob())
  }

  private static func dynamic(
    _ extremes: Extremes,
    _ body: (String, FieldCondition?, [FieldOrder], Int, [String]?) throws -> Void
  ) {
    for number in Extremes.integers {
      for order in [[], [FieldOrder(field: "name")]] {
        Extremes.attempt { try body("Photo", nil, order, number, nil) }
      }
    }
    for text in Extremes.strings {
      Extremes.attempt { try body(text, nil, [], 1, nil) }
      Extremes.attempt { try body("Photo", nil, [FieldOrder(field: text)], 1, nil) }
      Extremes.attempt { try body("Photo", nil, [], 1, [text]) }
    }
    for condition in Extremes.conditions {
      Extremes.attempt { try body("Photo", condition, [], 1, []) }
    }
  }
}

/// A part of another.
private struct Part: Record, Identifiable {
  var id: Int
  var whole: Reference<Part>?

  static let parts = Inverse("parts", of: \Part.whole)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "whole", type: .reference(to: Part.self), optional: true)
    parts
  }

  static func store() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Part.self]))
    let parts = [Part(id: 1), Part(id: 2, whole: Reference(1)), Part(id: 3, whole: Reference(1))]
    try store.save(contentsOf: parts)
    return store
  }
}
