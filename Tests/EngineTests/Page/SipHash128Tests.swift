import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct SipHash128Tests {
  /// Of the reference implementation: under the key 00 01 … 0f, the hash of 00 01 … up to the length.
  private static let published: KeyValuePairs = [
    0: "a3817f04ba25a8e66df67214c7550293",
    1: "da87c1d86b99af44347659119b22fc45",
    2: "8177228da4a45dc7fca38bdef60affe4",
    3: "9c70b60c5267a94e5f33b6b02985ed51",
    4: "f88164c12d9c8faf7d0f6e7c7bcd5579",
    5: "1368875980776f8854527a07690e9627",
    6: "14eeca338b208613485ea0308fd7a15e",
    7: "a1f1ebbed8dbc153c0b84aa61ff08239",
    8: "3b62a9ba6258f5610f83e264f31497b4",
    15: "5493e99933b0a8117e08ec0f97cfc3d9",
    63: "5150d1772f50834a503e069a973fbd7c",
  ]

  @Test func `it is the published function`() {
    let key = SipHash128.Key(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)
    for (length, hash) in Self.published {
      let bytes = Bytes((0..<length).map { UInt8($0) })
      #expect("\(SipHash128(of: bytes.rawSpan, key: key))" == hash, "\(length) bytes")
    }
  }

  @Test func `the key is the name of the format`() {
    var key = Bytes()
    key.append(integer: SipHash128.Key.format.low)
    key.append(integer: SipHash128.Key.format.high)
    #expect(String(decoding: key, as: UTF8.self) == "Cambium format 1")
  }

  @Test func `its bytes read as its digits`() {
    var bytes = Bytes()
    bytes.append(SipHash128(low: 0x0807_0605_0403_0201, high: 0x100f_0e0d_0c0b_0a09))
    #expect(bytes == Bytes(1...16))
    #expect(
      "\(SipHash128(low: 0x0807_0605_0403_0201, high: 0x100f_0e0d_0c0b_0a09))"
        == "0102030405060708090a0b0c0d0e0f10")
  }
}
