package sse

import "bufio"

// IsJSON reports whether a body begins like a JSON object or list, and not like events. Servers mix up the types of
// the two. It blocks until the first byte that is neither white space nor a byte order mark, and drops what stands
// before that byte. After an error of in it returns false; the next read has the error.
func IsJSON(in *bufio.Reader) bool {
	for {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return false
		case c == '{', c == '[':
			_ = in.UnreadByte() // never fails after ReadByte
			return true
		case c == ' ', c == '\t', c == '\r', c == '\n', c == bom[0], c == bom[1], c == bom[2]:
		default:
			_ = in.UnreadByte()
			return false
		}
	}
}
