import Cambium
import FoundationEssentials

/// The model of the article about questions on a music shop, after the database Chinook.
enum Chinook {
  struct Artist: Record, Identifiable {
    var id: Int
    var name: String
    static let albums = Inverse("albums", of: \Album.artist)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name", indexed: true)
      albums
    }
  }

  struct Album: Record, Identifiable {
    var id: Int
    var title: String
    var artist: Reference<Artist>
    static let tracks = Inverse("tracks", of: \Track.album)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("title")
      Field("artist")
      tracks
    }
  }

  struct Genre: Record, Identifiable {
    var id: Int
    var name: String
    static let tracks = Inverse("tracks", of: \Track.genre)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
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
      Field("id", primaryKey: true)
      Field("name", indexed: true)
      Field("album")
      Field("genre")
      Field("composer")
      Field("milliseconds", indexed: true)
      Field("price")
    }
  }

  struct Playlist: Record, Identifiable {
    var id: Int
    var name: String
    var tracks: [Reference<Track>]

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("tracks")
    }
  }

  struct Employee: Record, Identifiable {
    var id: Int
    var name: String
    var reportsTo: Reference<Employee>?
    static let reports = Inverse("reports", of: \Employee.reportsTo)
    static let customers = Inverse("customers", of: \Customer.support)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("reportsTo")
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
      Field("id", primaryKey: true)
      Field("name")
      Field("country")
      Field("support")
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
      Field("id", primaryKey: true)
      Field("customer")
      Field("date", indexed: true)
      Field("total")
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
      Field("id", primaryKey: true)
      Field("invoice")
      Field("track")
      Field("price")
      Field("quantity")
    }
  }

  static let model = StoreModel(records: [
    Artist.self, Album.self, Genre.self, Track.self, Playlist.self, Employee.self, Customer.self,
    Invoice.self, InvoiceLine.self,
  ])
}
