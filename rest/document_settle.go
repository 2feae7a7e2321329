package rest

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/schema"
)

// settle gives each type its final name in the document.
func (d *document) settle() (err error) {
	defer schema.Catch(&err)
	renamed := d.registry.Settle()
	if len(renamed) == 0 {
		return nil
	}
	rename := schema.Rename(renamed)
	content := func(all map[string]*huma.MediaType) {
		for _, m := range all {
			rename(m.Schema)
		}
	}
	responses := func(all map[string]*huma.Response) {
		for _, answer := range all {
			content(answer.Content)
			for _, header := range answer.Headers {
				rename(header.Schema)
			}
		}
	}
	responses(d.open.Components.Responses)
	for _, path := range d.open.Paths {
		for _, op := range []*huma.Operation{
			path.Get, path.Put, path.Post, path.Delete, path.Options, path.Head, path.Patch, path.Trace,
		} {
			if op == nil {
				continue
			}
			for _, p := range op.Parameters {
				rename(p.Schema)
			}
			if op.RequestBody != nil {
				content(op.RequestBody.Content)
			}
			responses(op.Responses)
		}
	}
	return nil
}
