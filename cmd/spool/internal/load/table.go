package load

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// measures are the latencies of a rung, with their names in tables and charts.
var measures = []struct {
	name string
	of   func(r *Rung) Latency
}{
	{"start", func(r *Rung) Latency { return r.Start }},
	{"first token", func(r *Rung) Latency { return r.FirstToken }},
	{"whole run", func(r *Rung) Latency { return r.WholeRun }},
	{"stop to end", func(r *Rung) Latency { return r.StopToEnd }},
}

// WriteText writes the report for a person.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	if len(r.Rungs) > 0 {
		r.writeRungs(&b)
		r.writeLatencies(&b)
		r.writeErrors(&b)
	}
	r.writeConclusion(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// rows writes lines whose cells are separated by tabs, aligned to the right.
func rows(b *strings.Builder, lines []string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range lines {
		fmt.Fprintln(w, line+"\t")
	}
	_ = w.Flush() // a builder does not fail
}

func (r *Report) writeRungs(b *strings.Builder) {
	lines := []string{"OFFERED/S\tENDED/S\tRUNS\tSTOPPED\tUNFINISHED\tERRORS\tWATCHERS\tFRAMES/S\tRESUMED\tGAPS\tREPEATS"}
	for i := range r.Rungs {
		g := &r.Rungs[i]
		failed := 0
		for _, n := range g.Errors {
			failed += n
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%.0f\t%d\t%d\t%d", rate(g.OfferedPerSecond),
			rate(g.AchievedPerSecond), g.Arrivals,
			g.Stopped, g.Unfinished, failed, g.Watchers.Most, g.Watchers.FramesPerSecond, g.Watchers.Resumed, g.Watchers.Gaps,
			g.Watchers.Repeats))
	}
	rows(b, lines)
	checked, wrong := 0, 0
	for i := range r.Rungs {
		checked, wrong = checked+r.Rungs[i].Watchers.TextsChecked, wrong+r.Rungs[i].Watchers.TextsWrong
	}
	fmt.Fprintf(b, "\n%d streamed texts were compared with the saved ones, and %d differed.\n", checked, wrong)
}

func (r *Report) writeLatencies(b *strings.Builder) {
	lines := []string{"OFFERED/S\tMILLISECONDS\tCOUNT\tP50\tP90\tP99\tP99.9\tMAX"}
	for _, m := range measures {
		for i := range r.Rungs {
			if d := m.of(&r.Rungs[i]); d.Count > 0 {
				lines = append(lines, fmt.Sprintf("%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s", rate(r.Rungs[i].OfferedPerSecond), m.name,
					d.Count,
					number(d.P50), number(d.P90), number(d.P99), number(d.P999), number(d.Max)))
			}
		}
	}
	if len(lines) > 1 {
		b.WriteByte('\n')
		rows(b, lines)
	}
}

func (r *Report) writeErrors(b *strings.Builder) {
	title := "\n  OFFERED/S  ERRORS  WHAT\n"
	for i := range r.Rungs {
		for _, name := range sortedNames(r.Rungs[i].Errors) {
			fmt.Fprintf(b, "%s%11s  %6d  %s\n", title, rate(r.Rungs[i].OfferedPerSecond), r.Rungs[i].Errors[name], name)
			title = ""
		}
	}
}

func (r *Report) writeConclusion(b *strings.Builder) {
	b.WriteByte('\n')
	fmt.Fprintln(b, r.verdict())
	if hint := r.hint(); hint != "" {
		fmt.Fprintln(b, hint)
	}
	if r.Cut != "" {
		fmt.Fprintf(b, "The load ended early: %s.\n", r.Cut)
	}
	if r.Faults() > 0 {
		b.WriteString("FRAMES WERE MISSING, REPEATED OR WRONG. Please report this.\n")
	}
	fmt.Fprintf(b, "%d threads were made, and %d deleted.", r.Threads.Made, r.Threads.Deleted)
	if r.Threads.Left > 0 {
		b.WriteString(" " + r.Command.Left(r.Threads))
	}
	b.WriteByte('\n')
}

// verdict says what the server held.
func (r *Report) verdict() string {
	switch {
	case r.Saturation != "" && r.HeldPerSecond > 0:
		return fmt.Sprintf("Held %s runs per second. Saturated at %s: %s.", rate(r.HeldPerSecond),
			rate(r.Rungs[len(r.Rungs)-1].OfferedPerSecond), r.Saturation)
	case r.Saturation != "":
		return fmt.Sprintf("Saturated at the first rate, %s runs per second: %s.", rate(r.Rungs[0].OfferedPerSecond),
			r.Saturation)
	case r.HeldPerSecond > 0:
		return fmt.Sprintf("Held %s runs per second, and was not saturated.", rate(r.HeldPerSecond))
	default:
		return "No rate was measured to its end."
	}
}

// Left says how many threads are left, and how to delete them.
func (c Command) Left(t Threads) string {
	return fmt.Sprintf("%d are left, with the label %s=%s. To delete them: %s", t.Left, label, c.Session,
		strings.TrimSpace("spool load --remove "+c.Session+" "+c.Server))
}

// rate returns the text of a number of runs per second.
func rate(n float64) string { return strconv.FormatFloat(round(n, 1), 'f', -1, 64) }

// number returns a number with about three digits.
func number(n float64) string {
	switch {
	case n >= 100:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case n >= 10:
		return strconv.FormatFloat(n, 'f', 1, 64)
	default:
		return strconv.FormatFloat(n, 'f', 2, 64)
	}
}
