package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/page"
)

// Registry is a list of controllers that APIs may import. A program that wants its
// controllers to announce themselves keeps one; nothing is registered anywhere by itself.
// The zero value is an empty list. It is not safe for concurrent use.
type Registry struct {
	registered []registered
}

type registered struct {
	controller Controller
	options    []ControllerOption
}

// Add puts a controller on the list.
func (r *Registry) Add(c Controller, options ...ControllerOption) {
	r.registered = append(r.registered, registered{c, options})
}

// Import registers the controllers of the list in their order, without those that opted
// out by [AutoImport].
func (a *API) Import(from *Registry) {
	for _, r := range from.registered {
		described := describe(r.controller, r.options)
		if yes := described.config.autoImport; yes == nil || *yes {
			a.register(r.controller, described)
		}
	}
}

// Settings is configuration by names, as a file holds it. Its key REST_EXTRA is a map with
//
//   - PAGINATION_CLASS: the name of the paginator that lists have by default, one of those
//     that page.Named knows, such as "PageNumberPaginationExtra"
//   - PAGINATION_PER_PAGE: how many items its pages have
//
// Other keys beside REST_EXTRA are of others. A key in it that is not known refuses to
// build the API.
type Settings map[string]any

// extraKey is the name of our part of the settings.
const extraKey = "REST_EXTRA"

// FromSettings takes settings. What options say in code overrides them.
func FromSettings(s Settings) APIOption { return apiOption(func(c *apiConfig) { c.settings = s }) }

// apply takes over what the settings say.
func (s Settings) apply(c *apiConfig) error {
	value, ok := s[extraKey]
	if !ok {
		return nil
	}
	extra, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("settings: %s is a %T, not a map", extraKey, value)
	}
	known := []string{"PAGINATION_CLASS", "PAGINATION_PER_PAGE"}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("settings: %s has no %s; it has %s", extraKey, key, strings.Join(known, ", "))
		}
	}
	class, named := extra["PAGINATION_CLASS"]
	size, sized := extra["PAGINATION_PER_PAGE"]
	if !named && !sized {
		return nil
	}
	name, ok := class.(string)
	if named && !ok {
		return fmt.Errorf("settings: PAGINATION_CLASS is a %T, not the name of a paginator", class)
	}
	if !named {
		name = "LimitOffsetPagination"
	}
	var args map[string]any
	if sized {
		args = map[string]any{"page_size": size}
	}
	p, err := page.Named(name, args)
	if err != nil {
		return fmt.Errorf("settings: PAGINATION_CLASS: %w", err)
	}
	if c.paginator == nil {
		c.paginator = p
	}
	return nil
}
