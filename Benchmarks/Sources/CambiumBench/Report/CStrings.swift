import Glibc

/// Lends texts as C has lists of them: pointers, the last of them nil.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
  defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
  return unsafe pointers.withUnsafeBufferPointer { list in
    guard let start = list.baseAddress else { preconditionFailure("there is the nil at least") }
    return unsafe body(start)
  }
}
