package artifact_test

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool/engine/internal/artifact"
)

func TestType(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ declared, data, want string }{
		{"", "hello", "text/plain"},
		{"text/csv; charset=utf-8", "a,b", "text/csv"},
		{"application/json", "{}", "application/json"},
		{"text/markdown", "<h1>a", "text/markdown"},
		{"image/png", "<script>", "text/html"},
		{"application/pdf", "a", "text/plain"},
		{"text/plain", "\x89PNG\r\n\x1a\n", "image/png"},
		{"image/jpeg", "\x89PNG\r\n\x1a\n", "image/png"},
		{"", "%PDF-1.7", "application/pdf"},
		{"application/vnd.oasis.opendocument.text", "PK\x03\x04", "application/vnd.oasis.opendocument.text"},
		{"application/x-own", "\x00\x01", "application/x-own"},
		{"no type", "\x00\x01", "application/octet-stream"},
		{"", "", "text/plain"},
		{"application/octet-stream", "day,visits", "text/plain"},
		{"application/octet-stream", "\x00\x01", "application/octet-stream"},
	} {
		if got := artifact.Type(c.declared, []byte(c.data)); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.data, c.declared, got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"a.pdf": "a.pdf", "../../etc/passwd": "passwd", `C:\b.txt`: "b.txt", "a\r\nb": "ab", "": "", "..": "", "/": "",
		"\xffy": "y", "invoice\u202efdp.exe": "invoicefdp.exe", "a\u2066b\u2069.txt": "ab.txt", "\u05d0.txt": "\u05d0.txt",
		strings.Repeat("ä", 300): strings.Repeat("ä", 200),
	} {
		if got := artifact.Name(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
