// Strings in other letters: every part of this is part of the format and never changes.

extension DerivationSchema.Kind {
  /// Returns a string in the letters of the derivation.
  func text(of string: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in string.unicodeScalars {
      switch self {
      case .lowercased: result.append(Lowercase.mapping(of: scalar))
      case .uppercased: result.append(LetterTables.uppercase(of: scalar))
      default: if let folded = LetterTables.folded(scalar) { result.append(folded) }
      }
    }
    return String(result)
  }
}

private enum LetterTables {
  /// The scalar by Unicode's simple uppercase mapping: the lowest scalar of which it is the lowercase, but for a few.
  static func uppercase(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    capitals[scalar.value].flatMap(Unicode.Scalar.init) ?? scalar
  }

  /// The scalar folded and without its diacritics; nil if it is one itself.
  static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    if scalar.isASCII { return CaseFolding.mapping(of: scalar) }
    if marks.contains(where: { $0.contains(scalar.value) }) { return nil }
    // The one capital with a diacritic that folding leaves as it is.
    if scalar == "\u{130}" { return "i" }
    let folded = CaseFolding.mapping(of: scalar)
    return bases[folded.value] ?? folded
  }

  /// The blocks of combining diacritical marks.
  private static let marks: [ClosedRange<UInt32>] = [
    0x300...0x36f, 0x1ab0...0x1aff, 0x1dc0...0x1dff, 0x20d0...0x20ff, 0xfe20...0xfe2f,
  ]

  private static let bases: [UInt32: Unicode.Scalar] = {
    var bases: [UInt32: Unicode.Scalar] = [:]
    for (base, letters) in marked {
      for letter in letters.unicodeScalars { bases[letter.value] = base }
    }
    return bases
  }()

  private static let capitals: [UInt32: UInt32] = {
    var capitals: [UInt32: UInt32] = [:]
    let runs = LowercaseTable.runs
    for run in stride(from: 0, to: runs.count, by: 4) {
      for scalar in stride(from: runs[run], through: runs[run + 1], by: Int(runs[run + 2])) {
        let lowercase = runs[run + 3] + scalar - runs[run]
        if capitals[lowercase] == nil { capitals[lowercase] = scalar }
      }
    }
    // The capital sharp s is not the uppercase of the small one.
    capitals[0xdf] = nil
    return capitals.merging(others) { $1 }
  }()

  /// The scalars that have a capital of which they are not the lowercase, and their capitals.
  private static let others: [UInt32: UInt32] = [
    0xb5: 0x39c, 0x131: 0x49, 0x17f: 0x53, 0x1c5: 0x1c4, 0x1c8: 0x1c7, 0x1cb: 0x1ca, 0x1f2: 0x1f1,
    0x345: 0x399, 0x3c2: 0x3a3, 0x3d0: 0x392, 0x3d1: 0x398, 0x3d5: 0x3a6, 0x3d6: 0x3a0,
    0x3f0: 0x39a, 0x3f1: 0x3a1, 0x3f5: 0x395, 0x1c80: 0x412, 0x1c81: 0x414, 0x1c82: 0x41e,
    0x1c83: 0x421, 0x1c84: 0x422, 0x1c85: 0x422, 0x1c86: 0x42a, 0x1c87: 0x462, 0x1c88: 0xa64a,
    0x1e9b: 0x1e60, 0x1fbe: 0x399,
  ]

  /// The small letters that Unicode's canonical decomposition makes of a letter and marks of these blocks, by that letter.
  private static let marked: [(base: Unicode.Scalar, letters: String)] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ďḋḍḏḑḓ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįǐȉȋḭḯỉị"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľḷḹḻḽ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšșṡṣṥṧṩ"),
    ("t", "ţťțṫṭṯṱẗ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
    ("æ", "ǣǽ"),
    ("ø", "ǿ"),
    ("ſ", "ẛ"),
    ("ʒ", "ǯ"),
    ("α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"),
    ("ε", "έἐἑἒἓἔἕὲέ"),
    ("η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"),
    ("ι", "ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ"),
    ("ο", "όὀὁὂὃὄὅὸό"),
    ("ρ", "ῤῥ"),
    ("υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"),
    ("ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"),
    ("ϒ", "ϓϔ"),
    ("а", "ӑӓ"),
    ("г", "ѓ"),
    ("е", "ѐёӗ"),
    ("ж", "ӂӝ"),
    ("з", "ӟ"),
    ("и", "йѝӣӥ"),
    ("к", "ќ"),
    ("о", "ӧ"),
    ("у", "ўӯӱӳ"),
    ("ч", "ӵ"),
    ("ы", "ӹ"),
    ("э", "ӭ"),
    ("і", "ї"),
    ("ѵ", "ѷ"),
    ("ә", "ӛ"),
    ("ө", "ӫ"),
  ]
}
