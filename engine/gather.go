package engine

import "github.com/spoolhq/spool"

// gathered is the content of an answer as far as it has come. Text that comes in many small
// pieces is put together once.
type gathered struct {
	parts spool.Content
	text  []byte // of the last part, while it is open
	open  bool   // more text may belong to the last part
}

// say adds text to the last part if it is of that type and open, else as a new one.
func (g *gathered) say(t spool.PartType, text string) {
	if !g.open || g.parts[len(g.parts)-1].Type != t {
		g.add(spool.Part{Type: t})
		g.open = true
	}
	g.text = append(g.text, text...)
}

// endReasoning closes an open block of reasoning with what its provider wants back. Without
// one, that is a block of its own. Nil closes nothing.
func (g *gathered) endReasoning(part spool.Part) {
	switch last := len(g.parts) - 1; {
	case part.Provider == nil:
	case g.open && g.parts[last].Type == spool.PartReasoning:
		g.close()
		g.parts[last].Provider = part.Provider
	default:
		g.add(part)
	}
}

// add adds a whole part.
func (g *gathered) add(part spool.Part) {
	g.close()
	g.parts = append(g.parts, part)
}

func (g *gathered) close() {
	if g.open {
		g.parts[len(g.parts)-1].Text = string(g.text)
		g.text, g.open = g.text[:0], false
	}
}

// content returns all that came.
func (g *gathered) content() spool.Content {
	g.close()
	return g.parts
}
