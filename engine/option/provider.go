package option

import (
	"maps"
	"slices"

	"github.com/spoolhq/spool"
)

// ProviderLimit is what the provider of a model allows to all workers of a store together. At least one of the
// three numbers is required.
type ProviderLimit struct {
	// Group names what the provider counts together, such as all requests with one key. Models of the
	// same group share the limit and must have the same numbers. All engines of a store must use the same
	// name. It must not be a secret. Defaults to the name of the model.
	Group string
	// Concurrent bounds the requests under way. Zero: no bound.
	Concurrent int
	// RPM bounds the requests of any minute. Zero: no bound.
	RPM int
	// TPM bounds the tokens of any minute: those of prompts and of answers. A request counts with an
	// estimate until the provider reports its usage. Zero: no bound.
	TPM int
}

// CheckProviderLimits fills in the groups and validates the limits of the given models. It returns an
// [spool.Invalid] error that names the wrong field.
func CheckProviderLimits(
	limits map[string]ProviderLimit, models map[string]spool.Model,
) (map[string]ProviderLimit, error) {
	checked := make(map[string]ProviderLimit, len(limits))
	groups := make(map[string]string) // the first model of each group
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		l := limits[name]
		if l.Group == "" {
			l.Group = name
		}
		switch {
		case models[name] == nil:
			return nil, spool.Errorf(spool.Invalid, "Config.ProviderLimits names %q, which Config.Models lacks", name)
		case l.Concurrent < 0, l.RPM < 0, l.TPM < 0:
			return nil, spool.Errorf(spool.Invalid, "Config.ProviderLimits[%q] has a negative number", name)
		case l.Concurrent == 0 && l.RPM == 0 && l.TPM == 0:
			return nil, spool.Errorf(spool.Invalid, "Config.ProviderLimits[%q] limits nothing", name)
		}
		if other, some := groups[l.Group]; some && checked[other] != l {
			return nil, spool.Errorf(spool.Invalid,
				"Config.ProviderLimits[%q] differs from that of %q, which has the same group", name, other)
		} else if !some {
			groups[l.Group] = name
		}
		checked[name] = l
	}
	return checked, nil
}
