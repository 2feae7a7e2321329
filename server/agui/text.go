package agui

import (
	"bytes"
	"slices"
)

// maxCopied is the size in bytes up to which messages are copied into a text. A text shares the bytes of
// larger ones with other clients.
const maxCopied = 64 << 10

// Messages replaces all messages of the client.
type Messages struct {
	// elements are the elements of the JSON array, in pieces that clients share.
	elements [][]byte
}

// and returns the messages with others appended. Each of the others has a comma before it.
func (m Messages) and(others []byte) Messages {
	if len(others) == 0 {
		return m
	}
	if len(m.elements) == 0 {
		others = others[len(","):]
	}
	return Messages{append(slices.Clip(m.elements), others)}
}

// reason reports whether one of the messages is reasoning.
func (m Messages) reason() bool {
	// Nothing else can look like this: inside a JSON string, the quotes are escaped.
	role := []byte(`,"role":"` + string(roleReasoning) + `"`)
	return slices.ContainsFunc(m.elements, func(piece []byte) bool { return bytes.Contains(piece, role) })
}

func (m Messages) size() (n int) {
	for _, piece := range m.elements {
		n += len(piece)
	}
	return n
}

const (
	messagesHead = `{"messages":[`
	messagesTail = `]}`
)

// MarshalJSON implements [json.Marshaler].
func (m Messages) MarshalJSON() ([]byte, error) {
	return append(append([]byte(messagesHead), bytes.Join(m.elements, nil)...), messagesTail...), nil
}

// Text is a text of server-sent events, in pieces. It may share pieces with other clients.
type Text struct {
	pieces [][]byte
	own    []byte // the part after the pieces
}

// Add adds the events of a frame. The last event has the id, so a client that has the id has all events.
// Without events, the id comes alone: a browser remembers it and shows it to no script. An empty id is left
// out.
func (t *Text) Add(id string, events ...Event) error {
	for i, e := range events {
		if i == len(events)-1 {
			t.addID(id)
		}
		t.own = append(t.own, "data: "...)
		if err := t.add(e); err != nil {
			return err
		}
		t.own = append(t.own, "\n\n"...)
	}
	if len(events) == 0 && id != "" {
		t.addID(id)
		t.own = append(t.own, '\n')
	}
	return nil
}

func (t *Text) addID(id string) {
	if id != "" {
		t.own = append(append(append(t.own, "id: "...), id...), '\n')
	}
}

func (t *Text) add(e Event) error {
	m, ok := e.(Messages)
	if !ok {
		var err error
		t.own, err = appendEvent(t.own, e)
		return err
	}
	t.own = append(t.own, `{"type":"`+string(TypeMessages)+`",`+messagesHead[len("{"):]...)
	if m.size() > maxCopied {
		t.pieces = append(append(t.pieces, t.own), m.elements...)
		t.own = nil
	} else {
		for _, piece := range m.elements {
			t.own = append(t.own, piece...)
		}
	}
	t.own = append(t.own, messagesTail...)
	return nil
}

// AddText adds a text of another protocol: what add appends to it.
func (t *Text) AddText(add func([]byte) ([]byte, error)) (err error) {
	t.own, err = add(t.own)
	return err
}

// AddLine adds a line that is not an event, such as a comment, and a blank line.
func (t *Text) AddLine(line string) { t.own = append(append(t.own, line...), "\n\n"...) }

// Pieces returns the text. The caller must not change it.
func (t *Text) Pieces() [][]byte {
	if len(t.own) == 0 {
		return t.pieces
	}
	return append(slices.Clip(t.pieces), t.own)
}

// maxKept bounds the memory that an empty text keeps.
const maxKept = 64 << 10

// Reset empties the text. The caller must not use earlier results of Pieces any more.
func (t *Text) Reset() {
	clear(t.pieces)
	t.pieces = t.pieces[:0]
	if t.own = t.own[:0]; cap(t.own) > maxKept {
		t.own = nil
	}
}
