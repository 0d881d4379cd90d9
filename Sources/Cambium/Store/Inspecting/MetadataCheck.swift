internal import FoundationEssentials

/// Checks that the names of metadata are UTF-8, and their values JSON.
enum MetadataCheck {
  /// - Throws: `.io`. Damage to pages is a fault, too.
  static func faults(in trees: TreeAccess, _ slot: TreeSlot) throws(StoreError) -> [StoreError] {
    var faults: [StoreError] = []
    do throws(StoreError) {
      let cursor = try trees.cursor(in: slot)
      while faults.count < RecordCheck.faultsMax, try cursor.advance() {
        let (name, value) = (cursor.key.array(), try cursor.value().array())
        if let reason = reason(against: name, value) {
          faults.append(
            .corrupt(
              .entry(tree: Entities.metadataName, key: name), invariant: .metadata,
              reason: reason))
        }
      }
    } catch {
      guard case .corrupt = error else { throw error }
      faults.append(error)
    }
    return faults
  }

  /// Why an entry cannot be; nil if it can.
  private static func reason(against name: [UInt8], _ value: [UInt8]) -> String? {
    if String(validating: name, as: UTF8.self) == nil { return "its name is not UTF-8" }
    do {
      _ = try JSONDecoder().decode(AnyJSON.self, from: Data(value))
      return nil
    } catch {
      return "its value is not JSON"
    }
  }
}

/// Any JSON there is, read to the last value.
private struct AnyJSON: Decodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(intValue: Int) { nil }
    init(stringValue: String) { self.stringValue = stringValue }
  }

  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      while !list.isAtEnd { _ = try list.decode(AnyJSON.self) }
    } else if let object = try? decoder.container(keyedBy: Key.self) {
      for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() { return }
      if (try? value.decode(Bool.self)) != nil { return }
      if (try? value.decode(Double.self)) != nil { return }
      _ = try value.decode(String.self)
    }
  }
}
