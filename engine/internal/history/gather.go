package history

import "github.com/spoolhq/spool"

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

// EndReasoning closes an open reasoning block and adds the provider data to it. If no block is open, it
// adds the data as a new block. Without provider data it does nothing.
func (g *Gathered) EndReasoning(part spool.Part) {
	switch last := len(g.Parts) - 1; {
	case part.Provider == nil:
	case g.open && g.Parts[last].Type == spool.PartReasoning:
		g.close()
		g.Parts[last].Provider = part.Provider
	default:
		g.Add(part)
	}
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
