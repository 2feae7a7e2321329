package history

import "github.com/spoolhq/spool"

// Gathered is the content of an answer as far as it has come. Text that comes in many small
// pieces is put together once.
type Gathered struct {
	Parts spool.Content
	text  []byte // of the last part, while it is open
	open  bool   // more text may belong to the last part
}

// AddText adds text to the last part if it is of that type and open, else as a new one.
func (g *Gathered) AddText(t spool.PartType, text string) {
	if !g.open || g.Parts[len(g.Parts)-1].Type != t {
		g.Add(spool.Part{Type: t})
		g.open = true
	}
	g.text = append(g.text, text...)
}

// EndReasoning closes an open block of reasoning with what its provider wants back. Without
// one, that is a block of its own. Nil closes nothing.
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

// Content returns all that came.
func (g *Gathered) Content() spool.Content {
	g.close()
	return g.Parts
}
