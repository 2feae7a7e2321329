package registry

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// checkFallbacks fills in the defaults of an agent's fallbacks and validates them.
func (c Config) checkFallbacks(a *Agent, where string) error {
	for i, name := range a.Fallbacks {
		switch {
		case c.Models[name] == nil:
			return spool.Errorf(spool.Invalid, "%sFallbacks has the model %q, which Config.Models lacks", where, name)
		case name == a.Model, slices.Contains(a.Fallbacks[:i], name):
			return spool.Errorf(spool.Invalid, "%sFallbacks has the model %q twice, or its Model again", where, name)
		}
	}
	for _, cause := range a.FallbackOn {
		if !cause.Known() {
			return spool.Errorf(spool.Invalid, "%sFallbackOn has no cause of the name %q", where, cause)
		}
	}
	if a.FallbackAfter < 0 {
		return spool.Errorf(spool.Invalid, "%sFallbackAfter is negative", where)
	}
	if len(a.FallbackOn) == 0 {
		a.FallbackOn = spool.FallbackCauses()
	}
	a.FallbackAfter = cmp.Or(a.FallbackAfter, 1)
	return nil
}

// After returns the model that a run goes on with when one of its models has failed, or nil if there is none. A
// model that the configuration no longer has is left out.
func (r *Registry) After(a *Agent, run store.RunRow) (name string, model spool.Model) {
	behind := a.Fallbacks
	if i := slices.Index(behind, run.ModelInUse()); i >= 0 {
		behind = behind[i+1:]
	}
	for _, name := range behind {
		if m := r.Models[name]; m != nil && name != run.Model {
			return name, m
		}
	}
	return "", nil
}

// fallbackContent returns the fallbacks of an agent as a part of its revision, nil for none.
func (c Config) fallbackContent(a *Agent) *wire.FallbackContent {
	if len(a.Fallbacks) == 0 {
		return nil
	}
	return &wire.FallbackContent{Models: c.modelContents(a.Fallbacks), On: sorted(a.FallbackOn), After: a.FallbackAfter}
}

func (c Config) modelContents(names []string) []wire.ModelContent {
	var contents []wire.ModelContent
	for _, name := range names {
		contents = append(contents, c.modelContent(name))
	}
	return contents
}

// pinFallbacks gives an agent the fallbacks of its revision.
func (a *Agent) pinFallbacks(content *wire.FallbackContent) {
	a.Fallbacks, a.FallbackOn, a.FallbackAfter = nil, nil, 0
	if content != nil {
		a.Fallbacks, a.FallbackOn, a.FallbackAfter = modelNames(content.Models), content.On, content.After
	}
}

// modelNames returns the names of models, nil for none.
func modelNames(contents []wire.ModelContent) []string {
	var names []string
	for _, m := range contents {
		names = append(names, m.Name)
	}
	return names
}

// profileFallbacks returns the models that a nested run goes on with. A profile that takes its parent's model takes
// its fallbacks too.
func profileFallbacks(p spool.Profile, parent *Agent) []string {
	if p.Model == "" && len(p.Fallbacks) == 0 {
		return parent.Fallbacks
	}
	return p.Fallbacks
}
