package argument

import (
	"net/url"
	"slices"
	"strings"
)

// owners has the names in a query or a form, in lower case, with the arguments that may set them. The plan itself
// owns the names of its keys, as the empty argument, and then no argument may set them. The keys of an object can
// be names too, and a model chooses them: they must not add a second value to a name of somebody else.
type owners map[string][]string

func (o owners) add(name, arg string) {
	key := strings.ToLower(name)
	o[key] = append(o[key], arg)
}

// owners returns the names that a plan gives away.
func (p *Plan) owners() owners {
	o := make(owners)
	for _, param := range p.Params {
		if param.In == Query {
			o.add(param.Name, param.Arg)
		}
	}
	_, fixed, _ := strings.Cut(p.Base, "?")
	pairs, _ := url.ParseQuery(fixed) // what can be read of it
	for name := range pairs {
		o.add(name, "")
	}
	for name := range p.Query {
		o.add(name, "")
	}
	return o
}

// claim records that an argument owns the names of its pairs.
func (o owners) claim(arg string, pairs []string) error {
	for _, pair := range pairs {
		escaped, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(escaped)
		if err != nil {
			return wrong(arg, "has a name that cannot be written")
		}
		switch all := o[strings.ToLower(name)]; {
		case slices.Contains(all, ""), len(all) > 0 && !slices.Contains(all, arg):
			return wrong(arg, "must not set "+name+", which the request has from elsewhere")
		case len(all) == 0:
			o.add(name, arg)
		}
	}
	return nil
}
