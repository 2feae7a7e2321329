// Package recorder keeps what a server gets of a request, for tests that compare requests with those of a golden file.
package recorder

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Request is a request as a server got it.
type Request struct {
	// Line is the method and the URL.
	Line string
	// Headers are the headers, sorted by their names.
	Headers []string
	Body    string
}

// Recorder keeps the last request. It is for requests that come one after the other.
type Recorder struct {
	// Next answers the requests.
	Next http.Handler
	Last Request
}

// ServeHTTP records a request.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Last = Request{Line: request.Method + " " + request.RequestURI, Body: string(body)}
	for _, name := range slices.Sorted(maps.Keys(request.Header)) {
		r.Last.Headers = append(r.Last.Headers, name+": "+strings.Join(request.Header[name], ", "))
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.Next.ServeHTTP(w, request)
}

// Says returns a handler that answers with JSON.
func Says(json string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, json)
	})
}

// String returns the form in a golden file that has a line for the headers.
func (r Request) String() string {
	return r.Line + "\n" + strings.Join(r.Headers, "\t") + "\n" + r.Body + "\n"
}
