package main

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// urlVariable is the variable that says where the server is, for the commands of admin.
const urlVariable = "SPOOL_URL"

// ownPrefix begins the names of the variables that mean something to this command.
const ownPrefix = "SPOOL_"

// serviceVariable matches what Kubernetes and Docker tell every container of a service whose
// name is spool, or begins with it.
var serviceVariable = regexp.MustCompile(`^SPOOL_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

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

// unread returns the names in environ that look as if they were for this command, and that neither
// a flag nor the configuration has asked for, in their order. They are misspelled, as a rule.
func (v *variables) unread(environ []string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, each := range environ {
		name, _, _ := strings.Cut(each, "=")
		known := v.asked[name] || name == urlVariable || name == tokenVariable || name == metricsTokenVariable
		if strings.HasPrefix(name, ownPrefix) && !known && !serviceVariable.MatchString(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
