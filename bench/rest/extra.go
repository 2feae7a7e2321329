package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// extra compares variants of rest with the plain one, or rest with a few peers.
type extra struct {
	title    string
	how      string
	subjects []*subject // the plain one first
	// status is what all subjects answer. Defaults to 200.
	status int
	// most bounds the time of variants, by name, as a ratio to the plain one.
	most map[string]float64
	// sameAllocs requires that variants allocate no more often than the plain one.
	sameAllocs bool
}

// rows returns the goals and whether they are met, as table rows.
func (e *extra) rows() string {
	var out strings.Builder
	plain := e.subjects[0]
	for _, s := range e.subjects[1:] {
		if most, ok := e.most[s.name]; ok {
			o := outcome{goal{s.name, plain.name, "", most}, s.times.over(plain.times)}
			out.WriteString(o.row(e.title))
		}
		if e.sameAllocs {
			verdict := "met"
			// A garbage collection during the count may add half an allocation.
			if s.count > plain.count+0.5 {
				verdict = "**missed**"
			}
			fmt.Fprintf(&out, "| %s | allocations, %s beside %s | no more | %.1f beside %.1f | %s |\n",
				e.title, s.name, plain.name, s.count, plain.count, verdict)
		}
	}
	return out.String()
}

func (e *extra) markdown(out *strings.Builder) {
	fmt.Fprintf(out, "\n## %s\n\n%s\n\n", capital(e.title), e.how)
	out.WriteString("| | ns | ratio (of the repeats) | B/op | allocs/op |\n|---|--:|--:|--:|--:|\n")
	for _, s := range e.subjects {
		fmt.Fprintf(out, "| %s | %.0f | %s | %.0f | %.1f |\n",
			s.name, s.times.median(), spread(s.times.over(e.subjects[0].times)), s.bytes, s.count)
	}
}

// extras returns the measurements of rest alone, and a function that ends them.
func extras(ctx context.Context, c *catalog, e effort) ([]*extra, func() error, error) {
	deep, closeDeep, err := deepPages(ctx, e.rows)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare deep pages: %w", err)
	}
	list := append([]*extra{missing(c), wideQuery(), nestedBody(), idleOptions(c), idleListOptions(c), stages(c)}, deep...)
	return list, closeDeep, nil
}

// restRoutes is a controller of one function, because a variant is just some routes.
type restRoutes func(r *rest.Routes)

// Routes implements [rest.Controller].
func (f restRoutes) Routes(r *rest.Routes) { f(r) }

// restSubject returns a GET of a target at an API of rest, which must answer with 200.
func restSubject(name, target string, routes restRoutes, options ...rest.ControllerOption) *subject {
	api := rest.New(rest.Title("catalog"))
	api.Register(routes, options...)
	return &subject{name: name, exchange: newExchange(api, getCall(target))}
}
