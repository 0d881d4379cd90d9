import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with one property, whose description a test says.
private struct Holder<Value: Sendable & Codable>: Record {
  var id: Int
  var value: Value

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Holder")
    Field(primaryKey: true, name: "id", type: .integer)
    HeldField.field.value
  }
}

private enum HeldField {
  static let field = PerThread<Field>(Field(name: "value", type: .integer))
}

private struct Author: Record, Identifiable {
  var id: UUID

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
  }
}

private struct Topic: Record, Identifiable {
  var id: UUID

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
  }
}

/// The types of properties that fit references.
@Suite struct ReferencePropertyTests {
  private func refusal<Value: Sendable & Codable>(
    _ type: Value.Type, _ field: Field
  ) -> String? {
    HeldField.field.withValue(field) {
      do throws(StoreError) {
        let store = try PersistentStore(
          inMemory: StoreModel(records: [Holder<Value>.self, Author.self, Topic.self]))
        try store.close()
        return nil
      } catch {
        guard case .invalidDescription("Holder", "value", 1, let reason) = error else {
          return "\(error)"
        }
        return reason
      }
    }
  }

  private static let one = Field(name: "value", type: .reference(to: Author.self))
  private static let maybe = Field(
    name: "value", type: .reference(to: Author.self), optional: true)
  private static let list = Field(name: "value", type: .references(to: Author.self))
  private static let maybeList = Field(
    name: "value", type: .references(to: Author.self), optional: true)

  @Test func `each kind of property fits its kind of field, and no other`() {
    typealias Fit = (String, (Field) -> String?, fits: [Bool])
    let fits: [Fit] = [
      ("Reference", { refusal(Reference<Author>.self, $0) }, [true, false, false, false]),
      ("Reference?", { refusal(Reference<Author>?.self, $0) }, [false, true, false, false]),
      ("UUID", { refusal(UUID.self, $0) }, [true, false, false, false]),
      ("UUID?", { refusal(UUID?.self, $0) }, [false, true, false, false]),
      ("[Reference]", { refusal([Reference<Author>].self, $0) }, [false, false, true, false]),
      (
        "Set<Reference>", { refusal(Set<Reference<Author>>.self, $0) }, [false, false, true, false]
      ),
      ("[UUID]", { refusal([UUID].self, $0) }, [false, false, true, false]),
      ("Set<UUID>", { refusal(Set<UUID>.self, $0) }, [false, false, true, false]),
      ("[Reference]?", { refusal([Reference<Author>]?.self, $0) }, [false, false, false, true]),
      (
        "Set<Reference>?", { refusal(Set<Reference<Author>>?.self, $0) },
        [false, false, false, true]
      ),
      ("[Reference?]", { refusal([Reference<Author>?].self, $0) }, [false, false, false, false]),
      ("Reference??", { refusal(Reference<Author>??.self, $0) }, [false, false, false, false]),
      ("String", { refusal(String.self, $0) }, [false, false, false, false]),
    ]
    for (type, refusal, expected) in fits {
      let found = [Self.one, Self.maybe, Self.list, Self.maybeList].map { refusal($0) == nil }
      #expect(found == expected, "\(type)")
    }
  }

  @Test func `C1: a property that leads to another record than its field is refused`() {
    let says = "the property is a Reference<Topic>, but the field leads to Author"
    #expect(refusal(Reference<Topic>.self, Self.one) == says)
    #expect(refusal(Reference<Topic>?.self, Self.maybe) == says)
    #expect(
      refusal([Reference<Topic>].self, Self.list)
        == "the property is an Array<Reference<Topic>>, but the field leads to Author")
    #expect(
      refusal(Set<Reference<Topic>>.self, Self.list)
        == "the property is a Set<Reference<Topic>>, but the field leads to Author")
    #expect(
      refusal(Reference<Author>.self, Field(name: "value", type: .uuid))
        == "the property is a Reference<Author>, but the field is uuid. Let its type be"
        + " `.reference(to: Author.self)`, or `.references`; with `checked: false` if it may lead nowhere"
    )
  }
}
