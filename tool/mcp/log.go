package mcp

import (
	"bytes"
	"log/slog"
	"sync"
)

// maxLine bounds a line that a child process writes to its standard error.
const maxLine = 1000

// logWriter writes the lines of a child process to the log.
type logWriter struct {
	log    *slog.Logger
	server string
	clean  func(string) string

	mu   sync.Mutex
	line []byte
}

// Write implements [io.Writer].
func (w *logWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for part := range bytes.Lines(text) {
		room := max(0, maxLine-len(w.line))
		w.line = append(w.line, part[:min(room, len(part))]...)
		if part[len(part)-1] == '\n' {
			w.log.Info("MCP server wrote", "server", w.server, "line", w.clean(string(bytes.TrimSpace(w.line))))
			w.line = w.line[:0]
		}
	}
	return len(text), nil
}
