package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// codeUnread is the code of the error that stands for an answer that is too large. Servers have others.
const codeUnread = -39001

// childTransport starts a program and speaks over its standard input and output. The SDK's own one breaks the
// connection, with all calls that are under way, for a message that is too large.
type childTransport struct {
	command *exec.Cmd
	// grace is how long the program may take to end before it gets SIGTERM, and then before it is killed.
	grace time.Duration
}

// Connect implements [sdk.Transport].
func (t *childTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	output, err := t.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	input, err := t.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := t.command.Start(); err != nil {
		return nil, err
	}
	over := &sdk.IOTransport{
		Reader: io.NopCloser(&boundedLines{lines: bufio.NewReader(output), most: maxMessage}),
		Writer: &childInput{WriteCloser: input, command: t.command, grace: t.grace},
	}
	c, err := over.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &readAlongConn{Connection: c}, nil
}

// childInput is the standard input of a program. The program ends with it.
type childInput struct {
	io.WriteCloser

	command *exec.Cmd
	grace   time.Duration
}

// Close ends the program, and waits for its end.
func (i *childInput) Close() error {
	if err := i.WriteCloser.Close(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- i.command.Wait() }()
	for _, end := range []func() error{
		func() error { return i.command.Process.Signal(syscall.SIGTERM) },
		i.command.Process.Kill,
	} {
		select {
		case err := <-ended:
			return err
		case <-time.After(i.grace):
			_ = end() // the program may have ended meanwhile
		}
	}
	return <-ended
}

// boundedLines reads messages of a line each. An answer that is too large becomes an error of its request, and any
// other message that is too large is left out.
type boundedLines struct {
	lines *bufio.Reader
	most  int
	ready []byte
	line  []byte
	err   error
}

// Read implements [io.Reader].
func (b *boundedLines) Read(p []byte) (int, error) {
	for len(b.ready) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.readLine()
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

func (b *boundedLines) readLine() {
	b.line = b.line[:0]
	for {
		piece, err := b.lines.ReadSlice('\n')
		b.line = append(b.line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(b.line) <= b.most:
			continue
		case len(b.line) > b.most:
			b.skip(err)
			return
		}
		b.ready, b.err = b.line, err
		return
	}
}

// skip reads the rest of a line that is too large, and looks for the id of its message. It returns the error of the
// last read.
func (b *boundedLines) skip(err error) {
	var s idScanner
	s.scan(b.line)
	b.line = nil
	for errors.Is(err, bufio.ErrBufferFull) {
		var piece []byte
		piece, err = b.lines.ReadSlice('\n')
		s.scan(piece)
	}
	b.err = err
	if id := s.id; err == nil && json.Valid(id) && !s.asks {
		b.ready = fmt.Appendf(nil,
			"{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"the answer is too large\"}}\n", id, codeUnread)
	}
}

// idScanner finds the id of a message that is too large to be decoded.
type idScanner struct {
	id   []byte
	asks bool // it has a method, and so is no answer

	depth   int
	text    bool // within a string
	escaped bool
	word    []byte // the last string or value of the message's own object, if it is short
	key     string
}

// scan reads the next piece of the message.
func (s *idScanner) scan(piece []byte) {
	for _, c := range piece {
		s.next(c)
	}
}

func (s *idScanner) next(c byte) {
	const longest = 64
	if s.depth == 1 && len(s.word) < longest && (s.text || c != ' ' && c != ',' && c != ':' && c != '}') {
		s.word = append(s.word, c)
	}
	switch {
	case s.escaped:
		s.escaped = false
	case s.text && c == '\\':
		s.escaped = true
	case c == '"':
		s.text = !s.text
	case s.text:
	case c == '{' || c == '[':
		s.depth++
		s.word = s.word[:0]
	case c == ':' && s.depth == 1:
		s.key, s.word = string(s.word), s.word[:0]
		s.asks = s.asks || s.key == `"method"`
	case c == '}' || c == ']' || c == ',':
		if s.depth == 1 {
			if s.key == `"id"` {
				s.id = append([]byte(nil), s.word...)
			}
			s.key, s.word = "", s.word[:0]
		}
		if c != ',' {
			s.depth--
		}
	}
}
