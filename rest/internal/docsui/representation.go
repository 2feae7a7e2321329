package docsui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// representation is a body that is known at start, and its entity tag.
type representation struct {
	contentType string
	tag         string // of content, without quotes
	content     []byte
	packed      bool // content is compressed with gzip
}

func newRepresentation(contentType string, content []byte) *representation {
	sum := sha256.Sum256(content)
	return &representation{contentType: contentType, tag: hex.EncodeToString(sum[:16]), content: content}
}

// serve answers a GET or HEAD request, with 304 if the client has the body already.
func (b *representation) serve(w http.ResponseWriter, r *http.Request, caching string) {
	h := w.Header()
	h.Set("Cache-Control", caching)

	// A strong tag identifies bytes, and the inflated bytes are different ones.
	tag, unpack := b.tag, false
	if b.packed {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
		} else {
			tag, unpack = tag+"-inflated", true
		}
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if matches(r.Header.Values("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}

	h.Set("Content-Type", b.contentType)
	if unpack {
		b.inflate(w, r)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(b.content)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// The error means that the client has disconnected.
		_, _ = w.Write(b.content)
	}
}

// inflate answers with the uncompressed content, for the rare client that does not accept gzip. It streams,
// so that no request holds the whole content.
func (b *representation) inflate(w http.ResponseWriter, r *http.Request) {
	in, err := gzip.NewReader(bytes.NewReader(b.content))
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, in) //nolint:gosec // the archive is our own
	}
}

// acceptsGzip reports whether the values of Accept-Encoding allow gzip. A client that sends none gets the
// uncompressed form.
func acceptsGzip(values []string) bool {
	wildcard := false
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return !refused(parameters)
		case "*":
			wildcard = !refused(parameters)
		}
	}
	return wildcard
}

// refused reports whether the parameters of a coding have a quality of zero.
func refused(parameters string) bool {
	name, value, ok := strings.Cut(parameters, "=")
	if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return false
	}
	quality, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || quality <= 0
}

// matches reports whether the values of If-None-Match have tag. As RFC 9110 requires for this header, a tag
// that a proxy has weakened counts as equal.
func matches(values []string, tag string) bool {
	for have := range strings.SplitSeq(strings.Join(values, ","), ",") {
		have = strings.TrimSpace(have)
		if have == "*" || strings.TrimPrefix(have, "W/") == tag {
			return true
		}
	}
	return false
}
