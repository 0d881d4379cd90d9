/// The elements that pages are made of. None of them runs or embeds anything.
enum Element: String, CaseIterable {
  case html, head, title, meta, link, body
  case header, nav, main, aside, section
  case h1, h2, h3, p, div, span, strong, small, code, pre, a, ul, li, dl, dt, dd
  case table, thead, tbody, tr, th, td
  case form, label, input, button
  case img, svg, rect

  /// True if it has neither content nor an end.
  var isVoid: Bool {
    switch self {
    case .meta, .link, .input, .img: true
    default: false
    }
  }

  /// The attribute that its address is in.
  var addressName: String {
    switch self {
    case .img: "src"
    case .form: "action"
    default: "href"
    }
  }
}

/// The attributes that elements may have beside an address. None of them holds code, a style or an address.
enum Attribute: String, CaseIterable {
  case alt, autocomplete, charset, colspan, content, height, id, lang, method, name, placeholder,
    rel
  case scope, spellcheck, title, type, value, width
  case fill, viewBox, x, y
  case kind = "class"
  case target = "for"
  case label = "aria-label"
  case current = "aria-current"
}
