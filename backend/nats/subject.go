package nats

import (
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// DefaultPrefix begins the subjects of Spool, unless the options have another prefix.
const DefaultPrefix = "spool"

// The second token of a subject.
const (
	kindWake   = "wake"   // prefix.wake.tenant.thread
	kindStream = "stream" // prefix.stream.tenant.thread.stream
	kindDelete = "delete" // prefix.delete
	kindTicket = "ticket" // prefix.ticket.tenant.key
)

// checkPrefix returns an error for a prefix that no subject can begin with.
func checkPrefix(prefix string) error {
	for token := range strings.SplitSeq(prefix, ".") {
		if token == "" || token != encodeToken(token) {
			return spool.Errorf(spool.Invalid, "Prefix %q is no beginning of a subject", prefix)
		}
	}
	return nil
}

// encodeToken returns a text as one token of a subject. Letters, digits, "-", "_" and ":" stay as they are, so
// that a person can read the subjects of most ids.
func encodeToken(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == ':':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	if b.Len() == 0 {
		return "%" // a token has at least one character
	}
	return b.String()
}

// decodeToken returns the text of a token.
func decodeToken(token string) (text string, ok bool) {
	if token == "%" {
		return "", true
	}
	text, err := url.PathUnescape(token)
	return text, err == nil
}

// subjects are the subjects of one prefix.
type subjects string

func (s subjects) of(kind string, tokens ...string) string {
	var b strings.Builder
	b.WriteString(string(s) + "." + kind)
	for _, token := range tokens {
		b.WriteByte('.')
		b.WriteString(encodeToken(token))
	}
	return b.String()
}

func (s subjects) wake(topic spool.ThreadKey) string {
	return s.of(kindWake, string(topic.Tenant), string(topic.ID))
}

func (s subjects) stream(key store.StreamKey) string {
	return s.of(kindStream, string(key.Thread.Tenant), string(key.Thread.ID), string(key.ID))
}

// parse returns the kind of a subject and its decoded tokens. The kind is empty for a foreign subject.
func (s subjects) parse(subject string) (kind string, tokens []string) {
	rest, ok := strings.CutPrefix(subject, string(s)+".")
	if !ok {
		return "", nil
	}
	kind, rest, _ = strings.Cut(rest, ".")
	if rest == "" {
		return kind, nil
	}
	for token := range strings.SplitSeq(rest, ".") {
		text, ok := decodeToken(token)
		if !ok {
			return "", nil
		}
		tokens = append(tokens, text)
	}
	return kind, tokens
}
