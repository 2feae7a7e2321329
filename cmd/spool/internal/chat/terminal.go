package chat

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

// Terminal reads keys one by one, and writes lines.
type Terminal struct {
	in, out *os.File
	before  *term.State
	raw     bool
	// wanted asks for the next keys, and keys brings them. So the process reads nothing while another program has the
	// terminal.
	wanted chan struct{}
	keys   chan []byte
	// partial is the beginning of a character.
	partial []byte
}

// OpenTerminal takes the terminal over, until Close.
func OpenTerminal(in, out *os.File) (*Terminal, error) {
	t := &Terminal{in: in, out: out, wanted: make(chan struct{}, 1), keys: make(chan []byte)}
	if err := t.makeRaw(); err != nil {
		return nil, err
	}
	go t.read()
	return t, nil
}

// read ends with the process, because nothing else ends a read of a terminal.
func (t *Terminal) read() {
	for range t.wanted {
		buffer := make([]byte, 4096)
		n, err := t.in.Read(buffer)
		if err != nil {
			close(t.keys)
			return
		}
		t.keys <- buffer[:n]
	}
}

func (t *Terminal) makeRaw() error {
	before, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return err
	}
	t.before, t.raw = before, true
	return nil
}

// Close gives the terminal back.
func (t *Terminal) Close() {
	if t.raw {
		_ = term.Restore(int(t.in.Fd()), t.before)
	}
	t.raw = false
}

// lend calls a function while the terminal is as it was.
func (t *Terminal) lend(use func() error) error {
	t.Close()
	err := use()
	if again := t.makeRaw(); err == nil {
		err = again
	}
	return err
}

// Write implements [io.Writer]. A raw terminal does not return to the first column by itself.
func (t *Terminal) Write(b []byte) (int, error) {
	if t.raw {
		if _, err := t.out.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return t.out.Write(b)
}

// Width returns how many columns the terminal has, or 0 if nobody knows.
func (t *Terminal) Width() int {
	width, _, err := term.GetSize(int(t.out.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// The keys that are no text.
const (
	keyNone = -(iota + 1)
	keyEnter
	keyBackspace
	keyClear
	keyInterrupt
	keyEnd
	keyEscape
)

// parse returns the keys of what was read. It leaves out what no key of ours sends, such as arrows.
func (t *Terminal) parse(read []byte) (keys []rune) {
	read = append(t.partial, read...)
	t.partial = nil
	for len(read) > 0 {
		if read[0] == 0x1b {
			if len(read) == 1 { // a terminal sends the sequence of another key at once
				keys = append(keys, keyEscape)
			}
			read = read[sequence(read):]
			continue
		}
		r, size := utf8.DecodeRune(read)
		if r == utf8.RuneError && size <= 1 && !utf8.FullRune(read) {
			t.partial = bytes.Clone(read)
			return keys
		}
		read = read[size:]
		if k := keyOf(r); k != keyNone {
			keys = append(keys, k)
		}
	}
	return keys
}

func keyOf(r rune) rune {
	switch r {
	case '\r', '\n':
		return keyEnter
	case 0x7f, '\b':
		return keyBackspace
	case 0x15, 0x17: // Ctrl-U, Ctrl-W
		return keyClear
	case 0x03:
		return keyInterrupt
	case 0x04:
		return keyEnd
	case '\t':
		return ' '
	}
	if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
		return keyNone
	}
	return r
}

// sequence returns the length of the escape sequence at the beginning.
func sequence(b []byte) int {
	if len(b) < 2 || b[1] != '[' && b[1] != 'O' {
		return min(2, len(b))
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
	}
	return len(b)
}

// input is a line that somebody types.
type input struct {
	to   io.Writer
	text []rune
}

// put adds a character and shows it.
func (l *input) put(r rune) {
	l.text = append(l.text, r)
	_, _ = io.WriteString(l.to, string(r))
}

// back removes the last character.
func (l *input) back() {
	if len(l.text) == 0 {
		return
	}
	last := l.text[len(l.text)-1]
	l.text = l.text[:len(l.text)-1]
	_, _ = io.WriteString(l.to, "\b \b")
	if wide(last) {
		_, _ = io.WriteString(l.to, "\b \b")
	}
}

func (l *input) clear() {
	for len(l.text) > 0 {
		l.back()
	}
}

// wide reports whether a character takes two columns, as those of East Asia and emoji do.
func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 ||
		r >= 0x1f300 && r <= 0x1faff || r >= 0x20000)
}
