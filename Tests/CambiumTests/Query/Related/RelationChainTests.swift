import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Artist: Record, Identifiable, Equatable {
  var id: Int
  static let albums = Inverse("albums", of: \Album.artist)
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    albums
  }
}

private struct Album: Record, Identifiable, Equatable {
  var id: Int
  var artist: Reference<Artist>
  static let tracks = Inverse("tracks", of: \Track.album)
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "artist", type: .reference(to: Artist.self))
    tracks
  }
}

private struct Genre: Record, Identifiable, Equatable {
  var id: Int
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

private struct Track: Record, Identifiable, Equatable {
  var id: Int
  var album: Reference<Album>
  var seconds: Int
  var genres: [Reference<Genre>]
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "album", type: .reference(to: Album.self))
    Field(name: "seconds", type: .integer)
    Field(name: "genres", type: .references(to: Genre.self))
  }
}

@Suite struct RelationChainTests {
  @Test(arguments: [0, 1, 5, 200])
  func `values over two and three relations are those of arrays`(trackCount: Int) throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let artists = (0..<6).map { Artist(id: $0) }
    let albums = (0..<10).map {
      Album(id: $0, artist: Reference(Int.random(in: 0..<5, using: &random)))
    }
    let tracks = (0..<trackCount).map { id in
      Track(
        id: id, album: Reference(Int.random(in: 0..<9, using: &random)),
        seconds: Int.random(in: 1...400, using: &random),
        genres: (0..<3).shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))
          .map { Reference($0) })
    }
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Artist.self, Album.self, Track.self, Genre.self]))
    try store.write { transaction in
      try transaction.insert(contentsOf: artists)
      try transaction.insert(contentsOf: (0..<3).map { Genre(id: $0) })
      try transaction.insert(contentsOf: albums)
      try transaction.insert(contentsOf: tracks)
    }
    func songs(of artist: Artist) -> [Track] {
      tracks.filter { albums[$0.album.id].artist.id == artist.id }
    }
    let all = Query<Artist>()
    #expect(
      try store.select(from: all) { $0.albums.tracks.count() }
        == artists.map { songs(of: $0).count })
    #expect(
      try store.select(from: all) { $0.albums.tracks.sum(\.seconds) }
        == artists.map { songs(of: $0).map(\.seconds).reduce(0, +) })
    #expect(
      try store.select(from: all) {
        $0.albums.tracks.maximum(\.seconds) { $0.seconds < 200 }
      } == artists.map { songs(of: $0).map(\.seconds).filter { $0 < 200 }.max() })
    #expect(
      try store.fetch(Artist.where { $0.albums.tracks.any { $0.seconds > 350 } })
        == artists.filter { songs(of: $0).contains { $0.seconds > 350 } })
    #expect(
      try store.fetch(Artist.where { $0.albums.tracks.count() >= 3 })
        == artists.filter { songs(of: $0).count >= 3 })
    #expect(
      try store.select(from: all) { $0.albums.tracks[\.genres].count() }
        == artists.map { songs(of: $0).map(\.genres.count).reduce(0, +) })
    #expect(
      try store.fetch(
        Artist.where { $0.albums.tracks[\.genres].any { $0.id == 2 } })
        == artists.filter { songs(of: $0).contains { $0.genres.contains(Reference(2)) } })
    // From a track over its album to all tracks of that.
    #expect(
      try store.select(from: Query<Track>()) { $0.album.tracks.count() }
        == tracks.map { track in tracks.filter { $0.album == track.album }.count })
    let sorted = artists.sorted { one, other in
      (songs(of: one).count, other.id) > (songs(of: other).count, one.id)
    }
    let byCount = all.sorted(by: .descending { $0.albums.tracks.count() })
    #expect(try store.fetch(byCount.limit(4)) == Array(sorted.prefix(4)))
    #expect("\(byCount)" == "all sorted by albums.tracks.count() descending")
    let decoded = try JSONDecoder().decode(
      Query<Artist>.self, from: try JSONEncoder().encode(byCount))
    #expect(try store.fetch(decoded) == sorted)
  }
}
