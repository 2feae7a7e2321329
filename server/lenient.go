package server

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest"
)

// The contract of these endpoints is older than their controllers, and milder: a body need
// not be declared as JSON, a parameter may come twice or empty,
// and of what cannot be, some counts as absent. So requests reach the controllers in a form
// in which nothing of this is left.

// onceHeaders are those that controllers read.
var onceHeaders = []string{"Idempotency-Key", "Last-Event-Id"}

// lenient returns the request as the controllers are to see it.
func (s *Server) lenient(w http.ResponseWriter, r *http.Request) *http.Request {
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		r = s.unread(w, tidy(r))
	} else {
		r = tidy(r)
	}
	for _, name := range onceHeaders {
		if values := r.Header[name]; len(values) > 1 || len(values) == 1 && !clean(values[0]) {
			copied := *r
			copied.Header = r.Header.Clone()
			copied.Header[name] = []string{plain(values[0])}
			r = &copied
		}
	}
	return r
}

// tidy returns a request whose parameters are there once or not at all, but for those in
// repeated. A query that makes no sense stays one, but for a POST, of which that part is left
// out.
func tidy(r *http.Request) *http.Request {
	if r.URL.RawQuery == "" && r.URL.RawPath == "" {
		return r
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	odd := slices.ContainsFunc(slices.Collect(maps.Values(q)), func(v []string) bool {
		return len(v) > 1 || v[0] == "" || !clean(v[0])
	}) && !onlyRepeats(q)
	if err == nil && !odd && r.URL.RawPath == "" {
		return r
	}
	to := *r.URL
	to.RawPath, to.RawQuery = "", "%"
	if err == nil || r.Method == http.MethodPost {
		for name, v := range q {
			if slices.Contains(repeated, name) {
				q[name] = plainTexts(v)
				continue
			}
			q.Set(name, plain(v[0]))
			if v[0] == "" {
				q.Del(name)
			}
		}
		to.RawQuery = q.Encode()
	}
	copied := *r
	copied.URL = &to
	return &copied
}

// repeated are the parameters of which the first of several does not stand for all: a label counts
// each time, and a second wait is refused.
var repeated = []string{"label", "wait"}

// onlyRepeats reports whether nothing is odd about a query but those parameters.
func onlyRepeats(q url.Values) bool {
	for name, v := range q {
		if len(v) > 1 && !slices.Contains(repeated, name) || slices.ContainsFunc(v, func(text string) bool { return text == "" || !clean(text) }) {
			return false
		}
	}
	return true
}

// plainTexts returns the texts that are not empty, each as plain has it.
func plainTexts(all []string) (texts []string) {
	for _, text := range all {
		if text != "" {
			texts = append(texts, plain(text))
		}
	}
	return texts
}

func clean(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// plain replaces what no text has. What is made of it is no id and no cursor either.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// unread returns a request without a body, which the controller's input reads by itself:
// see [decodeBody].
func (s *Server) unread(w http.ResponseWriter, r *http.Request) *http.Request {
	copied := *r
	copied.Body = &unreadBody{server: s, writer: w, request: r, share: bodyShare{budget: &s.bodies}}
	copied.ContentLength = 0
	if r.URL.RawPath != "" {
		to := *r.URL
		to.RawPath = ""
		copied.URL = &to
	}
	if r.Header.Get("Content-Type") != "application/json" {
		copied.Header = r.Header.Clone()
		copied.Header.Set("Content-Type", "application/json")
	}
	return &copied
}

// unreadBody is a body that looks empty.
type unreadBody struct {
	server  *Server
	writer  http.ResponseWriter
	request *http.Request // as it came
	share   bodyShare
}

// Read implements [io.Reader].
func (*unreadBody) Read([]byte) (int, error) { return 0, io.EOF }

// Close implements [io.Closer].
func (b *unreadBody) Close() error { return b.request.Body.Close() }

// bodyOf returns the body of the request that ctx is about.
func bodyOf(ctx context.Context) *unreadBody {
	b, _ := rest.RequestOf(ctx).Body.(*unreadBody) // of a POST there is one
	return b
}

// decodeBody reads the JSON object of the request that ctx is about. It has ids and words
// alone, and up to 64 KiB.
func decodeBody[T any](ctx context.Context) (*T, error) { return decodeUpTo[T](ctx, smallBody) }

// decodeLongBody is decodeBody for an object with JSON of the client's own, of up to 1 MiB.
func decodeLongBody[T any](ctx context.Context) (*T, error) { return decodeUpTo[T](ctx, longBody) }

// decodeBodyWithImages is decodeBody for an object with images, of up to
// [Config.MaxBodyBytes].
func decodeBodyWithImages[T any](ctx context.Context) (*T, error) {
	return decodeUpTo[T](ctx, bodyOf(ctx).server.config.MaxBodyBytes)
}

func decodeUpTo[T any](ctx context.Context, limit int64) (*T, error) {
	b := bodyOf(ctx)
	text, err := b.read(limit)
	if err != nil {
		return nil, err
	}
	elements, err := checkElements(text)
	if err != nil {
		return nil, err
	}
	if err := b.share.take(elements*elementCost, limit); err != nil {
		return nil, err
	}
	into := new(T)
	return into, decodeObject(text, into)
}
