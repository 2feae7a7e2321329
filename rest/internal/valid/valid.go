// Package valid calls the methods Validate of an input: its own and those of everything in
// it, at every depth. A [Tree] is compiled once for a type. It knows the places where there is
// such a method, so an input without one costs nothing.
package valid

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// Validator is a value that checks more than tags can say.
type Validator interface {
	Validate(ctx context.Context) error
}

// Place is where a value stands in a request.
type Place struct {
	// In is one of the places of [fault.Fault]. Empty: the input as a whole.
	In string
	// Path leads from In to the value.
	Path []any
}

// below is the place of a value in the value at p.
func (p Place) below(step any) Place {
	return Place{In: p.In, Path: append(slices.Clip(p.Path), step)}
}

// locate gives a fault of the value at p its place in the request. A fault that names a place
// of another kind than the value's keeps it.
func (p Place) locate(f fault.Fault) fault.Fault {
	if p.In == "" {
		return f
	}
	if f.In == "" || f.In == p.In || f.In == fault.Body {
		f.In = p.In
		f.Path = append(slices.Clip(p.Path), f.Path...)
	}

	return f
}

// Tree leads to the methods Validate in values of one type. It does not change after it was
// compiled and is safe for concurrent use.
type Tree struct{ root *node }

// Faults returns the faults of an error that a method Validate returned, and false for an
// error that is something else than faults.
type Faults func(err error) ([]fault.Fault, bool)

// MaxFaults is how many faults [Tree.Check] lists.
const MaxFaults = 100

// Check calls the methods of the value that v points to, which is at the place. What is
// inside of a value comes before the value itself, whose method is called only when nothing
// inside has a fault: it may rely on that. The methods of all other values are called, and
// their faults are returned together.
//
// An error that is no list of faults ends the check and is returned as it is. The first
// error with faults is returned as well, so that a caller can keep what else it says.
func (t *Tree) Check(ctx context.Context, v reflect.Value, at Place, of Faults) (all []fault.Fault, first, err error) {
	c := check{ctx: ctx, of: of}
	err = c.walk(t.root, v.Elem(), at)
	if len(c.faults) > MaxFaults {
		c.faults = append(c.faults[:MaxFaults], fault.TooManyFaults(c.faults[0].In, MaxFaults))
	}

	return c.faults, c.first, err
}

// node is what is known of the values of one type.
type node struct {
	typ    reflect.Type
	called bool // its own method is called
	needed bool // there is a method to call, here or below
	kind   kind
	elem   *node   // of a pointer, an Opt, a list or a map
	fields []field // of a struct
}

type kind uint8

const (
	plain kind = iota
	pointer
	optional
	list
	dictionary
	object
)

// field is a field of a struct, or a struct that is embedded in it.
type field struct {
	index int
	node  *node
	// place is where the field is, below its struct. An embedded struct is where the struct is.
	place    Place
	embedded bool
}

func (f *field) at(p Place) Place {
	switch {
	case f.embedded && f.place.In == "":
		return p
	case f.place.In != "":
		return f.place
	}

	return p.below(f.place.Path[0])
}

// Document compiles the tree of the JSON documents of a type. It is nil when there is no
// method to call. The error names a method that could never be called.
func Document(t reflect.Type) (*Tree, error) {
	c := compiler{done: map[reflect.Type]*node{}}
	root, err := c.node(t)
	if err != nil {
		return nil, err
	}

	return c.tree(root), nil
}

// Input compiles the tree of an input, a struct whose fields are in the places that places
// tells by the way to the field; false is a field that is not read from the request. An
// embedded struct has the place of its fields, or no place when it holds parameters.
func Input(t reflect.Type, places func(index []int) (Place, bool)) (*Tree, error) {
	c := compiler{done: map[reflect.Type]*node{}}
	root := &node{typ: t, kind: object}
	c.all = append(c.all, root)
	if err := c.own(root); err != nil {
		return nil, err
	}
	if err := c.fields(root, t, nil, places); err != nil {
		return nil, err
	}

	return c.tree(root), nil
}

func (c *compiler) tree(root *node) *Tree {
	for again := true; again; {
		again = false
		for _, n := range c.all {
			if !n.needed && n.leads() {
				n.needed, again = true, true
			}
		}
	}
	if !root.needed {
		return nil
	}

	return &Tree{root: root}
}

func (n *node) leads() bool {
	if n.called || n.elem != nil && n.elem.needed {
		return true
	}
	for i := range n.fields {
		if n.fields[i].node.needed {
			return true
		}
	}

	return false
}

// misdeclared is the mistake of a method that nothing would call.
func misdeclared(t reflect.Type, m reflect.Method) error {
	return fmt.Errorf("%v has a method Validate that is never called, as it is %s: declare it as Validate(context.Context) error",
		t, signature(m))
}
