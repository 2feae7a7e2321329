package openapi

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

const (
	// maxFaults bounds how many faults of one operation are named.
	maxFaults = 10
	// maxKept bounds how many are counted.
	maxKept = 1000
)

// placeError is what is wrong at a place of the document.
type placeError struct{ place, text string }

func (e *placeError) Error() string { return cut(e.place, 300) + ": " + cut(e.text, 1000) }

func wrong(place, text string) error { return &placeError{place, text} }

// faults are all that is wrong with an operation.
type faults []string //nolint:recvcheck // the value is the error, and add changes it

func (f faults) Error() string { return strings.Join(f, "; ") }

// add adds an error, which may be faults. It leaves out a fault that is there already.
func (f *faults) add(err error) {
	if err == nil {
		return
	}
	more, ok := errors.AsType[faults](err)
	if !ok {
		more = faults{textOf(err)}
	}
	for _, text := range more {
		if len(*f) < maxKept && !slices.Contains(*f, text) {
			*f = append(*f, text)
		}
	}
}

// textOf returns what an error says to a person.
func textOf(err error) string {
	if at, ok := errors.AsType[*placeError](err); ok {
		return at.Error()
	}
	return spool.MessageOf(err)
}

// err returns nil if there are no faults.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// named returns the faults that a person reads.
func (f faults) named() []string {
	if len(f) <= maxFaults {
		return f
	}
	remaining := strconv.Itoa(len(f) - maxFaults)
	if len(f) == maxKept {
		remaining = "many"
	}
	return append(f[:maxFaults:maxFaults], "and "+remaining+" more")
}

// placed returns an invalid error that names an operation and what is wrong with it.
func placed(name string, err error) error {
	var all faults
	all.add(err)
	return spool.Errorf(spool.Invalid, "%s: %s", cut(name, 500), cut(strings.Join(all.named(), "; "), 3000))
}
