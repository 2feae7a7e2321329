package body

import (
	"math/bits"
	"reflect"
	"unsafe"
)

type set int

const (
	seen   set = iota // the key was there
	valued            // and its value was not null
)

// objectSets are the bit sets of one object that is open.
type objectSets struct {
	scanner *scanner
	object  *object
	base    int
	to      unsafe.Pointer
}

func (b objectSets) word(s set, i int) *uint64 {
	return &b.scanner.bits[b.base+int(s)*b.object.words+i]
}

// mark adds i to the set, and reports whether the set had it before.
func (b objectSets) mark(s set, i int) bool {
	word, bit := b.word(s, i/64), uint64(1)<<(i%64)
	was := *word&bit != 0
	*word |= bit

	return was
}

func (b objectSets) has(s set, i int) bool { return *b.word(s, i/64)>>(i%64)&1 != 0 }

// finish makes the checks that need all keys.
func (b objectSets) finish() bool {
	s, o := b.scanner, b.object

	for w, required := range o.required {
		there := *b.word(seen, w)
		if s.plan.opts.Loose {
			there = *b.word(valued, w) // null is as if the key were not there
		}
		for missing := required &^ there; missing != 0; missing &= missing - 1 {
			i := w*64 + bits.TrailingZeros64(missing)
			if p := &o.props[i]; (!b.has(seen, i) || !p.node.null) && !s.missing(p) {
				return false
			}
		}
	}
	for _, d := range o.depends {
		if b.has(valued, d.of) && !b.depends(d) {
			return false
		}
	}
	for _, i := range o.defaults {
		p := &o.props[i]
		if !b.has(valued, i) && (!b.has(seen, i) || !p.node.null) {
			if b.to != nil {
				p.filler.set(reflect.NewAt(p.typ, p.in(b.to)).Elem())
			}
		}
	}
	if len(s.path) == 0 {
		s.presence = b.presence()
	}

	return true
}

func (b objectSets) depends(d dependency) bool {
	for _, i := range d.asks {
		if !b.has(valued, i) && !b.scanner.missing(&b.object.props[i]) {
			return false
		}
	}

	return true
}

func (b objectSets) presence() Presence {
	p := Presence{object: b.object}

	for i := range b.object.words {
		word := *b.word(seen, i)
		for j := i * 64; j < min(len(b.object.props), i*64+64); j++ {
			if b.object.props[j].readOnly {
				word &^= 1 << (j % 64)
			}
		}
		if i == 0 {
			p.first = word
		} else {
			p.rest = append(p.rest, word)
		}
	}

	return p
}
