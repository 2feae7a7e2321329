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
	for remaining := data[len(pngSignature):]; len(remaining) >= pngChunk; {
		length := int64(binary.BigEndian.Uint32(remaining))
		if length > int64(len(remaining)-pngChunk) {
			return false
		}
		end := 8 + int(length)
		if crc32.ChecksumIEEE(remaining[4:end]) != binary.BigEndian.Uint32(remaining[end:]) {
			return false
		}
		kind := string(remaining[4:8])
		remaining = remaining[end+4:]
		switch kind {
		case "IDAT":
			pixels = true
		case "IEND":
			return pixels && len(remaining) <= pngTrailer
		}
	}
	return false
}
