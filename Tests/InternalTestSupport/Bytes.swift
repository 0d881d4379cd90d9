typealias Bytes = [UInt8]
