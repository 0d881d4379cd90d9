import Testing

@testable import Cambium

/// Descriptions of kinds that are refused when the model is checked, each with a sentence that says what to do.
@Suite struct KindRefusalTests {
  private func expect(
    _ text: String, of types: any Record.Type...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do {
      _ = try PersistentStore(inMemory: StoreModel(records: types))
      Issue.record("not refused", sourceLocation: sourceLocation)
    } catch {
      #expect("\(error)".contains(text), "\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func `a parent that is not in the model`() {
    expect("its parent Root is not in this version of the model; add it", of: Kind.self)
  }

  @Test func `a ring of parents`() {
    expect("its parents lead back to itself", of: RingOne.self, RingTwo.self)
  }

  @Test func `two parents`() {
    expect("it has two parents; keep one", of: Root.self, Another.self, TwoParents.self)
  }

  @Test func `a primary key of a kind`() {
    expect("has the primary key of its parent", of: Root.self, Keyed.self)
    expect("has its parent's primary key", of: Root.self, KeyedCopy.self)
  }

  @Test func `a kind that is called as a field`() {
    expect("give the kind another name with RecordName", of: Root.self, Clash.self)
  }

  @Test func `a property that is not there, or of another type`() {
    expect("has no stored property “missing”", of: Root.self, NoProperty.self)
    expect("the property “root” is of the type String", of: Root.self, WrongProperty.self)
  }

  @Test func `a property that is not described`() {
    expect("“extra” of Extra is neither a field", of: Root.self, Extra.self)
  }

  @Test func `an abstract record without kinds`() {
    expect("it is abstract, but no record of the model has it as its parent", of: Lonely.self)
  }

  @Test func `an inverse in a kind of a reference to records of any`() {
    expect(
      "Leads.root leads to Root, not to WithInverse", of: Root.self, WithInverse.self, Leads.self)
  }
}

// MARK: - Records

private struct Root: Record, Identifiable {
  var id: Int
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
  }
}

private struct Another: Record {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

private struct Kind: Record, Identifiable {
  var root: Root
  var size: Int
  var id: Int { root.id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root")
    Field(name: "size", type: .integer)
  }
}

private struct RingOne: Record {
  var x: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(RingTwo.self, property: "x")
    Field(name: "x", type: .integer)
  }
}

private struct RingTwo: Record {
  var x: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(RingOne.self, property: "x")
    Field(name: "x", type: .integer)
  }
}

private struct TwoParents: Record {
  var root: Root
  var other: Another

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root")
    Parent(Another.self, property: "other")
  }
}

private struct Keyed: Record {
  var root: Root
  var key: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root")
    Field(primaryKey: true, name: "key", type: .integer)
  }
}

private struct KeyedCopy: Record {
  var root: Root
  var key: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root", storage: .copied)
    Field(primaryKey: true, name: "key", type: .integer)
  }
}

private struct Clash: Record {
  var root: Root

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("name")
    Parent(Root.self, property: "root")
  }
}

private struct NoProperty: Record {
  var root: Root

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "missing")
  }
}

private struct WrongProperty: Record {
  var root: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root")
  }
}

private struct Extra: Record {
  var root: Root
  var extra: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root")
  }
}

private struct Lonely: Record {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Abstract()
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

private struct WithInverse: Record, Identifiable {
  var root: Root
  var id: Int { root.id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Root.self, property: "root")
    Inverse<Root, Leads>("leads", of: "root")
  }
}

private struct Leads: Record {
  var id: Int
  var root: Reference<Root>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "root", type: .reference(to: Root.self), optional: true)
  }
}
