package history

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// Gathered is the content of an answer so far. It joins text that arrives in many small pieces only
// once.
type Gathered struct {
	Parts spool.Content
	text  []byte // of the last part, while it is open
	open  bool   // more text may belong to the last part
}

// AddText adds text to the last part if that part is open and has the given type. Otherwise it begins a
// new part.
func (g *Gathered) AddText(t spool.PartType, text string) {
	if !g.open || g.Parts[len(g.Parts)-1].Type != t {
		g.Add(spool.Part{Type: t})
		g.open = true
	}
	g.text = append(g.text, text...)
}

// End closes an open block of the given type and adds the provider data to it. If no such block is open, it
// adds the data as a block without text, or nothing if there is no data. It reports whether it did anything.
func (g *Gathered) End(t spool.PartType, data json.RawMessage) bool {
	switch last := len(g.Parts) - 1; {
	case g.open && g.Parts[last].Type == t:
		g.close()
		g.Parts[last].Provider = data
	case data != nil:
		g.Add(spool.Part{Type: t, Provider: data})
	default:
		return false
	}
	return true
}

// Add adds a whole part.
func (g *Gathered) Add(part spool.Part) {
	g.close()
	g.Parts = append(g.Parts, part)
}

func (g *Gathered) close() {
	if g.open {
		g.Parts[len(g.Parts)-1].Text = string(g.text)
		g.text, g.open = g.text[:0], false
	}
}

// Content returns the content so far.
func (g *Gathered) Content() spool.Content {
	g.close()
	return g.Parts
}
