import Cambium
import FoundationEssentials

/// A record of eight fields, with one index.
struct BenchItem: Record, Identifiable {
  var id: UUID
  var created: Date
  var title: String
  var body: String
  var count: Int
  var weight: Double
  var isDone: Bool
  var note: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("created")
    Field("title", indexed: true)
    Field("body")
    Field("count")
    Field("weight")
    Field("isDone")
    Field("note")
  }

  static let model = StoreModel(version: 1, records: [BenchItem.self])

  init(_ number: Int) {
    id = Self.id(number)
    created = Date(timeIntervalSinceReferenceDate: Double(number))
    title = Self.title(number)
    body = String(repeating: "b", count: 40 + number % 80)
    count = number
    weight = Double(number) / 3
    isDone = number % 3 == 0
    note = number % 4 == 0 ? "note \(number)" : nil
  }

  static func title(_ number: Int) -> String {
    let digits = String(number)
    return "title " + String(repeating: "0", count: 9 - digits.count) + digits
  }

  /// In no order.
  static func id(_ number: Int) -> UUID {
    var bytes = [UInt8](repeating: 0, count: 16)
    let low = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
    for place in 0..<8 {
      bytes[place] = UInt8(truncatingIfNeeded: low >> (56 - 8 * UInt64(place)))
      bytes[8 + place] = UInt8(truncatingIfNeeded: number >> (56 - 8 * place))
    }
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}
