package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

// answerWriter gives each answer its time to be written, and each JSON answer the headers
// that all of them have.
type answerWriter struct {
	http.ResponseWriter

	timeout time.Duration
	begun   bool
	status  int   // zero: not yet known
	bytes   int64 // of the body
	live    *live // what is still to be sent when rest is done
}

// WriteHeader sends the status and the headers.
func (w *answerWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.begin()
		w.status = cmp.Or(w.status, status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends the headers too, if they have not been sent.
func (w *answerWriter) Write(b []byte) (int, error) {
	w.begin()
	w.status = cmp.Or(w.status, http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

func (w *answerWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	h := w.Header()
	if h.Get("Content-Type") == "application/json" {
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
	}
	if allow := h["Allow"]; len(allow) == 1 {
		allow[0] = alphabetical(strings.Split(allow[0], ", "))
	}
	// A recorder has no deadlines, and a client that is gone needs no answer.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.timeout))
}

// alphabetical lists methods as the headers of our answers have them.
func alphabetical(methods []string) string {
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// Unwrap lets [http.ResponseController] find the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
