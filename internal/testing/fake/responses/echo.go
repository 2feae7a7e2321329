package responses

import "fmt"

// Echo is a script that thinks and repeats the prompt, or the last result of a tool.
func Echo(r *Request) Answer {
	said := r.LastText()
	if last := r.Input[len(r.Input)-1]; last.Type == "function_call_output" {
		said = string(last.Output)
	}
	answer := Answer{
		Items: []Item{Reason(fmt.Sprintf("The conversation has %d items.", len(r.Input))), Text("You said: ", said)},
		Usage: &Usage{Input: 100 * len(r.Input), Cached: 100 * (len(r.Input) - 1), Output: 25, Reasoning: 10},
	}
	if r.Format() != nil {
		answer.Items = []Item{Text("{}")}
	}
	return answer
}
