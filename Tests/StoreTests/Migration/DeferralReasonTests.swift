import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The plan names each change that cannot be deferred, with the reason.
@Suite struct DeferralReasonTests {
  /// The faults that a plan has for `.deferred`, of a step from version 1 to version 2.
  private func reasons(
    _ types: RemovedRecord..., steps: [MigrationStep] = []
  ) throws -> [String] {
    let model = StoreModel(version: 2, untyped: types)
    let schemas = try model.schemas()
    let route = try MigrationRoute(
      from: schemas[0], history: [schemas[0]], to: model, steps, MigrationOptions())
    try route.check()
    let planned = route.hops.map { MigrationPlan.PlannedStep($0) }
    #expect(planned.allSatisfy { $0.isDeferrable == $0.deferralFaults.isEmpty })
    return planned.flatMap(\.deferralFaults).map { "\($0)" }
  }

  /// A type with the key `id` in both versions.
  private func type(
    _ name: String,
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) -> RemovedRecord {
    RemovedRecord(name) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      fields(version)
    }
  }

  private var author: RemovedRecord {
    type("Author") { _ in Field(name: "name", type: .string, optional: true) }
  }

  private func book(
    from old: FieldType, optionalFrom wasOptional: Bool = false, to new: FieldType,
    optional isOptional: Bool = false, _ info: MigrationInfo? = nil
  ) -> RemovedRecord {
    type("Book") { version in
      Field(
        name: "author", type: version == 1 ? old : new,
        optional: version == 1 ? wasOptional : isOptional, migrationInfo: version == 1 ? nil : info)
    }
  }

  // MARK: Steps

  @Test func `what a program computes is not known from a row, or may be refused`() throws {
    let item = type("Item") { version in
      Field(name: "size", type: version == 1 ? .string : .int64)
      if version == 2 { Field(name: "text", type: .string) }
    }
    let step = MigrationStep(to: 2) {
      UpdateRecord("Item") {
        UpdateField("size", converting: .refuse)
        UpdateField("text", from: { old in try old["size"] })
      }
    }
    #expect(
      try reasons(item, steps: [step]) == [
        "Step: the program states a part of it", "Item.size: values may not convert",
        "Item.text: a step gives it values",
      ])
    let transform = MigrationStep(to: 2) {
      TransformRecords("Item", into: "Item") { old, emit in try emit(old.record) }
    }
    let same = type("Item") { _ in Field(name: "size", type: .string) }
    #expect(
      try reasons(same, steps: [transform]) == [
        "Step: the program states a part of it", "Item: a closure transforms its records",
      ])
    let pulled = type("Book") { version in
      Field(name: "author", type: .reference(to: "Author"))
      if version == 2 { Field(name: "by", type: .string, optional: true) }
    }
    let pull = MigrationStep(to: 2) {
      UpdateRecord("Book") { UpdateField("by", path: "author.name") }
    }
    #expect(
      try reasons(author, pulled, steps: [pull]) == [
        "Step: the program states a part of it", "Book.by: its values are made of other records",
      ])
  }

  // MARK: Rows

  @Test func `values that rows may not have, and that go into rows or out of them`() throws {
    let optional = type("Item") { version in
      Field(name: "size", type: .int64, optional: version == 1)
      Field(name: "note", type: .string, optional: version == 1)
    }
    #expect(
      try reasons(optional) == [
        "Item.note: it was optional, and records may have no value",
        "Item.size: it was optional, and records may have no value",
      ])
    let body = type("Item") { version in
      Field(
        name: "body", type: .binaryData, storage: version == 1 ? .inline : .external(threshold: 100)
      )
      if version == 2 {
        Field(
          name: "text", type: .string, storage: .external(threshold: 100), default: "none")
      }
    }
    #expect(
      try reasons(body) == [
        "Item.body: its values go into rows, or out of them"
      ])
    let key = RemovedRecord("Item") { version in
      Field(primaryKey: true, name: "id", type: version == 1 ? .int32 : .int64)
    }
    #expect(try reasons(key) == ["Item: its primary keys change"])
    let unique = type("Item") { version in
      Field(name: "code", type: .string, unique: version == 2)
    }
    let uniqueReasons = try reasons(unique)
    #expect(
      uniqueReasons == ["Item: the unique constraint code is new, and two records may break it"])
    let derived = type("Item") { version in
      Field(name: "code", type: .string)
      if version == 2 { Field(name: "key", type: .string, derived: .lowercased("code")) }
    }
    let derivedReasons = try reasons(derived)
    #expect(derivedReasons.count == 1)
    #expect(derivedReasons.allSatisfy { $0.hasSuffix("which is computed for all records at once") })
  }

  // MARK: Kinds

  @Test func `rows that are of two kinds, or of none that they can be of`() throws {
    let parts = type("Trip") { version in
      if version == 1 {
        Field(
          name: "Business", type: .composite { Field(name: "sum", type: .integer) }, optional: true)
        Field(
          name: "Personal", type: .composite { Field(name: "mood", type: .string) }, optional: true)
      }
    }
    func kind(_ name: String, _ field: Field) -> RemovedRecord {
      RemovedRecord(name) { version in
        if version == 2 {
          RecordDescription.Parent("Trip")
          field
        }
      }
    }
    let kinds = [
      kind("Business", Field(name: "sum", type: .integer)),
      kind("Personal", Field(name: "mood", type: .string)),
    ]
    #expect(
      try reasons(parts, kinds[0], kinds[1]) == [
        "Trip: Business is a kind now, and records may be of another, too"
      ])
    let abstract = type("Trip") { version in
      if version == 2 { RecordDescription.Abstract() }
    }
    let business = RemovedRecord("Business") { _ in
      RecordDescription.Parent("Trip")
      Field(name: "sum", type: .integer)
    }
    #expect(
      try reasons(abstract, business) == [
        "Trip: Trip is abstract, and records may be of none of its kinds"
      ])
  }

  @Test func `a kind leaves its hierarchy, and what has to be whole at any moment`() throws {
    /// A hierarchy of which a kind leaves.
    func trip(
      @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
    ) -> [RemovedRecord] {
      [
        type("Trip") { version in fields(version) },
        RemovedRecord("Personal") { _ in
          RecordDescription.Parent("Trip")
          Field(name: "mood", type: .string, unique: true)
        },
      ]
    }
    func business(
      @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
    ) -> RemovedRecord {
      RemovedRecord("Business") { version in
        if version == 1 {
          RecordDescription.Parent("Trip")
        } else {
          Field(primaryKey: true, name: "id", type: .integer)
        }
        fields(version)
      }
    }
    let sum = business { _ in Field(name: "sum", type: .integer, indexed: true) }
    let plain = trip { _ in Field(name: "name", type: .string, indexed: true) }
    // The unique constraint of a kind that stays has no values of those that leave.
    #expect(try reasons(plain[0], plain[1], sum) == [])
    let unique = trip { _ in Field(name: "name", type: .string, unique: true) }
    #expect(
      try reasons(unique[0], unique[1], sum) == [
        "Trip: the unique constraint name loses the values of records that leave, and saves find others by it"
      ])
    let own = business { _ in Field(name: "code", type: .string, unique: true) }
    #expect(
      try reasons(plain[0], plain[1], own) == [
        "Business: the unique constraint code is new, and two records may break it"
      ])
    let led = trip { _ in Field(name: "author", type: .reference(to: "Author")) }
    #expect(
      try reasons(author, led[0], led[1], sum) == [
        "Trip.author: the index that leads back from Author gets other entries, and deletions find records by it"
      ])
    let leading = type("Bill") { _ in Field(name: "trip", type: .reference(to: "Trip")) }
    #expect(
      try reasons(plain[0], plain[1], sum, leading) == [
        "Bill.trip: it has to be proved that it leads to Trip"
      ])
    let kept = type("Bill") { _ in Field(name: "trip", type: .reference(to: "Trip", checked: false))
    }
    #expect(try reasons(plain[0], plain[1], sum, kept) == [])
    let outside = business { _ in
      Field(name: "scan", type: .binaryData, storage: .external(threshold: 100))
    }
    #expect(
      try reasons(plain[0], plain[1], outside) == [
        "Business.scan: its values outside of rows are counted for all records at once"
      ])
  }

  // MARK: References

  @Test func `a destination that must exist, and an index by which deletions find records`() throws
  {
    let one = FieldType.reference(to: "Author")
    let many = FieldType.references(to: "Author")
    let back =
      "Book.author: the index that leads back from Author is new, and deletions find records by it"
    let proof = "Book.author: it has to be proved that it leads to Author"
    let checked = try reasons(
      author, book(from: .reference(to: "Author", checked: false), to: one))
    #expect(checked == [proof, back])
    let required = try reasons(
      author, book(from: one, optionalFrom: true, to: one, .init(default: 1)))
    #expect(required == [proof, back.replacing("is new", with: "gets other entries")])
    for choice in [ElementChoice.first, .last] {
      #expect(
        try reasons(author, book(from: many, to: one, optional: true, .init(choosing: choice)))
          == [back])
    }
    #expect(
      try reasons(author, book(from: many, to: one, optional: true)) == [
        "Book.author: a list may have several elements", back,
      ])
    #expect(
      try reasons(
        author, book(from: many, to: one, optional: true, .init(choosing: .least(by: "name")))) == [
          "Book.author: other records say which element is kept", back,
        ])
    #expect(
      try reasons(
        author,
        book(from: .references(to: "Author", checked: false), to: many)) == [
          "Book.author: a list may lead to one record twice",
          "Book.author: it has to be proved that it leads to Author", back,
        ])
    let team = RemovedRecord("Team") { version in
      if version == 2 {
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "authors", type: .references(to: "Author"))
      }
    }
    #expect(
      try reasons(
        author, team,
        book(
          from: many, to: .reference(to: "Team"), optional: true,
          .init(choosing: .all(in: "authors")))
      ).contains("Team: new records are made for lists"))
  }

  @Test
  func `references become lists, optional, or wider than they were, without a reason to wait`()
    throws
  {
    let one = FieldType.reference(to: "Author")
    let many = FieldType.references(to: "Author")
    #expect(try reasons(author, book(from: one, to: many)) == [])
    #expect(try reasons(author, book(from: one, optionalFrom: true, to: many)) == [])
    #expect(try reasons(author, book(from: one, to: one, optional: true)) == [])
    #expect(try reasons(author, book(from: one, to: many, optional: true)) == [])
    let list = try reasons(
      author, book(from: many, optionalFrom: true, to: many, .init(default: .array([]))))
    #expect(list == [])
  }
}
