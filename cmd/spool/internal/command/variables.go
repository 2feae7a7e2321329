package command

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// urlVariable is the variable with the server's address, for the admin commands.
const urlVariable = "SPOOL_URL"

// ownPrefix begins the names of this command's variables.
const ownPrefix = "SPOOL_"

// variables looks up environment variables, and remembers their names. It is safe for concurrent use.
type variables struct {
	read func(name string) (string, bool)

	mu    sync.Mutex
	asked map[string]bool
}

// lookup returns the value of a variable, as [os.LookupEnv] does.
func (v *variables) lookup(name string) (string, bool) {
	v.mu.Lock()
	if v.asked == nil {
		v.asked = make(map[string]bool)
	}
	v.asked[name] = true
	v.mu.Unlock()
	return v.read(name)
}

// misspelled is an unknown variable, and the known variable that was probably meant.
type misspelled struct{ name, meant string }

// misspelled returns the variables in environ that neither a flag nor the configuration looked up, and
// whose names are close to a known name. Other variables with our prefix are ignored: a cluster sets
// some for the containers next to a service called spool.
func (v *variables) misspelled(environ []string) []misspelled {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := []string{tokenVariable, urlVariable, metricsTokenVariable}
	for _, s := range settings {
		known = append(known, s.env)
	}
	var out []misspelled
	for _, each := range environ {
		name, _, _ := strings.Cut(each, "=")
		if !strings.HasPrefix(name, ownPrefix) || v.asked[name] || slices.Contains(known, name) {
			continue
		}
		for _, meant := range known {
			if isClose(strings.TrimPrefix(name, ownPrefix), strings.TrimPrefix(meant, ownPrefix)) {
				out = append(out, misspelled{name, meant})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b misspelled) int { return cmp.Compare(a.name, b.name) })
	return out
}

// isClose reports whether two names differ in at most one character, or two for a long name, ignoring
// case.
func isClose(name, meant string) bool {
	return edits(strings.ToUpper(name), meant) <= 1+len(meant)/8
}

// edits returns how many bytes must be inserted, removed or replaced to turn a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
