package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/page"
)

// Registry is a list of controllers that APIs may import, for programs whose controllers announce
// themselves. Nothing adds a controller by itself. The zero value is an empty list. A Registry is
// not safe for concurrent use.
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

// Import registers the controllers of the list in their order, except controllers that opted out
// by [AutoImport].
func (a *API) Import(from *Registry) {
	for _, r := range from.registered {
		described := a.describe(r.controller, r.options)
		if yes := described.config.autoImport; yes == nil || *yes {
			a.register(r.controller, described)
		}
	}
}

// Settings is configuration by names, as a file holds it. Its key REST_EXTRA is a map with
//
//   - PAGINATION_CLASS: the name of the paginator that lists have by default, one of those
//     that page.Named knows, such as "page.Number"
//   - PAGINATION_PER_PAGE: how many items its pages have
//
// Other keys beside REST_EXTRA are of others. [FromSettings] makes an option of it.
type Settings map[string]any

// extraKey is the name of our part of the settings.
const extraKey = "REST_EXTRA"

// FromSettings makes an option of settings. What other options say in code overrides it.
//
// Settings come from a file, so a mistake in them is an error, which names the key: one that
// is not known, or a value that makes no sense. Mistakes in code panic.
func FromSettings(s Settings) (APIOption, error) {
	p, err := s.paginator()
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return apiOption(func(c *apiConfig) { c.fallback = p }), nil
}

// paginator returns the paginator that the settings name, or nil.
func (s Settings) paginator() (page.Paginator, error) {
	value, ok := s[extraKey]
	if !ok {
		return nil, nil //nolint:nilnil // they name none
	}
	extra, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is a %T, not a map", extraKey, value)
	}
	known := []string{"PAGINATION_CLASS", "PAGINATION_PER_PAGE"}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s has no %s; it has %s", extraKey, key, strings.Join(known, ", "))
		}
	}
	class, named := extra["PAGINATION_CLASS"]
	size, sized := extra["PAGINATION_PER_PAGE"]
	if !named && !sized {
		return nil, nil //nolint:nilnil // as above
	}
	name, ok := class.(string)
	if named && !ok {
		return nil, fmt.Errorf("PAGINATION_CLASS is a %T, not the name of a paginator", class)
	}
	if !named {
		name = "page.LimitOffset"
	}
	var args map[string]any
	if sized {
		args = map[string]any{"page_size": size}
	}
	p, err := page.Named(name, args)
	if err != nil {
		return nil, fmt.Errorf("PAGINATION_CLASS: %w", err)
	}
	return p, nil
}
