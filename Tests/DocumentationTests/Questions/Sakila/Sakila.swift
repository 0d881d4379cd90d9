import Cambium
import FoundationEssentials

/// The model of the article about questions on a film rental, after the database Sakila.
enum Sakila {
  struct Category: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Actor: Record, Identifiable {
    var id: Int
    var name: String
    static let films = Inverse("films", of: \Film.actors)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      films
    }
  }

  struct Film: Record, Identifiable {
    var id: Int
    var title: String
    var summary: String
    var rating: String
    var length: Int
    var rentalDays: Int
    var rate: Double
    var features: [String]
    var category: Reference<Category>
    var actors: [Reference<Actor>]
    static let copies = Inverse("copies", of: \Copy.film)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
      Field(name: "summary", type: .string)
      Field(name: "rating", type: .string)
      Field(name: "length", type: .integer)
      Field(name: "rentalDays", type: .integer)
      Field(name: "rate", type: .double)
      Field(name: "features", type: .array(of: .string))
      Field(name: "category", type: .reference(to: Category.self))
      Field(name: "actors", type: .references(to: Actor.self))
      Index(.words("summary"))
      Index(.elements("features"))
      copies
    }
  }

  struct Address: Codable {
    var street: String
    var city: String
  }

  struct Shop: Record, Identifiable {
    var id: Int
    var address: Address

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "address",
        type: .composite {
          Field(name: "street", type: .string)
          Field(name: "city", type: .string)
        })
    }
  }

  struct Copy: Record, Identifiable {
    var id: Int
    var film: Reference<Film>
    var shop: Reference<Shop>
    static let rentals = Inverse("rentals", of: \Rental.copy)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "film", type: .reference(to: Film.self))
      Field(name: "shop", type: .reference(to: Shop.self))
      rentals
    }
  }

  struct Person: Record, Identifiable {
    var id: Int
    var name: String
    var address: Address

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(
        name: "address",
        type: .composite {
          Field(name: "street", type: .string)
          Field(name: "city", type: .string)
        })
      Abstract()
    }
  }

  struct Customer: Record, Identifiable {
    var person: Person
    var email: String?
    var id: Int { person.id }
    static let rentals = Inverse("rentals", of: \Rental.customer)
    static let payments = Inverse("payments", of: \Payment.customer)

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Person.self, property: "person")
      Field(name: "email", type: .string, optional: true)
      rentals
      payments
    }
  }

  struct Staff: Record {
    var person: Person
    var login: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Person.self, property: "person")
      Field(name: "login", type: .string)
    }
  }

  struct Rental: Record, Identifiable {
    var id: Int
    var copy: Reference<Copy>
    var customer: Reference<Customer>
    var rented: Date
    var returned: Date?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "copy", type: .reference(to: Copy.self))
      Field(name: "customer", type: .reference(to: Customer.self))
      Field(name: "rented", type: .date)
      Field(name: "returned", type: .date, optional: true)
    }
  }

  struct Payment: Record, Identifiable {
    var id: Int
    var customer: Reference<Customer>
    var rental: Reference<Rental>?
    var amount: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "customer", type: .reference(to: Customer.self))
      Field(name: "rental", type: .reference(to: Rental.self), optional: true)
      Field(name: "amount", type: .double)
    }
  }

  static let model = StoreModel(records: [
    Category.self, Actor.self, Film.self, Shop.self, Copy.self, Person.self, Customer.self,
    Staff.self, Rental.self, Payment.self,
  ])
}
