package body

import (
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/textform"
)

// scanner reads one document. Its buffers are reused for other documents, so that a valid document costs no
// allocation. Its read methods return false if reading cannot continue.
type scanner struct {
	lexer
	faultList
	keySet

	plan     *Plan
	depth    int
	bits     []uint64 // sets of seen properties, of each object that is open
	folding  []byte
	presence Presence
}

func (p *Plan) scanner(data []byte) *scanner {
	s, ok := p.scanners.Get().(*scanner)
	if !ok {
		s = &scanner{plan: p}
	}
	s.data, s.loose = data, p.opts.Loose

	return s
}

// release returns the scanner to the pool, and returns its faults.
func (s *scanner) release() []fault.Fault {
	faults := s.faults
	if s.broken != nil {
		faults = []fault.Fault{*s.broken}
	}

	clear(s.path)
	clear(s.keys)
	clear(s.indexes)
	s.data, s.pos, s.depth = nil, 0, 0
	s.faults, s.broken, s.presence = nil, nil, Presence{}
	s.path, s.bits, s.keys = s.path[:0], s.bits[:0], s.keys[:0]
	if max(cap(s.scratch), cap(s.folding), cap(s.keys)) <= maxKept {
		s.plan.scanners.Put(s)
	}

	return faults
}

// maxKept is the maximum capacity, in elements, of a buffer that is reused.
const maxKept = 1 << 14

// document reads all of the data into the value that to points to, and reports whether there are no faults.
func (s *scanner) document(to unsafe.Pointer) bool {
	s.space()
	if s.pos == len(s.data) {
		s.faults = []fault.Fault{fault.Missing(fault.Body, nil)}
		return false
	}
	if !s.value(s.plan.root, to) {
		return false
	}

	s.space()
	if s.pos < len(s.data) {
		return s.syntax("unexpected text after the value")
	}

	return len(s.faults) == 0
}

// value reads the value at pos, which is not white space, checks it against n, and stores it in the value
// that to points to. If to is nil, it only checks.
func (s *scanner) value(n *node, to unsafe.Pointer) bool {
	if (n.null || s.plan.opts.Loose && s.depth > 0) && s.pos < len(s.data) && s.data[s.pos] == 'n' {
		return s.null(n, to)
	}
	if to != nil && len(n.wraps) > 0 {
		to = n.open(to)
	}
	if n.validate == nil && (to == nil && n.form == textform.None || n.direct) {
		return s.bare(n, to)
	}

	direct := to
	if !n.direct {
		direct = nil
	}
	start, faults := s.pos, len(s.faults)
	if !s.bare(n, direct) {
		return false
	}
	if len(s.faults) > faults {
		return true
	}

	raw := s.data[start:s.pos]
	if n.validate != nil {
		if problems := n.validate(raw); len(problems) > 0 {
			return s.foreignFaults(problems)
		}
	}
	if direct == nil && to != nil {
		return s.decode(n, raw, to)
	}

	return s.tryDecode(n, raw)
}

// null reads null, as a value or as absence.
func (s *scanner) null(n *node, to unsafe.Pointer) bool {
	start := s.pos
	if !s.word("null") {
		return false
	}

	switch {
	case to == nil:
		return true
	case len(n.wraps) > 0:
		n.wraps[0].clear(to)
		return true
	case n.foreign && n.form == textform.None:
		return s.decode(n, s.data[start:s.pos], to)
	}

	return true
}

// bare is value without pointers, null and foreign decoding.
func (s *scanner) bare(n *node, to unsafe.Pointer) bool {
	if s.pos >= len(s.data) {
		return s.syntax("unexpected end of the text")
	}
	c := s.data[s.pos]

	switch n.kind {
	case kindAny:
		return s.any(n.use)
	case kindBool:
		if c == 't' || c == 'f' {
			return s.flag(n, to)
		}
	case kindString, kindBytes:
		if c == '"' {
			return s.text(n, to)
		}
	case kindList:
		if c == '[' {
			return s.list(n, to)
		}
	case kindObject:
		if c == '{' {
			return s.object(n, to)
		}
	case kindDict:
		if c == '{' {
			return s.dictionary(n, to)
		}
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return s.numeric(n, to)
		}
	}

	return s.mismatch(n) && s.any(ignored)
}

func (s *scanner) flag(n *node, to unsafe.Pointer) bool {
	value := s.data[s.pos] == 't'
	want := "false"
	if value {
		want = "true"
	}
	if !s.word(want) {
		return false
	}
	if to != nil {
		*(*bool)(to) = value
	}
	if len(n.flags) == 0 {
		return true
	}

	allowed := make([]any, len(n.flags))
	for i, flag := range n.flags {
		if flag == value {
			return true
		}
		allowed[i] = flag
	}

	return s.report(fault.Enum(fault.Body, s.where(), allowed))
}

// enter and leave count the open objects and lists.
func (s *scanner) enter() bool {
	s.depth++
	if limit := s.plan.opts.MaxDepth; s.depth > limit {
		s.report(fault.Depth(fault.Body, s.where(), limit))
		return false
	}
	s.pos++
	s.space()

	return true
}

func (s *scanner) leave() bool {
	s.depth--
	s.pos++

	return true
}

// view returns the text of b without a copy. It is valid as long as nobody writes to b: for the document,
// that is until release.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
