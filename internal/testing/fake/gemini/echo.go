package gemini

import "fmt"

// Echo is a [Config.Answer] that thinks, if it has to show its thoughts, and repeats the prompt. A request for a
// value gets an empty object.
func Echo(r *Request) Answer {
	text := Text("You said: " + r.LastText())
	if r.Schema != nil {
		text = Text("{}")
	}
	a := Answer{Parts: []Part{text}, Whole: true, Usage: &Usage{Prompt: 20 * len(r.Contents), Candidates: 15}}
	if r.Thoughts {
		a.Parts = []Part{Thought(fmt.Sprintf("The conversation has %d turns.", len(r.Contents))), text}
		a.Usage.Thoughts = 10
	}
	return a
}
