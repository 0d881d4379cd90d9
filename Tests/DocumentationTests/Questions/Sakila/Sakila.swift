import Cambium
import FoundationEssentials

/// The model of the article about questions on a film rental, after the database Sakila.
enum Sakila {
  struct Category: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
    }
  }

  struct Actor: Record, Identifiable {
    var id: Int
    var name: String
    static let films = Inverse("films", of: \Film.actors)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
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
      Field("id", primaryKey: true)
      Field("title")
      Field("summary")
      Field("rating")
      Field("length")
      Field("rentalDays")
      Field("rate")
      Field("features")
      Field("category")
      Field("actors")
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
      Field("id", primaryKey: true)
      Field(
        "address",
        type: .composite {
          Field("street")
          Field("city")
        })
    }
  }

  struct Copy: Record, Identifiable {
    var id: Int
    var film: Reference<Film>
    var shop: Reference<Shop>
    static let rentals = Inverse("rentals", of: \Rental.copy)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("film")
      Field("shop")
      rentals
    }
  }

  struct Person: Record, Identifiable {
    var id: Int
    var name: String
    var address: Address

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field(
        "address",
        type: .composite {
          Field("street")
          Field("city")
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
      Field("email")
      rentals
      payments
    }
  }

  struct Staff: Record {
    var person: Person
    var login: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Person.self, property: "person")
      Field("login")
    }
  }

  struct Rental: Record, Identifiable {
    var id: Int
    var copy: Reference<Copy>
    var customer: Reference<Customer>
    var rented: Date
    var returned: Date?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("copy")
      Field("customer")
      Field("rented")
      Field("returned")
    }
  }

  struct Payment: Record, Identifiable {
    var id: Int
    var customer: Reference<Customer>
    var rental: Reference<Rental>?
    var amount: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("customer")
      Field("rental")
      Field("amount")
    }
  }

  static let model = StoreModel(records: [
    Category.self, Actor.self, Film.self, Shop.self, Copy.self, Person.self, Customer.self,
    Staff.self, Rental.self, Payment.self,
  ])
}
