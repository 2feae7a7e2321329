package attach

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	// pngTrailer is how many bytes may follow the end of a PNG. Some programs append data there.
	pngTrailer = 4 << 10
	// pngChunk is the size of a chunk without its data.
	pngChunk = 12
)

// wholePNG reports whether data contains all chunks of a PNG, and not only a header followed by other
// data. It does not decode the pixels, and allocates nothing.
func wholePNG(data []byte) bool {
	pixels := false
	for rest := data[len(pngSignature):]; len(rest) >= pngChunk; {
		length := int64(binary.BigEndian.Uint32(rest))
		if length > int64(len(rest)-pngChunk) {
			return false
		}
		end := 8 + int(length)
		if crc32.ChecksumIEEE(rest[4:end]) != binary.BigEndian.Uint32(rest[end:]) {
			return false
		}
		kind := string(rest[4:8])
		rest = rest[end+4:]
		switch kind {
		case "IDAT":
			pixels = true
		case "IEND":
			return pixels && len(rest) <= pngTrailer
		}
	}
	return false
}
