package s3

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	algorithm     = "AWS4-HMAC-SHA256"
	timeForm      = "20060102T150405Z"
	unsignedBody  = "UNSIGNED-PAYLOAD"
	signedChunks  = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	greatestSkew  = 15 * time.Minute
	greatestChunk = 1 << 20
)

// refusal is an error of the protocol.
type refusal struct {
	status  int
	code    string
	message string
	region  string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// signature is what the Authorization header of a request says.
type signature struct {
	access, date, region, service string
	headers                       []string
	value                         string
	at                            time.Time
	key                           []byte
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func (s *signature) scope() string {
	return s.date + "/" + s.region + "/" + s.service + "/aws4_request"
}

// derive sets the key that signs.
func (s *signature) derive(secret string) {
	s.key = mac(mac(mac(mac([]byte("AWS4"+secret), s.date), s.region), s.service), "aws4_request")
}

// parse reads the Authorization header.
func parse(r *http.Request) (*signature, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return nil, refuse(http.StatusForbidden, "AccessDenied", "the request is not signed")
	}
	malformed := refuse(http.StatusBadRequest, "AuthorizationHeaderMalformed", "the header is malformed")
	fields, ok := strings.CutPrefix(values[0], algorithm+" ")
	if !ok || len(values) != 1 {
		return nil, malformed
	}
	var s signature
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "Credential":
			parts := strings.Split(value, "/")
			if len(parts) != 5 || parts[4] != "aws4_request" {
				return nil, malformed
			}
			s.access, s.date, s.region, s.service = parts[0], parts[1], parts[2], parts[3]
		case "SignedHeaders":
			s.headers = strings.Split(value, ";")
		case "Signature":
			s.value = value
		default:
			return nil, malformed
		}
	}
	at, err := time.Parse(timeForm, r.Header.Get("X-Amz-Date"))
	if err != nil || s.service != "s3" || len(s.value) != 64 || at.Format("20060102") != s.date {
		return nil, malformed
	}
	s.at = at
	return &s, nil
}

// checkHeaders refuses a request that has an important header without a signature.
func (s *signature) checkHeaders(r *http.Request) error {
	if !slices.IsSorted(s.headers) || !slices.Contains(s.headers, "host") {
		return refuse(http.StatusForbidden, "AccessDenied", "the signed headers are not sorted or lack the host")
	}
	for name := range r.Header {
		lower := strings.ToLower(name)
		if (strings.HasPrefix(lower, "x-amz-") || lower == "content-type" || lower == "content-md5") &&
			!slices.Contains(s.headers, lower) {
			return refuse(http.StatusForbidden, "AccessDenied",
				"there were headers present in the request which were not signed: %s", lower)
		}
	}
	return nil
}

// canonical returns the canonical form of a request.
func (s *signature) canonical(r *http.Request) string {
	var b strings.Builder
	b.WriteString(r.Method + "\n" + escape(r.URL.Path, true) + "\n" + canonicalQuery(r.URL.Query()) + "\n")
	for _, name := range s.headers {
		values := r.Header.Values(name)
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length":
			values = []string{strconv.FormatInt(r.ContentLength, 10)}
		}
		for i := range values {
			values[i] = strings.Join(strings.Fields(values[i]), " ")
		}
		b.WriteString(name + ":" + strings.Join(values, ",") + "\n")
	}
	b.WriteString("\n" + strings.Join(s.headers, ";") + "\n" + r.Header.Get("X-Amz-Content-Sha256"))
	return b.String()
}

func canonicalQuery(query url.Values) string {
	var pairs []string
	for name, values := range query {
		for _, value := range values {
			pairs = append(pairs, escape(name, false)+"="+escape(value, false))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// escape is the encoding of the specification, which escapes all bytes but a few.
func escape(text string, slashes bool) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c &&
			c <= '9', strings.IndexByte("-_.~", c) >= 0, c == '/' && slashes:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// verify checks the signature of a request without its body.
func (s *signature) verify(r *http.Request) error {
	toSign := algorithm + "\n" + s.at.Format(timeForm) + "\n" + s.scope() + "\n" + hash([]byte(s.canonical(r)))
	if want := hex.EncodeToString(mac(s.key, toSign)); !hmac.Equal([]byte(want), []byte(s.value)) {
		return refuse(http.StatusForbidden, "SignatureDoesNotMatch", "the signature does not match")
	}
	return nil
}

// body returns the body of a request if it is what was signed.
func (s *signature) body(r *http.Request) ([]byte, error) {
	switch says := r.Header.Get("X-Amz-Content-Sha256"); says {
	case signedChunks:
		return s.chunks(r)
	case "":
		return nil, refuse(http.StatusBadRequest, "InvalidRequest", "the header x-amz-content-sha256 is missing")
	default:
		data, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			return nil, refuse(http.StatusBadRequest, "IncompleteBody", "the body is incomplete")
		case says == unsignedBody && r.TLS == nil:
			return nil, refuse(http.StatusBadRequest, "InvalidRequest", "a body without a signature needs TLS")
		case says != unsignedBody && says != hash(data):
			return nil, refuse(http.StatusBadRequest, "XAmzContentSHA256Mismatch", "the body is not the one that was signed")
		}
		return data, nil
	}
}

// chunks reads a body in chunks, each of which has a signature that covers the one before.
func (s *signature) chunks(r *http.Request) ([]byte, error) {
	incomplete := refuse(http.StatusBadRequest, "IncompleteBody", "the body is incomplete")
	size, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
	if err != nil || !slices.Contains(r.Header.Values("Content-Encoding"), "aws-chunked") {
		return nil, refuse(http.StatusBadRequest, "InvalidRequest", "the headers of a body in chunks are missing")
	}
	in, before, data := bufio.NewReader(r.Body), s.value, []byte{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, incomplete
		}
		length, says, ok := strings.Cut(strings.TrimSuffix(line, "\r\n"), ";chunk-signature=")
		n, err := strconv.ParseInt(length, 16, 64)
		if !ok || err != nil || n < 0 || n > greatestChunk {
			return nil, incomplete
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil || !bytes.HasSuffix(chunk, []byte("\r\n")) {
			return nil, incomplete
		}
		chunk = chunk[:n]
		toSign := strings.Join(
			[]string{algorithm + "-PAYLOAD", s.at.Format(timeForm), s.scope(), before, hash(nil), hash(chunk)}, "\n",
		)
		before = hex.EncodeToString(mac(s.key, toSign))
		if !hmac.Equal([]byte(before), []byte(says)) {
			return nil, refuse(http.StatusForbidden, "SignatureDoesNotMatch", "the signature of a chunk does not match")
		}
		if data = append(data, chunk...); n == 0 {
			break
		}
	}
	if int64(len(data)) != size {
		return nil, refuse(http.StatusBadRequest, "IncompleteBody", "the body has %d bytes, and not %d", len(data), size)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return nil, incomplete
	}
	return data, nil
}
