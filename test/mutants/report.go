//go:build unix

package main

import (
	"fmt"
	"io"
	"strings"
)

// report writes the results as Markdown: how many of each kind, then each of them.
func report(w io.Writer, r *results, tiers, leftOut []string) {
	counts := make(map[string]int)
	var order []string
	var rows strings.Builder
	var hours float64
	races := 0
	for _, one := range r.all {
		hours += one.seconds() / 3600
		if one.NotCompiled {
			continue
		}
		if strings.HasPrefix(one.Name, "race: ") {
			races++
		} else {
			verdict := one.verdict(tiers)
			if counts[verdict] == 0 {
				order = append(order, verdict)
			}
			counts[verdict]++
		}
		fmt.Fprintf(&rows, "| `%s:%d` | %s |", one.Edit.File, one.Edit.Line, one.mistake())
		for _, tier := range tiers {
			fmt.Fprintf(&rows, " %s |", one.in(tier))
		}
		fmt.Fprintf(&rows, " %.0f |\n", one.seconds())
	}
	_, _ = fmt.Fprintf(w, "| mistakes | |\n|---|---|\n")
	for _, verdict := range order {
		_, _ = fmt.Fprintf(w, "| %s | %d |\n", verdict, counts[verdict])
	}
	if races > 0 {
		for _, tier := range tiers {
			_, _ = fmt.Fprintf(w, "| races found by %s | %d of %d |\n", tier, r.racesFound(tier), races)
		}
	}
	_, _ = fmt.Fprintf(w, "| seed | %d |\n| hours | %.1f |\n\n", r.seed, hours)
	_, _ = fmt.Fprintf(w, "| place | mistake | %s | seconds |\n|---|---|%s---|\n", strings.Join(tiers, " | "),
		strings.Repeat("---|", len(tiers)))
	_, _ = io.WriteString(w, rows.String())
	for _, line := range leftOut {
		_, _ = fmt.Fprintf(w, "\nLeft out: %s\n", line)
	}
}

func (r *results) racesFound(tier string) (n int) {
	for _, one := range r.all {
		if strings.HasPrefix(one.Name, "race: ") && strings.HasPrefix(one.in(tier), "killed") {
			n++
		}
	}
	return n
}

// verdict says which tier killed, such as "missed by quick, killed by before".
func (r *result) verdict(tiers []string) string {
	var missed []string
	for _, tier := range tiers {
		if strings.HasPrefix(r.in(tier), "killed") {
			if len(missed) == 0 {
				return "killed by " + tier
			}
			return "missed by " + strings.Join(missed, " and ") + ", killed by " + tier
		}
		missed = append(missed, tier)
	}
	return "survived " + strings.Join(missed, " and ")
}

// in returns what a tier said.
func (r *result) in(tier string) string {
	for _, o := range r.Outcomes {
		if o.Tier != tier {
			continue
		}
		words := o.Result
		if o.Test != "" {
			words += fmt.Sprintf(" by `%s`", o.Test)
		}
		if o.How == "race" || o.How == "limit" {
			words += " (" + o.How + ")"
		}
		if len(o.Once) > 0 {
			words += fmt.Sprintf(", failed once: `%s`", strings.Join(o.Once, ", "))
		}
		return words
	}
	return ""
}

// mistake shows the text before and after in a cell.
func (r *result) mistake() string {
	if name, ok := strings.CutPrefix(r.Name, "race: "); ok {
		return name
	}
	switch {
	case r.Edit.New == "":
		return fmt.Sprintf("%s: `%s`", r.Edit.Operator, cell(r.Edit.Old))
	case r.Edit.Old == "":
		return fmt.Sprintf("%s: `%s`", r.Edit.Operator, cell(r.Edit.New))
	}
	return fmt.Sprintf("%s: `%s` to `%s`", r.Edit.Operator, cell(r.Edit.Old), cell(r.Edit.New))
}

// cell shortens code to what a cell of a table takes.
func cell(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if letters := []rune(code); len(letters) > 60 {
		code = string(letters[:59]) + "…"
	}
	return strings.NewReplacer("|", `\|`, "`", "'").Replace(code)
}
