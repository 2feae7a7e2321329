// Package valid calls the methods Validate of an input: its own, and those of all values in it, at any depth.
// A [Tree] is compiled once for a type. It knows the places with such a method, so an input without one costs
// nothing.
package valid

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// Validator is a value with checks that tags cannot express.
type Validator interface {
	Validate(ctx context.Context) error
}

// Place is the place of a value in a request.
type Place struct {
	// In is one of the places of [fault.Fault]. Empty: the input as a whole.
	In string
	// Path leads from In to the value.
	Path []any
}

// below returns the place of a value in the value at p.
func (p Place) below(step any) Place {
	return Place{In: p.In, Path: append(slices.Clip(p.Path), step)}
}

// locate adds the place in the request to a fault of the value at p. A fault that names a place of another
// kind keeps it.
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

// Tree leads to the methods Validate in values of one type. It does not change after Compile, and is safe for
// concurrent use.
type Tree struct{ root *node }

// Faults returns the faults of an error of a method Validate, and false if the error is not a list of faults.
type Faults func(err error) ([]fault.Fault, bool)

// MaxFaults is the maximum number of faults that [Tree.Check] lists.
const MaxFaults = 100

// Check calls the methods of the value that v points to, which is at the place. Inner values come first. The
// method of a value is called only if nothing inside it has a fault, and may rely on that. The methods of all
// other values are called, and their faults are returned together.
//
// An error that is not a list of faults ends the check, and is returned unchanged. The first error with
// faults is returned as well, so that a caller can keep its other content.
func (t *Tree) Check(ctx context.Context, v reflect.Value, at Place, of Faults) (all []fault.Fault, first, err error) {
	c := check{ctx: ctx, of: of}
	err = c.walk(t.root, v.Elem(), at)
	if len(c.faults) > MaxFaults {
		c.faults = append(c.faults[:MaxFaults], fault.TooManyFaults(c.faults[0].In, MaxFaults))
	}

	return c.faults, c.first, err
}

// node has what is known about the values of one type.
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
	// place is the place of the field below its struct. An embedded struct has the place of the struct around
	// it.
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

// Document compiles the tree of the JSON documents of a type. It is nil if there is no method to call. The
// error names a method that could never be called.
func Document(t reflect.Type) (*Tree, error) {
	c := compiler{done: map[reflect.Type]*node{}}
	root, err := c.node(t)
	if err != nil {
		return nil, err
	}

	return c.tree(root), nil
}

// Input compiles the tree of an input struct. places returns the place of a field by its path, and false for
// a field that is not read from the request. An embedded struct has the place of its fields, or no place if
// it has parameters.
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

// misdeclared is the error for a method that nothing would call.
func misdeclared(t reflect.Type, m reflect.Method) error {
	return fmt.Errorf("%v has a method Validate that is never called, as it is %s: declare it as Validate(context.Context) error",
		t, signature(m))
}
