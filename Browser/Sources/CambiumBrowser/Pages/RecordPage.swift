import Cambium

/// One record: its fields, its blobs, and the records that lead to it.
struct RecordPage {
  private let state: StoreSnapshot
  private let schema: RecordSchema
  private let key: RecordKey
  private let record: DynamicRecord

  init(_ state: StoreSnapshot, _ request: BrowserRequest) throws {
    self.state = state
    schema = try state.schema.type(of: request)
    key = try RecordKey(request, in: state.schema)
    record = try key.record(in: state, schema)
  }

  var page: Page {
    let label = schema.labelName.flatMap { record.label($0) }
    return Page(
      label?.shortened(to: 80) ?? key.text.shortened(to: 80), "\(schema.name) \(key.text)",
      type: schema.name
    ) {
      definitions(
        schema.columns.filter { record.fields[$0.name] != nil }.map { column in
          (column.name, FieldContent(record[column.name], column, key, schema, state).html)
        })
      for inverse in schema.inverses {
        RelationList(inverse, of: record, schema, in: state).html
      }
      if (try? state.historyExtent) != nil {
        element(.p, [.kind: "links"]) {
          element(.a, to: key.address(.history), "History of this record")
        }
      }
    }
  }
}

/// The value of a field on the page of its record, in full: a picture as a picture, a long text as a text.
struct FieldContent {
  private let value: FieldValue
  private let field: FieldSchema
  private let key: RecordKey
  private let schema: RecordSchema
  private let state: StoreSnapshot

  /// The bytes of a text that a page shows; a link leads to the rest.
  private static let textMax = 16_384
  /// The bytes of other content that a page shows.
  private static let bytesMax = 256
  /// The largest picture that a page shows without a click.
  private static let pictureMax = 32 << 20

  init(
    _ value: FieldValue, _ field: FieldSchema, _ key: RecordKey, _ schema: RecordSchema,
    _ state: StoreSnapshot
  ) {
    self.value = value
    self.field = field
    self.key = key
    self.schema = schema
    self.state = state
  }

  var html: HTML {
    if value == .null { return element(.span, [.kind: "null"], "null") }
    if let reference = field.reference { return links(to: reference) }
    switch value {
    case .composite(let parts): return composite(parts)
    case .blob(let blob): return content(of: blob)
    case .data(let data): return content(of: Blob(data))
    case .string(let text) where text.utf8.count > Self.textMax:
      return content(of: Blob(utf8: text))
    case .string(let text): return element(.span, [.kind: "text"], text)
    case .array(let values):
      return element(.ul) { for value in values { element(.li, value.plainText) } }
    default: return HTML(value.plainText)
    }
  }

  private func composite(_ parts: [String: FieldValue]) -> HTML {
    definitions(
      parts.sorted { $0.key < $1.key }.map { name, value in
        guard let part = schema.field(named: "\(field.name).\(name)") else {
          return (name, HTML(value.plainText))
        }
        return (name, FieldContent(value, part, key, schema, state).html)
      })
  }

  private func links(to reference: ReferenceSchema) -> HTML {
    let name = state.schema.record(named: reference.destination)?.labelName
    return element(.ul, [.kind: "references"]) {
      for part in value.elements {
        let target = RecordKey(type: reference.destination, parts: [part])
        element(.li) {
          element(.a, to: target.address()) {
            element(.small, reference.destination)
            " " + (label(of: target, name)?.shortened(to: 80) ?? part.plainText)
          }
        }
      }
    }
  }

  private func label(of target: RecordKey, _ name: String?) -> String? {
    guard let name, let schema = state.schema.record(named: target.type),
      let found = try? target.record(in: state, schema)
    else { return nil }
    return found.label(name)
  }

  /// Shows a blob, or why it cannot be read: the other fields can be.
  private func content(of blob: Blob) -> HTML {
    do {
      let beginning = try blob.beginning(ContentKind.recognizedCount)
      let kind = ContentKind(beginning)
      return try element(.div, [.kind: "content"]) {
        element(.a, to: address, "\(kind.name), \(Figures.size(blob.count))")
        switch kind {
        case .picture:
          if blob.count <= Self.pictureMax {
            element(.img, [.alt: "\(field.name) of \(key.text)"], to: address)
          }
        case .text: element(.pre, try text(of: blob))
        case .bytes: element(.pre, beginning.prefix(Self.bytesMax).hexadecimal)
        }
      }
    } catch {
      return element(.p, [.kind: "fault"], PageFault(error).sentence)
    }
  }

  private func text(of blob: Blob) throws -> String {
    let text = try blob.beginning(Self.textMax).text ?? ""
    return blob.count > Self.textMax ? text + "…" : text
  }

  private var address: Address { key.address(.content).with("field", field.name) }
}

extension ContentKind {
  fileprivate var name: String {
    switch self {
    case .picture: "picture"
    case .text: "text"
    case .bytes: "data"
    }
  }
}
