package stream

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/server/internal/call"
)

// Writer sets a deadline for each answer, and the common headers of JSON answers.
type Writer struct {
	http.ResponseWriter

	Timeout time.Duration
	begun   bool
	Status  int   // zero: not yet known
	Bytes   int64 // of the body
	live    *Live // the stream to send when rest is done
	// takeover is nil if the connection cannot be taken over.
	takeover *takeover
}

// WriteHeader sends the status and the headers. In place of [call.StatusClientGone] it cuts the connection.
func (w *Writer) WriteHeader(status int) {
	if status == call.StatusClientGone { // also a page may have it
		w.Status = status
		w.ResponseWriter.WriteHeader(status) // net/http sends it with the body, of which there is none
		panic(http.ErrAbortHandler)
	}
	if status >= http.StatusOK {
		w.begin()
		w.Status = cmp.Or(w.Status, status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends the headers too, if they have not been sent.
func (w *Writer) Write(b []byte) (int, error) {
	w.begin()
	w.Status = cmp.Or(w.Status, http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.Bytes += int64(n)
	return n, err
}

func (w *Writer) begin() {
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
		allow[0] = Alphabetical(strings.Split(allow[0], ", "))
	}
	// A test recorder has no deadlines, and a disconnected client needs no answer.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.Timeout))
}

// Alphabetical returns methods in the form of an Allow header.
func Alphabetical(methods []string) string {
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// Unwrap lets [http.ResponseController] find the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
