package main

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// urlVariable is the variable that says where the server is, for the commands of admin.
const urlVariable = "SPOOL_URL"

// ownPrefix begins the names of the variables that mean something to this command.
const ownPrefix = "SPOOL_"

// variables are those of the environment, and remember which were asked for. They may be used
// from several goroutines.
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

// misspelled is a variable that nothing reads, with the one that its name is close to.
type misspelled struct{ name, meant string }

// misspelled returns the variables in environ that neither a flag nor the configuration has asked
// for, and whose names are close to one of ours. There are others with our prefix that are not meant
// for us, such as those by which a cluster tells its containers of a service called spool.
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

// isClose reports whether a name differs from the one that was meant in one character, or of a long
// one in two, in any case of letters.
func isClose(name, meant string) bool {
	return edits(strings.ToUpper(name), meant) <= 1+len(meant)/8
}

// edits returns how many bytes have to be put in, left out or exchanged to make b of a.
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
