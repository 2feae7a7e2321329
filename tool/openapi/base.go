package openapi

import (
	"net/url"
	"strings"
)

// base returns the URL before the path of an operation: the configured one, or that of the first server.
//
// A document that came over the network must not choose which other host gets the arguments and the configured
// secrets, or which private address is asked.
func (b *sourceBuilder) base(o operation) (string, error) {
	if b.config.BaseURL != "" {
		return strings.TrimRight(b.config.BaseURL, "/"), nil
	}
	from, err := url.Parse(b.config.DocumentURL)
	if err != nil {
		return "", wrong("servers", "set a base URL: the URL of the document cannot be read")
	}
	server, place, err := b.server(o)
	if err != nil {
		return "", err
	}
	at, err := url.Parse(server)
	if err != nil {
		return "", wrong(place, "is no URL: set a base URL")
	}
	if b.config.DocumentURL != "" {
		at = from.ResolveReference(at)
	}
	switch {
	case at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return "", wrong(place, "is no http or https URL: set a base URL")
	case at.RawQuery != "" || at.Fragment != "":
		return "", wrong(place, "has a query or a fragment: set a base URL")
	case b.config.DocumentURL != "" && (at.Host != from.Host || at.Scheme != from.Scheme):
		return "", wrong(place, "is on "+cut(at.Host, 200)+
			", which is not where the document came from: set a base URL, so that requests go where you want")
	}
	return strings.TrimRight(at.Scheme+"://"+at.Host+at.EscapedPath(), "/"), nil
}

// server returns the URL of the first server of an operation, its path or the document.
func (b *sourceBuilder) server(o operation) (link, place string, err error) {
	for _, holder := range []struct {
		of    map[string]any
		place string
	}{{o.node, o.place + ".servers"}, {o.item, o.itemPlace + ".servers"}, {b.doc.root, "servers"}} {
		servers, _ := holder.of["servers"].([]any)
		if len(servers) == 0 {
			continue
		}
		place = holder.place + "[0].url"
		server, ok := servers[0].(map[string]any)
		if at := text(server, placeKey); at != "" {
			place = at
		}
		if !ok {
			return "", place, wrong(place, "must be an object")
		}
		link = text(server, "url")
		variables, _ := server["variables"].(map[string]any)
		for name, value := range variables {
			variable, _ := value.(map[string]any)
			link = strings.ReplaceAll(link, "{"+name+"}", text(variable, "default"))
		}
		if strings.ContainsAny(link, "{}") {
			return "", place, wrong(place, "has a variable without a default: set a base URL")
		}
		return link, place, nil
	}
	if b.config.DocumentURL == "" {
		return "", "servers", wrong("servers", "there are none: set a base URL")
	}
	return "/", "servers", nil
}
