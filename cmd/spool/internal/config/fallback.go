package config

import (
	"slices"

	"github.com/spoolhq/spool"
)

// fallbacks reads the models that a run goes on with. Own is the model of the agent, or "".
func fallbacks(list value, own string, c *Config) (names []string) {
	for _, v := range list.items() {
		name := modelName(v, c)
		switch {
		case name == "":
			continue
		case name == own:
			v.problemf("the model %q is the agent's own", name)
		case slices.Contains(names, name):
			v.problemf("the model %q is there twice", name)
		}
		names = append(names, name)
	}
	return names
}

// fallbackOn reads the failures that move a run on to another model.
func fallbackOn(list value) (causes []spool.FallbackCause) {
	var known []string
	for _, cause := range spool.FallbackCauses() {
		known = append(known, string(cause))
	}
	for _, v := range list.items() {
		word := v.word()
		v.among(word, known...)
		if word != "" {
			causes = append(causes, spool.FallbackCause(word))
		}
	}
	if list.present() && len(causes) == 0 && !list.complained() {
		list.problemf("is empty: leave it out for all failures")
	}
	return causes
}
