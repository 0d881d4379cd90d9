import COpenSSL

/// SHA-256, as OpenSSL and the server's `sha256` compute it.
package enum SHA256 {
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: 32)
    let isDone = unsafe EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil)
    precondition(isDone == 1, "OpenSSL has no SHA-256")
    return hash
  }
}
