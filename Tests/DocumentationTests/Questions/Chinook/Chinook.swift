import Cambium
import FoundationEssentials

/// The model of the article about questions on a music shop, after the database Chinook.
enum Chinook {
  struct Artist: Record, Identifiable {
    var id: Int
    var name: String
    static let albums = Inverse("albums", of: \Album.artist)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, indexed: true)
      albums
    }
  }

  struct Album: Record, Identifiable {
    var id: Int
    var title: String
    var artist: Reference<Artist>
    static let tracks = Inverse("tracks", of: \Track.album)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
      Field(name: "artist", type: .reference(to: Artist.self))
      tracks
    }
  }

  struct Genre: Record, Identifiable {
    var id: Int
    var name: String
    static let tracks = Inverse("tracks", of: \Track.genre)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      tracks
    }
  }

  struct Track: Record, Identifiable {
    var id: Int
    var name: String
    var album: Reference<Album>
    var genre: Reference<Genre>?
    var composer: String?
    var milliseconds: Int
    var price: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, indexed: true)
      Field(name: "album", type: .reference(to: Album.self))
      Field(name: "genre", type: .reference(to: Genre.self), optional: true)
      Field(name: "composer", type: .string, optional: true)
      Field(name: "milliseconds", type: .integer, indexed: true)
      Field(name: "price", type: .double)
    }
  }

  struct Playlist: Record, Identifiable {
    var id: Int
    var name: String
    var tracks: [Reference<Track>]

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "tracks", type: .references(to: Track.self))
    }
  }

  struct Employee: Record, Identifiable {
    var id: Int
    var name: String
    var reportsTo: Reference<Employee>?
    static let reports = Inverse("reports", of: \Employee.reportsTo)
    static let customers = Inverse("customers", of: \Customer.support)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "reportsTo", type: .reference(to: Employee.self), optional: true)
      reports
      customers
    }
  }

  struct Customer: Record, Identifiable {
    var id: Int
    var name: String
    var country: String
    var support: Reference<Employee>?
    static let invoices = Inverse("invoices", of: \Invoice.customer)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "country", type: .string)
      Field(name: "support", type: .reference(to: Employee.self), optional: true)
      invoices
    }
  }

  struct Invoice: Record, Identifiable {
    var id: Int
    var customer: Reference<Customer>
    var date: Date
    var total: Double
    static let lines = Inverse("lines", of: \InvoiceLine.invoice)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "customer", type: .reference(to: Customer.self))
      Field(name: "date", type: .date, indexed: true)
      Field(name: "total", type: .double)
      lines
    }
  }

  struct InvoiceLine: Record, Identifiable {
    var id: Int
    var invoice: Reference<Invoice>
    var track: Reference<Track>
    var price: Double
    var quantity: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "invoice", type: .reference(to: Invoice.self))
      Field(name: "track", type: .reference(to: Track.self))
      Field(name: "price", type: .double)
      Field(name: "quantity", type: .integer)
    }
  }

  static let model = StoreModel(records: [
    Artist.self, Album.self, Genre.self, Track.self, Playlist.self, Employee.self, Customer.self,
    Invoice.self, InvoiceLine.self,
  ])
}
