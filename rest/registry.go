package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/page"
)

// Registry is a list of controllers that an API imports with [API.Import]. Controllers are on
// the list only if code calls [Registry.Add]. The zero value is an empty list. A Registry is
// not safe for concurrent use.
type Registry struct {
	registered []registered
}

type registered struct {
	controller Controller
	options    []ControllerOption
}

// Add appends a controller to the list.
func (r *Registry) Add(c Controller, options ...ControllerOption) {
	r.registered = append(r.registered, registered{c, options})
}

// Import registers the controllers of the list in order, except those that opted out with
// [AutoImport].
func (a *API) Import(from *Registry) {
	for _, r := range from.registered {
		described := a.describe(r.controller, r.options)
		if yes := described.config.autoImport; yes == nil || *yes {
			a.register(r.controller, described)
		}
	}
}

// Settings is configuration by name, such as the content of a file. Its key REST_EXTRA is a
// map with
//
//   - PAGINATION_CLASS: the name of the default paginator of lists, one of the names that
//     page.Named knows, such as "page.Number"
//   - PAGINATION_PER_PAGE: the number of items on a page
//
// Other keys of Settings are ignored. [FromSettings] turns Settings into an option.
type Settings map[string]any

const extraKey = "REST_EXTRA"

// FromSettings returns an option for the settings. Options in code override it.
//
// Settings come from a file. So a mistake in them, such as an unknown key or an invalid value,
// is an error that names the key. Mistakes in code panic.
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
		return nil, nil //nolint:nilnil // the settings name no paginator
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
