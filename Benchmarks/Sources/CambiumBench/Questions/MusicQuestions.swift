import Cambium
import FoundationEssentials

extension Chinook {
  /// The questions of the article ComingFromSQLMusic, on a music shop, as it asks them.
  static let questions: [SQLQuestion] = [
    SQLQuestion("C1") { store in
      let long = try store.select(from: Track.where { $0.milliseconds > 400_000 }) {
        ($0.name, $0.album.title, $0.album.artist.name)
      }
      return long.map { row($0.0, $0.1, $0.2) }
    },
    SQLQuestion("C2") { store in
      let genres = Genre.sorted(by: .descending { $0.tracks.count() })
      let counts = try store.select(from: genres) { ($0.name, $0.tracks.count()) }
      return counts.map { row($0.0, $0.1) }
    },
    SQLQuestion("C3") { store in
      let large = try store.fetch(Genre.where { $0.tracks.count() > 30 })
      return large.map { row($0.name) }
    },
    SQLQuestion("C4") { store in
      let longest = try store.fetch(
        Query<Genre>(),
        including: .all(Genre.tracks, sortedBy: .descending(\.milliseconds), limit: 3))
      return longest.flatMap { genre, tracks in tracks.map { row(genre.id, $0.name) } }
    },
    SQLQuestion("C5") { store in
      let silent = try store.fetch(Artist.where { $0.albums.none() })
      return silent.map { row($0.name) }
    },
    SQLQuestion("C6") { store in
      let employees = try store.select(from: Query<Employee>()) { ($0.name, $0.reportsTo.name) }
      return employees.map { row($0.0, $0.1) }
    },
    SQLQuestion("C7") { store in
      let revenue = Query<Invoice>().grouped { $0.customer.country }
        .computing(.sum(\.total)).sorted(by: .descending(.sum(\.total)))
      let countries = try store.fetch(revenue)
      return countries.map { row($0.key, $0.value) }
    },
    SQLQuestion("C8") { store in
      let revenue = Query<InvoiceLine>().grouped { ($0.track, $0.track.name) }
        .computing(.sum { $0.price * $0.quantity })
        .sorted(by: .descending(.sum { $0.price * $0.quantity }))
      let best = try store.fetch(revenue.limit(10))
      return best.map { row($0.key.1, $0.value) }
    },
    SQLQuestion("C9") { store in
      let months = try store.fetch(
        Query<Invoice>().grouped { ($0.date.year(), $0.date.month()) }.computing(.sum(\.total)))
      return months.map { row($0.key.0, $0.key.1, $0.value) }
    },
    SQLQuestion("C10", inAnyOrder: true) { store in
      let tracks = try store.fetch(Track.where { $0.name.hasPrefix("B") })
      return tracks.map { row($0.id) }
    },
    SQLQuestion("C11", inAnyOrder: true) { store in
      let tracks = try store.fetch(Track.where { $0.name.contains("love", .caseInsensitive) })
      return tracks.map { row($0.id) }
    },
    SQLQuestion("C12", inAnyOrder: true) { store in
      let tracks = try store.fetch(Track.where { $0.composer != nil && $0.composer != "Ada" })
      return tracks.map { row($0.id) }
    },
    SQLQuestion("C13") { store in
      let page = Track.sorted(by: .ascending(\.name)).limit(25)
      let first = try store.fetch(page)
      let second = try store.fetch(page, after: first.last)
      return second.map { row($0.id) }
    },
    SQLQuestion("C14", inAnyOrder: true) { store in
      let countries = try store.distinct(\.country, from: Query<Customer>())
      return countries.map { row($0) }
    },
    SQLQuestion("C15", inAnyOrder: true) { store in
      let long = try store.fetch(Track.where { $0.milliseconds > Track.average(\.milliseconds) })
      return long.map { row($0.id) }
    },
    SQLQuestion("C16", inAnyOrder: true) { store in
      let fans = try store.fetch(
        Customer.where {
          $0.invoices.lines.any { $0.track.album.artist.name == "Deep" }
        })
      return fans.map { row($0.name) }
    },
    SQLQuestion("C17", inAnyOrder: true) { store in
      let good = try store.fetch(Customer.where { $0.invoices.sum(\.total) > 12 })
      return good.map { row($0.name) }
    },
    SQLQuestion("C18", inAnyOrder: true) { store in
      let long = try store.fetch(Playlist.where { $0.tracks.all { $0.milliseconds >= 125_000 } })
      return long.map { row($0.name) }
    },
    SQLQuestion("C19", inAnyOrder: true) { store in
      let lists = try store.fetch(Playlist.where { $0.tracks.contains(Reference(6)) })
      return lists.map { row($0.name) }
    },
    SQLQuestion("C20") { store in
      let lists = try store.select(from: Query<Playlist>()) {
        ($0.name, $0.tracks.count, $0.tracks.sum(\.milliseconds))
      }
      return lists.map { row($0.0, $0.1, $0.2) }
    },
    SQLQuestion("C21") { store in
      let below = try store.descendants(of: Employee.where { $0.id == 1 }, along: Employee.reports)
      return below.map { row($0.record.name, $0.depth) }
    },
    SQLQuestion("C22") { store in
      let totals = try store.fetch(
        Invoice.sorted(by: .ascending(\.date)).running(.sum(\.total), within: { $0.customer }))
      return totals.map { row($0.record.id, $0.value) }
    },
    SQLQuestion("C23") { store in
      let sales = try store.select(from: Query<Employee>()) {
        ($0.name, $0.customers.invoices.sum(\.total))
      }
      return sales.map { row($0.0, $0.1) }
    },
    SQLQuestion("C24") { store in
      let people = try store.fetch(
        Customer.select(\.name) { _ in FieldConstant("customer") }
          .union(Employee.select(\.name) { _ in FieldConstant("employee") })
          .sorted(by: .ascending { $0.0 }))
      return people.map { row($0.0, $0.1) }
    },
    SQLQuestion("C25") { store in
      let artists = Artist.sorted(by: .descending { $0.albums.tracks.count() })
      let counts = try store.select(from: artists.limit(10)) {
        ($0.name, $0.albums.tracks.count())
      }
      return counts.map { row($0.0, $0.1) }
    },
    SQLQuestion("C26", isOneQuery: false, inAnyOrder: true) { store in
      let tracks = try store.fetch(Track.where { $0.composer != nil })
      let alike = Dictionary(grouping: tracks) { ["\($0.album.id)", $0.composer, "\($0.price)"] }
      let pairs = alike.values.flatMap { tracks in
        tracks.indices.flatMap { place in
          tracks[(place + 1)...].map { (tracks[place].id, $0.id) }
        }
      }
      return pairs.map { row($0.0, $0.1) }
    },
    SQLQuestion("C27") { store in
      let (begin, end) = (
        try Date("2024-03-01T00:00:00Z", strategy: .iso8601),
        try Date("2024-06-01T00:00:00Z", strategy: .iso8601)
      )
      let months = try store.fetch(
        Invoice.where { $0.date.isIn(begin..<end) }.grouped { $0.date.month() }
          .computing(.sum(\.total)))
      return months.map { row($0.key, $0.count, $0.value) }
    },
    SQLQuestion("C28", inAnyOrder: true) { store in
      let longest = try store.fetch(
        Track.where { $0.milliseconds == $0.album.tracks.maximum(\.milliseconds) })
      return longest.map { row($0.id) }
    },
    SQLQuestion("C29") { store in
      let albums = try store.fetch(
        Album.sorted(by: .ascending { $0.artist.name }, .ascending(\.title)).limit(10).offset(5))
      return albums.map { row($0.id) }
    },
    SQLQuestion("C30", inAnyOrder: true) { store in
      let others = try store.fetch(
        Customer.where { !$0.country.isIn(["Chile", "Egypt", "Ghana"]) })
      return others.map { row($0.name) }
    },
    SQLQuestion("C31") { store in
      let albums = Album.where { $0.tracks.sum(\.milliseconds) > 1_800_000 }
        .sorted(by: .descending { $0.tracks.sum(\.milliseconds) })
      let long = try store.select(from: albums) { ($0.title, $0.tracks.sum(\.milliseconds)) }
      return long.map { row($0.0, $0.1) }
    },
    SQLQuestion("C32") { store in
      let extremes = try store.fetch(
        Query<Track>().grouped(by: \.genre).computing(.min(\.milliseconds), .max(\.milliseconds)))
      return extremes.map { row($0.key, $0.value.0, $0.value.1) }
    },
  ]
}
