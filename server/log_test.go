package server_test

import (
	"bytes"
	"sync"
)

// syncWriter is a log that a test can read while it is written.
type syncWriter struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *syncWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *syncWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
